// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ranges of physical addresses.

/// A half-open range of physical addresses that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    start: u64,
    end: u64,
}

impl Range {
    /// The range from `start` up to, not including, `end`; none when that is empty.
    pub const fn new(start: u64, end: u64) -> Option<Self> {
        if start < end {
            Some(Self { start, end })
        } else {
            None
        }
    }

    /// The range of `size` bytes from `start` on; none when that is empty or passes 2^64.
    pub const fn with_size(start: u64, size: u64) -> Option<Self> {
        match start.checked_add(size) {
            Some(end) => Self::new(start, end),
            None => None,
        }
    }

    /// First address.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// First address behind the range.
    pub const fn end(self) -> u64 {
        self.end
    }

    /// Bytes.
    pub const fn size(self) -> u64 {
        self.end - self.start
    }

    /// Whether `address` lies in the range.
    pub const fn contains(self, address: u64) -> bool {
        self.start <= address && address < self.end
    }

    /// Whether all of `other` lies in the range.
    pub const fn encloses(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the ranges have an address in common.
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_not_empty_and_do_not_wrap() {
        assert_eq!(Range::new(5, 5), None);
        assert_eq!(Range::with_size(5, 0), None);
        assert_eq!(Range::with_size(u64::MAX, 2), None);
        assert_eq!(Range::with_size(4, 3), Some(Range { start: 4, end: 7 }));
    }
}
