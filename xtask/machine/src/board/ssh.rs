// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands by ssh, with the user's own client and its configuration.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::Finished;
use crate::process::Running;

/// What ssh itself ends with when it fails.
const FAILED: i32 = 255;

/// Runs `command` with `sh` on `destination`, for at most `timeout`.
///
/// # Errors
///
/// If ssh is not installed or cannot log in without a question, or `timeout` passes.
pub fn run(destination: &str, command: &str, timeout: Duration) -> Result<Finished> {
    ensure!(
        !destination.starts_with('-') && !destination.is_empty(),
        "`{destination}` is no destination of ssh; write --ssh USER@HOST"
    );
    let mut ssh = Command::new("ssh");
    ssh.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T"]);
    ssh.args(["--", destination, "sh", "-s"]);
    ssh.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = Running::start(&mut ssh)?;
    let child = running.child();
    let output = child.stdout.take().map(reader);
    let errors = child.stderr.take().map(reader);
    if let Some(mut input) = child.stdin.take() {
        // If the connection fails, ssh says why on its standard error.
        let _ = input.write_all(format!("{command}\n").as_bytes());
    }
    let deadline = Instant::now() + timeout;
    let status = loop {
        if let Some(status) = running.ended()? {
            break status;
        }
        ensure!(
            Instant::now() < deadline,
            "{destination} did not end the command within {} s",
            timeout.as_secs()
        );
        thread::sleep(Duration::from_millis(20));
    };
    let finished = |it: Option<JoinHandle<Vec<u8>>>| it.and_then(|it| it.join().ok());
    let errors = finished(errors).unwrap_or_default();
    let Some(code) = status.code().filter(|it| *it != FAILED) else {
        bail!(
            "ssh could not reach {destination} or was not let in without a password: {}\n`ssh \
             {destination} true` must work; keys are set up with `ssh-copy-id {destination}`",
            String::from_utf8_lossy(&errors).trim()
        );
    };
    Ok(Finished {
        status: u8::try_from(code).context("the exit status")?,
        output: finished(output).unwrap_or_default(),
        errors,
    })
}

fn reader(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is shown; the status tells of the failure.
        let _ = from.read_to_end(&mut bytes);
        bytes
    })
}
