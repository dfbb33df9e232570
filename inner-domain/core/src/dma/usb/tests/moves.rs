// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random moves of a hostile kernel, with the emulator's main loop between any two writes.

use std::vec::Vec;

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::model::Answer;
use super::{BUS, DISABLE, ENABLE, HIDDEN, IMAGE, Machine, RAM};
use crate::dma::usb::Registers;
use crate::dma::usb::registers::rule;

/// What a hostile kernel does next.
#[derive(Clone, Debug)]
enum Move {
    Write(u64, u32),
    Start(u64, u32, u32, u32),
    Turn,
}

/// Addresses around the edges of what devices reach.
fn addresses() -> impl Strategy<Value = u32> {
    let edges = [RAM.0, RAM.1, IMAGE.0, IMAGE.1, HIDDEN.0, HIDDEN.1];
    let near = (prop::sample::select(edges.to_vec()), -0x2800_i64..0x1800);
    near.prop_map(|(edge, by)| BUS.wrapping_add((edge as i64 + by) as u32))
}

fn moves() -> impl Strategy<Value = Move> {
    let sizes = prop::sample::select(std::vec![0_u32, 1, 64, 512, 1024, 2048, 4096, 65536]);
    let packet_size = prop::sample::select(std::vec![8_u32, 64, 512, 1024]);
    let flags = (any::<bool>(), 0..4_u32, 0..4_u32);
    let start = (0..2_u64, sizes, packet_size, flags, addresses());
    let start = start.prop_map(|(channel, bytes, size, (is_in, kind, pid), at)| {
        let control = size | u32::from(is_in) << 15 | kind << 18;
        let packets = bytes.div_ceil(size).max(1);
        Move::Start(channel, control, bytes | packets << 19 | pid << 29, at)
    });
    // Two channels, so that what is left of one move meets the next.
    prop_oneof![
        4 => start,
        3 => (0..2_u64).prop_map(|it| Move::Write(0x500 + 0x20 * it, DISABLE)),
        1 => (0..2_u64, addresses()).prop_map(|(it, value)| Move::Write(0x514 + 0x20 * it, value)),
        1 => (0..0x400_u64, any::<u32>()).prop_map(|(it, value)| Move::Write(4 * it, value)),
        2 => Just(Move::Turn),
    ]
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = prop_oneof![
        3 => (0..65537_u32).prop_map(Answer::Bytes),
        2 => Just(Answer::NotNow),
        3 => (0..65537_u32).prop_map(Answer::Later),
        1 => Just(Answer::Stall),
    ];
    prop::collection::vec(answer, 0..24)
}

/// Who writes the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    InnerDomain,
    /// An inner domain that forgets what a disabled channel has in flight.
    Forgetful,
    Linux,
}

/// Plays the moves.
fn play(moves: &[Move], answers: Vec<Answer>, turns: Vec<u8>, writer: Writer) -> Machine {
    let mut machine = Machine::after(writer == Writer::InnerDomain);
    machine.emulator.answers = answers;
    machine.emulator.turns = turns;
    for next in moves {
        if writer == Writer::Forgetful {
            for channel in &mut machine.controller.channels {
                channel.was_disabled = false;
            }
        }
        match *next {
            Move::Turn => machine.emulator.turn(),
            Move::Write(at, value) if writer == Writer::Linux => machine.emulator.write(at, value),
            Move::Write(at, value) => {
                let _ = machine.write(at, value);
            }
            Move::Start(channel, control, amount, address) if writer == Writer::Linux => {
                let first = 0x500 + 0x20 * channel;
                machine.emulator.write(first + 0x10, amount);
                machine.emulator.write(first + 0x14, address);
                machine.emulator.write(first, control | ENABLE);
            }
            Move::Start(channel, control, amount, address) => {
                let _ = machine.start(channel, control, amount, address);
            }
        }
    }
    machine
}

proptest! {
    // Miri shows the tests no files.
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 4096 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_written_no_access_leaves_the_window(
        moves in prop::collection::vec(moves(), 1..64),
        answers in answers(),
        turns in prop::collection::vec(0..2_u8, 0..160),
    ) {
        let machine = play(&moves, answers, turns, Writer::InnerDomain);
        prop_assert_eq!(machine.strays(), []);
    }

    #[test]
    fn every_register_has_one_rule_or_none(at in 0..0x2000_u64) {
        let is_word = at % 4 == 0;
        prop_assert!(is_word || rule(at).is_none());
    }
}

#[test]
fn the_moves_leave_the_window_where_less_is_checked() {
    const RUNS: usize = if cfg!(miri) { 0 } else { 1024 };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let turns = prop::collection::vec(0..2_u8, 0..160);
    let all = (prop::collection::vec(moves(), 1..64), answers(), turns);
    for (writer, least) in [(Writer::Linux, RUNS / 8), (Writer::Forgetful, 4)] {
        let strays = (0..RUNS).filter(|_| {
            let (moves, answers, turns) = all.new_tree(&mut runner).expect("values").current();
            !play(&moves, answers, turns, writer).strays().is_empty()
        });
        let count = strays.count();
        assert!(
            count >= least || cfg!(miri),
            "{writer:?}: {count} of {RUNS}"
        );
    }
}
