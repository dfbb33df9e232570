// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the fuzzers of `tests/fuzz/` begin with: programs of these tests, their files and logs.

use std::fs;
use std::path::{Path, PathBuf};

use super::compare::input;
use super::elf::file;
use super::generator::{layered, random};
use super::interpreter::{Machine, Plan, Run};
use crate::replay::Ending;

/// Programs; half of them have functions without words.
const PROGRAMS: u64 = 8;

fn words(all: impl IntoIterator<Item = u32>) -> Vec<u8> {
    all.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Writes a log as `donjon_fuzz::flow::log` reads it.
fn log(program: u64, run: &Run) -> Vec<u8> {
    let segments = run.segments.iter().flat_map(|(words, end)| {
        let how = u64::from(end.how == Ending::Finished);
        let head = end.pc | how << 32 | (words.len() as u64) << 40;
        [head, end.path].into_iter().chain(words.iter().copied())
    });
    let bytes = segments.flat_map(u64::to_le_bytes);
    std::iter::once(program as u8).chain(bytes).collect()
}

/// Lists all files and what is in them.
fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz");
    let mut all = Vec::new();
    for program in 0..PROGRAMS {
        let make = if program % 2 == 0 { random } else { layered };
        // The first one from there on that has some length and is no burden.
        let mut codes = (50 * program..).map(make);
        let is_small = |it: &super::assembler::Code| (150..500).contains(&it.items.len());
        let code = codes.find(is_small).expect("there are small ones");
        let (text, labels) = code.assemble();
        let targets = input(&text, &labels).targets;
        let head = [targets.len() as u32].into_iter();
        let head = head.chain(targets.iter().map(|&it| it as u32));
        let name = |kind: &str| folder.join(kind).join(program.to_string());
        all.push((name("programs"), words(head.chain(text.iter().copied()))));
        all.push((name("cases/flow-file"), file(&text, &targets)));
        all.push((name("cases/flow-text"), vec![program as u8]));
        let plan = Plan {
            fuel: 2000,
            words: 4,
            resets: false,
            taken: 500,
        };
        // The longest log of some runs.
        let runs = (0..64).map(|seed| Machine::new(&text, seed, plan).run());
        let count = |it: &Run| it.segments.iter().map(|it| it.0.len()).sum::<usize>();
        let run = runs.max_by_key(count).expect("there are some");
        all.push((name("cases/flow-log"), log(program, &run)));
    }
    all
}

#[test]
fn the_fuzzers_begin_with_the_programs_of_these_tests() {
    for (path, bytes) in files() {
        let kept = fs::read(&path).unwrap_or_default();
        let how =
            "cargo test -p donjon-flow-check -- --ignored fuzzers_begin_with_is_written writes it";
        assert!(kept == bytes, "{} is another one; {how}", path.display());
    }
}

#[test]
#[ignore = "writes files"]
fn what_the_fuzzers_begin_with_is_written() {
    for (path, bytes) in files() {
        let folder = path.parent().expect("it has one");
        fs::create_dir_all(folder).expect("the folder is made");
        fs::write(&path, bytes).expect("it is written");
    }
}
