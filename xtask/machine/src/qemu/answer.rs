// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers to guests that wait for the host.
//!
//! What looks into a guest that runs is late on a busy host, and a guest that waits for a fixed
//! time may be over by then. So its command runs `donjon-wait`, which prints a line and goes on
//! when the host has taken that line, and with it all that was printed before.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// What the program is called, and its place in the guest.
pub const PROGRAM: &str = "donjon-wait";
/// Place of the program in the guest.
pub const PLACE: &str = "/bin/donjon-wait";
/// The program.
pub const SCRIPT: &[u8] = include_bytes!("../wait.sh");
/// What it prints when it begins to wait.
const WAITS: &[u8] = b"donjon-wait: waits";
/// The virtio port that it reads from.
const PORT: &str = "donjon.answer";

/// The way to a guest that waits.
pub struct Answers {
    listener: UnixListener,
    stream: Option<UnixStream>,
    heard: Heard,
}

impl Answers {
    /// Gives QEMU a port for answers, at the socket `path`.
    pub fn new(qemu: &mut Command, path: &Path) -> Result<Self> {
        let listener = UnixListener::bind(path)?;
        let chardev = format!("socket,id=answer,path={}", path.display());
        qemu.args(["-chardev", &chardev]);
        let device = format!("virtserialport,chardev=answer,name={PORT}");
        qemu.args(["-device", &device]);
        Ok(Self {
            listener,
            stream: None,
            heard: Heard::default(),
        })
    }

    /// Answers if the guest waits, by what it wrote to its standard output last.
    pub fn take(&mut self, bytes: &[u8]) -> Result<()> {
        for _ in 0..self.heard.waits_in(bytes) {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                // QEMU has connected when it started.
                none => none.insert(self.listener.accept()?.0),
            };
            stream
                .write_all(b"\n")
                .context("answering a guest that waits")?;
        }
        Ok(())
    }
}

/// The end of what was heard: the line may come in pieces.
#[derive(Default)]
struct Heard {
    tail: Vec<u8>,
}

impl Heard {
    /// How many lines that say that the guest waits are complete now and were not before.
    fn waits_in(&mut self, bytes: &[u8]) -> usize {
        self.tail.extend(bytes);
        let count = memory_count(&self.tail, WAITS);
        let end = last_end(&self.tail, WAITS);
        let kept = self.tail.len() - end;
        let kept = kept.min(WAITS.len() - 1);
        self.tail.drain(..self.tail.len() - kept);
        count
    }
}

fn memory_count(text: &[u8], words: &[u8]) -> usize {
    text.windows(words.len()).filter(|it| *it == words).count()
}

/// Where the last place that has the words ends; 0 if there is none.
fn last_end(text: &[u8], words: &[u8]) -> usize {
    let mut windows = text.windows(words.len());
    windows
        .rposition(|it| it == words)
        .map_or(0, |it| it + words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_heard_once_however_it_is_cut() {
        let text = b"look\ndonjon-wait: waits\nmore\ndonjon-wait: waits\ndonjon-wait: wai";
        for length in 1..=text.len() {
            let mut heard = Heard::default();
            let count: usize = text.chunks(length).map(|it| heard.waits_in(it)).sum();
            assert_eq!(count, 2, "in pieces of {length}");
            assert_eq!(heard.waits_in(b"ts\n"), 1);
            assert_eq!(heard.waits_in(b"\n"), 0);
        }
    }

    #[test]
    fn the_program_says_what_is_listened_for() {
        let script = String::from_utf8_lossy(SCRIPT);
        let line = format!("echo '{}'\n", String::from_utf8_lossy(WAITS));
        assert!(script.contains(&line) && script.contains(PORT));
        assert!(PLACE.ends_with(&format!("/{PROGRAM}")));
    }
}
