// SPDX-License-Identifier: MIT OR Apache-2.0
//! Made-up records, one of each kind, for tests.

mod compartments;
mod scale;

use anyhow::{Result, bail};
use serde_json::{Value, to_value};

use super::attacks::{Attack, STOPPED};
use super::audit::{Audit, Once, Sight};
use super::calls::{Calls, Longest, Operation};
use super::dma::Dma;
use super::flow::{Fig5, Flow, Hash, Log};
use super::idc::{self, Cost, Idc};
use super::kselftests::{self, Kselftests, Outcome};
use super::lmbench::{Cell, Lmbench, Row};
use super::programs::{Program, Programs, Stressor};
use super::recorded::Recorded;
use super::stress::{ALL, Stress};
use super::{Figures, flow};

pub use compartments::compartments;
pub use scale::scale;

/// Name of the CPU of all examples.
pub const CPU: &str = "fixture-cpu";
/// Release of Linux of all examples.
pub const LINUX: &str = "6.12.0-fixture";

/// Gives the document of a part, by the part's name.
///
/// # Errors
///
/// If there is no such part.
pub fn document(part: &str) -> Result<Value> {
    let document = match part {
        "idc" => to_value(idc()),
        "lmbench" => to_value(lmbench()),
        "calls" => to_value(calls()),
        "programs" => to_value(programs()),
        "scale" => to_value(scale()),
        "stress" => to_value(stress()),
        "compartments" => to_value(compartments()),
        "flow" => to_value(flow()),
        "attacks" => to_value(attacks()),
        "audit" => to_value(audit()),
        "kselftests" => to_value(kselftests()),
        _ => bail!("there is no part `{part}`"),
    };
    Ok(document?)
}

/// Makes figures by name.
pub fn figures<const N: usize>(figures: [(&str, f64); N]) -> Figures {
    figures.map(|(name, it)| (name.to_owned(), it)).into()
}

/// Makes figures of the native kernel and of the modes.
fn kernels([native, asid, tlbi, strict]: [f64; 4]) -> Figures {
    let modes = [("asid", asid), ("tlbi", tlbi), ("strict", strict)];
    let mut all = figures(modes);
    all.insert("native".into(), native);
    all
}

fn cost(median: f64) -> Cost {
    Cost {
        mean: median,
        median,
        ..Cost::default()
    }
}

/// Makes a record of the null call.
pub fn idc() -> Idc {
    let mode = |name: &str, median, [tcr_writes, isb, tlb_ops]: [usize; 3]| {
        let cost = Cost {
            tcr_writes: Some(tcr_writes),
            isb: Some(isb),
            tlb_ops: Some(tlb_ops),
            ..cost(median)
        };
        (name.to_owned(), cost)
    };
    Idc {
        unit: "instructions".into(),
        samples: 100,
        figures: idc::Figures {
            modes: [
                mode("asid", 59.0, [2, 2, 0]),
                mode("tlbi", 91.0, [2, 3, 9]),
                mode("strict", 72.0, [4, 4, 0]),
            ]
            .into(),
            null_syscall: Some(cost(277.0)),
            function_call: Some(cost(2.0)),
            firmware_call: Some(cost(1.0)),
            null_syscall_native: Some(cost(289.0)),
        },
        cpu: CPU.into(),
        linux: LINUX.into(),
        cores: Vec::new(),
    }
}

/// Makes a record of LMBench.
pub fn lmbench() -> Lmbench {
    let row = |name: &str, native: f64, stddev, means: [f64; 3]| {
        let modes = ["asid", "tlbi", "strict"].into_iter().zip(means);
        let modes = modes.map(|(mode, mean)| {
            let percent: f64 = (mean / native - 1.0) * 100.0;
            let cell = Cell {
                mean,
                stddev,
                overhead_percent: (percent * 1e4).round() / 1e4,
            };
            (mode.to_owned(), cell)
        });
        let modes = modes.collect();
        (name.to_owned(), Row { native, modes })
    };
    Lmbench {
        unit: "microseconds".into(),
        layouts: 2,
        source: "fixture".into(),
        rows: [
            row("null", 0.3, 0.001, [0.29; 3]),
            row("fork+exit", 280.0, 3.0, [294.0, 296.0, 295.0]),
            row("page fault", 0.7, 0.01, [0.73, 0.735, 0.732]),
        ]
        .into(),
        machine: None,
        cpu: None,
    }
}

/// Makes a record of calls.
pub fn calls() -> Calls {
    let longest = [("flush", 11_963), ("text_wait", 150_053), ("log", 12_989)];
    Calls {
        operations: vec![Operation {
            name: "fork+exit".into(),
            calls: 10.5,
            maps: 6.3,
            flushes: 2.1,
            switches: 2.0,
            instructions: 4150.0,
        }],
        longest: longest
            .map(|(function, instructions)| Longest {
                function: function.into(),
                instructions,
            })
            .into(),
    }
}

