// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a command and sends its output and its status through one serial port, in frames: a byte
//! that names the stream (1, 2, or 0 for the status), the number of bytes in two (little-endian),
//! and the bytes.
//!
//! `donjon-channel DEVICE COMMAND…`

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use nix::sys::termios::{self, SetArg};

/// Most bytes of a frame.
const MOST: usize = 4096;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [device, program, rest @ ..] = &arguments[..] else {
        bail!("usage: donjon-channel DEVICE COMMAND…");
    };
    let port = OpenOptions::new().read(true).write(true).open(device);
    let port = port.with_context(|| format!("opening {device}"))?;
    // Every byte as it is.
    let mut settings = termios::tcgetattr(&port)?;
    termios::cfmakeraw(&mut settings);
    termios::tcsetattr(&port, SetArg::TCSANOW, &settings)?;
    let port = Mutex::new(port);

    let mut child = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let output = child.stdout.take().context("no standard output")?;
    let errors = child.stderr.take().context("no standard error")?;
    std::thread::scope(|scope| {
        scope.spawn(|| pass(output, b'1', &port));
        scope.spawn(|| pass(errors, b'2', &port));
    });
    let status = child.wait()?;
    // As a shell has it.
    let number = status.code().or(status.signal().map(|it| 128 + it));
    let text = format!("{}\n", number.unwrap_or(255));
    send(&port, b'0', text.as_bytes())?;
    let port = port.lock().unwrap_or_else(|it| it.into_inner());
    Ok(termios::tcdrain(&*port)?)
}

/// Passes a stream on until it ends.
fn pass(mut from: impl Read, name: u8, port: &Mutex<File>) {
    let mut buffer = [0; MOST];
    while let Ok(bytes) = from.read(&mut buffer)
        && bytes > 0
        && send(port, name, &buffer[..bytes]).is_ok()
    {}
}

fn send(port: &Mutex<File>, name: u8, bytes: &[u8]) -> Result<()> {
    let mut frame = vec![name];
    frame.extend((bytes.len() as u16).to_le_bytes());
    frame.extend(bytes);
    let mut port = port.lock().unwrap_or_else(|it| it.into_inner());
    Ok(port.write_all(&frame)?)
}
