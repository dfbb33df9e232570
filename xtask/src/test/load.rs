// SPDX-License-Identifier: MIT OR Apache-2.0
//! The load program, with the inner domain and without: every area must do the same.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use comfy_table::{Table, presets};

use super::boots::{built, says};
use super::runner::Test;
use super::scratch::Scratch;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::disk;
use crate::kernel::Variant;
use crate::machine::Machine;

const TIMEOUT: Duration = Duration::from_secs(600);
/// Little memory, so that what fills it takes little time.
const MEMORY: &str = "320M";
const DISK_MEBIBYTES: u32 = 384;
/// Machines that the areas run on, and the mode that each is compared with.
const MACHINES: [(&str, u32, Switch); 3] = [
    ("cortex-a57", 1, Switch::Asid),
    ("cortex-a57", 4, Switch::Asid),
    ("cortex-a53", 4, Switch::Tlbi),
];
/// All areas, then what the kernel and the inner domain thought of it: nobody did anything wrong.
/// A pool that may not grow any more is no wrong, either.
const ALL: &str = "\
donjon-load
dmesg | grep -A 9 'WARNING: \\|BUG: \\|Internal error: ' | sed 's/^/complaint: /'
tail -n +2 /sys/kernel/security/donjon/refusals 2>/dev/null |
    grep -v '\"no pool has room\"' | sed 's/^/complaint: refused: /'
exit 0
";
const STRESS: &str = "donjon-load stress --seconds 20 --cpus 4";

/// A test for each machine, and a mixture of the heavy areas.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests: Vec<Test> = MACHINES
        .into_iter()
        .map(|(cpu, cpus, switch)| {
            let host = host.clone();
            let name = format!("load:{}:{cpu}:{cpus}", switch.name());
            Test::beside(&name, move || compare(&host, cpu, cpus, switch))
        })
        .collect();
    for switch in [Switch::None, Switch::Asid] {
        let host = host.clone();
        tests.push(Test::beside(
            &format!("load:{}:stress", switch.name()),
            move || {
                let verdicts = verdicts(&host, "cortex-a57", 4, switch, STRESS)?;
                ensure!(
                    verdicts.get("stress").is_some_and(|it| it == "ok"),
                    "{verdicts:?}"
                );
                Ok(())
            },
        ));
    }
    tests
}

/// What became of each area.
type Verdicts = BTreeMap<String, String>;

fn compare(host: &HostArguments, cpu: &str, cpus: u32, switch: Switch) -> Result<()> {
    let native = verdicts(host, cpu, cpus, Switch::None, ALL)?;
    let protected = verdicts(host, cpu, cpus, switch, ALL)?;
    ensure!(!native.is_empty(), "no area ran");
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["area", "none", switch.name()]);
    let mut wrong = Vec::new();
    for (area, without) in &native {
        let with = protected.get(area).map_or("absent", String::as_str);
        table.add_row([area, without, with]);
        if without != with || without.starts_with("failed") {
            wrong.push(area.as_str());
        }
    }
    println!("{table}");
    ensure!(wrong.is_empty(), "wrong: {}", wrong.join(" "));
    Ok(())
}

fn verdicts(
    host: &HostArguments,
    cpu: &str,
    cpus: u32,
    switch: Switch,
    command: &str,
) -> Result<Verdicts> {
    let machine = Machine::new(&MachineArguments {
        cpu: Some(cpu.into()),
        cpus: Some(cpus),
        memory: Some(MEMORY.into()),
        ..MachineArguments::virt(switch)
    })?;
    let variant = InnerVariant::sound(switch);
    let mut boot = built(host, machine, &variant, Variant::of(switch))?.boot;
    let scratch = Scratch::new()?;
    let image = scratch.path().join("disk");
    disk::ext4(&image, DISK_MEBIBYTES, None)?;
    boot.disk = Some(image);
    let text = says(&boot, command, TIMEOUT)?.text;
    ensure!(
        !text.contains("complaint: "),
        "somebody complained:\n{text}"
    );
    Ok(parse(&text))
}

fn parse(text: &str) -> Verdicts {
    let verdict = |line: &str| {
        let (area, verdict) = line.strip_prefix("load: ")?.split_once(": ")?;
        Some((area.to_owned(), verdict.trim_end().to_owned()))
    };
    text.lines().filter_map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_areas_are_verdicts() {
        let text = "stress: fork: 3\nload: fork: ok\nload: swap: failed: no: disk\n";
        let found = parse(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found["swap"], "failed: no: disk");
    }
}
