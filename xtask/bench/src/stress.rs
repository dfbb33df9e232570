// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench stress`: how long a fixed amount of work takes in QEMU, and what 64 MiB of
//! memory cost in instructions where Linux may use huge pages.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use comfy_table::{CellAlignment, Table, presets};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use serde::Serialize;

use super::{CPU, kernel_name, output_of};
use crate::arguments::StressArguments;

/// For boot and work.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1200);
/// Repetitions of the 64 MiB.
const HUGE_TIMES: u32 = 10;
/// What the inner domain says of waiting and of calls; nothing over a native kernel.
const STATUS: &str =
    "{ grep -E '^(waits|calls):' /sys/kernel/security/donjon/status 2>/dev/null || true; }";
/// The sum of all kinds.
const ALL: &str = "all";

/// Nanoseconds, or instructions, by kind of work.
pub(crate) type Figures = BTreeMap<String, f64>;

/// What was measured, by mode; `native` is one.
#[derive(Serialize)]
struct Report {
    /// Unit of the work.
    unit: &'static str,
    cpus: u32,
    times: u32,
    /// Milliseconds by kind and mode.
    work: BTreeMap<String, Figures>,
    /// Instructions for 64 MiB of anonymous memory, touched and given back, by mode.
    huge: Figures,
    /// How often a CPU looked at a lock of the inner domain's and found it held, by mode and kind
    /// of lock, while the work went on.
    waits: BTreeMap<String, Figures>,
    /// Calls of the inner domain while the work went on, by mode.
    calls: Figures,
}

/// Measures and prints.
pub fn run(arguments: &StressArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    environment::prepare(&arguments.host, Needs::default())?;
    let mut report = Report {
        unit: "milliseconds of QEMU wall time (emulator)",
        cpus: arguments.cpus,
        times: arguments.times,
        work: BTreeMap::new(),
        huge: Figures::new(),
        waits: BTreeMap::new(),
        calls: Figures::new(),
    };
    let mut modes = vec![Switch::None];
    modes.extend(arguments.switch.iter().filter(|it| **it != Switch::None));
    for switch in modes {
        let name = kernel_name(switch);
        let host = &arguments.host;
        let work = work(host, switch, arguments.cpus, arguments.times)?;
        for (kind, figure) in work.milliseconds {
            let row = report.work.entry(kind).or_default();
            row.insert(name.to_owned(), figure);
        }
        if let Some((calls, waits)) = work.inside {
            report.calls.insert(name.to_owned(), calls);
            report.waits.insert(name.to_owned(), waits);
        }
        let huge = format!("donjon-load huge --times {HUGE_TIMES}");
        let title = format!("64 MiB, {name}");
        let text = measure(host, &machine(switch, 1, true), &title, &huge)?;
        let (_, figure) = text
            .lines()
            .find_map(figure)
            .context("no figure for 64 MiB")?;
        report.huge.insert(name.to_owned(), figure);
    }
    let mut all = Figures::new();
    for (mode, figure) in report.work.values().flatten() {
        *all.entry(mode.clone()).or_default() += figure;
    }
    report.work.insert(ALL.to_owned(), all);
    println!("{report}");
    json::write(arguments.json.as_deref(), &report)
}

/// What a fixed amount of work took.
pub(crate) struct Work {
    /// Milliseconds of wall time by kind.
    pub(crate) milliseconds: Figures,
    /// Calls of the inner domain meanwhile, and how often a lock of each kind was found held; none
    /// over a native kernel.
    pub(crate) inside: Option<(f64, Figures)>,
}

/// What the guest runs for `times` as much work as is usual on each of `cpus` CPUs.
pub(crate) fn command(cpus: u32, times: u32) -> String {
    format!("{STATUS}; donjon-load work --cpus {cpus} --times {times} && {STATUS}")
}

/// Does that work.
fn work(host: &HostArguments, switch: Switch, cpus: u32, times: u32) -> Result<Work> {
    let title = format!("work of {cpus} CPUs, {}", kernel_name(switch));
    Work::read(&measure(
        host,
        &machine(switch, cpus, false),
        &title,
        &command(cpus, times),
    )?)
}

impl Work {
    /// Reads what the guest printed.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let figures = text.lines().filter_map(figure);
        let milliseconds: Figures = figures
            .map(|(kind, figure)| (kind, (figure / 1e6).round()))
            .collect();
        ensure!(!milliseconds.is_empty(), "the guest printed:\n{text}");
        let waits: Vec<Figures> = text.lines().filter_map(waits).collect();
        let calls: Vec<f64> = text.lines().filter_map(calls).collect();
        let inside = match (&calls[..], &waits[..]) {
            ([], []) => None,
            ([calls, calls_after], [waits, waits_after]) => {
                let grown = waits_after
                    .iter()
                    .map(|(lock, it)| (lock.clone(), it - waits.get(lock).unwrap_or(&0.0)));
                Some((calls_after - calls, grown.collect()))
            }
            _ => bail!("the guest printed no status before and after:\n{text}"),
        };
        Ok(Self {
            milliseconds,
            inside,
        })
    }
}

