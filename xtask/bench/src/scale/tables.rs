// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as tables.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use comfy_table::Table;

use super::boot::Boot;
use super::exponent::{Exponent, MOST};
use super::operations::Operation;
use super::report::{NATIVE, Report};
use crate::markdown::table;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}, Linux {}", self.unit, self.cpu, self.linux)?;
        if let Some(first) = self.operations.first() {
            let title = "operations on anonymous memory, 1 CPU; instructions for each page";
            section(f, title, &of_operations(&self.operations, first))?;
        }
        if !self.exponents.is_empty() {
            let title = format!(
                "exponents of growth, from 16 pages on, at most {MOST} over pages; last steps: from \
                 each of the three largest sizes to the next"
            );
            section(f, &title, &of_exponents(&self.exponents))?;
        }
        if !self.cpus.is_empty() {
            let title = "work of CPUs, as much for each; QEMU's wall time (emulator), no statement \
                         about hardware; looks at a held lock for 1000 calls";
            section(f, title, &self.of_cpus())?;
        }
        if !self.memory.is_empty() {
            section(f, "memory in KiB, idle", &self.of_memory())?;
        }
        if let Some(boot) = &self.boot {
            let kernels = boot.modes.iter().map(|(mode, it)| (mode.as_str(), it));
            let rows: Vec<_> = [(NATIVE, &boot.native)]
                .into_iter()
                .chain(kernels)
                .collect();
            let title = "boot in 1000 instructions, from reset to the first process";
            section(f, title, &of_boots(&rows))?;
        }
        if !self.longest.is_empty() {
            section(f, "longest call with interrupts masked", &self.of_longest())?;
        }
        Ok(())
    }
}

fn section(f: &mut Formatter<'_>, title: &str, table: &Table) -> fmt::Result {
    write!(f, "\n\n{title}:\n\n{table}")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

fn of_operations(operations: &[Operation], first: &Operation) -> Table {
    let mut header = words(&["operation", "pages", NATIVE]);
    for mode in first.modes.keys() {
        let of = ["", ", added", ", calls", ", pages for a call", ", inside"];
        header.extend(of.map(|it| format!("{mode}{it}")));
    }
    let rows = operations.iter().map(|it| {
        let pages = it.pages as f64;
        let native = it.native.instructions;
        let mut row = vec![it.name.clone(), it.pages.to_string()];
        row.push(format!("{:.0}", native / pages));
        for mode in it.modes.values() {
            row.push(format!("{:.0}", mode.instructions / pages));
            row.push(format!(
                "{:+.1} %",
                (mode.instructions / native - 1.0) * 100.0
            ));
            row.push(format!("{:.0}", mode.calls));
            row.push(format!("{:.1}", pages / mode.calls));
            row.push(format!("{:.1}", mode.inside / pages));
        }
        row
    });
    table(1, header, rows)
}

fn of_exponents(exponents: &[Exponent]) -> Table {
    let all: BTreeSet<_> = exponents.iter().flat_map(|it| it.modes.keys()).collect();
    let mut header = words(&["cost", "over", NATIVE]);
    header.extend(all.iter().map(|it| (*it).clone()));
    header.push(format!("{NATIVE}, last steps"));
    header.extend(all.iter().map(|it| format!("{it}, last steps")));
    header.push("at most".into());
    let number = |it: Option<f64>| it.map_or("-".into(), |it| format!("{it:.3}"));
    let steps = |it: Option<&Vec<f64>>| {
        let cells: Vec<_> = it.into_iter().flatten().collect();
        let cells: Vec<_> = cells.into_iter().map(|it| number(Some(*it))).collect();
        if cells.is_empty() {
            "-".into()
        } else {
            cells.join(" ")
        }
    };
    let rows = exponents.iter().map(|it| {
        let mut row = vec![it.name.clone(), it.over.to_owned(), number(it.native)];
        row.extend(all.iter().map(|mode| number(it.modes.get(*mode).copied())));
        let last = it.last_steps.as_ref();
        row.push(steps(last.map(|it| &it.native)));
        row.extend(
            all.iter()
                .map(|mode| steps(last.and_then(|it| it.modes.get(*mode)))),
        );
        row.push(steps(last.map(|it| &it.at_most)));
        row
    });
    table(2, header, rows)
}

fn of_boots(rows: &[(&str, &Boot)]) -> Table {
    let header = [
        "kernel",
        "all",
        "to Linux's clock",
        "to its end of initialisation",
        "to the first process",
        "to its first instruction",
        "waited",
    ];
    let rows = rows.iter().map(|(kernel, it)| {
        let parts = [
            it.instructions,
            it.to_clock,
            it.to_kernel_up,
            it.to_process,
            it.to_first_instruction,
            it.waited,
        ];
        let mut row = words(&[kernel]);
        row.extend(parts.map(|it| format!("{:.0}", it / 1e3)));
        row
    });
    table(1, words(&header), rows)
}

impl Report {
    fn of_cpus(&self) -> Table {
        let first = self.cpus.first();
        let mut header = words(&["CPUs", "native, ms"]);
        for (mode, it) in first.into_iter().flat_map(|it| &it.modes) {
            header.push(format!("{mode}, ms"));
            header.extend(["times native", "calls"].map(|it| format!("{mode}, {it}")));
            header.extend(it.waits.keys().map(|lock| format!("{mode}, {lock}")));
        }
        let rows = self.cpus.iter().map(|row| {
            let native = row.native.wall_milliseconds;
            let mut cells = vec![row.cpus.to_string(), format!("{native:.0}")];
            for it in row.modes.values() {
                let time = it.time.wall_milliseconds;
                cells.push(format!("{time:.0}"));
                cells.push(format!("{:.2}", time / native));
                cells.push(format!("{:.0}", it.calls));
                let waits = it.waits.values();
                cells.extend(waits.map(|waits| format!("{:.2}", waits * 1e3 / it.calls)));
            }
            cells
        });
        table(0, header, rows)
    }

    fn of_memory(&self) -> Table {
        let header = [
            "RAM",
            "mode",
            "inner domain",
            "of RAM",
            "allowed",
            "its code",
            "reserve behind pools",
            "of it free",
            "MemTotal",
            "native",
            "MemAvailable",
            "native",
        ];
        let rows = self.memory.iter().flat_map(|row| {
            row.modes.iter().map(|(mode, it)| {
                let ram = format!("{} GiB", row.ram_kib >> 20);
                let percent = format!("{:.2} %", row.percent(it.inner_kib));
                let mut cells = vec![ram, mode.clone(), it.inner_kib.to_string(), percent];
                let numbers = [
                    row.most(mode),
                    it.text_kib,
                    it.reserve_kib,
                    it.reserve_free_kib,
                    it.linux.total_kib,
                    row.native.total_kib,
                    it.linux.available_kib,
                    row.native.available_kib,
                ];
                cells.extend(numbers.map(|it| it.to_string()));
                cells
            })
        });
        table(2, words(&header), rows)
    }

    fn of_longest(&self) -> Table {
        let rows = self.longest.iter().map(|it| {
            let instructions = it.call.instructions.to_string();
            vec![it.mode.clone(), it.call.function.clone(), instructions]
        });
        table(2, words(&["mode", "function", "instructions"]), rows)
    }
}
