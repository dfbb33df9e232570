// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Linux may ask the VideoCore of a Raspberry Pi for, through its mailbox.
//!
//! The firmware there answers messages of tags ("Mailbox property interface", Raspberry Pi's
//! firmware documentation). Some tags have it run code, lend memory or drive the display: the
//! firmware can access any memory then. Those on the list make it access nothing but the message.
//!
//! The firmware walks from tag to tag by their sizes, and writes its answers between them. QEMU's
//! writes eight bytes of an answer however small a tag says that its buffer is: over the size of
//! the next tag, so that the walk goes on at words that were data. So a message has one tag, a
//! buffer that is larger than each answer, and of Linux's words the one that says what is asked
//! about.

use crate::checks::{Checks, Configured};
use donjon_abi::call::{PROPERTIES, Reason};

/// Words before the tag: bytes of the message, and what the firmware says about it.
pub const HEADER: usize = 2;
/// Words before the buffer of a tag: the tag, bytes of the buffer, and the length that was
/// answered.
pub const TAG: usize = 3;
/// Words of the buffer.
pub const BUFFER: usize = 8;
/// Words of a message: header, tag, and the word 0 that ends it.
pub const MESSAGE: usize = HEADER + TAG + BUFFER + 1;
/// Bit of the second word: the message is an answer.
const ANSWERED: u32 = 1 << 31;

/// A message to the firmware, or its answer.
pub type Message = [u32; MESSAGE];

/// A tag on the list, and what is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    number: u32,
    subject: u32,
}

impl Question {
    /// What Linux's words ask: a tag, bytes of its buffer, 0, and the buffer.
    ///
    /// # Errors
    ///
    /// [`Reason::BadProperty`] for a tag that is not on the list, a buffer that does not fill the
    /// words exactly or is larger than [`BUFFER`], or a second tag.
    pub fn of(words: &[u32]) -> Result<Self, Reason> {
        let [number, bytes, 0, buffer @ ..] = words else {
            return Err(Reason::BadProperty);
        };
        let fits = (1..=BUFFER).contains(&buffer.len()) && *bytes as usize == buffer.len() * 4;
        let listed = PROPERTIES.iter().find(|it| it.tag == *number);
        if !fits || (listed.is_none() && Configured::PROPERTIES.is_made()) {
            return Err(Reason::BadProperty);
        }
        let has_subject = listed.is_none_or(|it| it.has_subject);
        Ok(Self {
            number: *number,
            subject: if has_subject { buffer[0] } else { 0 },
        })
    }

    /// The message.
    pub fn message(self) -> Message {
        let mut message = [0; MESSAGE];
        message[0] = MESSAGE as u32 * 4;
        message[HEADER] = self.number;
        message[HEADER + 1] = BUFFER as u32 * 4;
        message[HEADER + TAG] = self.subject;
        message
    }
}

/// Whether the firmware has answered.
pub const fn is_answer(message: &Message) -> bool {
    message[1] & ANSWERED != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    extern crate std;
    use std::vec::Vec;

    #[test]
    fn what_only_asks_is_passed_on() {
        let rate = Question::of(&[0x3_0002, 8, 0, 4, 99]).expect("on the list");
        let message = rate.message();
        assert_eq!(message[..6], [56, 0, 0x3_0002, 32, 0, 4]);
        assert!(message[6..].iter().all(|it| *it == 0));
        let revision = Question::of(&[1, 4, 0, 7]).expect("on the list");
        let message = revision.message();
        assert_eq!(message[..5], [56, 0, 1, 32, 0]);
        assert!(message[5..].iter().all(|it| *it == 0));
    }

    #[test]
    fn what_makes_the_firmware_act_is_refused() {
        // Run code, on the QPU as well; memory; a frame buffer; power, clocks; VCHIQ; EDID and the
        // list of clocks, whose answers are longer than the buffer.
        for tag in [
            0x3_0010,
            0x3_0011,
            0x3_0012,
            0x3_000c,
            0x3_000d,
            0x3_000e,
            0x3_000f,
            0x3_0014,
            0x4_0001,
            0x4_8001,
            0x4_8010,
            0x2_8001,
            0x3_8001,
            0x3_8002,
            0x3_8030,
            0x3_8041,
            0x3_8043,
            0x3_0020,
            0x3_0048,
            0x1_0007,
            0,
            0xffff_ffff,
        ] {
            let refused = Question::of(&[tag, 4, 0, 0]);
            assert_eq!(refused, Err(Reason::BadProperty), "{tag:#x}");
        }
    }

    #[test]
    fn there_is_one_tag_and_its_buffer_fills_the_words() {
        for wrong in [
            &[][..],
            &[1],
            &[1, 0],
            &[1, 0, 0],
            &[1, 4, 0],
            &[1, 3, 0, 0],
            &[1, 8, 0, 0],
            &[1, 0xffff_fffc, 0, 0],
            &[1, 0, 0, 0],
            &[1, 4, 1, 0],
            &[1, 4, 1 << 31, 0],
            &[1, 4, 0, 0, 0],
            &[1, 4, 0, 0, 1, 4, 0, 0],
            &[1, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            // The first answer would make the size of the second tag 1, and the walk would go on at
            // 0x9_9900, whose size leads anywhere.
            &[
                0x3_0001,
                0,
                0,
                0x1_0001,
                0x10,
                0,
                0x9_9900,
                0xf1d3_0b00,
                0xbf,
                0,
            ],
        ] {
            assert_eq!(Question::of(wrong), Err(Reason::BadProperty), "{wrong:x?}");
        }
    }

    /// Where firmware goes that walks by sizes and does not look at them before it writes two words
    /// of an answer: the tags that it finds, by their places in the message.
    fn walk(message: &mut Message, answer: [u32; 2]) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        let mut place = HEADER;
        while message[place] != 0 {
            found.push((place, message[place]));
            message[place + TAG..place + TAG + 2].copy_from_slice(&answer);
            place += TAG + message[place + 1] as usize / 4;
        }
        found
    }

    proptest! {
        // Miri shows the tests no files.
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 2048 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn careless_firmware_finds_the_tag_and_no_other(
            index in 0..PROPERTIES.len(),
            buffer in prop::collection::vec(any::<u32>(), 1..=BUFFER),
            answer in any::<[u32; 2]>(),
        ) {
            let number = PROPERTIES[index].tag;
            let mut words = std::vec![number, buffer.len() as u32 * 4, 0];
            words.extend(buffer);
            let mut message = Question::of(&words).expect("on the list").message();
            prop_assert_eq!(walk(&mut message, answer), std::vec![(HEADER, number)]);
        }
    }

    #[test]
    fn an_answer_says_that_it_is_one() {
        let mut message = Question::of(&[1, 4, 0, 0]).expect("on the list").message();
        assert!(!is_answer(&message));
        message[1] = 0x8000_0001;
        assert!(is_answer(&message));
    }
}
