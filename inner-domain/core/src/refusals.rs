// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring buffer of refused calls.
//!
//! A sequence number counts every refusal ever, so a reader needs nothing but a number, which
//! the outer domain keeps and may forge: it never reaches anything but records.

use donjon_abi::call::RefusalRecord;

/// The last `N` refusals.
#[derive(Debug)]
pub struct RefusalRing<const N: usize> {
    records: [RefusalRecord; N],
    count: u64,
}

impl<const N: usize> RefusalRing<N> {
    /// No refusal yet.
    pub const fn new() -> Self {
        const { assert!(N > 0) };
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
            count: 0,
        }
    }

    /// How many refusals there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Keeps a refusal, and forgets the oldest when there are `N`. The sequence number is set
    /// here, from 1 on.
    pub fn push(&mut self, record: RefusalRecord) {
        let place = (self.count % N as u64) as usize;
        self.count += 1;
        self.records[place] = RefusalRecord {
            sequence: self.count,
            ..record
        };
    }

    /// The first refusal with a sequence number above `cursor` that is still kept.
    pub fn after(&self, cursor: u64) -> Option<&RefusalRecord> {
        let oldest = self.count.saturating_sub(N as u64);
        let index = cursor.max(oldest);
        if index >= self.count {
            return None;
        }
        self.records.get((index % N as u64) as usize)
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

    fn record(function: u32) -> RefusalRecord {
        RefusalRecord {
            function,
            ..RefusalRecord::default()
        }
    }

    #[test]
    fn a_reader_sees_each_refusal_once() {
        let mut ring = RefusalRing::<4>::new();
        assert_eq!(ring.after(0), None);
        ring.push(record(7));
        ring.push(record(8));
        let first = ring.after(0).expect("two are kept");
        assert_eq!((first.sequence, first.function), (1, 7));
        let second = ring.after(first.sequence).expect("one more");
        assert_eq!((second.sequence, second.function), (2, 8));
        assert_eq!(ring.after(second.sequence), None);
        assert_eq!(ring.after(u64::MAX), None);
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
            for function in 1..=pushed {
                ring.push(record(function as u32));
            }
            let expected = (1..=pushed)
                .filter(|it| *it > cursor && *it + 4 > pushed)
                .min();
            let read = ring.after(cursor).map(|it| it.sequence);
            prop_assert_eq!(read, expected);
            let function = ring.after(cursor).map(|it| u64::from(it.function));
            prop_assert_eq!(function, expected);
        }
    }
}
