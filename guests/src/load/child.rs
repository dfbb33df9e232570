// SPDX-License-Identifier: MIT OR Apache-2.0
//! Child processes that report why they failed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, setpgid};

/// A running child.
pub struct Child {
    /// Process of the child.
    pub pid: Pid,
    words: File,
}

/// What a child may say besides that it failed: its first word is this.
const SKIPPED: &str = "skipped: ";

/// How a child ended.
#[derive(Debug)]
pub enum ChildEnd {
    /// Everything was as it should be.
    Done,
    /// The area could not be tried here, for this reason.
    Skipped(String),
    /// What went wrong.
    Failed(String),
}

/// An error that says that an area cannot be tried here.
pub fn skip(why: &str) -> anyhow::Error {
    anyhow::anyhow!("{SKIPPED}{why}")
}

impl Child {
    /// Runs `body` in a child. The caller has one thread.
    pub fn start(body: impl FnOnce() -> Result<()>) -> Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        // SAFETY: there is one thread, so the child has every lock of the parent.
        match unsafe { fork() }.context("fork")? {
            ForkResult::Parent { child } => {
                drop(writer);
                // SAFETY: a descriptor that has no other owner any more.
                let words = unsafe { File::from_raw_fd(reader.into_raw_fd()) };
                Ok(Self { pid: child, words })
            }
            ForkResult::Child => {
                drop(reader);
                let result = body();
                let mut writer = writer;
                if let Err(error) = &result {
                    let _ = write!(writer, "{error:#}");
                }
                // SAFETY: ends the process; nothing of the parent's is run or flushed.
                unsafe { libc::_exit(i32::from(result.is_err())) }
            }
        }
    }

    /// Starts a child in a process group of its own, so that it can be ended with all its children.
    pub fn start_group(body: impl FnOnce() -> Result<()>) -> Result<Self> {
        let child = Self::start(|| {
            setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
            body()
        })?;
        // Either of the two is first; the other one does no harm.
        let _ = setpgid(child.pid, child.pid);
        Ok(child)
    }

    /// Waits for its success.
    pub fn join(mut self) -> Result<()> {
        let mut words = String::new();
        self.words.read_to_string(&mut words)?;
        match waitpid(self.pid, None)? {
            WaitStatus::Exited(_, 0) => Ok(()),
            WaitStatus::Exited(..) => bail!("{words}"),
            other => bail!("a child ended with {other:?} {words}"),
        }
    }

    /// Waits for its end by `signal`.
    pub fn join_killed_by(self, signal: Signal) -> Result<()> {
        let status = waitpid(self.pid, None)?;
        ensure!(
            matches!(status, WaitStatus::Signaled(_, found, _) if found == signal),
            "a child was to end by {signal}, but: {status:?}"
        );
        Ok(())
    }

    /// Waits for the end of the group's first process, then ends the rest of the group.
    pub fn end_within(mut self, limit: Duration) -> Result<ChildEnd> {
        let deadline = Instant::now() + limit;
        let status = loop {
            match waitpid(self.pid, Some(WaitPidFlag::WNOHANG))? {
                WaitStatus::StillAlive if Instant::now() < deadline => {
                    sleep(Duration::from_millis(5));
                }
                WaitStatus::StillAlive => {
                    let _ = killpg(self.pid, Signal::SIGKILL);
                    waitpid(self.pid, None)?;
                    return Ok(ChildEnd::Failed(format!(
                        "no end after {} s",
                        limit.as_secs()
                    )));
                }
                status => break status,
            }
        };
        let _ = killpg(self.pid, Signal::SIGKILL);
        let mut words = String::new();
        self.words.read_to_string(&mut words)?;
        Ok(match status {
            WaitStatus::Exited(_, 0) => ChildEnd::Done,
            WaitStatus::Exited(..) => match words.strip_prefix(SKIPPED) {
                Some(why) => ChildEnd::Skipped(why.to_owned()),
                None => ChildEnd::Failed(words),
            },
            other => ChildEnd::Failed(format!("it ended with {other:?}")),
        })
    }
}
