// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command in a guest printed, and its status.

use std::fmt::{self, Display};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail, ensure};

use crate::finding::{Finding, SUCCEEDED};
use crate::qemu::monitor::Monitor;
use crate::qemu::{self, Boot, Stream};

/// What the guest printed, and the status.
pub struct Said {
    /// Text of both streams.
    pub text: String,
    /// Exit status of the command.
    pub status: u8,
}

impl Said {
    /// What a guest said in which no attempt may succeed.
    ///
    /// # Errors
    ///
    /// A [`Finding::Attack`] or [`Finding::Escape`] if the guest says that an attempt succeeded or
    /// that the self-test failed, also where it has no status. Otherwise the error of `said`.
    pub fn of_sound(said: Result<Self>) -> Result<Self> {
        match said {
            Ok(said) => match found_in(&said.text) {
                Some(finding) => Err(finding.error(said.text)),
                None => Ok(said),
            },
            Err(error) => {
                let printed = error.downcast_ref::<Printed>().map(|it| it.0.as_str());
                let text = format!("{error:#}");
                let found = printed.and_then(found_in).or_else(|| found_in(&text));
                Err(match found {
                    Some(finding) => finding.error(text),
                    None => error,
                })
            }
        }
    }

    /// Fails unless the command succeeded.
    ///
    /// # Errors
    ///
    /// A [`Finding::Escape`] if the guest says that the self-test failed, whatever the status is.
    pub fn expect_success(&self) -> Result<()> {
        if matches!(self_test(&self.text), Some((_, failed)) if failed > 0) {
            return Err(self.failed_self_test());
        }
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
        let numbers = self_test(&self.text);
        let (passed, failed) = numbers.with_context(|| {
            format!(
                "the guest printed no result of the self-test:\n{}",
                self.text
            )
        })?;
        if failed > 0 {
            return Err(self.failed_self_test());
        }
        ensure!(passed > 0, "the self-test checked nothing:\n{}", self.text);
        Ok(passed)
    }

    fn failed_self_test(&self) -> Error {
        Finding::Escape.error(format!("the self-test failed:\n{}", self.text))
    }
}

/// Passed and failed checks of the self-test.
fn self_test(text: &str) -> Option<(u32, u32)> {
    text.lines().rev().find_map(|line| {
        let (passed, rest) = line.strip_prefix("selftest: ")?.split_once(" passed, ")?;
        Some((
            passed.parse().ok()?,
            rest.strip_suffix(" failed")?.parse().ok()?,
        ))
    })
}

/// What a guest with all protections on must not say.
fn found_in(text: &str) -> Option<Finding> {
    if text.contains(SUCCEEDED) {
        return Some(Finding::Attack);
    }
    let (_, failed) = self_test(text)?;
    (failed > 0).then_some(Finding::Escape)
}

/// What a guest printed that has no status. It is the context of the error.
#[derive(Debug)]
struct Printed(String);

/// Lines of it that are shown.
const SHOWN: usize = 40;

impl Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.lines().collect();
        let (_, shown) = lines.split_at(lines.len().saturating_sub(SHOWN));
        write!(f, "the guest printed:\n{}\nand then", shown.join("\n"))
    }
}

/// What came of a guest that printed `text`.
fn said(text: &[u8], status: Result<u8>) -> Result<Said> {
    let text = String::from_utf8_lossy(text).into_owned();
    match status {
        Ok(status) => Ok(Said { text, status }),
        Err(error) if text.is_empty() => Err(error),
        Err(error) => Err(error.context(Printed(text))),
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

/// What a guest said, or why it failed, which quotes its console: for what must not be in either.
pub fn whatever_became(said: &Result<Said>) -> String {
    match said {
        Ok(said) => said.text.clone(),
        Err(error) => format!("{error:#}"),
    }
}

/// Boots and runs `command`.
///
/// # Errors
///
/// If the machine does not start, ends without a status, or takes longer than `timeout`. The error
/// has what the guest printed until then; [`Said::of_sound`] looks at it.
pub fn says(boot: &Boot, command: &str, timeout: Duration) -> Result<Said> {
    let mut text = Vec::new();
    let status = qemu::exec(boot, command, timeout, |stream, bytes| match stream {
        Stream::Output | Stream::Error => text.extend(bytes),
    });
    said(&text, status)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    /// What was found in a sound guest.
    fn finding(text: &str, status: Result<u8>) -> Option<Finding> {
        let said = Said::of_sound(said(text.as_bytes(), status));
        said.err().and_then(|it| Finding::of(&it))
    }

    #[test]
    fn what_a_sound_guest_printed_counts_without_a_status_too() {
        let ends = [|| Ok(0), || Ok(1), || Err(anyhow!("no status"))];
        let late = format!(
            "attack D1/x: SUCCEEDED, it ran{}",
            "\nmore".repeat(2 * SHOWN)
        );
        for end in ends {
            assert_eq!(finding(&late, end()), Some(Finding::Attack));
            let failed = "selftest: 36 passed, 1 failed\n";
            assert_eq!(finding(failed, end()), Some(Finding::Escape));
            assert_eq!(finding("selftest: 37 passed, 0 failed\n", end()), None);
        }
        let quoted = Err(anyhow!("console: attack D1/x: SUCCEEDED, it ran"));
        assert_eq!(finding("ready\n", quoted), Some(Finding::Attack));
    }

    #[test]
    fn an_error_has_what_was_printed_and_no_finding_by_itself() {
        let control = said(
            b"attack D1/x: SUCCEEDED, it ran\n",
            Err(anyhow!("no status")),
        );
        let error = control.err().expect("an error");
        assert_eq!(Finding::of(&error), None);
        assert_eq!(
            format!("{error:#}"),
            "the guest printed:\nattack D1/x: SUCCEEDED, it ran\nand then: no status"
        );
        let silent = said(b"", Err(anyhow!("no status")))
            .err()
            .expect("an error");
        assert_eq!(format!("{silent:#}"), "no status");
    }

    #[test]
    fn a_failed_self_test_comes_before_the_status() {
        let text = "selftest: 36 passed, 1 failed\n".to_owned();
        let error = Said { text, status: 1 }.expect_success().expect_err("it");
        assert_eq!(Finding::of(&error), Some(Finding::Escape));
    }

    #[test]
    fn the_result_of_the_self_test_is_its_last_line() {
        let text = "cpu 0: 9 passed, 0 failed\nselftest: 36 passed, 1 failed\n".to_owned();
        assert_eq!(self_test(&text), Some((36, 1)));
    }
}
