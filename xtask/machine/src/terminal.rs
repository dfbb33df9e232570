// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terminal that we run on, while a guest's console is on it.

use std::io::{IsTerminal, stdin};
use std::sync::{Mutex, MutexGuard};

use anyhow::Result;
use nix::sys::termios::{self, LocalFlags, SetArg, Termios};

/// What the terminal was set to before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

fn before() -> MutexGuard<'static, Option<Termios>> {
    BEFORE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The terminal passes on each key at once and shows none, because the guest does. Ctrl-C still
/// ends us. It is restored when this is dropped, and by [`restore`].
pub struct Keys(());

impl Keys {
    /// Sets the terminal, if standard input is one.
    ///
    /// # Errors
    ///
    /// If the terminal refuses.
    pub fn pass_on() -> Result<Self> {
        if stdin().is_terminal() {
            let mut settings = termios::tcgetattr(stdin())?;
            before().get_or_insert_with(|| settings.clone());
            settings.local_flags &= !(LocalFlags::ICANON | LocalFlags::ECHO);
            termios::tcsetattr(stdin(), SetArg::TCSANOW, &settings)?;
        }
        Ok(Self(()))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore();
    }
}

/// Sets the terminal as it was.
pub fn restore() {
    if let Some(settings) = before().take() {
        // Without the terminal there is nothing to restore.
        let _ = termios::tcsetattr(stdin(), SetArg::TCSANOW, &settings);
    }
}
