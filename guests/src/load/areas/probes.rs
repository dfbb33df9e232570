// SPDX-License-Identifier: MIT OR Apache-2.0
//! ftrace and kprobes: code of the kernel that changes while it runs.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::child::skip;

const PLACE: &str = "/sys/kernel/tracing";
/// Runs whenever a file is opened.
const FUNCTION: &str = "do_sys_openat2";
/// Offset behind what ftrace patches, so that an instruction runs in a slot of its own.
const INSIDE: u32 = 0x14;
const ROUNDS: usize = 3;

/// The mounted tracing file system.
struct Tracer;

impl Tracer {
    fn mount() -> Result<Self> {
        if !Path::new(PLACE).exists() {
            return Err(skip("no tracefs"));
        }
        mount(
            Some("tracefs"),
            PLACE,
            Some("tracefs"),
            MsFlags::empty(),
            None::<&str>,
        )
        .context("mounting tracefs")?;
        Ok(Self)
    }

    fn path(name: &str) -> PathBuf {
        Path::new(PLACE).join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        fs::write(Self::path(name), text).with_context(|| format!("writing {text:?} to {name}"))
    }

    fn read(&self, name: &str) -> Result<String> {
        Ok(fs::read_to_string(Self::path(name))?)
    }

    /// The beginning of what was traced.
    fn start_of_trace(&self) -> Result<String> {
        let mut bytes = Vec::new();
        let file = File::open(Self::path("trace"))?;
        file.take(1 << 16).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn forget(&self) -> Result<()> {
        self.write("trace", "")
    }

    /// Opens a file; says whether that was traced.
    fn sees_opening(&self) -> Result<bool> {
        self.forget()?;
        fs::read("/proc/version")?;
        self.write("tracing_on", "0")?;
        let trace = self.read("trace")?;
        self.write("tracing_on", "1")?;
        let events = trace.lines().filter(|it| !it.starts_with('#'));
        Ok(events.filter(|it| it.contains(FUNCTION)).count() > 0)
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // After a failure something may still be traced.
        let _ = self.write("current_tracer", "nop");
        let _ = self.write("tracing_on", "1");
        let _ = self.write("events/kprobes/enable", "0");
        let _ = self.write("kprobe_events", "");
        let _ = umount2(PLACE, MntFlags::MNT_DETACH);
    }
}

/// Traces one function, then all of them, then the graph of calls.
pub fn ftrace() -> Result<()> {
    let tracer = Tracer::mount()?;
    let tracers = tracer.read("available_tracers")?;
    if !tracers.split_whitespace().any(|it| it == "function") {
        return Err(skip("no function tracer"));
    }
    for round in 0..ROUNDS {
        tracer.write("set_ftrace_filter", FUNCTION)?;
        tracer.write("current_tracer", "function")?;
        ensure!(tracer.sees_opening()?, "round {round}: nothing was traced");
        tracer.write("current_tracer", "nop")?;
        ensure!(!tracer.sees_opening()?, "round {round}: the tracer stayed");
    }
    tracer.write("set_ftrace_filter", "")?;
    for name in ["function", "function_graph"] {
        tracer.write("current_tracer", name)?;
        fs::read("/proc/version")?;
        tracer.write("tracing_on", "0")?;
        let lines = tracer.start_of_trace()?.lines().count();
        ensure!(lines > 100, "{name} wrote {lines} lines");
        tracer.write("current_tracer", "nop")?;
        tracer.write("tracing_on", "1")?;
    }
    Ok(())
}

/// At the entry of a function, within it, and where it returns.
pub fn kprobes() -> Result<()> {
    let tracer = Tracer::mount()?;
    if !Tracer::path("kprobe_events").exists() {
        return Err(skip("no kprobe events"));
    }
    let within = format!("p:donjon_probe {FUNCTION}+{INSIDE:#x}");
    let probes = [
        format!("p:donjon_probe {FUNCTION}"),
        within,
        format!("r:donjon_probe {FUNCTION} $retval"),
    ];
    for probe in probes.iter().cycle().take(probes.len() * ROUNDS) {
        tracer.write("kprobe_events", probe)?;
        tracer.write("events/kprobes/donjon_probe/enable", "1")?;
        ensure!(tracer.sees_opening()?, "{probe}: it did not fire");
        tracer.write("events/kprobes/donjon_probe/enable", "0")?;
        ensure!(!tracer.sees_opening()?, "{probe}: it stayed");
        tracer.write("kprobe_events", "")?;
    }
    Ok(())
}
