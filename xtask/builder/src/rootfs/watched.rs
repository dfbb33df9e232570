// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output that is looked at while it comes, line by line.

use std::borrow::Cow;

/// The output so far, and how much of it was looked at.
#[derive(Default)]
pub struct Watched {
    bytes: Vec<u8>,
    seen: usize,
}

impl Watched {
    /// Takes what came; returns the lines that are complete by now and were not before.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.bytes.extend(bytes);
        let new = &self.bytes[self.seen..];
        let Some(last) = new.iter().rposition(|it| *it == b'\n') else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&new[..=last]);
        let lines = text.lines().map(str::to_owned).collect();
        self.seen += last + 1;
        lines
    }

    /// The output so far.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_seen_once_wherever_it_is_cut() {
        let text = "Unpacking a (1) ...\nSetting up a (1) ...\r\nno end";
        for length in 1..text.len() {
            let mut watched = Watched::default();
            let lines: Vec<String> = text
                .as_bytes()
                .chunks(length)
                .flat_map(|it| watched.push(it))
                .collect();
            assert_eq!(lines, ["Unpacking a (1) ...", "Setting up a (1) ..."]);
            assert_eq!(watched.text(), text);
        }
    }
}
