// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that stand in for LMBench measure what it measures.

use anyhow::Context;
use donjon_bench::guard;
use donjon_bench::lmbench::{Effort, Programs, ROWS, Row, figures};
use donjon_bench::resume::Run;
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;

use super::test::Test;

/// Most percent between LMBench's figure and ours.
const TOLERANCE: f64 = 3.0;

/// A row that differs for a reason.
struct Exception {
    row: &'static str,
    /// Percent that ours may be below and above LMBench's.
    range: (f64, f64),
    /// Why; printed.
    reason: &'static str,
}

const EXCEPTIONS: [Exception; 7] = [
    Exception {
        row: "read",
        range: (-5.0, 0.0),
        reason: "the GNU C library's function is 14 instructions longer than ours",
    },
    Exception {
        row: "write",
        range: (-5.0, 0.0),
        reason: "the same",
    },
    Exception {
        row: "signal install",
        range: (-20.0, -15.0),
        reason: "the GNU C library clears and copies signal masks of 128 bytes, which takes 80 \
                 instructions; ours uses the kernel's masks of 8 bytes",
    },
    Exception {
        row: "protection fault",
        range: (-6.0, 6.0),
        reason: "it is the difference of two figures that are ten times as large",
    },
    Exception {
        row: "fork+exit",
        range: (-60.0, -45.0),
        reason: "LMBench's program is linked dynamically: it has the mappings and the written \
                 pages of loader and C library, which fork copies and exit takes apart; ours is \
                 one static program",
    },
    Exception {
        row: "fork+exec",
        range: (-60.0, -45.0),
        reason: "the same, and LMBench's `hello` is linked dynamically, so that each start runs \
                 the loader",
    },
    Exception {
        row: "fork+sh",
        range: (-42.0, -28.0),
        reason: "the same; the shell between them is the guest's in both",
    },
];

/// All rows but the long one, once, in the mode that is the default, and the gate in all modes: no
/// count has grown.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    vec![Test::beside("bench:check", move || {
        guard::check_quickly(&host)
    })]
}

/// Row by row in instructions on the native kernel. By name alone: it needs Debian's package.
pub fn against_debian(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("lmbench:own-against-debian", move || {
        let rows: Vec<&Row> = ROWS.iter().collect();
        let theirs = Programs::debian(&rows)
            .context("LMBench itself is not to be had, so there is nothing to compare with")?;
        let measure = |programs: &Programs| {
            let effort = Effort::new(1, false);
            let machine = machine(Switch::None);
            figures(&host, &machine, programs, &rows, effort, &mut Run::alone())
        };
        let theirs = measure(&theirs)?;
        let ours = measure(&Programs::own(&rows))?;
        let mut wrong = Vec::new();
        for ((row, theirs), ours) in rows.iter().zip(&theirs).zip(&ours) {
            let percent = (ours[0] / theirs[0] - 1.0) * 100.0;
            let exception = EXCEPTIONS.iter().find(|it| it.row == row.name);
            let (least, most) = exception.map_or((-TOLERANCE, TOLERANCE), |it| it.range);
            let line = format!(
                "{}: LMBench {:.3}, ours {:.3} ({percent:+.1} %, allowed {least} to {most})",
                row.name, theirs[0], ours[0]
            );
            let reason = exception.map(|it| format!(": {}", it.reason));
            println!("       {line}{}", reason.unwrap_or_default());
            if !(least..=most).contains(&percent) {
                wrong.push(line);
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Finding::Figures.error(wrong.join("\n")))
    })
    .long()
}

/// One CPU that counts instructions.
fn machine(switch: Switch) -> MachineArguments {
    MachineArguments {
        cpu: Some("cortex-a57".into()),
        cpus: Some(1),
        icount: true,
        ..MachineArguments::virt(switch)
    }
}
