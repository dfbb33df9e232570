// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs under flow attestation: what is shown, when, and what the transcript says.

use donjon_abi::call::{CompartmentExit, Outcome, Reason};
use donjon_abi::flow::{
    End, EndReason, KIND_OF_REPORT_SHIFT, LOG, LOG_PAGES_MAX, Message, Segment, Start,
};
use sha2::{Digest, Sha256};

use super::*;

const NONCE: [u8; 32] = [7; 32];
const ARGUMENTS: [u64; 4] = [1, 2, 3, 4];
const FIRST: [u64; 4] = [11, 12, 13, 14];
const NEXT: [u64; 4] = [21, 22, 23, 24];
const LAST: [u64; 4] = [31, 32, 33, 34];
const STORE_FAULT: u64 = 0x24 << 26 | 1 << 6 | 0b111;
const FRAME: u64 = RAM + 5 * PAGE_SIZE;
const OUTCOME: Outcome = Outcome {
    word: 5,
    data: [9; 32],
};

impl Machine<'_> {
    fn attest(&mut self, handle: Handle) -> Result<(), Reason> {
        self.compartments
            .attest(&mut self.memory, handle, (NONCE, ARGUMENTS), FIRST)
    }

    fn extend_log(&mut self, handle: Handle, frame: u64) -> Result<u64, Reason> {
        let of = (&self.frames, &mut self.private);
        self.compartments
            .extend_log(&mut self.memory, of, handle, frame)
    }

    fn attested(&mut self) -> Handle {
        let handle = self.sealed();
        self.attest(handle).expect("it has not run");
        assert_eq!(self.extend_log(handle, FRAME), Ok(1));
        handle
    }

    fn running(&mut self) -> Handle {
        let handle = self.attested();
        let entry = self.enter(handle, 0).expect("ready");
        assert_eq!(entry.how, How::BeginAttested);
        handle
    }

    fn stop_run(
        &mut self,
        handle: Handle,
        (cursor, pc): (u64, u64),
        cause: Cause,
    ) -> Option<Stopped> {
        let stop = Stop {
            state: LAST,
            cursor,
            path: 6,
            pc,
        };
        let stopped =
            self.compartments
                .stop_attested(&mut self.memory, (handle, 0), (stop, cause), || Some(NEXT));
        if let Some(Stopped { exit, .. }) = stopped {
            self.leave(handle, 0, exit);
        }
        stopped
    }

    fn fill_log(&mut self, handle: Handle) {
        let end = LOG + PAGE_SIZE;
        let full = Cause::Exception {
            esr: STORE_FAULT,
            far: end,
        };
        let stopped = self.stop_run(handle, (end, CODE + 8), full);
        let expected = Stopped {
            exit: CompartmentExit::LogFull,
            words: 512,
            next: Some(NEXT),
        };
        assert_eq!(stopped, Some(expected));
    }

    fn commit(&mut self, handle: Handle, digest: u8) -> Result<Message, Reason> {
        let commit = self
            .compartments
            .commit(&mut self.memory, handle, [digest; 32]);
        commit.map(|bytes| Message::from_bytes(&bytes).expect("a message"))
    }

    fn end_run(&mut self, handle: Handle) -> Result<Message, Reason> {
        let end = self.compartments.end_transcript(&mut self.memory, handle);
        end.map(|bytes| Message::from_bytes(&bytes).expect("a message"))
    }
}

fn segment(index: u64, first: [u64; 4], (words, pc): (u64, u64), digest: u8) -> Message {
    Message::Segment(Segment {
        index,
        first,
        last: LAST,
        words,
        path: 6,
        pc,
        digest: [digest; 32],
    })
}

fn ended(segments: u64, reason: EndReason, outcome: Outcome) -> Message {
    Message::End(End {
        segments,
        reason: reason as u64,
        esr: 0,
        word: outcome.word,
        data: outcome.data,
    })
}

