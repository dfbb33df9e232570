// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs with and without instrumentation, in processes.

use std::path::{Path, PathBuf};

use donjon_flow::build::{Build, Target, build};
use donjon_flow::cost::{Table, cost};
use donjon_flow::execute::{Input, Outcome, execute};
use donjon_flow_chain::{Kind, State};

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
fn loops_that_count_down_leave_counts_of_what_they_moved() {
    for outcome in runs("down") {
        let counts: Vec<_> = outcome.log.iter().map(|it| it ^ 1 << 63).collect();
        // 128 words backwards, 1,000 rounds, and 501 by steps of three.
        assert!(counts.contains(&1024) && counts.contains(&1000) && counts.contains(&501));
    }
}

#[test]
fn targets_of_pointers_are_in_the_log() {
    for outcome in runs("pointers") {
        // Two calls and a jump in each of 60 rounds, and the steps of the machine.
        assert!(count(&outcome, Kind::Address) > 180);
    }
}

#[test]
fn counted_loops_cost_next_to_nothing() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let input = Input {
        state: STATES[1],
        argument: 3,
    };
    let found = cost(&fixture("loops"), &input, folder.path()).expect("both forms run");
    assert!(found.ratio() > 1.0 && found.ratio() < 1.05, "{found:?}");
    let printed = Table(vec![found]).to_string();
    assert!(printed.contains("geometric mean"));
}

#[test]
fn a_compartment_and_a_process_have_one_text() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let texts = [Target::Compartment, Target::Process].map(|target| {
        let to = folder.path().join(format!("{target:?}"));
        let program = built("switch", target, true, &to);
        let bytes = std::fs::read(program).expect("it is there");
        let file = object::File::parse(&*bytes).expect("it is an ELF file");
        use object::{Object, ObjectSection};
        let text = file.section_by_name(".text").expect("it has text");
        (text.address(), text.data().expect("it has bytes").to_vec())
    });
    assert!(texts[0] == texts[1]);
}
