// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments over memory that is a map of words.

mod channel;
mod end;
mod flow;
mod machine;
mod stop;

use std::vec::Vec;

use donjon_abi::call::{CompartmentExit, Reason};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;
use crate::translation::bits;
use crate::translation::frames::FrameType;
use machine::*;

#[test]
fn what_is_added_is_measured_and_mapped() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let mut hash = Sha256::new();
    let page = machine.memory.bytes(RAM);
    for (va, access) in [(CODE, 2_u64), (DATA, 1)] {
        hash.update(va.to_le_bytes());
        hash.update(access.to_le_bytes());
        hash.update(&page);
    }
    for word in [CODE, DATA + PAGE_SIZE, LIMIT] {
        hash.update(word.to_le_bytes());
    }
    let measured = machine.compartments.measurement(handle).expect("sealed");
    assert_eq!(measured[..], hash.finalize()[..]);
    let leaves = machine.leaves(handle);
    let frame = |va| leaves[&va] & bits::OUTPUT_ADDRESS;
    assert_eq!(machine.memory.bytes(frame(CODE)), page);
    assert_eq!(machine.memory.executable, [frame(CODE)]);
    machine.check(&[handle]);
}

#[test]
fn nothing_is_added_once_it_is_sealed() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let added = machine.add(handle, DATA + PAGE_SIZE, Access::Write, RAM);
    assert_eq!(added, Err(Reason::WrongTime));
    let sealed = machine.compartments.seal(handle, CODE, DATA);
    assert_eq!(sealed, Err(Reason::WrongTime));
}

#[test]
fn a_page_is_added_as_a_whole() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.create();
    assert_eq!(machine.add(handle, CODE, Access::Execute, RAM), Ok(false));
    // Nothing comes between, and the address is taken.
    for (va, from) in [(DATA, RAM), (CODE, RAM + PAGE_SIZE)] {
        let added = machine.add(handle, va, Access::Execute, from);
        assert_eq!(added, Err(Reason::WrongTime));
    }
    assert_eq!(machine.share(handle, CODE, RAM), Err(Reason::BadEntry));
    let sealed = machine.compartments.seal(handle, CODE, DATA);
    assert_eq!(sealed, Err(Reason::WrongTime));
    assert!(machine.leaves(handle).is_empty());
    machine.add_all(handle, CODE, Access::Execute, RAM);
    let again = machine.add(handle, CODE, Access::Write, RAM);
    assert_eq!(again, Err(Reason::BadEntry));
    machine.check(&[handle]);
}

#[test]
fn a_page_comes_from_ordinary_memory() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.create();
    machine.frames.set(RAM + PAGE_SIZE, FrameType::KernelTable3);
    let private = RAM + BLOCK_SIZE;
    for from in [private, RAM + PAGE_SIZE, RAM + 8, 0, RAM - PAGE_SIZE] {
        let added = machine.add(handle, CODE, Access::Write, from);
        assert_eq!(added, Err(Reason::WrongFrame), "{from:#x}");
        let shared = machine.share(handle, DATA, from);
        assert_eq!(shared, Err(Reason::WrongFrame), "{from:#x}");
    }
    for va in [0, CODE + 8, HEAP, END, u64::MAX - 4095] {
        let added = machine.add(handle, va, Access::Write, RAM);
        assert_eq!(added, Err(Reason::BadEntry), "{va:#x}");
        assert_eq!(machine.share(handle, va, RAM), Err(Reason::BadEntry));
    }
    machine.check(&[handle]);
}

#[test]
fn it_runs_on_one_cpu() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let entry = machine.enter(handle, 1).expect("idle");
    let begin = How::Begin {
        pc: CODE,
        sp: DATA + PAGE_SIZE,
    };
    assert_eq!(entry.how, begin);
    assert_eq!(machine.enter(handle, 0), Err(Reason::InUse));
    assert_eq!(machine.destroy(handle), Err(Reason::InUse));
    assert_eq!(machine.share(handle, 0x1000, RAM), Err(Reason::WrongTime));
    // Another CPU has nothing to say.
    machine.leave(handle, 0, CompartmentExit::Ended);
    machine.leave(handle, 1, CompartmentExit::Interrupted);
    let again = machine.enter(handle, 0).expect("suspended");
    assert_eq!(again.how, How::GoOn);
    assert_eq!(again.tag, entry.tag);
    machine.leave(handle, 0, CompartmentExit::Ended);
    let dead = machine.enter(handle, 0);
    assert_eq!(dead, Err(Reason::WrongTime));
    machine.destroy(handle).expect("nothing runs");
}

