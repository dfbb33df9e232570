// SPDX-License-Identifier: MIT OR Apache-2.0
//! Libraries in processes.

use std::io::{PipeReader, PipeWriter, Read, Write};

use donjon_loops::{Link, MESSAGE};

/// Pipes to and from the other process.
pub struct Plain {
    /// What the other one says.
    pub reader: PipeReader,
    /// What this one says.
    pub writer: PipeWriter,
}

impl Link for Plain {
    fn send(&mut self, message: &[u8; MESSAGE]) -> bool {
        self.writer.write_all(message).is_ok()
    }

    fn receive(&mut self, message: &mut [u8; MESSAGE]) -> bool {
        self.reader.read_exact(message).is_ok()
    }
}
