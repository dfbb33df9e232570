// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's log: a ring buffer of text.
//!
//! A position counts the bytes ever pushed, so a reader needs nothing but a number, which the
//! outer domain keeps and may forge: a cursor never reaches anything but log text.

use core::fmt;

/// The last `N` bytes of the log, `N` at least 2.
#[derive(Debug)]
pub struct LogRing<const N: usize> {
    bytes: [u8; N],
    position: u64,
}

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes that were copied.
    pub copied: usize,
    /// Cursor for the next read.
    pub next: u64,
    /// Bytes between the cursor and the first copied one: overwritten, or the rest of a line
    /// whose beginning is.
    pub lost: u64,
}

impl<const N: usize> LogRing<N> {
    /// An empty log.
    pub const fn new() -> Self {
        const { assert!(N >= 2) };
        Self {
            bytes: [0; N],
            position: 0,
        }
    }

    /// Bytes pushed so far: the cursor of a reader who wants only what comes from now on.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Appends `text`. Lines end with `\n`, which is the caller's to push.
    pub fn push(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            let place = Self::place(self.position);
            self.bytes[place] = byte;
            self.position += 1;
        }
    }

    /// Copies text from `cursor` on. A cursor whose byte is overwritten continues at the oldest
    /// whole line, one from the future at the end.
    pub fn read(&self, cursor: u64, buffer: &mut [u8]) -> Reading {
        let start = if cursor < self.oldest() {
            self.oldest_line()
        } else {
            cursor.min(self.position)
        };
        let mut next = start;
        let mut copied = 0;
        for place in buffer.iter_mut() {
            if next == self.position {
                break;
            }
            *place = self.bytes[Self::place(next)];
            next += 1;
            copied += 1;
        }
        Reading {
            copied,
            next,
            lost: start.saturating_sub(cursor),
        }
    }

    const fn place(position: u64) -> usize {
        (position % N as u64) as usize
    }

    /// Oldest position that can be read. The byte before it is kept too: it tells whether a
    /// line begins here.
    const fn oldest(&self) -> u64 {
        self.position.saturating_sub(N as u64 - 1)
    }

    /// Where the oldest line that is kept in full begins; the end when there is none.
    fn oldest_line(&self) -> u64 {
        let oldest = self.oldest();
        if oldest == 0 {
            return 0;
        }
        (oldest..self.position)
            .find(|position| self.bytes[Self::place(position - 1)] == b'\n')
            .unwrap_or(self.position)
    }
}

impl<const N: usize> Default for LogRing<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Write for LogRing<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    #[test]
    fn a_reader_that_keeps_up_reads_everything() {
        let mut log = LogRing::<8>::new();
        let mut buffer = [0; 16];
        log.push("one\n");
        let first = log.read(0, &mut buffer);
        assert_eq!(&buffer[..first.copied], b"one\n");
        log.push("two\n");
        let second = log.read(first.next, &mut buffer);
        assert_eq!(&buffer[..second.copied], b"two\n");
        assert_eq!(
            second,
            Reading {
                copied: 4,
                next: 8,
                lost: 0
            }
        );
    }

    #[test]
    fn an_overtaken_reader_continues_at_a_whole_line_and_learns_what_it_lost() {
        let mut log = LogRing::<10>::new();
        log.push("one\ntwo\nthree\n");
        let mut buffer = [0; 16];
        let reading = log.read(0, &mut buffer);
        assert_eq!(&buffer[..reading.copied], b"three\n");
        assert_eq!(
            reading,
            Reading {
                copied: 6,
                next: 14,
                lost: 8
            }
        );
    }

    #[test]
    fn a_line_longer_than_the_ring_is_lost_as_a_whole() {
        let mut log = LogRing::<4>::new();
        log.push("a long line\n");
        let reading = log.read(0, &mut [0; 16]);
        assert_eq!(
            reading,
            Reading {
                copied: 0,
                next: 12,
                lost: 12
            }
        );
    }

    #[test]
    fn forged_cursors_read_nothing() {
        let mut log = LogRing::<8>::new();
        log.push("x\n");
        for cursor in [3, u64::MAX] {
            let reading = log.read(cursor, &mut [0; 16]);
            assert_eq!(
                reading,
                Reading {
                    copied: 0,
                    next: 2,
                    lost: 0
                }
            );
        }
    }

    fn text() -> impl Strategy<Value = String> {
        let letter = proptest::sample::select(['a', 'b', 'c', '\n'].as_slice());
        let letters = proptest::collection::vec(letter, 0..9);
        letters.prop_map(|letters| letters.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 4 } else { 512 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_read_is_what_was_pushed(
            steps in proptest::collection::vec((text(), 0..12_usize, any::<bool>()), 1..40),
        ) {
            let mut log = LogRing::<16>::new();
            let mut all = String::new();
            let mut cursor = 0_u64;
            for (text, room, read) in steps {
                log.push(&text);
                all.push_str(&text);
                if !read {
                    continue;
                }
                let mut buffer = std::vec![0; room];
                let reading = log.read(cursor, &mut buffer);
                let start = cursor + reading.lost;
                let expected: Vec<u8> = all.bytes().skip(start as usize).take(room).collect();
                prop_assert_eq!(&buffer[..reading.copied], &expected[..]);
                prop_assert_eq!(reading.next, start + reading.copied as u64);
                if reading.lost > 0 {
                    prop_assert!(cursor + 15 < all.len() as u64, "lost without need");
                    let begins = all.as_bytes()[start as usize - 1] == b'\n';
                    prop_assert!(begins || start == all.len() as u64);
                    let earlier = all.len() - 15..start as usize;
                    let skipped = earlier.clone().any(|at| all.as_bytes()[at - 1] == b'\n');
                    prop_assert!(!skipped, "a whole line in {earlier:?} was skipped");
                }
                cursor = reading.next;
            }
        }
    }
}
