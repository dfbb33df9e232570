// SPDX-License-Identifier: MIT OR Apache-2.0
//! The load program, with the inner domain and without: every area must do the same.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use comfy_table::{Table, presets};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::disk;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::DiskImage;
use donjon_machine::said::says;

use super::scratch::Scratch;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(3600);
/// Little memory, so that what fills it takes little time.
const MEMORY: &str = "320M";
const DISK_MEBIBYTES: u32 = 384;
/// Machines that the areas run on. One of each number of CPUs is compared with the native kernel,
/// by name; on the others each area must be as it is there.
const MACHINES: [(&str, u32, Switch, &str, Native); 5] = [
    ("cortex-a57", 1, Switch::Asid, "", Native::Runs),
    ("cortex-a57", 4, Switch::Asid, "", Native::IsKnown),
    ("cortex-a57", 4, Switch::Asid, PREEMPT, Native::Runs),
    ("cortex-a53", 4, Switch::Tlbi, "", Native::IsKnown),
    ("cortex-a53", 1, Switch::Strict, PREEMPT, Native::IsKnown),
];

/// Whether what the native kernel does is seen, or known: all areas are well, but for what cannot
/// be on one CPU.
#[derive(Clone, Copy)]
enum Native {
    Runs,
    IsKnown,
}
/// Parameter of a kernel that is preempted wherever it may be.
const PREEMPT: &str = "preempt=full";
/// All areas, then warnings of the kernel and refusals of the inner domain: there must be none.
/// A pool that may not grow any more is no wrong, either.
const ALL: &str = "\
donjon-load
dmesg | grep -A 9 'WARNING: \\|BUG: \\|Internal error: ' | sed 's/^/complaint: /'
tail -n +2 /sys/kernel/security/donjon/refusals 2>/dev/null |
    grep -v '\"no pool has room\"' | sed 's/^/complaint: refused: /'
exit 0
";
/// Each area as one of which nothing is known yet. A later line counts.
const LIST: &str = "donjon-load list | sed 's/.*/load: &: listed/'\n";
const STRESS: &str = "donjon-load stress --seconds 20 --cpus 4";

/// A test for each machine, and a mixture of the heavy areas.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests: Vec<Test> = MACHINES
        .into_iter()
        .map(|(cpu, cpus, switch, append, native)| {
            let host = host.clone();
            let mut name = format!("load:{}:{cpu}:{cpus}", switch.name());
            if !append.is_empty() {
                name = format!("{name}:{append}");
            }
            // Four CPUs want the host's two for themselves.
            let test = if cpus > 1 { Test::alone } else { Test::beside };
            let test = test(&name, move || {
                let machine = machine(cpu, cpus, switch, append);
                match native {
                    Native::Runs => compare(&host, machine),
                    Native::IsKnown => is_well(&host, &machine),
                }
            });
            let is_long = matches!(native, Native::Runs) || switch != Switch::Asid;
            test.holds(held(switch)).long_if(is_long)
        })
        .collect();
    for (switch, append) in [
        (Switch::None, ""),
        (Switch::Asid, ""),
        (Switch::Asid, PREEMPT),
    ] {
        let host = host.clone();
        let mut name = format!("load:{}:stress", switch.name());
        if !append.is_empty() {
            name = format!("{name}:{append}");
        }
        let test = Test::beside(&name, move || {
            let machine = machine("cortex-a57", 4, switch, append);
            let results = results(&host, &machine, STRESS)?;
            ensure!(
                results.get("stress").is_some_and(|it| it == "ok"),
                "{results:?}"
            );
            Ok(())
        });
        let is_long = switch == Switch::None || append == PREEMPT;
        tests.push(test.holds(held(switch)).long_if(is_long));
    }
    tests
}

/// What a load over the inner domain shows: its requests are granted, and, in the mode whose loads
/// change text, no CPU executes what is being changed.
const fn held(switch: Switch) -> &'static [&'static str] {
    match switch {
        Switch::None => &[],
        Switch::Asid => &["I18", "P4"],
        Switch::Tlbi | Switch::Strict => &["P4"],
    }
}

