// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of the machine.

use donjon_abi::call::{CompartmentExit, Reason};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};

use super::super::{Access, Phase};
use super::{BLOCKS, DATA, Machine, PRIVATE, RAM, Ram};
use crate::translation::frames::FrameType;

impl Machine<'_> {
    fn stop(&mut self) -> Result<(), Reason> {
        let private = self.private.view();
        self.compartments.stop(&mut self.memory, &private)
    }
}

#[test]
fn nothing_of_a_compartment_is_left_when_the_machine_stops() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let idle = machine.sealed();
    let building = machine.create();
    machine.add_all(building, DATA, Access::Write, RAM);
    machine.stop().expect("none runs");
    let private = (RAM + BLOCK_SIZE..RAM + BLOCKS * BLOCK_SIZE).step_by(PAGE_SIZE as usize);
    for frame in private.clone() {
        assert_eq!(machine.frames.get(frame), Some(FrameType::Private));
        assert!(machine.memory.is_zero(frame), "{frame:#x}");
    }
    assert!(machine.memory.cleaned.iter().copied().eq(private));
    assert!(machine.private.free() < PRIVATE, "both have frames");
    assert!(!machine.memory.is_zero(RAM), "that is Linux's");
    let refused = machine.enter(idle, 0).map(drop);
    assert_eq!(refused, Err(Reason::InUse));
}

#[test]
fn the_machine_does_not_stop_while_a_compartment_runs() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let entry = machine.enter(handle, 1).expect("idle");
    machine.memory.fill(entry.context, 9);
    assert_eq!(machine.stop(), Err(Reason::InUse));
    assert!(!machine.memory.is_zero(entry.context) && machine.memory.cleaned.is_empty());
    machine.leave(handle, 1, CompartmentExit::Interrupted);
    let phase = machine.compartments.phase(handle);
    assert_eq!(phase, Ok(Phase::Suspended { called_out: false }));
    machine.enter(handle, 2).expect("it goes on");
    machine.leave(handle, 2, CompartmentExit::Returned);
    machine.stop().expect("none runs");
    assert!(machine.memory.is_zero(entry.context));
}
