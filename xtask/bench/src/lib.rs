// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: what a call through the gate costs, how many there are,
//! and what becomes of operations of Linux.

pub mod arguments;
pub mod board;
pub mod calls;
pub mod compartments;
pub mod dma;
pub mod flow;
pub mod guard;
mod guest;
pub mod idc;
pub mod lmbench;
mod model;
pub mod path;
mod programs;
pub mod resume;
pub mod samples;
pub mod scale;
mod selection;
mod stress;
mod table;
mod tables;

use std::path::Path;

use anyhow::Result;
use donjon_builder::json;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use serde::Serialize;

use crate::arguments::{BenchCommand, Subject};

pub use guest::{longest, virt};
pub use idc::measure;

/// A record of figures, as it is shown on a terminal.
pub trait Record: Serialize {
    /// Lays the figures out as text.
    fn text(&self) -> String;

    /// Fails if a figure is more than it may be.
    ///
    /// # Errors
    ///
    /// The figures that are.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Shows a record, and writes its document if there is a file for it.
fn show(record: &impl Record, json: Option<&Path>) -> Result<()> {
    println!("{}", record.text());
    json::write(json, record)
}

/// Runs; returns the exit status.
pub fn run(arguments: &BenchCommand) -> Result<u8> {
    match &arguments.subject {
        Some(Subject::Idc(arguments)) => idc::run(arguments),
        Some(Subject::Calls(arguments)) => calls::run(arguments),
        Some(Subject::Compartments(arguments)) => compartments::run(arguments),
        Some(Subject::Dma(arguments)) => dma::run(arguments),
        Some(Subject::Flow(arguments)) => flow::run(arguments),
        Some(Subject::Lmbench(arguments)) => lmbench::run(arguments),
        Some(Subject::Programs(arguments)) => programs::run(arguments),
        Some(Subject::Scale(arguments)) => scale::run(arguments),
        Some(Subject::Stress(arguments)) => stress::run(arguments),
        None if arguments.board.is_some() => board::run(&arguments.board),
        None if arguments.record => guard::record(arguments),
        None => return guard::check(&arguments.host),
    }
    .map(|()| 0)
}

/// The machine that is measured: one CPU.
pub fn machine(cpu: &str, switch: Switch, icount: bool) -> Result<Machine> {
    Machine::new(&virt(cpu, switch, icount))
}
