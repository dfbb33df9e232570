// SPDX-License-Identifier: MIT OR Apache-2.0
//! A made-up record of scale: costs that grow with the pages.

use super::super::calls;
use super::super::scale::{
    Boot, Boots, Contended, Cpus, Exponent, Inner, LastSteps, Linux, Longest, Memory, Native,
    Operation, Protected, Scale, Time,
};
use super::{CPU, LINUX, figures};

const PAGES: [u64; 6] = [1, 16, 256, 4096, 65_536, 262_144];
const MODES: [&str; 3] = ["asid", "tlbi", "strict"];

/// A cost of one operation and, on top, of each of its pages.
type Line = (f64, f64);

/// Name of the operation, instructions of the native kernel, calls, and instructions that each mode
/// adds.
const OPERATIONS: [(&str, Line, Line, [Line; 3]); 4] = [
    (
        "map",
        (3000.0, 700.0),
        (1.0, 1.0 / 16.0),
        [(290.0, 23.25), (330.0, 25.75), (305.0, 24.1875)],
    ),
    (
        "protect",
        (1500.0, 20.0),
        (1.0, 1.0 / 512.0),
        [
            (275.0, 0.707_812_5),
            (315.0, 0.785_937_5),
            (290.0, 0.737_109_4),
        ],
    ),
    (
        "unmap",
        (1800.0, 90.0),
        (1.0, 1.0 / 512.0),
        [
            (278.0, 1.407_812_5),
            (318.0, 1.485_937_5),
            (293.0, 1.437_109_4),
        ],
    ),
    (
        "fork",
        (120_000.0, 60.0),
        (10.0, 1.0 / 512.0),
        [
            (3800.0, 1.107_812_5),
            (4200.0, 1.185_937_5),
            (3950.0, 1.137_109_4),
        ],
    ),
];

fn at(pages: u64, (base, each): Line) -> f64 {
    let tenths = ((base + each * pages as f64) * 10.0).round();
    tenths / 10.0
}

fn operations() -> Vec<Operation> {
    let all = OPERATIONS.iter();
    let all = all.flat_map(|(name, native, calls, modes)| {
        PAGES.map(|pages| {
            let native = at(pages, *native);
            let inside = (calls.0 * 200.0, calls.1 * 200.0);
            let protected = MODES.iter().zip(modes).map(|(mode, added)| {
                let figures = Protected {
                    instructions: native + at(pages, *added),
                    calls: at(pages, *calls),
                    inside: at(pages, inside),
                };
                ((*mode).to_owned(), figures)
            });
            Operation {
                name: (*name).into(),
                pages,
                repetitions: 15,
                native: Native {
                    instructions: native,
                },
                modes: protected.collect(),
            }
        })
    });
    all.collect()
}

/// Makes a record of scale.
pub fn scale() -> Scale {
    let exponents = OPERATIONS.map(|(name, ..)| Exponent {
        name: name.into(),
        over: "pages".into(),
        native: Some(0.9),
        modes: figures([("asid", 0.91)]),
        last_steps: Some(LastSteps {
            native: vec![0.99, 1.0],
            modes: [("asid".into(), vec![0.99, 1.01])].into(),
            at_most: vec![1.05, 1.05],
        }),
    });
    let time = |wall_milliseconds| Time {
        wall_milliseconds,
        kinds: figures([("vm", wall_milliseconds)]),
    };
    let cpus = |cpus, trees| Cpus {
        cpus,
        native: time(1000.0),
        modes: [(
            "asid".into(),
            Contended {
                time: time(1500.0),
                calls: 2000.0,
                waits: figures([("trees", trees)]),
            },
        )]
        .into(),
    };
    let linux = Linux {
        total_kib: 1_000_000,
        available_kib: 950_000,
    };
    let inner = Inner {
        inner_kib: 20_000,
        text_kib: 200,
        reserve_kib: Some(32_768),
        reserve_free_kib: Some(30_720),
        linux,
    };
    let boot = |instructions| Boot {
        instructions,
        waited: 5e6,
        to_clock: 3e7,
        to_kernel_up: 9e7,
        to_process: 1e7,
        to_first_instruction: instructions - 1.3e8,
    };
    Scale {
        unit: "instructions".into(),
        cpu: CPU.into(),
        linux: LINUX.into(),
        operations: operations(),
        exponents: exponents.into(),
        cpus: vec![cpus(1, 0.0), cpus(2, 3.5)],
        memory: vec![Memory {
            ram_kib: 1 << 20,
            native: linux,
            modes: [("asid".into(), inner)].into(),
        }],
        boot: Some(Boots {
            native: boot(1.35e8),
            modes: [("asid".into(), boot(1.38e8))].into(),
        }),
        longest: vec![Longest {
            mode: "asid".into(),
            call: calls::Longest {
                function: "flush".into(),
                instructions: 11_963,
            },
        }],
    }
}
