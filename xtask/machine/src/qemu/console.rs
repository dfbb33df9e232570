// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds panics and the exit status in the output of a console.

use crate::finding::INNER_PANIC;

/// Lines shown when something went wrong.
const SHOWN: usize = 30;

/// Marks of a guest that will not recover.
const FATAL: [&str; 2] = [INNER_PANIC, "Kernel panic - not syncing"];

/// Linux writes this of a request that failed, and then the disk's letter.
const DISK_ERROR: &str = " error, dev vd";
/// Mark of a failed request that writes.
const WRITE: &str = ":(WRITE)";

/// Everything that a console printed so far.
#[derive(Default)]
pub struct Console {
    bytes: Vec<u8>,
    searched: usize,
    fatal: Option<String>,
}

impl Console {
    /// Takes what came; whole lines are searched for marks of an end.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        while let Some(length) = self.bytes[self.searched..]
            .iter()
            .position(|it| *it == b'\n')
        {
            let line = String::from_utf8_lossy(&self.bytes[self.searched..self.searched + length]);
            if self.fatal.is_none() && FATAL.iter().any(|mark| line.contains(mark)) {
                self.fatal = Some(line.trim().to_owned());
            }
            self.searched += length + 1;
        }
    }

    /// The line that says that the guest is lost.
    pub fn fatal(&self) -> Option<&str> {
        self.fatal.as_deref()
    }

    /// Whether `words` are in it.
    pub fn says(&self, words: &str) -> bool {
        let mut windows = self.bytes.windows(words.len());
        windows.any(|it| it == words.as_bytes())
    }

    /// Whether Linux could not write to a virtio disk.
    pub fn tells_of_a_failed_write(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut lines = text.lines();
        lines.any(|it| it.contains(DISK_ERROR) && it.contains(WRITE))
    }

    /// The bytes as they came.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The last lines, indented.
    pub fn tail(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() {
            return "  (nothing)".into();
        }
        let shown = &lines[lines.len().saturating_sub(SHOWN)..];
        shown
            .iter()
            .map(|it| format!("  {}", it.trim_end()))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_noticed_when_its_line_is_complete() {
        let mut console = Console::default();
        console.push(b"booting\r\n[ 0.1] Kernel panic - not sync");
        assert_eq!(console.fatal(), None);
        console.push(b"ing: VFS\r\nmore\r\n");
        assert_eq!(
            console.fatal(),
            Some("[ 0.1] Kernel panic - not syncing: VFS")
        );
    }

    #[test]
    fn a_write_that_failed_is_told_from_a_read() {
        let tells = |line: &str| {
            let mut console = Console::default();
            console.push(format!("booting\r\n{line}\r\n").as_bytes());
            console.tells_of_a_failed_write()
        };
        let line = "[ 4.2] I/O error, dev vda, sector 8 op 0x1:(WRITE) flags 0x800 phys_seg 1";
        assert!(tells(line));
        assert!(!tells(&line.replace("0x1:(WRITE)", "0x0:(READ)")));
        assert!(!tells(&line.replace("vda", "loop0")));
    }

    #[test]
    fn the_tail_is_the_last_thirty_lines() {
        let mut console = Console::default();
        for number in 0..100 {
            console.push(format!("line {number}\r\n").as_bytes());
        }
        assert!(console.tail().starts_with("  line 70\n"));
        assert!(console.tail().ends_with("  line 99"));
    }
}
