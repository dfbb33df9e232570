// SPDX-License-Identifier: MIT OR Apache-2.0
//! The generated files are current, and the scanner decides what the list says: every word of the
//! space is compared with the list itself.

use std::collections::HashSet;

use donjon_core::code::scan::{ScanResult, check, is_sensitive};

use super::list::{self, entries};
use super::*;

#[test]
fn the_generated_files_are_current() {
    generate(true).expect("generated files");
}

#[test]
fn the_scanner_decides_what_the_list_says_for_every_system_word() {
    let list = list::read().expect("the list");
    let mut allowed = vec![false; 1 << 16];
    for entry in entries(&list.allowed) {
        for number in entry.set().expect("a valid entry").encodings {
            allowed[usize::from(number)] = true;
        }
    }
    for word in 0xd500_0000..=0xd5ff_ffff_u32 {
        let fields = word & 0xffff_ffe0;
        let number = (word >> 5 & 0xffff) as usize;
        let register = word & 31;
        let expected = match word >> 20 {
            // op0 is 2 or 3 and the word reads.
            0xd53 | 0xd57 => true,
            // op0 is 0 and the word writes: hints, barriers, PSTATE name no register.
            0xd50 if word >> 19 & 3 == 0 && word >> 21 & 1 == 0 => {
                let takes_one = fields == 0xd503_1000 || fields == 0xd503_1020;
                allowed[number] && (register == 31 || takes_one)
            }
            // op0 is 1 to 3 and the word writes.
            0xd50 | 0xd51 => allowed[number],
            _ => false,
        };
        let result = check(word);
        assert_eq!(
            result == ScanResult::Allowed,
            expected,
            "{word:#010x} {result:?}"
        );
        assert_eq!(
            is_sensitive(word),
            word >> 20 != 0xd53 && word >> 20 != 0xd57,
            "{word:#x}"
        );
    }
}

#[test]
fn of_the_words_that_generate_exceptions_the_listed_ones_are_allowed() {
    let list = list::read().expect("the list");
    let mut allowed = HashSet::new();
    for entry in entries(&list.allowed) {
        allowed.extend(entry.set().expect("a valid entry").exceptions);
    }
    for high in 0..8_u32 {
        for low in 0..32 {
            for immediate in [0, 1, 0x8000, 0xf000, 0xffff] {
                let word = 0xd400_0000 | high << 21 | immediate << 5 | low;
                // The cast keeps eight bits, which are all there are.
                let expected = allowed.contains(&((high << 5 | low) as u8));
                assert_eq!(check(word) == ScanResult::Allowed, expected, "{word:#010x}");
            }
        }
    }
}

#[test]
fn a_name_in_a_refusal_is_the_lists() {
    let list = list::read().expect("the list");
    let mut seen = 0;
    for entry in entries(&list.refused) {
        for number in entry
            .set()
            .expect("a valid entry")
            .encodings
            .into_iter()
            .take(1)
        {
            let word = 0xd500_001f | u32::from(number) << 5;
            let ScanResult::Refused(class) = check(word) else {
                panic!("{} is allowed", entry.name);
            };
            let named = class.to_string();
            seen += usize::from(named.ends_with(&format!("({})", entry.name)));
        }
    }
    assert!(seen > 60, "only {seen} refusals carry the list's name");
}
