// SPDX-License-Identifier: MIT OR Apache-2.0
//! Is the gate that was linked the gate that the model explores?
//!
//! The host's tests reason about a list of steps for each mode. Here the same list is read off
//! the disassembly, so that an instruction cannot be dropped or moved in one of them alone.

use std::fs;

use anyhow::{Result, ensure};
use donjon_tests::tlb::{Gate, Invalidation, Step};

use super::runner::Test;
use crate::bare::{self, InnerVariant};
use crate::bench::path::{Instruction, instructions};
use crate::cli::Switch;

/// A test for each mode.
pub fn tests() -> Vec<Test> {
    [Switch::Asid, Switch::Tlbi, Switch::Strict]
        .into_iter()
        .map(|switch| {
            Test::alone(&format!("gate-model:{}", switch.name()), move || {
                is_the_model(switch)
            })
        })
        .collect()
}

fn is_the_model(switch: Switch) -> Result<()> {
    let gate = match switch {
        Switch::Tlbi => Gate::tlbi(Invalidation::InnerPage),
        Switch::Strict => Gate::strict(),
        Switch::Asid | Switch::None => Gate::asid(),
    };
    let modelled: Vec<&str> = gate.steps.iter().map(kind).collect();
    let built = bare::build(&InnerVariant::sound(switch))?;
    let path = instructions(&fs::read(built.inner)?)?;
    let linked: Vec<&str> = path.iter().filter_map(kind_of_instruction).collect();
    ensure!(
        modelled == linked,
        "the model's gate is {modelled:?}, the linked one {linked:?}"
    );
    Ok(())
}

fn kind(step: &Step) -> &'static str {
    match step {
        Step::Write(_) => "write",
        Step::Synchronize => "isb",
        Step::Compare(_) => "compare",
        Step::Invalidate(_) => "tlbi",
        Step::Complete => "dsb",
        Step::RunInner => "run",
        Step::Return => "return",
    }
}

/// What the model would call an instruction, if it matters to it.
fn kind_of_instruction(instruction: &Instruction) -> Option<&'static str> {
    Some(match instruction.mnemonic.as_str() {
        _ if instruction.writes_tcr() => "write",
        "isb" => "isb",
        // The branch to the repair entry is the only one of its kind in the gate.
        "b.ne" => "compare",
        "tlbi" if instruction.operands.starts_with("vaae1,") => "tlbi",
        "tlbi" => "another tlbi",
        "dsb" => "dsb",
        "blr" => "run",
        "ret" => "return",
        _ => return None,
    })
}
