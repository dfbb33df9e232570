// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compartment that work is done in.

use std::fs;

use anyhow::{Context, Result, bail};
use donjon_client::{Compartment, Exit, FAILED, Image, Instance};
use donjon_loops::Task;

/// Where a guest has the program.
const IMAGE: &str = "/usr/lib/donjon/compare";

/// A new one.
pub fn make() -> Result<Instance> {
    let bytes = fs::read(IMAGE).with_context(|| format!("reading {IMAGE}"))?;
    Ok(Instance::new(&Image::parse(&bytes).context(IMAGE)?)?)
}

/// Calls a compartment that asks its host for nothing.
pub fn call(it: &Compartment, task: Task, first: u64, second: u64) -> Result<u64> {
    match it.go_on([task.word(), first, second, 0])? {
        Exit::Returned(value) => Ok(value),
        other => bail!("{task:?}: {other:x?}"),
    }
}

/// Calls a compartment whose requests `answer` serves.
pub fn serve(
    it: &mut Instance,
    task: Task,
    first: u64,
    mut answer: impl FnMut(u64, &mut [u8]) -> Result<u64>,
) -> Result<u64> {
    let mut failure = None;
    let exit = it.serve([task.word(), first, 0, 0], |word, shared| {
        answer(word, shared).unwrap_or_else(|error| {
            failure = Some(error);
            FAILED
        })
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    match exit {
        Exit::Returned(value) => Ok(value),
        other => bail!("{task:?}: {other:x?}"),
    }
}
