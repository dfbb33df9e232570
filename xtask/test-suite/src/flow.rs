// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that say which path they took: in an emulator of the instruction set, and in a guest.

mod attested;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use donjon_bench::flow::NAMES;
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::Needs;
use donjon_flow::build::{Compiler, is_rust};
use donjon_flow::command;
use donjon_flow::cost::{Cost, Table, cost};
use donjon_flow::execute::{Input, random_state};
use donjon_machine::paths;

use crate::host::cargo;
use crate::test::Test;

const EMULATOR: Needs = command::EMULATOR;

const RUST: Needs = Needs {
    core_sources: true,
    ..EMULATOR
};

const CLANG: Needs = EMULATOR.or(Compiler::Clang.needs());

/// Programs of few instructions, which clang compiles in each run.
const OF_CLANG: [&str; 7] = [
    "crc_32",
    "libminver",
    "libst",
    "matcher",
    "nsichneu",
    "protocol",
    "statemate",
];

/// Results of the programs.
const EXPECTED: &str = "guests/flow/programs/expected.toml";

/// Most that instrumentation may add to the compared programs, as a factor: geometric mean.
const MOST_COST: f64 = 1.40;
/// Most bytes of log for each instruction of the compared programs: geometric mean.
const MOST_BYTES: f64 = 0.06;

/// The tests that need no guest.
pub fn tests() -> Vec<Test> {
    let fixtures = || emulated("flow-fixtures", "--test=programs");
    let verifier = || emulated("flow-verifier", "--test=verdicts");
    let tests = [
        Test::beside("flow:fixtures", fixtures).needs(CLANG.or(RUST)),
        Test::beside("flow:verifier", verifier).needs(EMULATOR),
        Test::beside("flow:programs", programs).needs(EMULATOR),
        Test::beside("flow:clang", clang).needs(CLANG),
        Test::beside("flow:rust", rust).needs(RUST),
    ];
    tests.map(Test::on_host).into()
}

/// Runs the tests of a file that need an emulator. They are built where all tests of the host are:
/// for one package alone cargo would build its libraries again.
fn emulated(log: &str, file: &str) -> Result<()> {
    cargo(log, &["test", "--quiet", file, "--", "--ignored"])
}

/// The test that takes long.
pub fn long() -> Test {
    let test = Test::beside("flow:clang:all", all_by_clang);
    test.on_host().needs(CLANG).long()
}

/// The test that boots.
pub fn guest(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("flow:attested", move || attested::attested(&host)).holds(&["P7"])
}

/// What a program returns.
#[derive(serde::Deserialize)]
struct Results {
    one: Option<u64>,
}

/// Builds each program by gcc with and without instrumentation; compares results, the path that the
/// log says with the emulator's trace, and the costs with their limits.
fn programs() -> Result<()> {
    let mut rows = measured(Compiler::Gcc, |it| !is_rust(it))?;
    rows.retain(|it| NAMES.contains(&it.name.as_str()));
    ensure!(
        rows.len() == NAMES.len(),
        "{} of {} programs are there",
        rows.len(),
        NAMES.len()
    );
    let table = Table(rows);
    println!("{table}");
    ensure!(
        table.mean() <= MOST_COST,
        "instrumentation costs {:.1} %, and at most {:.0} % are allowed",
        100.0 * (table.mean() - 1.0),
        100.0 * (MOST_COST - 1.0)
    );
    ensure!(
        table.bytes() <= MOST_BYTES,
        "the log has {:.3} bytes for each instruction, and at most {MOST_BYTES} are allowed",
        table.bytes()
    );
    Ok(())
}

/// Builds the shortest programs by clang, compares results, and paths with traces.
fn clang() -> Result<()> {
    let is_wanted = |it: &Path| {
        OF_CLANG
            .iter()
            .any(|name| it.file_stem() == Some(name.as_ref()))
    };
    let rows = measured(Compiler::Clang, is_wanted)?;
    ensure!(
        rows.len() == OF_CLANG.len(),
        "{} of {} programs are there",
        rows.len(),
        OF_CLANG.len()
    );
    Ok(())
}

/// Builds all programs by clang, compares results, and paths with traces.
fn all_by_clang() -> Result<()> {
    println!("{}", Table(measured(Compiler::Clang, |it| !is_rust(it))?));
    Ok(())
}

/// Builds the programs in Rust with a core of the nightly toolchain's, compares results, and paths
/// with traces.
fn rust() -> Result<()> {
    let rows = measured(Compiler::Gcc, is_rust)?;
    ensure!(!rows.is_empty(), "there is no program in Rust");
    Ok(())
}

/// Builds the programs that are wanted with and without instrumentation, compares their results
/// with each other and with those that are expected, and the path that the log says with the
/// emulator's trace; what each of them costs.
fn measured(compiler: Compiler, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<Cost>> {
    let expected = fs::read_to_string(paths::in_root(EXPECTED)).context(EXPECTED)?;
    let expected: BTreeMap<String, Results> = toml::from_str(&expected).context(EXPECTED)?;
    let input = Input {
        state: random_state()?,
        argument: 1,
    };
    let folder = paths::in_root("target/flow/test").join(compiler.name());
    let mut rows: Vec<Cost> = Vec::new();
    println!("{}", Table::head());
    for source in command::programs()? {
        if !is_wanted(&source) {
            continue;
        }
        let row = cost(&source, compiler, &input, &folder)?;
        println!("{row}");
        if let Some(result) = expected.get(&row.name).and_then(|it| it.one) {
            ensure!(
                row.result == result,
                "{} returns {:#x}, and {EXPECTED} says {result:#x}",
                row.name,
                row.result
            );
        }
        rows.push(row);
    }
    Ok(rows)
}
