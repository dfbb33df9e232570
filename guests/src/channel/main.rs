// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a command and sends its output and its status through one serial port, in frames: a byte
//! that names the stream (1, 2, or 0 for the status), the number of bytes in two (little-endian),
//! and the bytes.
//!
//! `donjon-channel DEVICE COMMAND…`
//!
//! The end of the command is the end, like with a virtio port: what it has left in the background,
//! and what that prints later, are not waited for.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{self, SetArg};

/// Most bytes of a frame.
const MOST: usize = 4096;
/// Most bytes that a pipe holds (pipe(7)).
const PIPE: usize = 1 << 16;
/// Milliseconds after which to look whether the command has ended without closing its output.
const PAUSE: u16 = 50;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [device, program, rest @ ..] = &arguments[..] else {
        bail!("usage: donjon-channel DEVICE COMMAND…");
    };
    let port = OpenOptions::new().read(true).write(true).open(device);
    let mut port = port.with_context(|| format!("opening {device}"))?;
    // Every byte as it is.
    let mut settings = termios::tcgetattr(&port)?;
    termios::cfmakeraw(&mut settings);
    termios::tcsetattr(&port, SetArg::TCSANOW, &settings)?;

    let mut child = Command::new(program)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {program}"))?;
    let status = pass_until_end(&mut child, &mut port)?;
    // As a shell has it.
    let number = status.code().or(status.signal().map(|it| 128 + it));
    let text = format!("{}\n", number.unwrap_or(255));
    send(&mut port, b'0', text.as_bytes())?;
    Ok(termios::tcdrain(&port)?)
}

/// Passes both streams on until the command has ended and all that it printed is passed on.
fn pass_until_end(child: &mut Child, port: &mut File) -> Result<ExitStatus> {
    let output = child.stdout.take().context("no standard output")?;
    let errors = child.stderr.take().context("no standard error")?;
    let mut streams = [
        (b'1', Some(File::from(OwnedFd::from(output)))),
        (b'2', Some(File::from(OwnedFd::from(errors)))),
    ];
    loop {
        if let Some(status) = child.try_wait()? {
            // What is in the pipes now was printed before the end, or just behind it.
            for _ in 0..PIPE / MOST {
                pass(&mut streams, port, PollTimeout::ZERO)?;
            }
            return Ok(status);
        }
        pass(&mut streams, port, PollTimeout::from(PAUSE))?;
    }
}

/// Passes on what comes first from each stream, if something comes in time. A stream that has
/// ended becomes none.
fn pass(streams: &mut [(u8, Option<File>)], port: &mut File, wait: PollTimeout) -> Result<()> {
    let open = streams.iter().filter_map(|(_, stream)| stream.as_ref());
    let mut ready: Vec<_> = open
        .map(|it| PollFd::new(it.as_fd(), PollFlags::POLLIN))
        .collect();
    poll(&mut ready, wait)?;
    let ready: Vec<bool> = ready.iter().map(|it| it.any() == Some(true)).collect();
    let mut buffer = [0; MOST];
    let open = streams.iter_mut().filter(|(_, stream)| stream.is_some());
    for ((name, stream), _) in open.zip(ready).filter(|(_, ready)| *ready) {
        let bytes = match stream {
            Some(from) => from.read(&mut buffer)?,
            None => 0,
        };
        if bytes == 0 {
            *stream = None;
        } else {
            send(port, *name, &buffer[..bytes])?;
        }
    }
    Ok(())
}

fn send(port: &mut File, name: u8, bytes: &[u8]) -> Result<()> {
    let mut frame = vec![name];
    frame.extend((bytes.len() as u16).to_le_bytes());
    frame.extend(bytes);
    Ok(port.write_all(&frame)?)
}
