// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logs that no run of a lawful program leaves.

use super::*;
use crate::replay::{End, Ending, Event, Failure, Fault, Limits, Segment, Totals, replay};

/// An entry that calls a function which saves x30, loops over bits, and returns.
fn looping() -> (Program, Vec<u64>) {
    let code = program(|code| {
        code.word(SAVE);
        code.at(Label::Block(1, 1));
        code.region(1, 1, 1);
        code.push(Item::Near(B_EQ, Label::Edge(1, 1)));
        code.word(LOAD);
        code.record(30);
        code.word(RET);
        code.at(Label::Edge(1, 1));
        code.edge(1);
        code.push(Item::Far(B, Label::Block(1, 1)));
        code.flush(1, 1);
    });
    let (words, labels) = code.assemble();
    let flush = labels[&Label::Flush(1, 1)];
    let program = Program::check(input(&words, &labels)).expect("lawful");
    (program, vec![BASE + 4, flush])
}

fn finished(path: u64) -> End {
    End {
        how: Ending::Finished,
        pc: BASE + 8,
        path,
    }
}

fn fault(program: &Program, segments: &[(&[u64], End)]) -> Result<Totals, Fault> {
    run(program, segments, Limits::default()).map_err(|it| it.fault)
}

fn run(program: &Program, segments: &[(&[u64], End)], limits: Limits) -> Result<Totals, Failure> {
    let segments: Vec<_> = segments
        .iter()
        .map(|&(words, end)| Segment { words, end })
        .collect();
    replay(program, &segments, limits, |_: Event| {})
}

#[test]
fn a_lawful_log_is_a_path() {
    let (program, places) = looping();
    // Two rounds, and out.
    let totals = fault(&program, &[(&[places[0]], finished(0b1110))]);
    let totals = totals.expect("a path");
    assert_eq!((totals.calls, totals.depth), (1, 1));
    // Entry, function, (start, edge) twice, start, way out, end.
    assert_eq!(totals.blocks, 1 + 1 + 4 + 2 + 1);
}

#[test]
fn illegal_returns_are_named_with_both_addresses() {
    let (program, places) = looping();
    for to in [BASE, BASE + 8, BASE + 12, 0, 0xffff_ffff] {
        let expected = Some(places[0]);
        let found = fault(&program, &[(&[to], finished(0b10))]);
        assert_eq!(found, Err(Fault::Return { to, expected }));
    }
    let failure = run(&program, &[(&[BASE], finished(0b10))], Limits::default());
    let failure = failure.expect_err("refused");
    // At the record, not at the return.
    assert_eq!(failure.address, BASE + 8 + 4 * (1 + 3 + 1));
}

#[test]
fn words_of_another_kind_are_refused() {
    let (program, places) = looping();
    for word in [1 << 63 | places[0], 1 << 40] {
        let found = fault(&program, &[(&[word], finished(0b10))]);
        assert_eq!(found, Err(Fault::Kind(word)));
    }
    assert_eq!(
        fault(&program, &[(&[], finished(0b10))]),
        Err(Fault::Missing)
    );
    assert_eq!(fault(&program, &[]), Err(Fault::NoLog));
    for path in [0, 1 << 63] {
        let found = fault(&program, &[(&[places[0]], finished(path))]);
        assert_eq!(found, Err(Fault::NoLog));
    }
}

#[test]
fn flushes_stand_exactly_where_they_fire() {
    let (program, places) = looping();
    let full = (1 << 62) | ((1 << 62) - 1);
    // 62 rounds, then the flush, then out.
    assert!(fault(&program, &[(&[full, places[0]], finished(0b10))]).is_ok());
    assert!(fault(&program, &[(&[full, full, places[0]], finished(0b10))]).is_ok());
    // Behind the address, with a bit less, with a bit that was not there, and left out.
    for (log, path) in [
        (vec![places[0], full], 0b10),
        (vec![full >> 1, places[0]], 0b10),
        (vec![full ^ 1, places[0]], 0b10),
        (vec![places[0]], 1 << 62 | 1),
    ] {
        let found = fault(&program, &[(&log, finished(path))]);
        assert!(found.is_err(), "{log:x?}");
    }
}

