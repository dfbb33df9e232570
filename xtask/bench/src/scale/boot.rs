// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot in instructions, from reset to the first instruction of the first process.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::run::Parts;
use donjon_figures::records::NATIVE;
use donjon_figures::records::scale::{Boot, Boots};
use donjon_machine::arguments::MachineArguments;

use super::guests::Guests;

const TIMEOUT: Duration = Duration::from_secs(300);
/// The first process writes down when it began, and executes /init.
const PARAMETER: &str = "rdinit=/bin/donjon-scale";
const COMMAND: &str = "cat /boot-figures && dmesg";
/// Lines of Linux's log that part the boot.
const MARK: &str = "donjon-scale: mark";
const KERNEL_IS_UP: &str = "Freeing unused kernel memory";
const PROCESS: &str = "Run /bin/donjon-scale as init process";

/// A machine whose first process says when it began.
pub fn machine(one_cpu: MachineArguments) -> MachineArguments {
    MachineArguments {
        append: Some(PARAMETER.into()),
        ..one_cpu
    }
}

/// Boots over a kernel, and adds what it says to `all`.
pub fn measure(parts: Parts, kernel: &str, guests: &mut Guests<'_>, all: &mut Boots) -> Result<()> {
    let mut boot = parts.boot;
    // Until the first instruction QEMU's clock would go on with that of the host.
    boot.machine.icount_sleep = false;
    let title = format!("boot ({kernel})");
    let boot = guests.next(&title, &boot, (COMMAND, TIMEOUT), read)?;
    if kernel == NATIVE {
        all.native = boot;
    } else {
        all.modes.insert(kernel.into(), boot);
    }
    Ok(())
}

fn read(text: &str) -> Result<Boot> {
    let line = text.lines().find_map(|it| it.strip_prefix("boot: "));
    let line = line.context("the first process wrote nothing down")?;
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .with_context(|| format!("the guest printed `{line}`"))?;
    let [start, mark, waited, frequency] = numbers[..] else {
        anyhow::bail!("the guest printed `{line}`");
    };
    let nanoseconds = |count: f64| count * 1e9 / frequency;
    // Linux's clock starts with zero, the counter with reset.
    let to_clock = nanoseconds(mark) - stamp(text, MARK)?;
    let [up, process] = [stamp(text, KERNEL_IS_UP)?, stamp(text, PROCESS)?];
    let boot = Boot {
        instructions: nanoseconds(start) - waited,
        waited,
        to_clock,
        to_kernel_up: up,
        to_process: process - up,
        to_first_instruction: nanoseconds(start) - to_clock - process,
    };
    let parts = [boot.to_clock, boot.to_process, boot.to_first_instruction];
    ensure!(
        parts.into_iter().all(|it| it >= 0.0),
        "the log and the counter disagree: {boot:?}"
    );
    Ok(boot)
}

/// Nanoseconds of the clock of Linux's log at the line with `words`.
fn stamp(text: &str, words: &str) -> Result<f64> {
    let line = text.lines().find(|it| it.contains(words));
    let line = line.with_context(|| format!("Linux's log has no line `{words}`"))?;
    let seconds = line.trim_start_matches('[').split(']').next();
    let seconds: f64 = seconds
        .and_then(|it| it.trim().parse().ok())
        .with_context(|| format!("`{line}` has no time"))?;
    Ok(seconds * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
boot: 40000000 40010000 5000000 62500000
[    0.000000] Linux version
[    0.150000] Freeing unused kernel memory: 768K
[    0.180000] donjon: hand-over done on 1 CPUs
[    0.190000] Run /bin/donjon-scale as init process
[    0.200160] donjon-scale: mark
";

    #[test]
    fn the_parts_are_the_whole() {
        let boot = read(SAID).expect("figures");
        assert_eq!(boot.instructions, 635e6);
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1.0, "{one} {other}");
        near(boot.to_clock, 440e6);
        near(boot.to_kernel_up, 150e6);
        near(boot.to_process, 40e6);
        near(boot.to_first_instruction, 10e6);
    }

    #[test]
    fn a_boot_without_a_line_is_refused() {
        assert!(read(&SAID.replace("mark", "other")).is_err());
        assert!(read(&SAID.replace("boot: 40000000", "boot: 30000000")).is_err());
    }
}
