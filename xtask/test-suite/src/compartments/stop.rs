// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a machine leaves RAM as it is, and nothing of compartments is in it. What processes
//! had is there, and so is what compartments had if the inner domain does not wipe it.

use std::fs;
use std::path::Path;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_loops::marker;
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu;
use donjon_machine::qemu::monitor::Monitor;
use serde_json::json;
use tempfile::TempDir;

use super::{TIMEOUT, machine};
use crate::test::Test;

/// What messages are made from.
const SEED: u64 = 20_260_519;
/// RAM of the machine, and where QEMU's `virt` has it.
const START: u64 = 0x4000_0000;
const SIZE: u64 = 512 << 20;
/// Said as soon as messages are exchanged, which goes on until the end.
const HELD: &str = "held\n";
/// Leaves frames as they are.
const UNWIPED: &str = "weaken-wipe";

/// How a machine ends.
#[derive(Clone, Copy)]
struct End {
    /// What the guest does.
    command: &'static str,
    /// Why QEMU ends then, as it calls it.
    reason: &'static str,
}

/// Linux's own reset, while messages are exchanged.
const RESET: End = End {
    command: "reboot -f",
    reason: "guest-reset",
};
/// The inner domain meets a forged TCR_EL1, while no compartment runs.
const PANIC: End = End {
    command: "killall -STOP donjon-scrape; sleep 1; \
              echo 'forge 0x33b5503590' >/sys/kernel/security/donjon/attack",
    reason: "guest-shutdown",
};

/// The check with what it finds in processes, and the control; by name, both for a panic, which has
/// three seconds to save the memory.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let (sound, control, panic) = (host.clone(), host.clone(), host.clone());
    vec![
        Test::beside("compartments:stop", move || nothing_is_left(&sound, RESET)).holds(&["P5"]),
        Test::beside("compartments:stop:control", move || {
            is_left_unwiped(&control, RESET)
        })
        .holds(&["P5"]),
        Test::beside("compartments:stop:panic", move || {
            nothing_is_left(&panic, PANIC)?;
            is_left_unwiped(&panic, PANIC)
        })
        .holds(&["P5"])
        .long(),
    ]
}

fn nothing_is_left(host: &HostArguments, end: End) -> Result<()> {
    let inside = words_after(host, end, "inside", &[])?;
    if inside > 0 {
        let text = format!("a message of compartments is in RAM {inside} times");
        return Err(Finding::Violation.error(text));
    }
    let outside = words_after(host, end, "outside", &[])?;
    ensure!(outside > 0, "no message of processes is found in RAM");
    Ok(())
}

fn is_left_unwiped(host: &HostArguments, end: End) -> Result<()> {
    let found = words_after(host, end, "inside", &[UNWIPED])?;
    ensure!(found > 0, "nothing is found although nothing was wiped");
    Ok(())
}

/// How often the word that all messages begin with is in RAM at the end.
fn words_after(host: &HostArguments, how: End, place: &str, weakened: &[&str]) -> Result<usize> {
    let machine = Machine::new(&machine(Switch::Asid))?;
    let variant = InnerVariant::without(Switch::Asid, weakened);
    let boot = prepare(host, machine, &variant)?.boot;
    let folder = TempDir::new()?;
    let memory = folder.path().join("memory");
    let command = how.command;
    let script = format!(
        "donjon-scrape hold {place} {SEED} | \
         {{ read word; echo $word; donjon-wait; {command}; sleep 600; }}"
    );
    let (mut text, mut waiting) = (Vec::new(), None);
    let end = qemu::exec_watched(&boot, &script, TIMEOUT, |monitor, _, bytes| {
        text.extend(bytes);
        if waiting.is_none() && memchr::memmem::find(&text, HELD.as_bytes()).is_some() {
            // The machine ends as soon as this was taken.
            let (monitor, to) = (paused_at_end(monitor), memory.clone());
            waiting = Some(thread::spawn(move || {
                save_at_end(monitor?, how.reason, &to)
            }));
        }
    });
    let text = String::from_utf8_lossy(&text);
    let Err(end) = end else {
        bail!("the machine went on:\n{text}");
    };
    let waiting = waiting.with_context(|| format!("no messages: {end:#}\n{text}"))?;
    let Ok(saved) = waiting.join() else {
        bail!("waiting for QEMU's monitor failed");
    };
    saved.with_context(|| format!("{end:#}"))?;
    let memory = fs::read(&memory)?;
    Ok(memchr::memmem::find_iter(&memory, &marker(SEED).to_le_bytes()).count())
}

/// The monitor of a machine that stands still at its end. A reset is a shutdown here
/// (`-no-reboot`).
fn paused_at_end(monitor: &Path) -> Result<Monitor> {
    let mut monitor = Monitor::connect(monitor)?;
    let pause = json!({ "shutdown": "pause" });
    monitor.call(&json!({ "execute": "set-action", "arguments": pause }))?;
    Ok(monitor)
}

/// Saves RAM when the machine has ended, or in place of a reset, and ends QEMU.
fn save_at_end(mut monitor: Monitor, expected: &str, to: &Path) -> Result<()> {
    let reason = monitor.end_of_machine()?;
    ensure!(reason == expected, "the machine ended by {reason}");
    monitor.save_memory(START, SIZE, to)?;
    monitor.call(&json!({ "execute": "quit" }))?;
    Ok(())
}
