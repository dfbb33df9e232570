// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs with and without instrumentation, in processes.

use std::path::{Path, PathBuf};

use donjon_compartment_image::Image;
use donjon_flow::Source;
use donjon_flow::build::{Build, Compiler, Target, build, reserved};
use donjon_flow::cost::{Table, cost};
use donjon_flow::execute::{Input, Outcome, execute};
use donjon_flow_chain::{Kind, State};
use donjon_flow_check::{Program, inlined, read};
use object::{Object, ObjectSection};

const SWITCH: &str = "xtask/flow/fixtures/switch.c:";

const STATES: [State; 2] = [
    State([0, 0, 0, 0]),
    State([
        0x8123_4567_89ab_cdef,
        0x0f1e_2d3c_4b5a_6978,
        0xdead_beef_0bad_cafe,
        0x7fff_ffff_ffff_fffe,
    ]),
];

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    folder.join(name).with_extension("c")
}

fn built(name: &str, target: Target, is_instrumented: bool, folder: &Path) -> PathBuf {
    let what = Build {
        path: &fixture(name),
        target,
        is_instrumented,
        compiler: Compiler::Gcc,
        has_lines: true,
    };
    build(&what, folder).expect("it builds")
}

/// Runs a fixture both ways; the instrumented runs.
fn runs(name: &str) -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder is made");
    let plain = built(name, Target::Process, false, &folder.path().join("plain"));
    let flow = built(name, Target::Process, true, &folder.path().join("flow"));
    let mut outcomes = Vec::new();
    for (argument, state) in [0, 12_345].into_iter().zip(STATES) {
        let input = Input { state, argument };
        let expected = execute(&plain, &input).expect("the plain program runs");
        let outcome = execute(&flow, &input).expect("the instrumented program runs");
        assert_eq!(outcome.result[0], expected.result[0], "{name}");
        assert_eq!(outcome.request, 12);
        outcome.check(state).expect("the chain fits the log");
        assert!(outcome.bits > 0 && outcome.bits >> 63 == 0);
        outcomes.push(outcome);
    }
    outcomes
}

fn count(outcome: &Outcome, kind: Kind) -> usize {
    let kinds = outcome.log.iter().map(|&it| Kind::of(it));
    kinds.filter(|it| *it == Some(kind)).count()
}

macro_rules! gives_the_same_result {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                runs($name);
            }
        )*
    };
}

