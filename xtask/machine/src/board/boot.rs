// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for a guest's shell on a console where nothing may be typed before: some UARTs lose what
//! arrives before their driver runs, and one in QEMU never takes anything again.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{Line, frame};
use crate::qemu::console::Console;

/// In the last line that the guest's init prints before its shell starts.
const READY: &[u8] = b"CPUs. `exit`";

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
