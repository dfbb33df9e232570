// SPDX-License-Identifier: MIT OR Apache-2.0
//! A guest's console on our own terminal.

use std::io::{Write, stdin, stdout};
use std::time::Duration;

use anyhow::Result;

use super::Line;
use super::boot::Mark;
use crate::process;
use crate::terminal::Keys;

/// Passes keys and output on until the guest halts. `at_shell` runs when its shell starts.
///
/// # Errors
///
/// If the terminal cannot be set, `at_shell` fails, or the line is gone.
pub fn run(line: &mut impl Line, at_shell: impl FnOnce() -> Result<()>) -> Result<()> {
    let _keys = Keys::pass_on()?;
    // Its thread ends with us: a read of the terminal cannot be interrupted.
    let typed = process::pieces(stdin());
    let (mut shell, mut halt) = (Mark::shell(), Mark::halt());
    let mut at_shell = Some(at_shell);
    loop {
        let bytes = line.receive(Duration::from_millis(20))?;
        // The reader may be gone; the guest still runs to its end.
        let _ = stdout().write_all(&bytes).and_then(|()| stdout().flush());
        if shell.is_in(&bytes)
            && let Some(act) = at_shell.take()
        {
            act()?;
        }
        if halt.is_in(&bytes) {
            return Ok(());
        }
        while let Ok(bytes) = typed.try_recv() {
            line.send(&bytes)?;
        }
    }
}