gives_the_same_result! {
    nested_loops_run_as_without_instrumentation: "nested",
    switches_and_conditions_run_as_without_instrumentation: "switch",
    recursion_runs_as_without_instrumentation: "recursion",
    leaves_and_tail_calls_run_as_without_instrumentation: "leaves",
    loops_with_two_entries_run_as_without_instrumentation: "entries",
    exclusive_accesses_run_as_without_instrumentation: "exclusive",
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn loops_that_count_up_leave_counts_of_what_they_moved() {
    for outcome in runs("loops") {
        let counts: Vec<_> = outcome.log.iter().filter(|it| **it >> 63 == 1).collect();
        assert!(!counts.is_empty());
        assert!(
            counts
                .iter()
                .all(|it| (1..=100_000).contains(&(**it ^ 1 << 63)))
        );
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn loops_that_count_down_leave_counts_of_what_they_moved() {
    for outcome in runs("down") {
        let counts: Vec<_> = outcome.log.iter().map(|it| it ^ 1 << 63).collect();
        // 128 words backwards, 1,000 rounds, and 501 by steps of three.
        assert!(counts.contains(&1024) && counts.contains(&1000) && counts.contains(&501));
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn targets_of_pointers_are_in_the_log() {
    for outcome in runs("pointers") {
        // Two calls and a jump in each of 60 rounds, and the steps of the machine.
        assert!(count(&outcome, Kind::Address) > 180);
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn counted_loops_cost_next_to_nothing() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let input = Input {
        state: STATES[1],
        argument: 3,
    };
    let found =
        cost(&fixture("loops"), Compiler::Gcc, &input, folder.path()).expect("both forms run");
    assert!(found.ratio() > 1.0 && found.ratio() < 1.05, "{found:?}");
    let printed = Table(vec![found]).to_string();
    assert!(printed.contains("geometric mean"));
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn a_compartment_and_a_process_have_one_text() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let texts = [Target::Compartment, Target::Process].map(|target| {
        let to = folder.path().join(format!("{target:?}"));
        let program = built("switch", target, true, &to);
        text(&std::fs::read(program).expect("it is there"))
    });
    assert!(texts[0] == texts[1]);
}

/// Returns address and bytes of a program's text.
fn text(bytes: &[u8]) -> (u64, Vec<u8>) {
    let file = object::File::parse(bytes).expect("it is an ELF file");
    let text = file.section_by_name(".text").expect("it has text");
    (text.address(), text.data().expect("it has bytes").to_vec())
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn what_clang_compiled_takes_the_path_that_its_log_says() {
    let folder = tempfile::tempdir().expect("a folder is made");
    for name in [
        "nested",
        "switch",
        "recursion",
        "leaves",
        "entries",
        "exclusive",
        "loops",
        "down",
        "pointers",
    ] {
        let input = Input {
            state: STATES[1],
            argument: 12_345,
        };
        let found = cost(&fixture(name), Compiler::Clang, &input, folder.path());
        let found = found.expect("both forms run, and the path is the one that was traced");
        assert!(found.ratio() > 1.0, "{found:?}");
    }
}

/// Builds a program in Rust that panics.
fn rust(target: Target, is_instrumented: bool, has_lines: bool, folder: &Path) -> PathBuf {
    let what = Build {
        path: &fixture("panic").with_extension("rs"),
        target,
        is_instrumented,
        compiler: Compiler::Gcc,
        has_lines,
    };
    let name = format!("{}-{is_instrumented}-{has_lines}", target.name());
    build(&what, &folder.join(name)).expect("it builds")
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn a_panic_in_rust_ends_the_run_and_names_its_line() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let program = rust(Target::Process, true, true, folder.path());
    let input = |argument| Input {
        state: STATES[1],
        argument,
    };
    let outcome = execute(&program, &input(2)).expect("it runs");
    assert_eq!((outcome.request, outcome.result[0]), (12, 16));
    // Of eight values none has number ten.
    let outcome = execute(&program, &input(5)).expect("it runs");
    let source = std::fs::read_to_string(fixture("panic").with_extension("rs"));
    let source = source.expect("it is there");
    let line = source
        .lines()
        .position(|it| it.contains("values[at"))
        .expect("it is there")
        + 1;
    assert_eq!(outcome.request, 4);
    assert_eq!(outcome.result[0] & 0xffff_ffff, line as u64);
    let program = rust(Target::Compartment, true, true, folder.path());
    let names = read(&std::fs::read(program).expect("it is there"))
        .expect("sound")
        .names;
    let mut all = names.all().iter().filter(|it| it.1 == "looked_up");
    let place = names.line(all.next().expect("it is there").0);
    assert_eq!(place, Some(format!("xtask/flow/fixtures/panic.rs:{line}")));
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn rust_uses_reserved_registers_only_where_it_was_not_told_otherwise() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let uses = |is_instrumented| {
        let program = rust(Target::Process, is_instrumented, true, folder.path());
        let text = std::fs::read_to_string(program.with_file_name("compiled.s"));
        let compiled = Source {
            name: "compiled.s".into(),
            text: text.expect("it is there"),
        };
        reserved(&compiled).expect("it is assembly")
    };
    assert!(uses(false) > 10);
    assert_eq!(uses(true), 0);
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn lines_change_nothing_in_rust() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let texts = [false, true].map(|has_lines| {
        let program = rust(Target::Compartment, true, has_lines, folder.path());
        let program = std::fs::read(program).expect("it is there");
        assert_eq!(read(&program).expect("sound").names.has_lines(), has_lines);
        let image = Image::parse(&program).expect("an image");
        (text(&program), image.measurement())
    });
    assert!(texts[0] == texts[1]);
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn lines_change_nothing_that_is_loaded() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let programs = fixture("x").with_file_name("../../../guests/flow/programs");
    let large = ["picojpeg", "matcher", "wikisort"].map(|it| programs.join(it).with_extension("c"));
    let small = ["entries", "loops", "pointers", "switch", "recursion"].map(fixture);
    let by_gcc = small.iter().chain(&large).map(|it| (it, Compiler::Gcc));
    let by_clang = small.iter().map(|it| (it, Compiler::Clang));
    for (path, compiler) in by_gcc.chain(by_clang) {
        let built = [false, true].map(|has_lines| {
            let what = Build {
                path,
                target: Target::Compartment,
                is_instrumented: true,
                compiler,
                has_lines,
            };
            let folder = folder.path().join(has_lines.to_string());
            std::fs::read(build(&what, &folder).expect("it builds")).expect("it is there")
        });
        let [without, with] = &built;
        let name = path.display();
        assert!(without.len() + 2000 < with.len(), "{name} has no lines");
        assert!(text(without) == text(with), "{name}");
        let measured = |it| Image::parse(it).expect("an image").measurement();
        assert_eq!(measured(without), measured(with), "{name}");
        let lines = |it| read(it).expect("sound").names.has_lines();
        assert!(!lines(without) && lines(with), "{name}");
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn each_instruction_has_a_line_of_its_function() {
    const NOP: u32 = 0xd503_201f;
    let folder = tempfile::tempdir().expect("a folder is made");
    let program = built("switch", Target::Compartment, true, folder.path());
    let input = read(&std::fs::read(program).expect("it is there")).expect("sound");
    let source = std::fs::read_to_string(fixture("switch")).expect("it is there");
    let source: Vec<_> = source.lines().collect();
    let head = |it: &&&str| it.contains('(') && !it.starts_with(['\t', '/', '{', ' ']);
    let start = input.text[0].0;
    let words: Vec<u32> = input.text.iter().flat_map(|it| it.1.clone()).collect();
    for name in ["choose", "conditions", "donjon_call"] {
        let mut all = input.names.all().iter().filter(|it| it.1 == name);
        let function = input.names.around(all.next().expect("it is there").0);
        let function = function.expect("it is there");
        let range = (function.start - start) / 4..(function.end - start) / 4;
        for at in range {
            let address = start + 4 * at;
            let line = input.names.line(address).unwrap_or_default();
            if words[at as usize] == NOP && line.is_empty() {
                continue;
            }
            let number = line.strip_prefix(SWITCH).and_then(|it| it.parse().ok());
            let number: usize = number.unwrap_or_else(|| panic!("{address:#x}: {line}"));
            // The compiler puts `once` into `donjon_call`.
            let found = source[..number].iter().rev().find(head);
            let found = found.expect("a function is before the line");
            let is_own = found.contains(&format!(" {name}("));
            let is_inner = name == "donjon_call" && found.contains(" once(");
            assert!(is_own || is_inner, "{address:#x} in {name}: {line}");
        }
    }
}

/// Returns where the bytes of a section are in a file.
fn section(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let file = object::File::parse(bytes).expect("it is an ELF file");
    let section = file.section_by_name(name).expect("it is there");
    let (start, size) = section.file_range().expect("it has bytes");
    start as usize..(start + size) as usize
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn a_refused_place_has_its_line() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let program = built("switch", Target::Compartment, true, folder.path());
    let mut bytes = std::fs::read(program).expect("it is there");
    let input = read(&bytes).expect("sound");
    let mut all = input.names.all().iter().filter(|it| it.1 == "choose");
    let at = all.next().expect("it is there").0 - input.text[0].0;
    let at = section(&bytes, ".text").start + at as usize;
    // svc #99
    bytes[at..at + 4].copy_from_slice(&0xd400_0c61_u32.to_le_bytes());
    let refused = Program::check(read(&bytes).expect("sound")).expect_err("no such request");
    let said = refused[0].to_string();
    assert!(
        said.contains("(choose+0x0, xtask/flow/fixtures/switch.c:"),
        "{said}"
    );
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:fixtures"]
fn damaged_debug_information_makes_nothing_panic() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let program = built("leaves", Target::Compartment, true, folder.path());
    let bytes = std::fs::read(program).expect("it is there");
    let mut sound = 0;
    for name in [".debug_line", ".debug_info", ".debug_abbrev", ".debug_str"] {
        let range = section(&bytes, name);
        let step = (range.len() / 60).max(1);
        for at in range.step_by(step) {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                sound += usize::from(read(&damaged).is_ok_and(|it| !it.text.is_empty()));
                let _ = inlined(&damaged);
            }
        }
    }
    assert!(sound > 500, "{sound}");
}
