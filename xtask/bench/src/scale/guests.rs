// SPDX-License-Identifier: MIT OR Apache-2.0
//! Guests, one after the other.

use std::time::Duration;

use anyhow::Result;
use donjon_builder::progress::Step;
use donjon_machine::qemu::Boot;

use crate::guest::output_of;
use crate::resume::{Inputs, Run};

/// The guests of a run. What is built in between has bars of its own, so that of the measurement
/// comes and goes.
pub struct Guests<'a> {
    /// The run.
    pub run: &'a mut Run,
    /// How many there were.
    done: u64,
    /// How many there are.
    all: u64,
}

impl<'a> Guests<'a> {
    /// All guests of a run.
    pub fn new(run: &'a mut Run, all: u64) -> Self {
        Self { run, done: 0, all }
    }

    /// What `read` finds in what the next guest prints, or has printed in an interrupted run.
    ///
    /// # Errors
    ///
    /// If the guest fails, or takes longer than `timeout`, and those of `read`.
    pub fn next<T>(
        &mut self,
        title: &str,
        boot: &Boot,
        (command, timeout): (&str, Duration),
        read: impl FnMut(&str) -> Result<T>,
    ) -> Result<T> {
        let (done, all) = (self.done, self.all);
        self.done += 1;
        let measure = || {
            let step = Step::one_of(title, done, all);
            let text = output_of(boot, command, timeout)?;
            step.vanish();
            Ok(text)
        };
        let inputs = Inputs::of_boot(boot, command)?;
        self.run.unit(title, inputs, measure, read)
    }
}