#[test]
fn a_handle_ends_with_its_compartment() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    machine.destroy(handle).expect("nothing runs");
    machine.check(&[]);
    let next = machine.sealed();
    assert_eq!(next.index(), handle.index(), "the slot is used again");
    let compartments = &machine.compartments;
    assert_eq!(
        compartments.enter(&mut machine.memory, handle, 0),
        Err(Reason::NoCompartment)
    );
    assert_eq!(compartments.phase(handle), Err(Reason::NoCompartment));
    for word in [0, u64::MAX, 1 << 32 | 77] {
        let handle = Handle::from_word(word);
        assert_eq!(compartments.phase(handle), Err(Reason::NoCompartment));
    }
    assert_eq!(compartments.phase(next), Ok(Phase::Idle));
}

#[test]
fn the_heap_ends_at_the_limit_and_comes_back_as_zeros() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.sealed();
    let (memory, private) = (&mut machine.memory, &mut machine.private);
    let compartments = &machine.compartments;
    let grown = compartments.grow(memory, private, (handle, 0), 1);
    assert_eq!(grown, Err(Reason::WrongTime), "it does not run");
    let first = compartments.enter(memory, handle, 0).expect("idle").tag;
    let mut heap = 0;
    loop {
        let grown = compartments.grow(memory, private, (handle, 0), 7);
        let (added, has) = grown.expect("it runs");
        heap += added;
        assert_eq!(has, heap);
        if added < 7 {
            break;
        }
    }
    assert_eq!(compartments.frames(handle), Ok((LIMIT, LIMIT)));
    let shrunk = compartments.shrink(memory, private, (handle, 0), 100);
    let (removed, left, tag) = shrunk.expect("it runs");
    assert_eq!((removed, left), (SHRINK_MAX, heap - SHRINK_MAX));
    assert_ne!(tag, first, "what TLBs hold of the pages is not used again");
    compartments.leave(memory, handle, 0, CompartmentExit::Returned);
    machine.check(&[handle]);
    machine.destroy(handle).expect("nothing runs");
    machine.check(&[]);
}

#[test]
fn slots_and_memory_end() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let mut live: Vec<_> = (0..4).map(|_| machine.create()).collect();
    let none = machine.compartments.create(&mut machine.private, LIMIT);
    assert_eq!(none, Err(Reason::OverLimit));
    machine.check(&live);
    machine.destroy(live.remove(1)).expect("nothing runs");
    live.push(machine.create());
    machine.check(&live);
    let small = machine.compartments.create(&mut machine.private, 5);
    assert_eq!(small, Err(Reason::OverLimit));
}

#[test]
fn a_clone_has_the_same_code_and_its_own_data() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let template = machine.sealed();
    let one = machine.cloned(template).expect("sealed");
    let other = machine.cloned(template).expect("sealed");
    machine.check(&[template, one, other]);
    let leaves = [template, one, other].map(|it| machine.leaves(it));
    let frame = |index: usize, va| leaves[index][&va] & bits::OUTPUT_ADDRESS;
    assert_eq!(frame(0, CODE), frame(1, CODE));
    assert_ne!(frame(0, DATA), frame(1, DATA));
    assert_ne!(frame(1, DATA), frame(2, DATA));
    let data = machine.memory.bytes(frame(2, DATA));
    assert_eq!(data, machine.memory.bytes(frame(0, DATA)));
    let compartments = &machine.compartments;
    let measured = compartments.measurement(template);
    assert_eq!(compartments.measurement(one), measured);
    assert!(compartments.enter(&mut machine.memory, one, 0).is_ok());
    compartments.leave(&mut machine.memory, one, 0, CompartmentExit::Returned);
    // The code stays as long as there are clones.
    assert_eq!(machine.destroy(template), Err(Reason::InUse));
    machine.destroy(one).expect("nothing runs");
    machine.check(&[template, other]);
    machine.destroy(other).expect("nothing runs");
    machine.destroy(template).expect("no clones");
    machine.check(&[]);
}