#[test]
fn a_report_binds_the_transcript() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.running();
    let begin = machine
        .compartments
        .begin_attested(&mut machine.memory, (handle, 0))
        .expect("it runs");
    let expected = Begin {
        place: (CODE, DATA + PAGE_SIZE),
        arguments: ARGUMENTS,
        state: FIRST,
    };
    assert_eq!(begin, expected);
    machine.fill_log(handle);
    let mut transcript = std::vec![Message::Start(Start {
        measurement: machine.compartments.measurement(handle).expect("sealed"),
        nonce: NONCE,
        arguments: ARGUMENTS,
    })];
    transcript.push(machine.commit(handle, 1).expect("closed"));
    assert_eq!(transcript[1], segment(0, FIRST, (512, CODE + 8), 1));
    let entry = machine.enter(handle, 0).expect("committed");
    assert_eq!(entry.how, How::GoOn);
    let stopped = machine.stop_run(handle, (LOG + 16, CODE + 12), Cause::End(OUTCOME));
    let expected = Stopped {
        exit: CompartmentExit::Ended,
        words: 2,
        next: None,
    };
    assert_eq!(stopped, Some(expected));
    transcript.push(machine.commit(handle, 2).expect("closed"));
    assert_eq!(transcript[2], segment(1, NEXT, (2, CODE + 12), 2));
    transcript.push(machine.end_run(handle).expect("over"));
    assert_eq!(transcript[3], ended(2, EndReason::Finished, OUTCOME));
    let subject = machine
        .compartments
        .flow_subject(&mut machine.memory, handle)
        .expect("ended");
    let bytes: Vec<u8> = transcript.iter().flat_map(Message::to_bytes).collect();
    assert_eq!(subject.data[..32], NONCE);
    assert_eq!(subject.data[32..], Sha256::digest(bytes)[..]);
    assert_eq!(subject.limit, LIMIT | 1 << KIND_OF_REPORT_SHIFT);
    machine.check(&[handle]);
    machine.destroy(handle).expect("it does not run");
    machine.check(&[]);
}

#[test]
fn nothing_is_shown_before_its_commit_and_nothing_runs_on() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.attested();
    // Nothing is closed.
    assert_eq!(machine.commit(handle, 1), Err(Reason::WrongTime));
    machine.enter(handle, 0).expect("ready");
    assert_eq!(machine.commit(handle, 1), Err(Reason::InUse));
    assert_eq!(machine.end_run(handle), Err(Reason::InUse));
    machine.leave(handle, 0, CompartmentExit::Interrupted);
    assert_eq!(machine.commit(handle, 1), Err(Reason::WrongTime));
    machine.enter(handle, 0).expect("interrupted");
    machine.fill_log(handle);
    // A closed segment: no run, no end and no report before the commit, and one commit.
    let refused = Err(Reason::WrongTime);
    assert_eq!(machine.enter(handle, 0).map(drop), refused);
    assert_eq!(machine.end_run(handle).map(drop), refused);
    machine.commit(handle, 1).expect("closed");
    assert_eq!(machine.commit(handle, 2).map(drop), refused);
    machine.enter(handle, 0).expect("committed");
    machine.stop_run(handle, (LOG, CODE), Cause::End(OUTCOME));
    assert_eq!(machine.end_run(handle).map(drop), refused);
    machine.commit(handle, 1).expect("closed");
    let subject = |machine: &mut Machine| {
        let (compartments, memory) = (&machine.compartments, &mut machine.memory);
        compartments.flow_subject(memory, handle).map(drop)
    };
    assert_eq!(subject(&mut machine), refused);
    machine.end_run(handle).expect("over");
    assert_eq!(machine.end_run(handle).map(drop), refused);
    assert_eq!(subject(&mut machine), Ok(()));
    assert_eq!(machine.enter(handle, 0).map(drop), refused);
}

#[test]
fn only_what_is_sealed_and_has_not_run_is_attested_and_once() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let refused = Err(Reason::WrongTime);
    let building = machine.create();
    assert_eq!(machine.attest(building), refused);
    machine.destroy(building).expect("it does not run");
    let handle = machine.sealed();
    let clone = machine.cloned(handle).expect("pristine");
    assert_eq!(machine.attest(clone), refused);
    assert_eq!(machine.attest(handle), refused, "a template with a clone");
    machine.destroy(clone).expect("it does not run");
    machine.enter(handle, 0).expect("idle");
    machine.leave(handle, 0, CompartmentExit::Returned);
    assert_eq!(machine.attest(handle), refused, "it has run");
    assert_eq!(machine.extend_log(handle, FRAME).map(drop), refused);
    machine.destroy(handle).expect("it does not run");
    let handle = machine.attested();
    assert_eq!(machine.attest(handle), refused, "a second time");
    assert_eq!(machine.cloned(handle).map(drop), refused);
    assert_eq!(machine.share(handle, DATA + PAGE_SIZE, RAM), refused);
    machine.enter(handle, 0).expect("ready");
    machine.leave(handle, 0, CompartmentExit::Interrupted);
    assert_eq!(machine.extend_log(handle, FRAME).map(drop), refused);
}

