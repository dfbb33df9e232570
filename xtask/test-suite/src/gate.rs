// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gate: is what was linked what the model explores, and does anything get out of it?
//!
//! The host's tests reason about a list of steps for each mode. Here the same list is read off
//! the disassembly, so that an instruction cannot be dropped or moved in one of them alone.

use std::fs;

use anyhow::{Result, ensure};
use donjon_attack::Without;
use donjon_attack::gate::{Breach, Plan, Summary};
use donjon_bench::path::{Instruction, instructions};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::{self, InnerVariant};
use donjon_machine::arguments::Switch;
use donjon_models::tlb::{Gate, Invalidation, Step};

use super::test::Test;

const MODES: [Switch; 3] = [Switch::Asid, Switch::Tlbi, Switch::Strict];
/// Runs of a test; `cargo xtask attack gate` makes more.
const RUNS: u64 = 300;
/// TG1, T1SZ and DS, with HPD1 set.
const GEOMETRIES: u64 = 512;

/// A gate, or vectors, without one protection.
struct Weakened {
    mode: Switch,
    inner: &'static [&'static str],
    linux: Option<&'static str>,
    /// What the runs have to find.
    breach: Breach,
}

impl Weakened {
    const fn gate(mode: Switch, inner: &'static [&'static str], breach: Breach) -> Self {
        Self {
            mode,
            inner,
            linux: None,
            breach,
        }
    }

    const fn vectors(mode: Switch, inner: &'static [&'static str]) -> Self {
        Self {
            mode,
            inner,
            linux: Some("vectors"),
            breach: Breach::Fetched,
        }
    }
}

const WEAKENED: [Weakened; 11] = [
    Weakened::gate(
        Switch::Asid,
        &["weaken-no-compare"],
        Breach::InnerUnderOther,
    ),
    Weakened::gate(
        Switch::Tlbi,
        &["weaken-no-compare"],
        Breach::InnerUnderOther,
    ),
    Weakened::gate(
        Switch::Strict,
        &["weaken-no-compare"],
        Breach::InnerUnderOther,
    ),
    Weakened::gate(
        Switch::Strict,
        &["weaken-no-compare-first"],
        Breach::Unnoticed,
    ),
    Weakened::gate(Switch::Strict, &["weaken-no-compare-exit"], Breach::Fetched),
    Weakened::gate(Switch::Asid, &["weaken-no-mask"], Breach::InnerUnmasked),
    Weakened::gate(Switch::Asid, &["weaken-no-clear"], Breach::Left(2)),
    // Vectors that compare would stop it at the first exception of the boot.
    Weakened::vectors(Switch::Asid, &["weaken-no-narrow", "weaken-vectors"]),
    Weakened::vectors(Switch::Asid, &["weaken-vectors"]),
    Weakened::vectors(Switch::Tlbi, &["weaken-vectors"]),
    Weakened::vectors(Switch::Strict, &["weaken-vectors"]),
];

/// Tests for each mode, and for what each weakened gate lets through.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for mode in MODES {
        let name = format!("gate-model:{}", mode.name());
        let model = Test::beside(&name, move || is_the_model(mode)).on_host();
        tests.push(model);
        let host = host.clone();
        tests.push(Test::beside(
            &format!("gate-run:{}", mode.name()),
            move || {
                let summary = Plan::new(&host, mode, RUNS).carry_out(|_| ())?;
                summary.expect_good()?;
                // Runs that forge nothing, or are not disturbed where they should be, prove
                // nothing.
                ensure!(summary.forged > RUNS / 2, "few forged values: {summary}");
                ensure!(summary.disturbed > RUNS / 10, "few exceptions: {summary}");
                Ok(())
            },
        ));
    }
    for weakened in WEAKENED {
        let host = host.clone();
        let inner = weakened.inner.join("+");
        let name = format!("gate-run:{}:{inner}", weakened.mode.name());
        let vectors: &[_] = match weakened.inner {
            ["weaken-vectors"] if weakened.mode == Switch::Asid => &["I7"],
            _ => &[],
        };
        // Vectors and gate compare in each mode by the same instructions.
        let is_same = matches!(weakened.inner, ["weaken-vectors" | "weaken-no-compare"]);
        let is_long = is_same && weakened.mode != Switch::Asid;
        let test = Test::beside(&name, move || notices(&host, &weakened));
        tests.push(test.holds(vectors).long_if(is_long));
    }
    let (sound, control) = (host.clone(), host.clone());
    let geometry = Test::beside("gate-run:geometry", move || {
        let summary = geometries(&sound, false)?;
        summary.expect_good()?;
        ensure!(
            summary.forged > GEOMETRIES / 2,
            "few forged values: {summary}"
        );
        Ok(())
    });
    let without = Test::beside("gate-run:geometry:control", move || {
        let summary = geometries(&control, true)?;
        // The block's zero pages are what stops them: with tables there, the attacker's
        // instruction runs.
        let values = summary.hostile_values();
        ensure!(values.len() >= 2, "hostile tables got nowhere: {summary}");
        Ok(())
    });
    tests.extend([geometry, without].map(|it| it.holds(&["I14"])));
    tests.into_iter().map(|it| it.holds(&["P1"])).collect()
}

