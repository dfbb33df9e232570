// SPDX-License-Identifier: MIT OR Apache-2.0
//! A word of one kind cannot be shown as one of another.

use donjon_flow_chain::{ADDRESS_END, BITS_START, COUNT_START, Kind, MAX_BITS, State};
use proptest::prelude::*;

use donjon_models::flow::log::{encode, tag, verify};
use donjon_models::flow::random::Random;

/// Bit 63, which the templates of a counted loop set.
const TAG: u64 = 1 << 63;

/// The return address that the program's text leads to, and that the attacker overwrites.
const LAWFUL: u64 = 0x40_1040;

/// Path bits behind a return, and behind a counted loop, each below a sentinel.
const RETURNED: u64 = 1 << 62 | 0b10;
const COUNTED: u64 = 1 << 62 | 0b01;

/// Accepts the words of a program that either returns, or counts a loop, and then flushes its bits,
/// which say what it did. `counts` tells what may be a count.
fn lawful(words: &[u64], counts: fn(u64) -> bool) -> bool {
    match *words {
        [address, RETURNED] => address == LAWFUL,
        [count, COUNTED] => counts(count),
        _ => false,
    }
}

/// Whether the host's lie about a run that was hijacked is accepted: the address is shown as a
/// count. The bits were not absorbed when it happened, so the gadget sets x28 as the lie needs it.
fn lie(gadget: u64, counts: fn(u64) -> bool) -> bool {
    let start = Random::new(gadget).state();
    let shown = [gadget, COUNTED];
    let end = tag(State::absorb, start, &shown);
    verify(State::absorb, start, &encode(&shown), end, |words| {
        lawful(words, counts)
    })
}

#[test]
fn an_illegal_return_is_shown_as_a_count_where_counts_are_any_number() {
    assert!(lie(0x40_2000, |_| true));
}

#[test]
fn an_illegal_return_is_no_count_where_counts_have_a_kind() {
    let counts = |word| Kind::of(word) == Some(Kind::Count);
    assert!(!lie(0x40_2000, counts));
    assert!(
        lie(0x40_2000 | TAG, counts),
        "a count of the same size is accepted"
    );
}

#[test]
fn an_honest_log_of_either_path_is_accepted() {
    let counts = |word| Kind::of(word) == Some(Kind::Count);
    assert!(lawful(&[LAWFUL, RETURNED], counts));
    assert!(lawful(&[1000 | TAG, COUNTED], counts));
    assert!(!lawful(&[LAWFUL + 4, RETURNED], counts));
}

/// A tag in the upper byte of an address, which a CPU may ignore, makes it a word of no kind or of
/// another one, never an address.
#[test]
fn an_address_with_a_tag_in_its_upper_byte_is_no_address() {
    for byte in 1..=0xff_u64 {
        assert_ne!(Kind::of(byte << 56 | LAWFUL), Some(Kind::Address));
    }
}

#[test]
fn each_kind_begins_where_it_is_said_to() {
    let kinds = [
        (0, Some(Kind::Address)),
        (ADDRESS_END - 1, Some(Kind::Address)),
        (ADDRESS_END, None),
        (BITS_START - 1, None),
        (BITS_START, Some(Kind::Bits)),
        (COUNT_START - 1, Some(Kind::Bits)),
        (COUNT_START, Some(Kind::Count)),
        (u64::MAX, Some(Kind::Count)),
    ];
    for (word, kind) in kinds {
        assert_eq!(Kind::of(word), kind, "{word:#x}");
    }
}

proptest! {
    #![proptest_config(crate::random::fixed(11))]

    /// Counts from 0 to 2^63 - 1, from any start, by the template of a 64-bit register.
    #[test]
    fn a_count_of_a_64_bit_register_is_of_its_kind(start: u64, moved in 0..TAG) {
        let up = start.wrapping_add(moved).wrapping_sub(start ^ TAG);
        let down = (start ^ TAG).wrapping_sub(start.wrapping_sub(moved));
        for word in [up, down] {
            prop_assert_eq!(word, moved | TAG);
            prop_assert_eq!(Kind::of(word), Some(Kind::Count));
        }
    }

    /// The operands the other way round: the count lands among the bits or among nothing.
    #[test]
    fn a_count_in_the_wrong_direction_is_never_a_count(start: u64, moved in 1..TAG) {
        let down = start.wrapping_sub(moved).wrapping_sub(start ^ TAG);
        prop_assert_ne!(Kind::of(down), Some(Kind::Count));
    }

    /// Counts that wrap as well, by the template of a 32-bit register.
    #[test]
    fn a_count_of_a_32_bit_register_is_of_its_kind(start: u32, end: u32) {
        let word = u64::from(end.wrapping_sub(start)) | TAG;
        prop_assert_eq!(Kind::of(word), Some(Kind::Count));
    }

    /// Regions with any numbers of bits and any sums of edge numbers.
    #[test]
    fn path_bits_are_flushed_as_bits_and_never_reach_bit_63(
        regions in prop::collection::vec((1..=MAX_BITS, any::<u64>()), 1..200),
    ) {
        let mut bits = 1_u64;
        for (room, sum) in regions {
            if bits >> (63 - room) != 0 {
                prop_assert_eq!(Kind::of(bits), Some(Kind::Bits));
                bits = 1;
            }
            bits = (bits << room) + (sum & ((1 << room) - 1));
            prop_assert!(bits < COUNT_START);
        }
    }
}
