// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for a guest's shell on a console where nothing may be typed before: some UARTs lose what
//! arrives before their driver runs, and one in QEMU never takes anything again.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{Line, frame};
use crate::qemu::console::Console;

/// In the last line that the guest's init prints before its shell starts.
const READY: &[u8] = b"CPUs. `exit`";

/// Looks for words in what arrives, however it is cut into pieces.
#[derive(Debug)]
pub struct Mark {
    words: &'static [u8],
    kept: Vec<u8>,
}

impl Mark {
    /// The last line before the shell.
    #[must_use]
    pub const fn shell() -> Self {
        Self::new(READY)
    }

    /// The line of a kernel whose machine cannot be switched off.
    #[must_use]
    pub const fn halt() -> Self {
        Self::new(b"reboot: System halted")
    }

    const fn new(words: &'static [u8]) -> Self {
        Self {
            words,
            kept: Vec::new(),
        }
    }

    /// Whether the words are complete with `bytes`.
    pub fn is_in(&mut self, bytes: &[u8]) -> bool {
        self.kept.extend(bytes);
        let found = frame::position(&self.kept, self.words).is_some();
        let surplus = self.kept.len().saturating_sub(self.words.len());
        self.kept.drain(..surplus);
        found
    }
}

/// Listens until the shell starts.
///
/// # Errors
///
/// If the guest panics, the line is gone, or it takes longer than `limit`; with the end of what the
/// console printed.
pub fn wait(line: &mut impl Line, limit: Duration) -> Result<()> {
    let deadline = Instant::now() + limit;
    let mut console = Console::default();
    while Instant::now() < deadline {
        match line.receive(Duration::from_millis(200)) {
            Ok(bytes) => console.push(&bytes),
            Err(error) => bail!("{error:#}\nend of its console:\n{}", console.tail()),
        }
        if let Some(fatal) = console.fatal() {
            bail!("the guest panicked: {fatal}\n{}", console.tail());
        }
        if frame::position(console.bytes(), READY).is_some() {
            return Ok(());
        }
    }
    bail!(
        "no shell within {} s; end of its console:\n{}",
        limit.as_secs(),
        console.tail()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_pieces() {
        let mut mark = Mark::halt();
        assert!(!mark.is_in(b"[    9.1] reboot: Sys"));
        assert!(!mark.is_in(b"tem hal"));
        assert!(mark.is_in(b"ted\n"));
        assert!(!Mark::shell().is_in(b"CPUs. `exi"));
    }
}
