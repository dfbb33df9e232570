// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the inner domain, and what is left to Linux, in an idle guest.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use donjon_builder::run::Parts;
use donjon_figures::records::NATIVE;
use donjon_figures::records::scale::{Inner, Linux, Memory};
use donjon_machine::arguments::{MachineArguments, Switch};

use super::guests::Guests;

const TIMEOUT: Duration = Duration::from_secs(300);
const COMMAND: &str =
    "cat /proc/meminfo; cat /sys/kernel/security/donjon/status 2>/dev/null || true";

/// Most KiB that the inner domain may have in a mode. docs/scale.md says what they are for: an
/// arena of 1/64, what is kept about frames and compartments, and the image with its tables and
/// stacks.
pub fn most(ram_kib: u64, mode: &str) -> u64 {
    // In this mode text and data have a block of 2 MiB each.
    let blocks = if mode == Switch::Tlbi.name() { 4096 } else { 0 };
    ram_kib / 64 + ram_kib / 256 + 3072 + blocks
}

/// Most KiB of the reserve, in each mode: 3.2 % of RAM.
const fn most_of_reserve(ram_kib: u64) -> u64 {
    ram_kib * 32 / 1000
}

/// Says what is more than it may be, in each mode.
pub fn above(memory: &Memory) -> impl Iterator<Item = String> {
    let ram = memory.ram_kib;
    memory.modes.iter().flat_map(move |(mode, it)| {
        let parts = [
            ("the inner domain", it.inner_kib, most(ram, mode)),
            (
                "the reserve",
                it.reserve_kib.unwrap_or(0),
                most_of_reserve(ram),
            ),
        ];
        let above = parts.into_iter().filter(|(_, has, most)| has > most);
        above.map(move |(what, has, most)| {
            format!("{what} has {has} KiB of {ram} ({mode}); {most} are allowed")
        })
    })
}

/// A machine with so much RAM.
pub fn machine(switch: Switch, gibibytes: u32) -> MachineArguments {
    MachineArguments {
        cpu: Some(crate::guest::CPU.into()),
        memory: Some(format!("{gibibytes}G")),
        ..MachineArguments::virt(switch)
    }
}

/// Boots over a kernel, and adds what it says to `all`.
pub fn measure(
    parts: &Parts,
    kernel: &str,
    guests: &mut Guests<'_>,
    all: &mut Vec<Memory>,
) -> Result<()> {
    let ram_kib = parts.boot.machine.memory >> 10;
    let title = format!("boot with {} GiB ({kernel})", ram_kib >> 20);
    guests.next(&title, &parts.boot, (COMMAND, TIMEOUT), |text| {
        add(all, ram_kib, kernel, text)
    })
}

fn add(all: &mut Vec<Memory>, ram_kib: u64, kernel: &str, text: &str) -> Result<()> {
    let native = linux(text)?;
    if kernel == NATIVE {
        all.push(Memory {
            ram_kib,
            native,
            modes: BTreeMap::new(),
        });
        return Ok(());
    }
    let row = all.iter_mut().find(|it| it.ram_kib == ram_kib);
    let row = row.context("the native kernel is measured first")?;
    row.modes.insert(kernel.into(), inner(text)?);
    Ok(())
}

fn linux(text: &str) -> Result<Linux> {
    Ok(Linux {
        total_kib: number(text, "MemTotal")?,
        available_kib: number(text, "MemAvailable")?,
    })
}

fn inner(text: &str) -> Result<Inner> {
    Ok(Inner {
        inner_kib: number(text, "memory_kib")?,
        text_kib: number(text, "text_kib")?,
        reserve_kib: Some(of_reserve(text, "kib")?),
        reserve_free_kib: Some(of_reserve(text, "free_kib")?),
        linux: linux(text)?,
    })
}

/// A figure of both parts of the reserve.
fn of_reserve(text: &str, what: &str) -> Result<u64> {
    let parts = ["tables", "compartments"];
    parts
        .iter()
        .map(|part| number(text, &format!("protected_{part}_{what}")))
        .sum()
}

/// `NAME: NUMBER`, with or without a unit.
fn number(text: &str, name: &str) -> Result<u64> {
    let mut values = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = values.next().and_then(|it| it.split_whitespace().next());
    let value = value.with_context(|| format!("the guest printed no {name}"))?;
    value.parse().with_context(|| format!("{name}: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
MemTotal:        1000 kB
MemFree:          700 kB
MemAvailable:     800 kB
memory: 0x7ec00000-0x7ff56fff
memory_kib: 19804
protected_tables_kib: 8192
protected_tables_free_kib: 6144
protected_compartments_kib: 24576
protected_compartments_free_kib: 24576
text_kib: 200
";

    #[test]
    fn names_are_whole() {
        let inner = inner(SAID).expect("figures");
        assert_eq!((inner.inner_kib, inner.text_kib), (19_804, 200));
        assert_eq!(
            (inner.reserve_kib, inner.reserve_free_kib),
            (Some(32_768), Some(30_720))
        );
        assert_eq!(
            (inner.linux.total_kib, inner.linux.available_kib),
            (1000, 800)
        );
        assert!(number(SAID, "Mem").is_err());
    }

    #[test]
    fn twice_the_arena_is_too_much() {
        let ram = 1 << 20;
        assert!(19_804 < most(ram, "asid"));
        assert!(19_804 + (1 << 14) > most(ram, "asid"));
        // 32 MiB of 1 GiB.
        assert!((32_768..33_792).contains(&most_of_reserve(ram)));
    }
}
