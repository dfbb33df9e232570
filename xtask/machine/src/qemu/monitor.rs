// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client of QMP: registers and memory of a guest.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The general registers of all CPUs, as QEMU prints them.
///
/// # Errors
///
/// If the monitor does not answer, as for all that follow.
pub fn registers(socket: &Path) -> Result<String> {
    let mut monitor = Monitor::connect(socket)?;
    let answer = monitor.call(&json!({
        "execute": "human-monitor-command",
        "arguments": { "command-line": "info registers -a" },
    }))?;
    let text = answer.as_str().unwrap_or_default();
    // Vector registers fill the screen and tell nothing about a hang.
    let lines = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.starts_with('Q'));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Writes `size` bytes of the guest's physical memory from `start` on to a file.
///
/// # Errors
///
/// If QEMU cannot write the file.
pub fn save_memory(socket: &Path, start: u64, size: u64, to: &Path) -> Result<()> {
    Monitor::connect(socket)?.save_memory(start, size, to)
}

/// Where QEMU put the file that it was given as `-kernel`.
///
/// # Errors
///
/// If QEMU was given no such file.
pub fn loaded_at(socket: &Path, image: &Path) -> Result<u64> {
    let answer = Monitor::connect(socket)?.call(&json!({
        "execute": "human-monitor-command",
        "arguments": { "command-line": "info roms" },
    }))?;
    let list = answer.as_str().unwrap_or_default();
    let name = format!("name=\"{}\"", image.display());
    let line = list.lines().find(|it| it.trim_end().ends_with(&name));
    let address = line.and_then(|it| {
        let digits = it.split_once("addr=")?.1.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok()
    });
    address.with_context(|| format!("QEMU does not say where it put {}", image.display()))
}

/// Reads 32 bits at a physical address, which may be a device's register.
///
/// # Errors
///
/// If QEMU does not say what is there.
pub fn word(socket: &Path, address: u64) -> Result<u32> {
    let text = Monitor::connect(socket)?.human(&format!("xp /1wx {address:#x}"))?;
    let digits = text.split_once(": 0x").map(|it| it.1.trim());
    let word = digits.and_then(|it| u32::from_str_radix(it, 16).ok());
    word.with_context(|| format!("QEMU does not say what is at {address:#x} but: {text}"))
}

/// Stops all CPUs.
///
/// # Errors
///
/// If the monitor does not answer.
pub fn stop(socket: &Path) -> Result<()> {
    Monitor::connect(socket)?
        .call(&json!({ "execute": "stop" }))
        .map(|_| ())
}

/// Lets the CPUs go on.
///
/// # Errors
///
/// If the monitor does not answer.
pub fn resume(socket: &Path) -> Result<()> {
    Monitor::connect(socket)?
        .call(&json!({ "execute": "cont" }))
        .map(|_| ())
}

/// A connection to the monitor. There can be one at a time.
pub struct Monitor {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Monitor {
    /// Connects.
    ///
    /// # Errors
    ///
    /// If there is no monitor at `socket`.
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("connecting to QEMU's monitor")?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        let mut monitor = Self {
            reader: BufReader::new(stream.try_clone()?),
            writer: stream,
        };
        monitor.read()?; // greeting
        monitor.call(&json!({ "execute": "qmp_capabilities" }))?;
        Ok(monitor)
    }

    /// Gives a command of the human monitor; returns what it prints.
    ///
    /// # Errors
    ///
    /// If the monitor does not answer. What the command itself complains of is in its text.
    pub fn human(&mut self, command: &str) -> Result<String> {
        let answer = self.call(&json!({
            "execute": "human-monitor-command",
            "arguments": { "command-line": command },
        }))?;
        Ok(answer.as_str().unwrap_or_default().trim().to_owned())
    }

    /// Executes a command; returns its answer.
    ///
    /// # Errors
    ///
    /// If QEMU refuses the request, or does not answer within 120 seconds.
    pub fn call(&mut self, request: &Value) -> Result<Value> {
        writeln!(self.writer, "{request}")?;
        loop {
            // Events come in between.
            let mut answer = self.read()?;
            if let Some(error) = answer.get("error") {
                anyhow::bail!("QEMU's monitor refused {request}: {error}");
            }
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }

    /// Writes `size` bytes of the guest's physical memory from `start` on to a file.
    ///
    /// # Errors
    ///
    /// If QEMU cannot write the file.
    pub fn save_memory(&mut self, start: u64, size: u64, to: &Path) -> Result<()> {
        let arguments = json!({ "val": start, "size": size, "filename": to.to_string_lossy() });
        self.call(&json!({ "execute": "pmemsave", "arguments": arguments }))
            .map(|_| ())
    }

    /// Waits until QEMU says that the machine ends; returns why, as QEMU calls it
    /// (`guest-shutdown`, `guest-reset`).
    ///
    /// # Errors
    ///
    /// If QEMU ends without a word, or nothing happens for 120 seconds.
    pub fn end_of_machine(&mut self) -> Result<String> {
        loop {
            let event = self.read()?;
            if event["event"] == "SHUTDOWN" {
                let reason = event["data"]["reason"].as_str();
                return Ok(reason.unwrap_or_default().to_owned());
            }
        }
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        let count = self
            .reader
            .read_line(&mut line)
            .context("waiting for QEMU's monitor")?;
        if count == 0 {
            anyhow::bail!("QEMU closed its monitor");
        }
        Ok(serde_json::from_str(&line)?)
    }
}
