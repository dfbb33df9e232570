// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a compartment is entered and left, as steps of the model.

use std::collections::BTreeSet;

use donjon_abi::tcr;

use super::gate::{Gate, Step};
use super::model::{Breach, Cpu, Invalidation, Lower, Tcr, Who, World};

/// An instruction of `context.S` that matters to the TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// If another compartment was entered last: TLBI of their ASID, DSB, ISB.
    InvalidateOther,
    /// TTBR0_EL1 gets the compartment's root, with the ASID of compartments.
    LoadRoot,
    /// TTBR0_EL1 is the process's again.
    RestoreRoot,
    /// TCR_EL1 for the compartment.
    Open,
    /// TCR_EL1 of the inner domain.
    Close,
    /// ISB, ERET or an exception.
    Synchronize,
    /// The compartment runs.
    Run,
}

/// The moves with which a compartment is entered and left, in order.
#[derive(Clone, Debug)]
pub struct Way(pub Vec<Move>);

impl Way {
    /// The way of `context.S`.
    pub fn of_context() -> Self {
        use Move::{Close, InvalidateOther, LoadRoot, Open, RestoreRoot, Run, Synchronize};
        Self(vec![
            InvalidateOther,
            LoadRoot,
            Synchronize,
            Open,
            Synchronize,
            Run,
            Synchronize,
            Close,
            Synchronize,
            RestoreRoot,
            Synchronize,
        ])
    }

    /// Leaves out one of the moves, the first of its kind.
    #[must_use]
    pub fn without(mut self, left_out: Move) -> Self {
        if let Some(index) = self.0.iter().position(|it| *it == left_out) {
            self.0.remove(index);
        }
        self
    }

    /// Exchanges two moves, the first of each kind.
    #[must_use]
    pub fn exchanged(mut self, one: Move, other: Move) -> Self {
        let place = |it| self.0.iter().position(|found| *found == it);
        if let (Some(one), Some(other)) = (place(one), place(other)) {
            self.0.swap(one, other);
        }
        self
    }

    pub(super) fn run(
        &self,
        cpu: &mut Cpu,
        gate: &Gate,
        which: bool,
        world: &World,
        breaches: &mut BTreeSet<Breach>,
    ) {
        let process = cpu.user();
        let inner = gate.steps.iter().take(gate.inner());
        let mut inner = inner.filter_map(|step| match step {
            Step::Write(value) => Some(*value),
            _ => None,
        });
        let inner = inner.next_back().unwrap_or(Tcr::of_register(tcr::INNER));
        breaches.extend(cpu.breaches(Who::Inner, world));
        for step in &self.0 {
            match step {
                Move::InvalidateOther if cpu.last == Some(which) => {}
                Move::InvalidateOther => {
                    cpu.invalidate(Invalidation::Asid(tcr::COMPARTMENT_ASID), world);
                    cpu.complete_invalidation(world);
                    cpu.synchronize(world);
                }
                Move::LoadRoot => {
                    let root = Lower::Compartment(which);
                    cpu.write_user(tcr::COMPARTMENT_ASID, root, world);
                }
                Move::RestoreRoot => cpu.write_user(process.0, process.1, world),
                Move::Open => cpu.write_tcr(Tcr::of_register(tcr::INSIDE), world),
                Move::Close => cpu.write_tcr(inner, world),
                Move::Synchronize => cpu.synchronize(world),
                Move::Run => {
                    cpu.last = Some(which);
                    breaches.extend(cpu.breaches(Who::Compartment(which), world));
                }
            }
        }
    }
}
