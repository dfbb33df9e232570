// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records of refused calls.
//!
//! A sequence number counts every refusal ever, so a reader needs nothing but a number, which
//! the outer domain keeps and may forge: it never reaches anything but records.
//!
//! When the records are full, a new one takes the place of the oldest of the kind that has the
//! most. What is refused again and again, as a program may make Linux ask, so forgets itself, and
//! not the one record of an attack.

use donjon_abi::call::{Error, RefusalRecord};

/// Records of at most `N` refusals, in the order in which they came.
#[derive(Debug)]
pub struct RefusalRing<const N: usize> {
    records: [RefusalRecord; N],
    /// Place of the next newer record, for each but the newest.
    newer: [u16; N],
    /// Index in `kinds` of each record's kind.
    kind: [u16; N],
    /// Kinds of which there are records, with their numbers; 0 where there is none.
    kinds: [(u64, u16); N],
    oldest: u16,
    newest: u16,
    used: u16,
    count: u64,
}

/// What records of one kind have in common: the function, the error, and the reason of a rule. A
/// refused instruction is of one kind with every other.
fn kind_of(record: &RefusalRecord) -> u64 {
    let reason = if record.error != Error::Refused as i64 {
        0
    } else if record.value >> 32 != 0 {
        // Of a list; the index of the entry stands below.
        record.value >> 32
    } else {
        record.value
    };
    u64::from(record.function) << 40 | (record.error as u64 & 0xff) << 32 | reason & 0xffff_ffff
}

impl<const N: usize> RefusalRing<N> {
    /// No refusal yet.
    pub const fn new() -> Self {
        const { assert!(N > 1 && N <= 1 << 15) };
        const EMPTY: RefusalRecord = RefusalRecord {
            sequence: 0,
            function: 0,
            cpu: 0,
            error: 0,
            value: 0,
            caller: 0,
            a1: 0,
            a2: 0,
        };
        Self {
            records: [EMPTY; N],
            newer: [0; N],
            kind: [0; N],
            kinds: [(0, 0); N],
            oldest: 0,
            newest: 0,
            used: 0,
            count: 0,
        }
    }

    /// How many refusals there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Keeps a refusal. When there are `N` of them, the oldest of the most frequent kind is
    /// forgotten. The sequence number is set here, from 1 on. Whether there was no record of its
    /// kind.
    pub fn push(&mut self, record: RefusalRecord) -> bool {
        let place = if usize::from(self.used) < N {
            self.used += 1;
            self.used - 1
        } else {
            self.forget()
        };
        self.count += 1;
        let (kind, is_new) = self.enter(kind_of(&record));
        self.records[usize::from(place)] = RefusalRecord {
            sequence: self.count,
            ..record
        };
        self.kind[usize::from(place)] = kind;
        if self.used == 1 {
            self.oldest = place;
        } else {
            self.newer[usize::from(self.newest)] = place;
        }
        self.newest = place;
        is_new
    }

    /// Index of a kind that has one record more from now on, and whether it had none.
    fn enter(&mut self, name: u64) -> (u16, bool) {
        let known = self.kinds.iter().position(|it| *it == (name, it.1.max(1)));
        // There is a vacant one: no more than N - 1 records are counted at this point.
        let vacant = || self.kinds.iter().position(|it| it.1 == 0);
        let index = known.or_else(vacant).unwrap_or(0);
        let kind = &mut self.kinds[index];
        *kind = (name, kind.1 + 1);
        (index as u16, kind.1 == 1)
    }

    /// Takes out the oldest record of the kind that has the most; its place.
    fn forget(&mut self) -> u16 {
        let most = self.kinds.iter().map(|it| it.1).max().unwrap_or(0);
        let mut before = None;
        let mut place = self.oldest;
        while self.kinds[usize::from(self.kind[usize::from(place)])].1 != most
            && place != self.newest
        {
            before = Some(place);
            place = self.newer[usize::from(place)];
        }
        self.kinds[usize::from(self.kind[usize::from(place)])].1 -= 1;
        let next = self.newer[usize::from(place)];
        match before {
            None => self.oldest = next,
            Some(before) if place == self.newest => self.newest = before,
            Some(before) => self.newer[usize::from(before)] = next,
        }
        place
    }

    /// The refusals with a sequence number above `cursor` that are still kept, the oldest first.
    pub fn after(&self, cursor: u64) -> impl Iterator<Item = &RefusalRecord> {
        let mut place = self.oldest;
        (0..self.used)
            .map(move |_| {
                let record = &self.records[usize::from(place)];
                place = self.newer[usize::from(place)];
                record
            })
            .filter(move |record| record.sequence > cursor)
    }
}