#[test]
fn a_clone_is_of_what_has_not_run() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let unsealed = machine.create();
    assert_eq!(machine.cloned(unsealed), Err(Reason::WrongTime));
    let template = machine.sealed();
    let begun = machine
        .compartments
        .clone_of(&mut machine.private, template);
    let begun = begun.expect("sealed");
    // Nothing but the template's pages gets into it.
    for result in [
        machine.add(begun, DATA, Access::Write, RAM).map(drop),
        machine.share(begun, DATA, RAM),
        machine.compartments.seal(begun, CODE, DATA),
        machine.enter(begun, 0).map(drop),
    ] {
        assert_eq!(result, Err(Reason::WrongTime));
    }
    machine.enter(template, 0).expect("idle");
    machine.leave(template, 0, CompartmentExit::Returned);
    // Nor one that was begun before.
    let (memory, private) = (&mut machine.memory, &mut machine.private);
    let copied = machine.compartments.copy(memory, private, begun);
    assert_eq!(copied, Err(Reason::WrongTime));
    machine.destroy(begun).expect("nothing runs");
    assert_eq!(machine.cloned(template), Err(Reason::WrongTime));
    machine.destroy(template).expect("no clones");
}

proptest! {
    #[test]
    fn whatever_is_asked_for(
        steps in prop::collection::vec((0..13_u8, 0..6_usize, any::<u64>()), 0..120)
    ) {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        machine.memory.fill(RAM, 5);
        let mut live: Vec<Handle> = Vec::new();
        for (what, which, number) in steps {
            let handle = live.get(which % live.len().max(1)).copied();
            let handle = handle.unwrap_or(Handle::from_word(number));
            let va = CODE + number % 5 * PAGE_SIZE + (number >> 8) % 3 * (1 << 30);
            let frame = RAM + (number >> 16) % 4 * PAGE_SIZE;
            let cpu = (number >> 32) as usize % 2;
            let at = (handle, cpu);
            let compartments = &machine.compartments;
            let (memory, private) = (&mut machine.memory, &mut machine.private);
            match what {
                0 => if let Ok(handle) = compartments.create(private, 6 + number % 40) {
                    live.push(handle);
                },
                1 => {
                    let access = Access::from_word(number >> 24 & 3).unwrap_or(Access::Read);
                    while machine.add(handle, va, access, frame) == Ok(false) {}
                }
                2 => drop(machine.share(handle, va, frame)),
                3 => drop(machine.compartments.seal(handle, va, va)),
                4 => drop(machine.enter(handle, cpu)),
                5 => {
                    let exits = CompartmentExit::ALL;
                    let exit = exits[number as usize % exits.len()];
                    machine.leave(handle, cpu, exit);
                }
                6 => drop(compartments.grow(memory, private, at, number % 9)),
                7 => drop(compartments.shrink(memory, private, at, number % 9)),
                8 => if let Ok(handle) = compartments.clone_of(private, handle) {
                    live.push(handle);
                    for _ in 0..number % 4 {
                        let _ = compartments.copy(memory, private, handle);
                    }
                },
                9 => {
                    let other = live.get(number as usize % 5).copied().unwrap_or(handle);
                    let _ = compartments.connect(private, handle, other);
                }
                10 => { let _ = compartments.send(memory, at, number % 5, (va, number >> 20)); }
                11 => { let _ = compartments.receive(memory, at, number % 5, (va, number >> 20)); }
                _ => if machine.destroy(handle).is_ok() {
                    live.retain(|it| *it != handle);
                },
            }
            machine.check(&live);
        }
    }
}
