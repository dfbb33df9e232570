// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs commands on a machine that is reached by its console alone, or by ssh.
//!
//! * [`boot`]: waiting for a guest's shell.
//! * [`frame`]: how an answer is found among whatever else the console prints.
//! * [`interactive`]: the console on our own terminal.
//! * [`session`]: a shell on the console, and commands that it runs.
//! * [`serial`]: a serial port of this host.
//! * [`ssh`]: the same commands by ssh.

pub mod boot;
pub mod frame;
pub mod interactive;
pub mod serial;
pub mod session;
pub mod ssh;

use std::time::Duration;

use anyhow::Result;

/// Bytes to and from a console.
pub trait Line {
    /// Sends all of `bytes`.
    ///
    /// # Errors
    ///
    /// If the line is gone.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;

    /// What has arrived, after at most `limit`; nothing if nothing has.
    ///
    /// # Errors
    ///
    /// If the line is gone.
    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>>;
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Exit status of the command.
    pub status: u8,
    /// What it wrote to standard output.
    pub output: Vec<u8>,
    /// What it wrote to standard error.
    pub errors: Vec<u8>,
}