/// A machine with little memory.
pub fn machine(cpu: &str, cpus: u32, switch: Switch, append: &str) -> MachineArguments {
    MachineArguments {
        cpu: Some(cpu.into()),
        cpus: Some(cpus),
        memory: Some(MEMORY.into()),
        append: Some(append.into()),
        ..MachineArguments::virt(switch)
    }
}

/// What became of each area.
type Results = BTreeMap<String, String>;

/// Every area with the inner domain and without, on the same machine.
pub fn compare(host: &HostArguments, machine: MachineArguments) -> Result<()> {
    let protected = results(host, &machine, ALL)?;
    let switch = machine.switch;
    let without = MachineArguments {
        switch: Switch::None,
        ..machine
    };
    let native = results(host, &without, ALL)?;
    ensure!(!native.is_empty(), "no area ran");
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["area", "none", switch.name()]);
    let mut wrong = Vec::new();
    for (area, without) in &native {
        let with = protected.get(area).map_or("absent", String::as_str);
        table.add_row([area, without, with]);
        if without != with || without.starts_with("failed") {
            wrong.push(format!(
                "{area} (none: {without}; {}: {with})",
                switch.name()
            ));
        }
    }
    println!("{table}");
    ensure!(wrong.is_empty(), "wrong: {}", wrong.join(", "));
    Ok(())
}

/// Every area with the inner domain, each of which is well, or is left out for a reason that has
/// nothing to do with it.
fn is_well(host: &HostArguments, machine: &MachineArguments) -> Result<()> {
    let found = results(host, machine, &format!("{LIST}{ALL}"))?;
    ensure!(!found.is_empty(), "no area ran");
    let wrong: Vec<String> = found
        .iter()
        .filter(|(_, result)| !is_as_on_native(result, machine.cpus))
        .map(|(area, result)| format!("{area}: {result}"))
        .collect();
    ensure!(wrong.is_empty(), "wrong: {}", wrong.join(", "));
    Ok(())
}

/// What the native kernel says of an area on a machine without authentication of pointers.
fn is_as_on_native(result: &str, cpus: Option<u32>) -> bool {
    match result.strip_prefix("skipped: ") {
        Some("one CPU") => cpus == Some(1),
        Some(why) => why == "no authentication of pointers",
        None => result == "ok",
    }
}

fn results(host: &HostArguments, machine: &MachineArguments, command: &str) -> Result<Results> {
    let variant = InnerVariant::sound(machine.switch);
    let mut boot = prepare(host, Machine::new(machine)?, &variant)?.boot;
    let scratch = Scratch::new()?;
    let image = scratch.path().join("disk");
    disk::ext4(&image, DISK_MEBIBYTES, None)?;
    boot.disk = Some(DiskImage::unchanged(image));
    let text = says(&boot, command, TIMEOUT)?.text;
    ensure!(
        !text.contains("complaint: "),
        "the kernel or the inner domain complained:\n{text}"
    );
    Ok(parse(&text))
}

fn parse(text: &str) -> Results {
    let result = |line: &str| {
        let (area, result) = line.strip_prefix("load: ")?.split_once(": ")?;
        Some((area.to_owned(), result.trim_end().to_owned()))
    };
    text.lines().filter_map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_left_out_for_the_machine_alone() {
        assert!(is_as_on_native("ok", Some(4)));
        assert!(is_as_on_native("skipped: one CPU", Some(1)));
        assert!(!is_as_on_native("skipped: one CPU", Some(4)));
        assert!(is_as_on_native(
            "skipped: no authentication of pointers",
            Some(4)
        ));
        assert!(!is_as_on_native("skipped: no tracefs", Some(1)));
        assert!(!is_as_on_native("failed: no: disk", Some(1)));
        assert!(!is_as_on_native("listed", Some(1)));
    }

    #[test]
    fn only_lines_of_areas_are_verdicts() {
        let text = "stress: fork: 3\nload: fork: ok\nload: swap: failed: no: disk\n";
        let found = parse(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found["swap"], "failed: no: disk");
    }
}
