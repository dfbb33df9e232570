// SPDX-License-Identifier: MIT OR Apache-2.0
//! The TCP port of a console, which a model names in what it prints.

use crate::board::frame;

/// Finds the port in what the model prints, however it is cut into pieces.
#[derive(Debug)]
pub struct PortFinder {
    before: &'static str,
    line: Vec<u8>,
    found: bool,
}

impl PortFinder {
    /// The model prints `before`, and the port behind it.
    #[must_use]
    pub const fn new(before: &'static str) -> Self {
        Self {
            before,
            line: Vec::new(),
            found: false,
        }
    }

    /// The port, once, when `bytes` complete its line.
    pub fn push(&mut self, bytes: &[u8]) -> Option<u16> {
        if self.found {
            return None;
        }
        self.line.extend(bytes);
        while let Some(end) = self.line.iter().position(|it| *it == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let Some(at) = frame::position(&line, self.before.as_bytes()) else {
                continue;
            };
            let digits = String::from_utf8_lossy(&line[at + self.before.len()..]).into_owned();
            if let Ok(port) = digits.trim().parse() {
                self.found = true;
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_in_pieces_and_once() {
        let mut finder = PortFinder::new("terminal_0: Listening for serial connection on port ");
        assert_eq!(
            finder.push(b"terminal_1: Listening for serial connection on port 5"),
            None
        );
        assert_eq!(finder.push(b"001\nterminal_0: Listening for serial"), None);
        assert_eq!(finder.push(b" connection on port 5000\r\nmore"), Some(5000));
        assert_eq!(
            finder.push(b"terminal_0: Listening for serial connection on port 7\n"),
            None
        );
    }
}