/// The runs must find what a protection is for where it is left out.
fn notices(host: &HostArguments, weakened: &Weakened) -> Result<()> {
    let summary = Plan {
        without: Without {
            inner: weakened.inner,
            linux: weakened.linux,
            ..Without::NOTHING
        },
        first: true,
        // Either model has what it takes.
        cpus: &["cortex-a57"],
        ..Plan::new(host, weakened.mode, RUNS)
    }
    .carry_out(|_| ())?;
    let breach = weakened.breach.to_string();
    // Which register is the first to tell something depends on the call, and its value follows.
    let breach = breach.trim_start_matches("x2 ");
    let mut found = summary.described.iter();
    ensure!(
        found.any(|it| it.breach.contains(breach)),
        "the runs did not find `{breach}`: {summary}"
    );
    Ok(())
}

/// Every forged geometry, with FEAT_HPDS, FEAT_LVA and FEAT_LPA2.
fn geometries(host: &HostArguments, in_table_block: bool) -> Result<Summary> {
    Plan {
        cpus: &["max"],
        geometry: Some(in_table_block),
        ..Plan::new(host, Switch::Asid, GEOMETRIES)
    }
    .carry_out(|_| ())
}

fn is_the_model(switch: Switch) -> Result<()> {
    let gate = match switch {
        Switch::Tlbi => Gate::tlbi(Invalidation::InnerPage),
        Switch::Strict => Gate::strict(),
        Switch::Asid | Switch::None => Gate::asid(),
    };
    let mut modelled: Vec<&str> = gate.steps.iter().map(kind).collect();
    if switch == Switch::Tlbi {
        // Behind the return, in place of the list where that is empty: the model's
        // `Invalidation::All`.
        modelled.push("tlbi of everything");
    }
    let built = bare::build(&InnerVariant::sound(switch))?;
    let path = instructions(&fs::read(built.inner)?)?;
    let linked: Vec<&str> = path.iter().filter_map(kind_of_instruction).collect();
    ensure!(
        modelled == linked,
        "the model's gate is {modelled:?}, the linked one {linked:?}"
    );
    Ok(())
}

fn kind(step: &Step) -> &'static str {
    match step {
        Step::Write(_) => "write",
        Step::Synchronize => "isb",
        Step::Compare(_) => "compare",
        Step::Invalidate(_) => "tlbi",
        Step::Complete => "dsb",
        Step::RunInner => "run",
        Step::Return => "return",
    }
}

/// What the model would call an instruction, if it matters to it.
fn kind_of_instruction(instruction: &Instruction) -> Option<&'static str> {
    Some(match instruction.mnemonic.as_str() {
        _ if instruction.writes_tcr() => "write",
        "isb" => "isb",
        // The branch to the repair entry is the only one of its kind in the gate.
        "b.ne" => "compare",
        "tlbi" if instruction.operands.starts_with("vaae1,") => "tlbi",
        "tlbi" if instruction.operands == "vmalle1" => "tlbi of everything",
        "tlbi" => "another tlbi",
        "dsb" => "dsb",
        "blr" => "run",
        "ret" => "return",
        _ => return None,
    })
}