#[test]
fn borders_stand_at_the_record_with_the_path_bits_that_go_on() {
    let (program, places) = looping();
    let record = BASE + 8 + 4 * (1 + 3 + 1);
    let border = |pc, path| End {
        how: Ending::Stopped,
        pc,
        path,
    };
    let with = |pc, path| {
        fault(
            &program,
            &[(&[], border(pc, path)), (&places[..1], finished(0b10))],
        )
    };
    assert!(with(record, 0b10).is_ok());
    // Begun anew, other bits, and another record.
    for (pc, path) in [(record, 1), (record, 0b11), (places[1], 0b10)] {
        assert_eq!(with(pc, path), Err(Fault::Border));
    }
    let ended = [(&[][..], finished(0b10)), (&places[..1], finished(0b10))];
    assert_eq!(fault(&program, &ended), Err(Fault::Border));
}

#[test]
fn ends_elsewhere_than_the_report_says_are_refused() {
    let (program, places) = looping();
    let mut end = finished(0b10);
    for pc in [BASE, BASE + 4, BASE + 12, 0] {
        end.pc = pc;
        assert_eq!(fault(&program, &[(&places[..1], end)]), Err(Fault::End));
    }
    // More words, and more bits.
    let more = [places[0], places[0]];
    assert_eq!(fault(&program, &[(&more, finished(0b10))]), Err(Fault::End));
    assert_eq!(
        fault(&program, &[(&places[..1], finished(0b100))]),
        Err(Fault::End)
    );
}

#[test]
fn counts_are_multiples_of_the_step() {
    let code = program(|code| {
        code.word(0x2a01_03fa);
        code.at(Label::Loop(1, 0));
        code.word(0x3100_0c21);
        code.push(Item::Near(B_NE, Label::Loop(1, 0)));
        words(code, &[0x4b1a_003a, 0xb241_035a]);
        code.record(26);
        code.word(RET);
    });
    let (text, labels) = code.assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    let with = |count: u64| fault(&program, &[(&[1 << 63 | count], finished(1))]);
    // The last three led around, all numbers of the register passed.
    for (count, rounds) in [
        (3, 1),
        (9, 3),
        (0xffff_ffff, 0x5555_5555),
        (1, 0xaaaa_aaab),
        (4, 0xaaaa_aaac),
        (0, 1 << 32),
    ] {
        let totals = with(count).expect("a path");
        assert_eq!(totals.blocks, 3 + rounds);
    }
    for count in [0x1_0000_0000, 0x1_0000_0002, 1 << 62] {
        assert_eq!(with(count), Err(Fault::Count(1 << 63 | count)));
    }
}

#[test]
fn each_count_of_half_a_register_stands_for_the_first_number_of_rounds_that_gives_it() {
    for step in [1, 2, 3, 12, 0x80_0000, 0xfff_000] {
        let code = program(|code| {
            code.word(0x2a01_03fa);
            code.at(Label::Loop(1, 0));
            let twelve = if step < 1 << 12 {
                step << 10
            } else {
                1 << 22 | step >> 12 << 10
            };
            code.word(0x3100_0021 | twelve);
            code.push(Item::Near(B_NE, Label::Loop(1, 0)));
            words(code, &[0x4b1a_003a, 0xb241_035a]);
            code.record(26);
            code.word(RET);
        });
        let (text, labels) = code.assemble();
        let program = Program::check(input(&text, &labels)).expect("lawful");
        let around = (1_u64 << 32) >> step.trailing_zeros();
        for rounds in [1, 2, 5, 511, 512, around / 2 + 3, around - 1, around] {
            if rounds > around {
                continue;
            }
            let word = 1 << 63 | u64::from((rounds as u32).wrapping_mul(step));
            let totals = fault(&program, &[(&[word], finished(1))]).expect("a path");
            assert_eq!(totals.blocks, 3 + u128::from(rounds), "{step:x}");
        }
    }
}

