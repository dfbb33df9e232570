// SPDX-License-Identifier: MIT OR Apache-2.0
//! The record of `bench scale` as tables.

use std::collections::BTreeSet;

use anyhow::Result;
use comfy_table::Table;
use donjon_figures::records::NATIVE;
use donjon_figures::records::scale::{Boots, Cpus, Exponent, Longest, Memory, Operation, Scale};

use super::exponent::MOST;
use super::{limits, memory};
use crate::Record;
use crate::table::{percent, rounded, table};

impl Record for Scale {
    fn text(&self) -> String {
        let exponents = format!(
            "exponents of growth, from 16 pages on, at most {MOST} over pages; last steps: from \
             each of the three largest sizes to the next"
        );
        fn of<T>(rows: &[T], table: fn(&[T]) -> Table) -> Option<Table> {
            (!rows.is_empty()).then(|| table(rows))
        }
        let tables = [
            (
                "operations on anonymous memory, 1 CPU; instructions for each page",
                of(&self.operations, of_operations),
            ),
            (&exponents, of(&self.exponents, of_exponents)),
            (
                "work of CPUs, as much for each; QEMU's wall time (emulator), no statement about \
                 hardware; looks at a held lock for 1000 calls",
                of(&self.cpus, of_cpus),
            ),
            ("memory in KiB, idle", of(&self.memory, of_memory)),
            (
                "boot in 1000 instructions, from reset to the first process",
                self.boot.as_ref().map(of_boots),
            ),
            (
                "longest call with interrupts masked",
                of(&self.longest, of_longest),
            ),
        ];
        let mut text = format!("{}; {}, Linux {}", self.unit, self.cpu, self.linux);
        for (title, table) in tables {
            text.extend(table.map(|it| format!("\n\n{title}:\n\n{it}")));
        }
        text
    }

    fn check(&self) -> Result<()> {
        limits::check(self)
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

fn of_operations(operations: &[Operation]) -> Table {
    let mut header = words(&["operation", "pages", NATIVE]);
    for mode in operations.iter().take(1).flat_map(|it| it.modes.keys()) {
        let of = ["", ", added", ", calls", ", pages for a call", ", inside"];
        header.extend(of.map(|it| format!("{mode}{it}")));
    }
    let rows = operations.iter().map(|it| {
        let pages = it.pages as f64;
        let native = it.native.instructions;
        let mut row = vec![it.name.clone(), it.pages.to_string()];
        row.push(rounded(native / pages, 0));
        for mode in it.modes.values() {
            row.extend([
                rounded(mode.instructions / pages, 0),
                format!("{:+.1} %", percent(mode.instructions, native)),
                rounded(mode.calls, 0),
                rounded(pages / mode.calls, 1),
                rounded(mode.inside / pages, 1),
            ]);
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
        let cells = it.into_iter().flatten().map(|it| number(Some(*it)));
        let cells: Vec<_> = cells.collect();
        if cells.is_empty() {
            "-".into()
        } else {
            cells.join(" ")
        }
    };
    let rows = exponents.iter().map(|it| {
        let mut row = vec![it.name.clone(), it.over.clone(), number(it.native)];
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

fn of_boots(boots: &Boots) -> Table {
    let header = "kernel|all|to Linux's clock|to its end of initialisation|\
                  to the first process|to its first instruction|waited"
        .split('|');
    let modes = boots.modes.iter().map(|(mode, it)| (mode.as_str(), it));
    let rows = [(NATIVE, &boots.native)].into_iter().chain(modes);
    let rows = rows.map(|(kernel, it)| {
        let parts = [
            it.instructions,
            it.to_clock,
            it.to_kernel_up,
            it.to_process,
            it.to_first_instruction,
            it.waited,
        ];
        let mut row = words(&[kernel]);
        row.extend(parts.map(|it| rounded(it / 1e3, 0)));
        row
    });
    table(1, header, rows)
}

fn of_cpus(all: &[Cpus]) -> Table {
    let mut header = words(&["CPUs", "native, ms"]);
    for (mode, it) in all.iter().take(1).flat_map(|it| &it.modes) {
        header.push(format!("{mode}, ms"));
        header.extend(["times native", "calls"].map(|it| format!("{mode}, {it}")));
        header.extend(it.waits.keys().map(|lock| format!("{mode}, {lock}")));
    }
    let rows = all.iter().map(|row| {
        let native = row.native.wall_milliseconds;
        let mut cells = vec![row.cpus.to_string(), rounded(native, 0)];
        for it in row.modes.values() {
            let time = it.time.wall_milliseconds;
            cells.push(rounded(time, 0));
            cells.push(rounded(time / native, 2));
            cells.push(rounded(it.calls, 0));
            let waits = it.waits.values();
            cells.extend(waits.map(|waits| rounded(waits * 1e3 / it.calls, 2)));
        }
        cells
    });
    table(0, header, rows)
}

fn of_memory(all: &[Memory]) -> Table {
    let header = "RAM|mode|inner domain|of RAM|allowed|its code|reserve behind pools|\
                  of it free|MemTotal|native|MemAvailable|native"
        .split('|');
    let rows = all.iter().flat_map(|row| {
        row.modes.iter().map(|(mode, it)| {
            let ram = format!("{} GiB", row.ram_kib >> 20);
            let part = it.inner_kib as f64 * 100.0 / row.ram_kib as f64;
            let part = format!("{part:.2} %");
            let mut cells = vec![ram, mode.clone(), it.inner_kib.to_string(), part];
            let numbers = [
                memory::most(row.ram_kib, mode),
                it.text_kib,
                it.reserve_kib.unwrap_or(0),
                it.reserve_free_kib.unwrap_or(0),
                it.linux.total_kib,
                row.native.total_kib,
                it.linux.available_kib,
                row.native.available_kib,
            ];
            cells.extend(numbers.map(|it| it.to_string()));
            cells
        })
    });
    table(2, header, rows)
}

fn of_longest(all: &[Longest]) -> Table {
    let rows = all.iter().map(|it| {
        let instructions = it.call.instructions.to_string();
        vec![it.mode.clone(), it.call.function.clone(), instructions]
    });
    table(2, ["mode", "function", "instructions"], rows)
}