impl<const N: usize> Default for RefusalRing<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn record(function: u32) -> RefusalRecord {
        RefusalRecord {
            function,
            ..RefusalRecord::default()
        }
    }

    /// A record of a refused instruction. Such records are of one kind; they differ in the word and
    /// its offset.
    fn instruction(word: u32) -> RefusalRecord {
        RefusalRecord {
            function: 17,
            error: Error::BadInstruction as i64,
            value: u64::from(word) << 32 | 4,
            ..RefusalRecord::default()
        }
    }

    fn rule(function: u32, value: u64) -> RefusalRecord {
        RefusalRecord {
            function,
            error: Error::Refused as i64,
            value,
            ..RefusalRecord::default()
        }
    }

    fn first<const N: usize>(ring: &RefusalRing<N>, cursor: u64) -> Option<&RefusalRecord> {
        ring.after(cursor).next()
    }

    #[test]
    fn a_reader_sees_each_refusal_once() {
        let mut ring = RefusalRing::<4>::new();
        assert_eq!(first(&ring, 0), None);
        assert!(ring.push(record(7)));
        assert!(ring.push(record(8)));
        assert!(!ring.push(record(8)), "there is one of this kind");
        let seen = first(&ring, 0).expect("three are kept");
        assert_eq!((seen.sequence, seen.function), (1, 7));
        let second = first(&ring, seen.sequence).expect("two more");
        assert_eq!((second.sequence, second.function), (2, 8));
        assert_eq!(first(&ring, 3), None);
        assert_eq!(first(&ring, u64::MAX), None);
    }

    /// A flood like one that was seen: 3,600 filters of a program were refused a page of text each.
    #[test]
    fn a_flood_of_one_kind_forgets_itself_alone() {
        let mut ring = RefusalRing::<256>::new();
        let attacks = [rule(3, 4), rule(3, 5), instruction(0xd518_2040), record(21)];
        for attack in attacks {
            ring.push(attack);
        }
        for word in 0..3600 {
            ring.push(rule(24, 19 << 32 | word));
        }
        let kept: Vec<_> = ring.after(0).collect();
        assert_eq!(kept.len(), 256);
        for (index, attack) in attacks.iter().enumerate() {
            assert_eq!(kept[index].function, attack.function, "{index}");
            assert_eq!(kept[index].sequence, index as u64 + 1);
        }
        assert_eq!(kept[4].sequence, 3604 - 251);
        assert_eq!(ring.count(), 3604);
    }

    #[test]
    fn what_an_attacker_chooses_makes_no_new_kind() {
        let mut ring = RefusalRing::<8>::new();
        ring.push(record(3));
        for word in 0..100 {
            ring.push(instruction(word));
        }
        assert_eq!(first(&ring, 0).map(|it| it.function), Some(3));
    }

    #[test]
    fn two_floods_share() {
        let mut ring = RefusalRing::<8>::new();
        for _ in 0..50 {
            ring.push(record(3));
            ring.push(record(4));
        }
        let of_one = ring.after(0).filter(|it| it.function == 3).count();
        assert_eq!(of_one, 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 512 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_kept_is_the_end_of_what_was_pushed(pushed in 0..20_u64, cursor in 0..25_u64) {
            let mut ring = RefusalRing::<4>::new();
            for caller in 1..=pushed {
                ring.push(RefusalRecord { caller, ..record(5) });
            }
            let expected = (1..=pushed)
                .filter(|it| *it > cursor && *it + 4 > pushed)
                .min();
            let read = first(&ring, cursor).map(|it| it.sequence);
            prop_assert_eq!(read, expected);
            let caller = first(&ring, cursor).map(|it| it.caller);
            prop_assert_eq!(caller, expected);
        }

        /// Compares the ring with a list that is searched from the beginning each time.
        #[test]
        fn the_most_frequent_kind_gives_way(
            functions in proptest::collection::vec(0..6_u32, 0..60)
        ) {
            let mut ring = RefusalRing::<8>::new();
            let mut list: Vec<(u64, u32)> = Vec::new();
            for (index, function) in functions.into_iter().enumerate() {
                if list.len() == 8 {
                    let of = |function| list.iter().filter(|it| it.1 == function).count();
                    let most = list.iter().map(|it| of(it.1)).max();
                    let oldest = list.iter().position(|it| Some(of(it.1)) == most);
                    list.remove(oldest.expect("there are eight"));
                }
                list.push((index as u64 + 1, function));
                ring.push(record(function));
                let kept: Vec<_> = ring.after(0).map(|it| (it.sequence, it.function)).collect();
                prop_assert_eq!(&kept, &list);
            }
        }
    }
}