#[test]
fn long_paths_and_deep_calls_end_at_their_limits() {
    let (program, places) = looping();
    let segments: &[(&[u64], End)] = &[(&places[..1], finished(0b1110))];
    let limit = |blocks, depth| run(&program, segments, Limits { blocks, depth });
    assert!(limit(9, 1).is_ok());
    assert_eq!(limit(8, 1).map_err(|it| it.fault), Err(Fault::Long));
    assert_eq!(limit(9, 0).map_err(|it| it.fault), Err(Fault::Deep));
}

#[test]
fn straight_functions_that_call_twice_are_bounded() {
    // 40 functions without a word: 2^40 blocks.
    let mut code = Code::default();
    for function in 0..41 {
        code.at(Label::Function(function));
        if function == 40 {
            code.word(RET);
            break;
        }
        code.word(SAVE);
        for _ in 0..2 {
            code.push(Item::Far(BL, Label::Function(function + 1)));
        }
        code.word(FINISH);
    }
    let (text, labels) = code.assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    let limits = Limits {
        blocks: 1000,
        depth: 100,
    };
    let found = run(&program, &[(&[], finished(1))], limits);
    assert!(found.is_err());
}

#[test]
fn the_places_at_which_a_log_may_have_ended_are_counted() {
    // A leaf that is called twice, and stops at its return.
    let code = program(|code| {
        code.word(SAVE);
        for _ in 0..2 {
            code.push(Item::Far(BL, Label::Function(2)));
        }
        code.word(LOAD);
        code.record(30);
        code.word(RET);
        code.at(Label::Function(2));
        code.word(RET);
    });
    let (text, labels) = code.assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    let stopped = |pc| End {
        how: Ending::Stopped,
        pc,
        path: 1,
    };
    let mut blocks = 0;
    let segments = [Segment {
        words: &[],
        end: stopped(labels[&Label::Function(2)]),
    }];
    let each = |it| blocks += u32::from(matches!(it, Event::Block { .. }));
    let totals = replay(&program, &segments, Limits::default(), each).expect("a path");
    // The path to the first place is shown: entry, function, leaf.
    assert_eq!((totals.places, blocks), (2, 3));
    assert_eq!((totals.blocks, totals.calls), (3, 2));
    // Between the calls, behind both, and a run that ended by itself.
    for (words, end) in [
        (&[][..], stopped(BASE + 16)),
        (&[], stopped(BASE + 20)),
        (&[BASE + 4], stopped(BASE + 4)),
        (&[BASE + 4], finished(1)),
    ] {
        assert_eq!(fault(&program, &[(words, end)]).expect("a path").places, 1);
    }
}

#[test]
fn counting_places_ends_at_a_limit() {
    let code = program(|code| {
        for _ in 0..1200 {
            code.push(Item::Far(BL, Label::Function(2)));
        }
        code.word(0);
        code.at(Label::Function(2));
        code.word(RET);
    });
    let (text, labels) = code.assemble();
    let program = Program::check(input(&text, &labels)).expect("lawful");
    let end = End {
        how: Ending::Stopped,
        pc: labels[&Label::Function(2)],
        path: 1,
    };
    let places = |blocks| {
        let limits = Limits { blocks, depth: 9 };
        run(&program, &[(&[], end)], limits).map(|it| it.places)
    };
    assert_eq!(places(1 << 20).ok(), Some(1000));
    // One more for what was not looked at.
    assert_eq!(places(22).ok(), Some(11));
    assert_eq!(places(3).ok(), Some(2));
    assert_eq!(places(2).map_err(|it| it.fault), Err(Fault::Long));
}
