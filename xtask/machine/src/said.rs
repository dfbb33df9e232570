// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command in a guest printed, and its status.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::finding::Finding;
use crate::qemu::monitor::Monitor;
use crate::qemu::{self, Boot, Stream};

/// What the guest printed, and the status.
pub struct Said {
    /// Both streams.
    pub text: String,
    /// Exit status of the command.
    pub status: u8,
}

impl Said {
    /// Fails unless the command succeeded.
    pub fn expect_success(&self) -> Result<()> {
        ensure!(
            self.status == 0,
            "the guest's command failed ({}):\n{}",
            self.status,
            self.text
        );
        Ok(())
    }

    /// Fails unless a line of the output, without the space around it, is `line`.
    pub fn expect_line(&self, line: &str) -> Result<()> {
        ensure!(
            self.text.lines().any(|it| it.trim() == line),
            "the guest did not print the line `{line}`:\n{}",
            self.text
        );
        Ok(())
    }

    /// How many checks of the self-test passed. Fails unless there are some, and none failed.
    pub fn expect_self_test(&self) -> Result<u32> {
        let (passed, failed) = self.self_test()?;
        if failed > 0 {
            let text = format!("the self-test failed:\n{}", self.text);
            return Err(Finding::Escape.error(text));
        }
        ensure!(passed > 0, "the self-test checked nothing:\n{}", self.text);
        Ok(passed)
    }

    /// Passed and failed checks of the self-test.
    fn self_test(&self) -> Result<(u32, u32)> {
        let numbers = self.text.lines().rev().find_map(|line| {
            let (passed, rest) = line.strip_prefix("selftest: ")?.split_once(" passed, ")?;
            Some((
                passed.parse().ok()?,
                rest.strip_suffix(" failed")?.parse().ok()?,
            ))
        });
        match numbers {
            Some(numbers) => Ok(numbers),
            None => anyhow::bail!(
                "the guest printed no result of the self-test:\n{}",
                self.text
            ),
        }
    }
}

/// How a guest ended its machine.
pub struct Ended {
    /// Why QEMU ended, as QEMU calls it: `guest-shutdown` or `guest-reset`.
    pub reason: String,
    /// What was wrong from outside, with the end of the console: the command has no status.
    pub text: String,
}

/// Boots and runs `command`, which ends the machine.
///
/// # Errors
///
/// If the machine goes on, or QEMU does not say why it ended.
pub fn ends(boot: &Boot, command: &str, timeout: Duration) -> Result<Ended> {
    const READY: &str = "the command begins";
    // Whoever waits at the monitor is there before the machine ends.
    let command = format!("echo {READY}; donjon-wait; {command}");
    let mut waiting = None;
    let mut text = Vec::new();
    let end = qemu::exec_watched(boot, &command, timeout, |monitor, _, bytes| {
        text.extend(bytes);
        if waiting.is_none() && String::from_utf8_lossy(&text).contains(READY) {
            let monitor = Monitor::connect(monitor);
            waiting = Some(thread::spawn(move || monitor?.end_of_machine()));
        }
    });
    let text = match end {
        Ok(status) => bail!(
            "the machine went on ({status}):\n{}",
            String::from_utf8_lossy(&text)
        ),
        Err(error) => format!("{error:#}"),
    };
    let waiting = waiting.with_context(|| format!("the command did not begin: {text}"))?;
    let Ok(reason) = waiting.join() else {
        bail!("waiting for QEMU's monitor failed");
    };
    let reason = reason.with_context(|| format!("why QEMU ended is not known: {text}"))?;
    Ok(Ended { reason, text })
}

/// Boots and runs `command`.
///
/// # Errors
///
/// If the machine does not start, or takes longer than `timeout`.
pub fn says(boot: &Boot, command: &str, timeout: Duration) -> Result<Said> {
    let mut text = Vec::new();
    let status = qemu::exec(boot, command, timeout, |stream, bytes| match stream {
        Stream::Output | Stream::Error => text.extend(bytes),
    })?;
    Ok(Said {
        text: String::from_utf8_lossy(&text).into_owned(),
        status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_the_self_test_is_its_last_line() {
        let text = "cpu 0: 9 passed, 0 failed\nselftest: 36 passed, 1 failed\n".to_owned();
        assert_eq!(Said { text, status: 0 }.self_test().ok(), Some((36, 1)));
    }
}
