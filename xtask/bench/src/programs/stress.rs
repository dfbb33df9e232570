// SPDX-License-Identifier: MIT OR Apache-2.0
//! stress-ng on several CPUs: how long a fixed amount of its work takes in QEMU.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use donjon_figures::records::NATIVE;
use donjon_figures::records::programs::Stressor as Row;

use crate::table::{self, rounded};

/// Debian's package that has it.
pub const PACKAGE: &str = "stress-ng";
/// Machines that it runs on.
pub const CPUS: [u32; 2] = [2, 4];
/// All stressors on one machine.
pub const TIMEOUT: Duration = Duration::from_secs(1200);
/// Not instructions: QEMU counts those of one CPU alone.
const UNIT: &str = "milliseconds of QEMU wall time (emulator)";

/// A stressor and how much of it each CPU does.
pub struct Stressor {
    /// Name of the stressor in stress-ng.
    pub name: &'static str,
    /// What else it is told.
    options: &'static str,
    /// Operations of each of its processes.
    operations: u32,
}

/// Stressors that work with memory, and that make processes.
pub const STRESSORS: [Stressor; 7] = [
    stressor("vm", "--vm-bytes 8M --vm-method walk-0d", 40_000),
    stressor("mmap", "--mmap-bytes 4M", 10),
    stressor("mremap", "--mremap-bytes 4M", 40),
    stressor("malloc", "", 20_000),
    stressor("fork", "", 300),
    stressor("clone", "", 150),
    stressor("exec", "", 40),
];

const fn stressor(name: &'static str, options: &'static str, operations: u32) -> Stressor {
    Stressor {
        name,
        options,
        operations,
    }
}

/// Rows without figures.
pub fn rows(stressors: &[&Stressor]) -> Vec<Row> {
    let of = |cpus| {
        stressors.iter().map(move |it| Row {
            name: it.name.into(),
            cpus,
            unit: UNIT.into(),
            ..Row::default()
        })
    };
    CPUS.into_iter().flat_map(of).collect()
}

/// What the guest runs on a machine with `cpus` CPUs.
pub fn script(stressors: &[&Stressor], cpus: u32) -> String {
    let mut script = String::from(
        "mount -t tmpfs -o mode=1777 tmpfs /tmp && cd /tmp || exit 1
now() { awk '{ printf \"%d\\n\", $1 * 1000 }' /proc/uptime; }
",
    );
    for Stressor {
        name,
        options,
        operations,
    } in stressors
    {
        let operations = operations * cpus;
        // A String takes all.
        let _ = writeln!(
            script,
            "before=$(now)
stress-ng --{name} {cpus} {options} --{name}-ops {operations} --timeout 0 >log 2>&1 ||
    {{ cat log >&2; echo \"failed: stress-ng, {name}\" >&2; exit 1; }}
echo \"stress {name}: $(($(now) - before))\""
        );
    }
    script
}

/// Adds what the guest printed over `kernel` on a machine with `cpus` CPUs.
///
/// # Errors
///
/// If a stressor has no time, or one of nothing.
pub fn add(rows: &mut [Row], kernel: &str, cpus: u32, text: &str) -> Result<()> {
    for row in rows.iter_mut().filter(|it| it.cpus == cpus) {
        let start = format!("stress {}: ", row.name);
        let time = text
            .lines()
            .find_map(|line| line.strip_prefix(&start)?.trim().parse::<f64>().ok())
            .with_context(|| format!("the guest printed no time of stress-ng's {}", row.name))?;
        ensure!(time > 0.0, "stress-ng's {} took no time", row.name);
        row.time.insert(kernel.to_owned(), time);
    }
    Ok(())
}

/// The table.
pub fn table(rows: &[Row]) -> Table {
    let kernels = rows.first().map(|it| it.time.keys());
    let modes: Vec<_> = kernels
        .into_iter()
        .flatten()
        .filter(|it| *it != NATIVE)
        .collect();
    let mut header = vec!["stress-ng".to_owned(), "CPUs".into(), "native".into()];
    for mode in &modes {
        header.extend([(*mode).clone(), format!("{mode}, times native")]);
    }
    let rows = rows.iter().map(|row| {
        let native = row.time.get(NATIVE);
        let milliseconds = |it: Option<&f64>| it.map_or("-".into(), |it| format!("{it:.0} ms"));
        let mut cells = vec![row.name.clone(), row.cpus.to_string(), milliseconds(native)];
        for mode in &modes {
            let time = row.time.get(*mode);
            let times = time.zip(native).map(|(it, native)| it / native);
            cells.push(milliseconds(time));
            cells.push(times.map_or("-".into(), |it| rounded(it, 2)));
        }
        cells
    });
    table::table(1, header, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_its_own_times() {
        let stressors: Vec<_> = STRESSORS.iter().take(2).collect();
        let mut all = rows(&stressors);
        assert_eq!(all.len(), 4);
        add(&mut all, NATIVE, 2, "stress vm: 100\nstress mmap: 50\n").expect("times");
        add(&mut all, "asid", 2, "stress vm: 150\nstress mmap: 51\n").expect("times");
        assert!(all[2].time.is_empty());
        let text = table(&all).to_string();
        assert!(text.contains("1.50") && text.contains("1.02"), "{text}");
        assert!(add(&mut all, NATIVE, 4, "stress vm: 100\n").is_err());
        assert!(add(&mut all, NATIVE, 4, "stress vm: 0\nstress mmap: 1\n").is_err());
    }

    #[test]
    fn work_grows_with_the_cpus() {
        let fork: Vec<_> = STRESSORS.iter().filter(|it| it.name == "fork").collect();
        assert!(script(&fork, 2).contains("--fork 2  --fork-ops 600 "));
        assert!(script(&fork, 4).contains("--fork 4  --fork-ops 1200 "));
    }
}
