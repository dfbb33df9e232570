// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels between compartments.

use std::collections::VecDeque;
use std::vec::Vec;

use donjon_abi::call::{CompartmentExit, Reason};
use donjon_abi::layout::PAGE_SIZE;
use proptest::prelude::*;

use super::super::{Access, ENDS, Handle, INBOX, MESSAGE_MAX, Moved};
use super::{CODE, DATA, LIMIT, Machine, RAM, Ram};

/// Two compartments that run, joined by their ends 0.
fn joined(machine: &mut Machine<'_>) -> (Handle, Handle) {
    let (one, other) = (machine.sealed(), machine.sealed());
    let ends = machine
        .compartments
        .connect(&mut machine.private, one, other);
    assert_eq!(ends, Ok((0, 0)));
    for (handle, cpu) in [(one, 0), (other, 1)] {
        machine.enter(handle, cpu).expect("sealed");
    }
    (one, other)
}

fn moved(bytes: u64) -> Result<Moved, Reason> {
    let is_open = true;
    Ok(Moved { bytes, is_open })
}

#[test]
fn what_is_sent_is_received() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let (one, other) = joined(&mut machine);
    let (memory, compartments) = (&mut machine.memory, &machine.compartments);
    let frame = |machine: &Machine<'_>, handle| machine.leaves(handle)[&DATA] & 0xffff_f000;
    let sent = compartments.send(memory, (one, 0), 0, (DATA + 16, 1000));
    assert_eq!(sent, moved(1000));
    // Nothing comes back to the one that sent.
    let back = compartments.receive(memory, (one, 0), 0, (DATA, 100));
    assert_eq!(back, moved(0));
    let received = compartments.receive(memory, (other, 1), 0, (DATA + 2048, 2000));
    assert_eq!(received, moved(1000));
    let (from, to) = (frame(&machine, one) + 16, frame(&machine, other) + 2048);
    for at in 0..1000 {
        assert_eq!(machine.memory.byte(to + at), machine.memory.byte(from + at));
    }
    machine.check(&[one, other]);
}

#[test]
fn each_knows_whom_it_speaks_with() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let (one, other) = joined(&mut machine);
    let measured = machine.compartments.measurement(other);
    let compartments = &machine.compartments;
    assert_eq!(compartments.peer((one, 0), 0), measured.map(Some));
    for end in [1, ENDS as u64, u64::MAX] {
        let peer = compartments.peer((one, 0), end);
        assert_eq!(peer, Err(Reason::BadEntry));
    }
    // Not from where it does not run.
    let elsewhere = compartments.peer((one, 1), 0);
    assert_eq!(elsewhere, Err(Reason::WrongTime));
}

#[test]
fn memory_that_is_not_its_own_is_refused() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let (one, other) = joined(&mut machine);
    let (memory, compartments) = (&mut machine.memory, &machine.compartments);
    let nothing = [
        (0, 8),
        (DATA + PAGE_SIZE, 8),
        (DATA - 8, 16),
        (DATA + PAGE_SIZE - 8, 16),
        (u64::MAX - 7, 16),
        (0xffff_0000_0000_0000, 8),
    ];
    for place in nothing {
        let sent = compartments.send(memory, (one, 0), 0, place);
        assert_eq!(sent, Err(Reason::BadEntry), "{place:x?}");
        let received = compartments.receive(memory, (other, 1), 0, place);
        assert_eq!(received, Err(Reason::BadEntry), "{place:x?}");
    }
    // Code is sent, and not overwritten.
    let sent = compartments.send(memory, (one, 0), 0, (CODE, 8));
    assert_eq!(sent, moved(8));
    let received = compartments.receive(memory, (other, 1), 0, (CODE, 8));
    assert_eq!(received, Err(Reason::BadEntry));
}

