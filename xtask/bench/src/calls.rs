// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench calls`: calls per operation, and how long the longest call is.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::run::Parts;
use donjon_figures::records::calls::{Calls, Longest, ONCE, Operation, WAITING};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::qemu::Boot;

use crate::Record;
use crate::arguments::CallsArguments;
use crate::guest::{self, PLACES, measured, said};
use crate::table::{rounded, table};

/// Most instructions of one call, during which the CPU takes no interrupt.
pub const BOUND: u64 = 20_000;
/// Most instructions of a call in which the caller wants to wait; the CPU takes no interrupt during
/// it either.
const BOUND_OF_WAITING: u64 = 10 * BOUND;
/// Functions that [`WORK`] calls. A figure for each has to be there.
const CALLED: &str = "\
    clear compartment_add compartment_clone compartment_connect compartment_copy \
    compartment_create compartment_destroy compartment_information compartment_run \
    compartment_seal compartment_share flush free information log map map_block pool_add \
    pool_remove refresh refusals statistics switch_root table_write table_write_list \
    text_poke text_seal text_wait";
/// Under `-icount` everything takes long.
const TIMEOUT: Duration = Duration::from_secs(900);

/// What makes calls long: ordinary work, then calls that an attacker would choose.
const WORK: &str = "\
donjon-load fork mprotect mremap mremap-tables sparse-tables swap modules bpf \
kprobes || exit 1
insmod /lib/modules/donjon_attack.ko || exit 1
cd /sys/module/donjon_attack/parameters
echo longest >run || exit 1
dmesg | grep \"attack longest/\"
echo 1 >undo
cat /sys/kernel/security/donjon/log /sys/kernel/security/donjon/refusals >/dev/null";

/// Measures and prints.
pub fn run(arguments: &CallsArguments) -> Result<()> {
    let output = &arguments.output;
    let cpu = arguments.cpu.as_deref();
    let machine = measured(&arguments.machine, cpu, arguments.switch, true)?;
    ensure!(
        arguments.switch != Switch::None,
        "without an inner domain (--switch none) there are no calls"
    );
    output.prepare()?;
    let calls = measure_on(&output.host, &machine)?;
    output.show(&calls)?;
    calls.check()
}

/// Counts on a machine, on which the longest calls are made as long as they can be.
pub fn measure_on(host: &HostArguments, machine: &MachineArguments) -> Result<Calls> {
    measure(guest::prepare(host, &guest::longest(machine.clone()))?)
}

/// Measures in a guest that has the hostile module.
pub fn measure(parts: Parts) -> Result<Calls> {
    measured_by(parts, |boot, command, timeout| {
        read(&said(boot, "count calls", command, timeout)?)
    })
}

/// Measures in a guest that `measure` runs and reads.
pub fn measured_by(
    mut parts: Parts,
    measure: impl FnOnce(&Boot, &str, Duration) -> Result<Calls>,
) -> Result<Calls> {
    donjon_attack::arm(&mut parts)?;
    let work = WORK.replace('\'', "'\\''");
    let command = format!("{PLACES} && donjon-bench calls && donjon-bench longest '{work}'");
    measure(&parts.boot, &command, TIMEOUT)
}

/// Reads what the guest printed.
pub fn read(text: &str) -> Result<Calls> {
    let mut calls = Calls::default();
    let unreadable = |line: &str| format!("the guest printed `{line}`");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("longest ") {
            let longest = longest(rest).with_context(|| unreadable(line))?;
            calls.longest.push(longest);
        } else if let Some(operation) = line.strip_prefix("operation ") {
            let operation = operation_of(operation).with_context(|| unreadable(line))?;
            calls.operations.push(operation);
        }
        ensure!(
            !line.contains("UNTRIED") && !line.contains("SUCCEEDED"),
            unreadable(line)
        );
    }
    let both = !calls.operations.is_empty() && !calls.longest.is_empty();
    ensure!(both, "the guest counted nothing; it printed:\n{text}");
    Ok(calls)
}

