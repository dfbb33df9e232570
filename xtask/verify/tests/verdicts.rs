// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in C, run in an emulator, with what a host would have kept of their runs.

mod kept;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use donjon_flow::build::{Build, Compiler, Target, build};
use donjon_flow::execute::{Input, Outcome, execute, random_state};
use donjon_flow_chain::{Kind, State};
use donjon_flow_check::{Program, read};

use kept::Kept;

/// A program that was built for a compartment, and a run of it.
struct Ran {
    folder: tempfile::TempDir,
    program: PathBuf,
    state: State,
    outcome: Outcome,
}

fn door() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/door.c")
}

fn repeated(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/flow/programs");
    folder.join(name).with_extension("c")
}

/// Builds a program for both kinds of place, whose text is one, and runs it in a process.
fn ran(path: &Path, argument: u64) -> Ran {
    let folder = tempfile::tempdir().expect("a folder is made");
    let [program, process] = [Target::Compartment, Target::Process].map(|target| {
        let what = Build {
            path,
            target,
            is_instrumented: true,
            compiler: Compiler::Gcc,
            has_lines: true,
        };
        build(&what, &folder.path().join(target.name())).expect("it builds")
    });
    let state = random_state().expect("random bytes");
    let outcome = execute(&process, &Input { state, argument }).expect("it runs");
    assert_eq!(outcome.request, 12);
    Ran {
        folder,
        program,
        state,
        outcome,
    }
}

impl Ran {
    fn kept(&self) -> Kept {
        let bytes = fs::read(&self.program).expect("it is there");
        let program = Program::check(read(&bytes).expect("sound")).expect("lawful");
        let pc = program.finish().expect("one end");
        let folder = self.folder.path().join("run");
        Kept::new(folder, &self.program, self.state, &self.outcome, pc)
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:verifier"]
fn runs_of_programs_are_accepted() {
    for name in [
        "crc_32",
        "matmult-int",
        "sglib-combined",
        "slre",
        "statemate",
    ] {
        let ran = ran(&repeated(name), 1);
        let report = ran.kept().judged().expect("it can be read");
        assert_eq!(report.status(), 0, "{name}: {report}");
    }
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:verifier"]
fn an_illegal_return_is_named_with_function_file_and_line() {
    let ran = ran(&door(), 0);
    let addresses = ran.outcome.log.iter().enumerate();
    let addresses = addresses.filter(|it| Kind::of(*it.1) == Some(Kind::Address));
    let (mut returns, mut pointers) = (0, 0);
    let all: Vec<_> = addresses.map(|it| (it.0, *it.1)).collect();
    for (at, word) in all {
        let mut kept = ran.kept();
        // The program really went there, so digest and tag fit.
        kept.log[at] = word + 4;
        let report = kept.retagged().judged().expect("it can be read");
        assert_eq!(report.status(), 1, "{report}");
        let said = &report.wrong[0];
        let begins = format!("rejected: segment 0, word {}, at 0x", at + 1);
        assert!(said.starts_with(&begins), "{said}");
        assert!(said.contains("xtask/verify/fixtures/door.c:"), "{said}");
        returns +=
            usize::from(said.contains(": return to 0x") && said.contains("the call returns to 0x"));
        pointers += usize::from(said.contains("which no pointer may hold"));
    }
    assert!(returns > 15 && pointers > 30, "{returns} {pointers}");
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:verifier"]
fn a_policy_is_about_the_functions_of_the_named_file() {
    let ran = ran(&door(), 0);
    let policy = "must-not-run = ['never']\n\
                  [calls.open_door]\nleast = 20\nmost = 20\n\
                  [[order]]\nfirst = 'check'\nthen = 'open_door'\neach = true\n\
                  [[order]]\nfirst = 'log_line'\nthen = 'open_door'\neach = true\n";
    let mut kept = ran.kept();
    kept.policy = Some(policy.into());
    let report = kept.judged().expect("it can be read");
    assert_eq!(report.status(), 0, "{report}");
    // The control: names are in no measurement, so a file with exchanged ones is as good for it.
    let exchanged = ran.folder.path().join("exchanged");
    let mut objcopy = Command::new("aarch64-linux-gnu-objcopy");
    objcopy.args(["--redefine-sym", "log_line=open_door"]);
    objcopy.args(["--redefine-sym", "open_door=log_line"]);
    let status = objcopy.arg(&ran.program).arg(&exchanged).status();
    assert!(status.expect("it runs").success());
    kept.program = exchanged;
    let report = kept.judged().expect("it can be read");
    assert_eq!(report.status(), 1, "{report}");
    let said = "the policy is not fulfilled: entry 1 of open_door has no log_line before it";
    assert_eq!(report.wrong, [said]);
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:verifier"]
fn a_function_that_is_within_others_has_no_policy() {
    let ran = ran(&door(), 0);
    let mut kept = ran.kept();
    kept.policy = Some("must-not-run = ['mixed']".into());
    let trouble = format!("{:#}", kept.judged().expect_err("it is inlined"));
    assert!(
        trouble.contains("noipa") && trouble.contains("visit+0x"),
        "{trouble}"
    );
    // Without debug information that is not known, and is said.
    let stripped = ran.folder.path().join("stripped");
    let mut objcopy = Command::new("aarch64-linux-gnu-objcopy");
    let status = objcopy
        .arg("--strip-debug")
        .arg(&ran.program)
        .arg(&stripped);
    assert!(status.status().expect("it runs").success());
    kept.program = stripped;
    kept.policy = Some("must-not-run = ['never']".into());
    let report = kept.judged().expect("it can be read");
    assert_eq!(report.status(), 0, "{report}");
    assert!(
        report.to_string().contains("no debug information"),
        "{report}"
    );
}

#[test]
#[ignore = "it compiles for arm64 and runs in an emulator: cargo xtask test flow:verifier"]
fn millions_of_blocks_are_walked_in_a_second() {
    for (name, argument) in [("wikisort", 8), ("picojpeg", 6), ("nsichneu", 400)] {
        let ran = ran(&repeated(name), argument);
        let kept = ran.kept();
        kept.write();
        let begun = Instant::now();
        let report = kept.asked().expect("it can be read");
        let seconds = begun.elapsed().as_secs_f64();
        assert_eq!(report.status(), 0, "{name}: {report}");
        let blocks: f64 = report.blocks as f64;
        let (words, million) = (ran.outcome.log.len(), 1e-6 * blocks);
        let rate = million / seconds;
        println!(
            "{name}: {million:.1} million blocks, {words} words, {seconds:.2} s: {rate:.1} a second"
        );
        assert!(rate > 1.0, "{name}: {rate} million blocks a second");
    }
}