/// Makes a record of programs, one of which is above its goal.
pub fn programs() -> Programs {
    let program = |name: &str, unit: &str, goal_percent, instructions, calls: f64| Program {
        name: name.into(),
        unit: unit.into(),
        goal_percent,
        instructions: kernels(instructions),
        samples: Default::default(),
        calls: figures([("asid", calls), ("tlbi", calls), ("strict", calls)]),
    };
    let insert = [20_000.0, 20_100.0, 20_300.0, 20_120.0];
    let sh = [900_000.0, 936_900.0, 945_000.0, 938_000.0];
    let mut insert = program("sqlite3 insert", "row", 1.0, insert, 0.25);
    insert.samples = [
        ("native".into(), vec![1.0, 2.0]),
        ("asid".into(), vec![1.0, 2.0]),
    ]
    .into();
    Programs {
        unit: "instructions for one unit".into(),
        cpu: CPU.into(),
        linux: LINUX.into(),
        programs: vec![
            insert,
            program("sh, starting processes", "process", 4.0, sh, 52.0),
        ],
        stress: vec![Stressor {
            name: "fork".into(),
            cpus: 2,
            unit: "milliseconds of QEMU wall time (emulator)".into(),
            time: kernels([100.0, 150.0, 110.0, 120.0]),
        }],
    }
}

/// Makes a record of a fixed amount of work.
pub fn stress() -> Stress {
    Stress {
        unit: "milliseconds of QEMU wall time (emulator)".into(),
        cpus: 2,
        times: 1,
        work: [
            (ALL.into(), kernels([3000.0, 4200.0, 4500.0, 4400.0])),
            ("vm".into(), kernels([1000.0, 1500.0, 1600.0, 1550.0])),
            (
                "processes".into(),
                kernels([2000.0, 2700.0, 2900.0, 2850.0]),
            ),
        ]
        .into(),
        huge: kernels([1_000_000.0, 1_010_000.0, 1_020_000.0, 1_012_000.0]),
        waits: [("asid".into(), figures([("domain", 1.0), ("trees", 22.0)]))].into(),
        calls: figures([("asid", 2000.0), ("tlbi", 2000.0), ("strict", 2000.0)]),
    }
}

/// Makes records of attacks, with names that a page must not take for its own.
pub fn attacks() -> Vec<Attack> {
    let attack = |[id, name, by, control, note]: [&str; 5]| Attack {
        id: id.into(),
        name: name.into(),
        mode: "asid".into(),
        outcome: STOPPED.into(),
        by: by.into(),
        audit_violations: 0,
        control: control.into(),
        note: note.into(),
    };
    let note = "map a <table> & write; control weaken-target";
    vec![
        attack(["A1", "map-text", "refused: <frame>", "succeeded", note]),
        attack(["zero", "forge-zero", "a panic", "n/a", "write 0"]),
    ]
}

/// Makes a record of two audits.
pub fn audit() -> Audit {
    let once = |at: &str, tables| Once {
        violations: Vec::new(),
        sight: Sight {
            cpus: 4,
            user_roots: 1,
            tables,
            leaves: 9000,
            frames: [("ordinary", 250_000), ("text", 900), ("table", 40)]
                .map(|(class, count)| (class.to_owned(), count))
                .into(),
            exec_pages: 901,
            code_bytes: 3_600_000,
            geometries: 52_000,
            ..Sight::default()
        },
        at: at.into(),
    };
    let audits = vec![once("boot", 120), once("load", 300)];
    Audit {
        violations: Vec::new(),
        last: audits.last().map(|it| it.sight.clone()),
        audits,
    }
}

/// Makes a record of the kernel's selftests.
pub fn kselftests() -> Kselftests {
    let outcome = Outcome {
        status: Some(0),
        passed: 10,
        failed: 0,
        skipped: 2,
    };
    Kselftests {
        mode: "asid".into(),
        cpu: CPU.into(),
        cpus: 4,
        linux: LINUX.into(),
        programs: vec![kselftests::Program {
            name: "mm/cow".into(),
            native: outcome.clone(),
            protected: outcome,
            worse: Vec::new(),
        }],
    }
}

/// Makes a record of transfers.
pub fn dma() -> Dma {
    let machines = [("behind the SMMU", 1002.0), ("without an SMMU", 1000.0)];
    let ranges = machines.map(|(name, it)| (name.to_owned(), [it - 1.0, it + 1.0]));
    let kernels = [("checked registers", 1400.0), ("native", 1000.0)];
    let kind = || "read-sequential".to_owned();
    Dma {
        linux: LINUX.into(),
        instructions: [(kind(), figures(machines))].into(),
        range: [(kind(), ranges.into())].into(),
        usb: [(kind(), figures(kernels))].into(),
    }
}

/// Makes a record of flow attestation.
pub fn flow() -> Flow {
    let program = flow::Program {
        repetitions: 7,
        plain_outside: 1000.0,
        plain_inside: 1001.0,
        instrumented_outside: 1250.0,
        instrumented_inside: 1251.0,
        all_in_sha: 1400.0,
        all_in_software: 3000.0,
        words: 5.0,
    };
    Flow {
        unit: "instructions".into(),
        cpu: CPU.into(),
        linux: LINUX.into(),
        fig5: Some(Fig5 {
            plain_inside_over_outside_percent: 0.1,
            instrumented_over_plain_percent: 25.0,
            instrumented_inside_over_outside_percent: 0.08,
            instrumented_inside_over_plain_inside_percent: 24.98,
            all_in_sha_percent: 40.0,
            all_in_software_percent: 200.0,
            log_bytes_per_instruction: 0.04,
            programs: [("tarfind".to_owned(), program)].into(),
        }),
        hash: Some(Hash {
            sha_extension: 2.5,
            software: 17.25,
        }),
        log: Some(Log {
            segment: 550.0,
            segments: [200, 3],
        }),
    }
}

/// Makes a record of what is recorded in the sources.
pub fn recorded() -> Recorded {
    Recorded {
        idc: idc(),
        calls: calls(),
        quick: figures([("mmap", 3.0)]),
        lmbench: lmbench(),
    }
}