/// Whether a call is as short as it has to be.
pub fn is_bounded(call: &Longest) -> bool {
    call.function == ONCE || call.instructions <= bound(&call.function)
}

fn bound(function: &str) -> u64 {
    if function == WAITING {
        BOUND_OF_WAITING
    } else {
        BOUND
    }
}

fn longest(text: &str) -> Option<Longest> {
    let (function, instructions) = text.split_once(' ')?;
    Some(Longest {
        function: function.to_owned(),
        instructions: instructions.trim().parse().ok()?,
    })
}

fn operation_of(text: &str) -> Option<Operation> {
    let (name, figures) = text.split_once(": ")?;
    let figures: Vec<f64> = figures
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let [calls, maps, flushes, switches, instructions] = figures[..] else {
        return None;
    };
    Some(Operation {
        name: name.to_owned(),
        calls,
        maps,
        flushes,
        switches,
        instructions,
    })
}

impl Record for Calls {
    fn text(&self) -> String {
        let operations = self.operations.iter().map(|it| {
            let figures = [it.calls, it.maps, it.flushes, it.switches];
            let mut row = vec![it.name.clone()];
            row.extend(figures.map(|figure| rounded(figure, 1)));
            row.push(rounded(it.instructions, 0));
            row
        });
        let header = "operation|calls|that fill|that empty|switches|\
                      instructions inside"
            .split('|');
        let operations = table(1, header, operations);
        let longest = self.longest.iter();
        let longest = longest.map(|it| vec![it.function.clone(), it.instructions.to_string()]);
        let longest = table(1, ["function", "longest call, instructions"], longest);
        format!("{operations}\n\n{longest}")
    }

    /// Fails if a call is longer than [`BOUND`], or a function was not measured.
    fn check(&self) -> Result<()> {
        let is_there = |name: &str| self.longest.iter().any(|it| it.function == name);
        let missing: Vec<_> = CALLED.split(' ').filter(|it| !is_there(it)).collect();
        ensure!(
            missing.is_empty(),
            "these functions were not measured: {}",
            missing.join(", ")
        );
        let long = self.longest.iter().filter(|it| !is_bounded(it));
        let long: Vec<_> = long
            .map(|it| format!("{} takes {} instructions", it.function, it.instructions))
            .collect();
        if long.is_empty() {
            return Ok(());
        }
        Err(Finding::Figures.error(format!(
            "more than {BOUND} in one call: {}",
            long.join(", ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
operation fork+exit: 37.0 12.0 5.0 3.0 4200
[    1.0] attack longest/seal: stopped, a page of 0xd5033f9f is executable
longest table_write 700
longest handover 900000
";

    /// The guest's text with figures of all functions that have to be there.
    fn all() -> String {
        let others = CALLED.split(' ').filter(|it| *it != "table_write");
        let others: String = others.map(|it| format!("longest {it} 300\n")).collect();
        format!("{SAID}{others}")
    }

    #[test]
    fn the_guests_figures_are_read() {
        let calls = read(&all()).expect("figures");
        assert_eq!(calls.operations[0].name, "fork+exit");
        assert_eq!(calls.operations[0].instructions, 4200.0);
        assert_eq!(calls.longest.len(), CALLED.split(' ').count() + 1);
        calls.check().expect("the hand-over is exempt");
    }

    #[test]
    fn a_long_call_is_named() {
        let calls = read(&all().replace(" 700", " 20001")).expect("figures");
        let error = calls.check().expect_err("too long").to_string();
        assert!(error.contains("table_write takes 20001"), "{error}");
    }

    #[test]
    fn a_function_that_was_not_measured_is_named() {
        let without = all().replace("longest compartment_run 300\n", "");
        let calls = read(&without).expect("figures");
        let error = calls.check().expect_err("one is missing").to_string();
        assert!(error.ends_with("compartment_run"), "{error}");
    }

    #[test]
    fn a_case_that_was_not_tried_is_no_figure() {
        assert!(read(&SAID.replace("stopped", "UNTRIED")).is_err());
        assert!(read("").is_err());
    }
}
