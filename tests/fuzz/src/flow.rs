// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs under flow attestation and their logs: what the checker and the decoder read.

use std::sync::LazyLock;

use donjon_flow_check::{End, Ending, Event, Input, Limits, Program, Segment, read, replay};

use crate::accepted;

/// Address of the text of all programs.
const BASE: u64 = 0x40_0000;

/// Random programs of the checker's own tests: the number of targets, targets and words of each.
const PROGRAMS: [&[u8]; 8] = [
    include_bytes!("../programs/0"),
    include_bytes!("../programs/1"),
    include_bytes!("../programs/2"),
    include_bytes!("../programs/3"),
    include_bytes!("../programs/4"),
    include_bytes!("../programs/5"),
    include_bytes!("../programs/6"),
    include_bytes!("../programs/7"),
];

/// The programs, proved.
static PROVED: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let proved = PROGRAMS.iter().map(|it| Program::check(input(it)));
    let proved: Result<_, _> = proved.collect();
    proved.unwrap_or_else(|refusals| panic!("a program is refused: {refusals:?}"))
});

/// What a replay of a case may take.
const LIMITS: Limits = Limits {
    blocks: 1 << 16,
    depth: 1 << 10,
};

fn words(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.as_chunks::<4>().0.iter();
    chunks.map(|it| u32::from_le_bytes(*it)).collect()
}

fn input(bytes: &[u8]) -> Input {
    let words = words(bytes);
    let (count, rest) = words.split_first().unwrap_or((&0, &[]));
    let (targets, text) = rest.split_at((*count as usize).min(rest.len()));
    Input {
        text: vec![(BASE, text.to_vec())],
        entry: BASE,
        targets: targets.iter().map(|&it| it.into()).collect(),
        ..Input::default()
    }
}

/// Checks a text: one of the programs with some of its words changed, or words alone. A text that
/// is accepted is looked at, and an empty log of it replayed.
///
/// # Panics
///
/// Where the checker or the decoder does.
pub fn text(case: &[u8]) {
    let Some((&which, rest)) = case.split_first() else {
        return;
    };
    let input = if let Some(program) = PROGRAMS.get(usize::from(which)) {
        let mut input = input(program);
        let text = &mut input.text[0].1;
        // A place, what to do there, and a word.
        for change in rest.as_chunks::<7>().0 {
            let [low, high, how, word @ ..] = *change;
            let at = usize::from(u16::from_le_bytes([low, high])) % text.len();
            let word = u32::from_le_bytes(word);
            match how % 4 {
                0 => text[at] = word,
                1 => text[at] ^= 1 << (word % 32),
                2 => text.insert(at, text[word as usize % text.len()]),
                _ if text.len() > 1 => drop(text.remove(at)),
                _ => {}
            }
        }
        input
    } else {
        Input {
            text: vec![(BASE, words(rest))],
            entry: BASE,
            ..Input::default()
        }
    };
    if let Ok(program) = Program::check(input) {
        lawful(&program);
    }
}

/// Reads and checks a program's file.
///
/// # Panics
///
/// Where the checker or the decoder does.
pub fn file(case: &[u8]) {
    let Ok(input) = read(case) else {
        return;
    };
    if let Ok(program) = Program::check(input) {
        lawful(&program);
    }
}

/// Asks a program that was accepted for all that it says.
fn lawful(program: &Program) {
    accepted();
    let numbers = program.numbers();
    assert!(numbers.blocks <= numbers.words);
    let pc = program.finish().unwrap_or(BASE);
    assert!(!program.is_flush(pc.wrapping_sub(4)));
    program.function(pc);
    let end = End {
        how: Ending::Finished,
        pc,
        path: 1,
    };
    let segment = Segment { words: &[], end };
    // The log is one of any program.
    let _ = replay(program, &[segment], LIMITS, |_| {});
}

/// Replays a log of one of the programs. Of each segment the case has the PC with how it ended and
/// the number of its words, x28, and the words.
///
/// # Panics
///
/// Where the decoder does, or if a path leads out of the text or is longer than its limits.
pub fn log(case: &[u8]) {
    let Some((&which, rest)) = case.split_first() else {
        return;
    };
    let program = &PROVED[usize::from(which) % PROVED.len()];
    let all = rest.as_chunks::<8>().0.iter();
    let all: Vec<_> = all.map(|it| u64::from_le_bytes(*it)).collect();
    let mut rest = &all[..];
    let mut segments = Vec::new();
    while let [head, path, behind @ ..] = rest {
        let (words, behind) = behind.split_at((head >> 40) as usize % (behind.len() + 1));
        let how = if head >> 32 & 1 == 0 {
            Ending::Stopped
        } else {
            Ending::Finished
        };
        let (pc, path) = (*head & 0xffff_ffff, *path);
        let end = End { how, pc, path };
        segments.push(Segment { words, end });
        rest = behind;
    }
    let (mut blocks, mut outside) = (0_u64, false);
    let replayed = replay(program, &segments, LIMITS, |it| match it {
        Event::Block { start, end, .. } => {
            blocks += 1;
            outside |= start < BASE || end <= start;
        }
        Event::Loop { times, .. } => outside |= times == 0,
    });
    assert!(!outside && blocks <= LIMITS.blocks + 1);
    match replayed {
        Ok(totals) => {
            assert!(totals.places > 0 && totals.depth <= LIMITS.depth);
            let whole = segments.last().map(|it| it.end.how) == Some(Ending::Finished);
            assert!(!whole || totals.places == 1);
            accepted();
        }
        Err(failure) => assert!(!failure.to_string().is_empty()),
    }
}