#[test]
fn a_log_has_its_own_place() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.create();
    let bad = Err(Reason::BadEntry);
    let end = LOG + LOG_PAGES_MAX * PAGE_SIZE;
    for va in [LOG, LOG + PAGE_SIZE, end] {
        let added = machine.add(handle, va, Access::Write, RAM).map(drop);
        assert_eq!(added, bad, "{va:#x}");
        assert_eq!(machine.share(handle, va, RAM), bad, "{va:#x}");
    }
    assert_eq!(machine.share(handle, end + PAGE_SIZE, RAM), Ok(()));
    machine.destroy(handle).expect("it does not run");
    let handle = machine.attested();
    let guard = machine.compartments.of(handle).expect("there");
    let inner = guard.state.root.as_u64();
    drop(guard);
    let wrong = Err(Reason::WrongFrame);
    assert_eq!(machine.extend_log(handle, inner).map(drop), wrong);
    assert_eq!(machine.extend_log(handle, RAM + 8).map(drop), wrong);
    assert_eq!(machine.extend_log(handle, FRAME), Ok(2));
    let leaves = machine.leaves(handle);
    for va in [LOG, LOG + PAGE_SIZE] {
        assert_eq!(leaves[&va] & bits::OUTPUT_ADDRESS, FRAME);
        assert_ne!(leaves[&va] & bits::NO_EL0, 0, "it is executable");
    }
    machine.check(&[handle]);
}

#[test]
fn a_program_that_leaves_its_form_gets_no_segment() {
    let far = LOG + PAGE_SIZE;
    let end = Cause::End(OUTCOME);
    let fault = Cause::Exception {
        esr: STORE_FAULT,
        far,
    };
    for (cursor, cause, reason, segments) in [
        (LOG - 8, end, EndReason::Broken, 0),
        (LOG + 4, end, EndReason::Broken, 0),
        (far + 8, fault, EndReason::Broken, 0),
        (LOG, Cause::Error, EndReason::Cut, 0),
        (LOG, Cause::Exit(3), EndReason::Exited, 1),
        (LOG + 8, fault, EndReason::Faulted, 1),
    ] {
        let mut ram = Ram::new();
        let mut machine = ram.machine();
        let handle = machine.running();
        machine.stop_run(handle, (cursor, CODE + 4), cause);
        if segments == 1 {
            let pc = CODE + 4 * u64::from(reason == EndReason::Faulted);
            let words = (cursor - LOG) / 8;
            let closed = segment(0, FIRST, (words, pc), 1);
            assert_eq!(machine.commit(handle, 1), Ok(closed));
        }
        let Ok(Message::End(it)) = machine.end_run(handle) else {
            panic!("no end: {reason:?}");
        };
        assert_eq!((it.reason, it.segments), (reason as u64, segments));
        let is_fault = reason == EndReason::Faulted;
        assert_eq!(it.esr, if is_fault { STORE_FAULT } else { 0 });
        let has_word = reason == EndReason::Exited;
        assert_eq!((it.word, it.data), (u64::from(has_word) * 3, [0; 32]));
    }
}

#[test]
fn a_call_that_returns_and_one_that_is_cut_lose_what_is_open() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let handle = machine.running();
    machine.leave(handle, 0, CompartmentExit::Returned);
    let broken = ended(0, EndReason::Broken, Outcome::NONE);
    assert_eq!(machine.end_run(handle), Ok(broken));
    let cut = ended(0, EndReason::Cut, Outcome::NONE);
    for exit in [CompartmentExit::Interrupted, CompartmentExit::CalledOut] {
        let handle = machine.running();
        machine.leave(handle, 0, exit);
        assert_eq!(machine.end_run(handle), Ok(cut));
        assert_eq!(machine.enter(handle, 0).map(drop), Err(Reason::WrongTime));
    }
    let handle = machine.attested();
    assert_eq!(machine.end_run(handle), Ok(cut));
}

#[test]
fn no_limit_has_the_bits_of_a_kind() {
    let mut ram = Ram::new();
    let mut machine = ram.machine();
    let limit = LIMIT | 1 << KIND_OF_REPORT_SHIFT;
    let made = machine.compartments.create(&mut machine.private, limit);
    assert_eq!(made.map(drop), Err(Reason::OverLimit));
}