#[test]
fn the_end_of_one_closes_a_channel() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let (one, other) = joined(&mut machine);
    let compartments = &machine.compartments;
    let sent = compartments.send(&mut machine.memory, (one, 0), 0, (DATA, 24));
    assert_eq!(sent, moved(24));
    compartments.leave(&mut machine.memory, one, 0, CompartmentExit::Returned);
    machine.destroy(one).expect("it does not run");
    // A new compartment in the slot of the old one is a stranger.
    let next = machine.sealed();
    assert_eq!(next.index(), one.index());
    let stranger = machine.sealed();
    let (compartments, private) = (&machine.compartments, &mut machine.private);
    compartments
        .connect(private, next, stranger)
        .expect("both live");
    let closed = |bytes| {
        let is_open = false;
        Ok(Moved { bytes, is_open })
    };
    let memory = &mut machine.memory;
    let received = compartments.receive(memory, (other, 1), 0, (DATA, 100));
    assert_eq!(received, closed(24));
    let sent = compartments.send(memory, (other, 1), 0, (DATA, 8));
    assert_eq!(sent, closed(0));
    assert_eq!(compartments.peer((other, 1), 0), Ok(None));
    machine.check(&[next, other, stranger]);
}

#[test]
fn channels_count_against_limits() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let (one, other) = (machine.sealed(), machine.sealed());
    let tight = machine.compartments.create(&mut machine.private, 6);
    let tight = tight.expect("room");
    machine.add_all(tight, CODE, Access::Read, RAM);
    let early = machine
        .compartments
        .connect(&mut machine.private, one, tight);
    assert_eq!(early, Err(Reason::WrongTime), "it is not measured yet");
    let sealed = machine.compartments.seal(tight, CODE, CODE);
    sealed.expect("complete");
    let (compartments, private) = (&machine.compartments, &mut machine.private);
    assert_eq!(compartments.connect(private, one, one), Err(Reason::InUse));
    let full = compartments.connect(private, one, tight);
    assert_eq!(full, Err(Reason::OverLimit));
    let gone = compartments.connect(private, one, Handle::from_word(u64::MAX));
    assert_eq!(gone, Err(Reason::NoCompartment));
    for end in 0..ENDS {
        let ends = compartments.connect(private, one, other);
        assert_eq!(ends, Ok((end, end)));
    }
    let more = compartments.connect(private, one, other);
    assert_eq!(more, Err(Reason::OverLimit));
    assert!(compartments.frames(one).expect("there").0 < LIMIT);
    machine.check(&[one, other, tight]);
    for handle in [one, other, tight] {
        machine.destroy(handle).expect("it does not run");
    }
    machine.check(&[]);
}

proptest! {
    #[test]
    fn bytes_come_in_order(
        steps in prop::collection::vec((any::<bool>(), 0..PAGE_SIZE, 0..2 * PAGE_SIZE), 1..40)
    ) {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        let (one, other) = joined(&mut machine);
        let from = machine.leaves(one)[&DATA] & 0xffff_f000;
        let to = machine.leaves(other)[&DATA] & 0xffff_f000;
        let mut waiting = VecDeque::new();
        let (memory, compartments) = (&mut machine.memory, &machine.compartments);
        for (sends, offset, bytes) in steps {
            let bytes = bytes.min(PAGE_SIZE - offset);
            if sends {
                let seen: Vec<u8> = (0..bytes).map(|at| memory.byte(from + offset + at)).collect();
                let count = bytes.min(MESSAGE_MAX).min(INBOX - waiting.len() as u64);
                let sent = compartments.send(memory, (one, 0), 0, (DATA + offset, bytes));
                prop_assert_eq!(sent, moved(count));
                waiting.extend(seen.into_iter().take(count as usize));
            } else {
                let count = bytes.min(MESSAGE_MAX).min(waiting.len() as u64);
                let received = compartments.receive(memory, (other, 1), 0, (DATA + offset, bytes));
                prop_assert_eq!(received, moved(count));
                for at in 0..count {
                    prop_assert_eq!(Some(memory.byte(to + offset + at)), waiting.pop_front());
                }
            }
        }
        machine.check(&[one, other]);
    }
}