/// The machine that works.
pub(crate) fn machine(switch: Switch, cpus: u32, icount: bool) -> MachineArguments {
    MachineArguments {
        cpu: Some(CPU.into()),
        cpus: Some(cpus),
        icount,
        ..MachineArguments::virt(switch)
    }
}

/// What one boot prints.
fn measure(
    host: &HostArguments,
    machine: &MachineArguments,
    title: &str,
    command: &str,
) -> Result<String> {
    let inner = InnerVariant::sound(machine.switch);
    let parts = run::prepare(host, Machine::new(machine)?, &inner)?;
    let step = Step::spinner(title.to_owned());
    let text = output_of(&parts.boot, command, TIMEOUT)?;
    step.vanish();
    Ok(text)
}

/// `waits: N domain, N trees, N arena`
fn waits(line: &str) -> Option<Figures> {
    let pair = |it: &str| {
        let (number, lock) = it.trim().split_once(' ')?;
        Some((lock.to_owned(), number.parse().ok()?))
    };
    line.strip_prefix("waits: ")?.split(',').map(pair).collect()
}

/// `calls: N`
fn calls(line: &str) -> Option<f64> {
    line.strip_prefix("calls: ")?.parse().ok()
}

/// `work: KIND: N ns`
fn figure(line: &str) -> Option<(String, f64)> {
    let (kind, rest) = line.strip_prefix("work: ")?.split_once(": ")?;
    Some((kind.to_owned(), rest.strip_suffix(" ns")?.parse().ok()?))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes: Vec<&String> = self.huge.keys().filter(|it| *it != "native").collect();
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let mut head = vec!["work".to_owned(), "native".to_owned()];
        head.extend(modes.iter().map(|it| format!("{it}, times native")));
        table.set_header(head);
        let rows = self.work.iter().filter(|it| it.0 != ALL);
        for (kind, figures) in rows.chain(self.work.get_key_value(ALL)) {
            let native = figures["native"];
            let mut row = vec![kind.clone(), format!("{native:.0} ms")];
            row.extend(
                modes
                    .iter()
                    .map(|it| format!("{:.2}", figures[*it] / native)),
            );
            table.add_row(row);
        }
        let native = self.huge["native"];
        let mut row = vec![
            "64 MiB, huge pages".to_owned(),
            format!("{native:.0} instructions"),
        ];
        row.extend(
            modes
                .iter()
                .map(|it| format!("{:.4}", self.huge[*it] / native)),
        );
        table.add_row(row);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(
            f,
            "{}, {} CPUs; no statement about hardware. The last row is of 1 CPU, by -icount shift=0, \
             transparent huge pages as Linux has them (always).",
            self.unit, self.cpus
        )?;
        write!(f, "{table}")?;
        for (mode, calls) in &self.calls {
            let longer = self.work[ALL][mode] - self.work[ALL]["native"];
            let each = longer * 1e3 / calls;
            write!(
                f,
                "\n{mode}: {calls} calls; {each:.1} microseconds longer than native for each of them"
            )?;
        }
        for (mode, waits) in &self.waits {
            let words: Vec<_> = waits
                .iter()
                .map(|(lock, it)| format!("{lock} {it}"))
                .collect();
            write!(
                f,
                "\n{mode}: a lock was found held so often: {}",
                words.join(", ")
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_meanwhile_is_the_difference() {
        let text = "waits: 1 domain, 20 trees\ncalls: 100\nwork: vm: 2400000 ns\n\
                    waits: 4 domain, 25 trees\ncalls: 350\n";
        let work = Work::read(text).expect("figures");
        assert_eq!(work.milliseconds["vm"], 2.0);
        let (calls, waits) = work.inside.expect("an inner domain");
        assert_eq!((calls, waits["domain"], waits["trees"]), (250.0, 3.0, 5.0));
        let native = Work::read("work: vm: 2400000 ns\n").expect("figures");
        assert!(native.inside.is_none());
        assert!(Work::read("calls: 100\nwork: vm: 1 ns\n").is_err());
    }

    #[test]
    fn lines_are_read_and_compared() {
        assert_eq!(figure("work: vm: 2000000 ns"), Some(("vm".into(), 2e6)));
        assert_eq!(figure("load: vm: ok"), None);
        let of = |native, asid| {
            Figures::from([("native".to_owned(), native), ("asid".to_owned(), asid)])
        };
        let report = Report {
            unit: "milliseconds",
            cpus: 2,
            times: 1,
            work: BTreeMap::from([(ALL.into(), of(10.0, 15.0)), ("vm".into(), of(10.0, 15.0))]),
            huge: of(1000.0, 1010.0),
            waits: BTreeMap::from([(
                "asid".into(),
                waits("waits: 1 domain, 22 trees").expect("figures"),
            )]),
            calls: Figures::from([("asid".to_owned(), calls("calls: 2000").expect("a number"))]),
        };
        let text = report.to_string();
        assert!(text.contains("1.50"), "{text}");
        assert!(text.contains("1.0100"), "{text}");
        assert!(text.contains("domain 1, trees 22"), "{text}");
        assert!(text.contains("2000 calls; 2.5 microseconds"), "{text}");
    }
}
