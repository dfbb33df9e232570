// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench stress`: how long a fixed amount of work takes in QEMU, and what 64 MiB of
//! memory cost in instructions where Linux may use huge pages.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_figures::records::stress::{ALL, Stress};
use donjon_figures::records::{Figures, NATIVE};
use donjon_machine::arguments::{MachineArguments, Switch};

use crate::Record;
use crate::arguments::StressArguments;
use crate::guest::{CPU, kernel_name, prepare, said, virt, with_cpus};
use crate::table::{rounded, table};

/// For boot and work.
pub const TIMEOUT: Duration = Duration::from_secs(1200);
/// Repetitions of the 64 MiB.
const HUGE_TIMES: u32 = 10;
/// What the inner domain says of waiting and of calls; nothing over a native kernel.
const STATUS: &str =
    "{ grep -E '^(waits|calls):' /sys/kernel/security/donjon/status 2>/dev/null || true; }";

/// Measures and prints.
pub fn run(arguments: &StressArguments) -> Result<()> {
    arguments.output.prepare()?;
    let mut record = Stress {
        unit: "milliseconds of QEMU wall time (emulator)".into(),
        cpus: arguments.cpus,
        times: arguments.times,
        ..Stress::default()
    };
    let mut modes = vec![Switch::None];
    modes.extend(arguments.switch.iter().filter(|it| **it != Switch::None));
    for switch in modes {
        let name = kernel_name(switch);
        let (host, cpus) = (&arguments.output.host, arguments.cpus);
        let title = format!("work of {cpus} CPUs, {name}");
        let command = command(cpus, arguments.times);
        let work = measure(host, &with_cpus(CPU, switch, cpus), &title, &command)?;
        let work = Work::read(&work)?;
        for (kind, figure) in work.milliseconds {
            let row = record.work.entry(kind).or_default();
            row.insert(name.to_owned(), figure);
        }
        if let Some((calls, waits)) = work.inside {
            record.calls.insert(name.to_owned(), calls);
            record.waits.insert(name.to_owned(), waits);
        }
        let huge = format!("donjon-load huge --times {HUGE_TIMES}");
        let title = format!("64 MiB, {name}");
        let text = measure(host, &virt(CPU, switch, true), &title, &huge)?;
        let (_, figure) = text
            .lines()
            .find_map(figure)
            .context("no figure for 64 MiB")?;
        record.huge.insert(name.to_owned(), figure);
    }
    let mut all = Figures::new();
    for (mode, figure) in record.work.values().flatten() {
        *all.entry(mode.clone()).or_default() += figure;
    }
    record.work.insert(ALL.to_owned(), all);
    arguments.output.show(&record)
}

/// What a fixed amount of work took.
pub struct Work {
    /// Milliseconds of wall time by kind.
    pub milliseconds: Figures,
    /// Calls of the inner domain meanwhile, and how often a lock of each kind was found held; none
    /// over a native kernel.
    pub inside: Option<(f64, Figures)>,
}

/// What the guest runs for `times` as much work as is usual on each of `cpus` CPUs.
pub fn command(cpus: u32, times: u32) -> String {
    format!("{STATUS}; donjon-load work --cpus {cpus} --times {times} && {STATUS}")
}

impl Work {
    /// Reads what the guest printed.
    pub fn read(text: &str) -> Result<Self> {
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

/// What one boot prints.
fn measure(
    host: &HostArguments,
    machine: &MachineArguments,
    title: &str,
    command: &str,
) -> Result<String> {
    said(&prepare(host, machine)?.boot, title, command, TIMEOUT)
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

impl Record for Stress {
    fn text(&self) -> String {
        let modes: Vec<&String> = self.huge.keys().filter(|it| *it != NATIVE).collect();
        let row = |name: &str, figures: &Figures, unit, places| {
            let native = figures[NATIVE];
            let mut row = vec![name.to_owned(), format!("{native:.0} {unit}")];
            let times = modes.iter().map(|it| figures[*it] / native);
            row.extend(times.map(|it| rounded(it, places)));
            row
        };
        let kinds = self.work.iter().filter(|it| it.0 != ALL);
        let kinds = kinds.chain(self.work.get_key_value(ALL));
        let rows = kinds
            .map(|(kind, figures)| row(kind, figures, "ms", 2))
            .chain([row("64 MiB, huge pages", &self.huge, "instructions", 4)]);
        let mut header = vec!["work".to_owned(), NATIVE.to_owned()];
        header.extend(modes.iter().map(|it| format!("{it}, times native")));
        let mut text = format!(
            "{}, {} CPUs; no statement about hardware. The last row is of 1 CPU, by -icount shift=0, \
             transparent huge pages as Linux has them (always).\n{}",
            self.unit,
            self.cpus,
            table(1, header, rows)
        );
        for (mode, calls) in &self.calls {
            let longer = self.work[ALL][mode] - self.work[ALL][NATIVE];
            let each = longer * 1e3 / calls;
            text += &format!(
                "\n{mode}: {calls} calls; {each:.1} microseconds longer than native for each of them"
            );
        }
        for (mode, waits) in &self.waits {
            let words = waits.iter().map(|(lock, it)| format!("{lock} {it}"));
            let words = words.collect::<Vec<_>>().join(", ");
            text += &format!("\n{mode}: a lock was found held so often: {words}");
        }
        text
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
        let waits = waits("waits: 1 domain, 22 trees").expect("figures");
        let calls = calls("calls: 2000").expect("a number");
        let record = Stress {
            work: [(ALL.into(), of(10.0, 15.0)), ("vm".into(), of(10.0, 15.0))].into(),
            huge: of(1000.0, 1010.0),
            waits: [("asid".into(), waits)].into(),
            calls: [("asid".into(), calls)].into(),
            ..Stress::default()
        };
        let text = record.text();
        assert!(text.contains("1.50"), "{text}");
        assert!(text.contains("1.0100"), "{text}");
        assert!(text.contains("domain 1, trees 22"), "{text}");
        assert!(text.contains("2000 calls; 2.5 microseconds"), "{text}");
    }
}
