// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks buffers that the outer domain names.
//!
//! What the outer domain says is an [`Allegation`]. It gives nothing away until
//! [`OuterMemory::check`] has made an [`OuterBuffer`] of it, the only thing that the inner domain
//! reads from on the caller's word. What it writes to has to be a [`WritableBuffer`] as well:
//! the outer domain's memory holds tables and text, which it may read and not write.

use core::marker::PhantomData;

use donjon_abi::layout::PAGE_SIZE;
use thiserror::Error;

use crate::checks::{Checks, Configured};
use crate::range::Range;
use crate::translation::frames::{FrameTable, FrameType};

/// Most memory banks that are kept.
pub const MAX_BANKS: usize = 16;
/// Most ranges that can be withheld.
pub const MAX_WITHHELD: usize = 16;

/// Too many ranges for [`OuterMemory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there are {given} ranges of memory and room for {room}")]
pub struct TooManyRanges {
    /// How many were given.
    pub given: usize,
    /// How many fit.
    pub room: usize,
}

/// Why a buffer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OuterRangeError {
    /// The buffer has no bytes.
    #[error("the buffer is empty")]
    Empty,
    /// The buffer passes the end of the address space.
    #[error("{length:#x} bytes at {address:#x} pass the end of the address space")]
    Overflow {
        /// First physical address.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// The buffer crosses a page boundary.
    #[error("{length:#x} bytes at {address:#x} cross a page boundary")]
    CrossesPage {
        /// First physical address.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// The buffer is not, or not all, in one bank of memory.
    #[error("{address:#x} is not in memory")]
    NotMemory {
        /// First physical address.
        address: u64,
    },
    /// The outer domain may not write it either: a table, text, a pool.
    #[error("{address:#x} is not ordinary memory")]
    NotOrdinary {
        /// First physical address.
        address: u64,
    },
    /// The buffer touches what the outer domain may not name.
    #[error("{address:#x} is not the outer domain's")]
    Withheld {
        /// First physical address.
        address: u64,
    },
}

/// A buffer as the outer domain named it: physical address and bytes. Not to be believed.
#[derive(Clone, Copy, Debug)]
pub struct Allegation {
    address: u64,
    length: u64,
}

impl Allegation {
    /// Takes down what was said.
    pub const fn new(address: u64, length: u64) -> Self {
        Self { address, length }
    }
}

/// Outer memory within one page, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OuterBuffer(Range);

impl OuterBuffer {
    /// First physical address.
    pub const fn address(self) -> u64 {
        self.0.start()
    }

    /// Bytes, 1 to 4096.
    pub const fn length(self) -> u64 {
        self.0.size()
    }
}

/// Outer memory within one page of an ordinary frame: what the outer domain writes by itself. The
/// frame keeps its type as long as this exists, because it borrows the table of types.
#[derive(Clone, Copy, Debug)]
pub struct WritableBuffer<'f> {
    buffer: OuterBuffer,
    frames: PhantomData<&'f ()>,
}

impl OuterBuffer {
    /// Allows writing.
    ///
    /// # Errors
    ///
    /// [`OuterRangeError::NotOrdinary`] for a frame of any other type.
    pub fn writable<'f>(
        self,
        frames: &'f FrameTable<'_>,
    ) -> Result<WritableBuffer<'f>, OuterRangeError> {
        let address = self.address();
        let ordinary = frames.get(address) == Some(FrameType::Ordinary);
        if !ordinary && Configured::BUFFER.is_made() {
            return Err(OuterRangeError::NotOrdinary { address });
        }
        Ok(WritableBuffer {
            buffer: self,
            frames: PhantomData,
        })
    }
}

impl WritableBuffer<'_> {
    /// Physical address of `bytes` bytes from `offset` on; none if they pass the end.
    pub fn part(&self, offset: u64, bytes: u64) -> Option<u64> {
        let end = offset.checked_add(bytes)?;
        (end <= self.length()).then(|| self.buffer.address() + offset)
    }

    /// Bytes, 1 to 4096.
    pub const fn length(&self) -> u64 {
        self.buffer.length()
    }
}

/// The memory that the outer domain may name: the banks without what is withheld.
#[derive(Clone, Copy, Debug)]
pub struct OuterMemory {
    banks: [Option<Range>; MAX_BANKS],
    withheld: [Option<Range>; MAX_WITHHELD],
}

fn keep<const N: usize>(ranges: &[Range]) -> Result<[Option<Range>; N], TooManyRanges> {
    let mut kept = [None; N];
    if ranges.len() > N {
        return Err(TooManyRanges {
            given: ranges.len(),
            room: N,
        });
    }
    for (place, range) in kept.iter_mut().zip(ranges) {
        *place = Some(*range);
    }
    Ok(kept)
}

impl OuterMemory {
    /// The banks of `ram` without the `withheld` ranges: the inner domain's memory first of all.
    ///
    /// # Errors
    ///
    /// [`TooManyRanges`] for more than [`MAX_BANKS`] or [`MAX_WITHHELD`].
    pub fn new(ram: &[Range], withheld: &[Range]) -> Result<Self, TooManyRanges> {
        Ok(Self {
            banks: keep(ram)?,
            withheld: keep(withheld)?,
        })
    }

    /// Believes the allegation if the buffer lies in one bank and in one page and touches
    /// nothing withheld and no private frame. The caller holds the lock under which frames change
    /// their type until it has read the buffer.
    ///
    /// # Errors
    ///
    /// [`OuterRangeError`], one arm for each of these.
    pub fn check(
        &self,
        alleged: Allegation,
        frames: &FrameTable<'_>,
    ) -> Result<OuterBuffer, OuterRangeError> {
        let Allegation { address, length } = alleged;
        if length == 0 {
            return Err(OuterRangeError::Empty);
        }
        let Some(range) = Range::with_size(address, length) else {
            return Err(OuterRangeError::Overflow { address, length });
        };
        let in_page = address / PAGE_SIZE == (range.end() - 1) / PAGE_SIZE;
        if !in_page && Configured::BOUNDS.is_made() {
            return Err(OuterRangeError::CrossesPage { address, length });
        }
        let withheld = self.withheld.iter().flatten().any(|it| it.overlaps(range));
        let private = frames.get(address) == Some(FrameType::Private);
        if (withheld || private) && Configured::BOUNDS.is_made() {
            return Err(OuterRangeError::Withheld { address });
        }
        if !self.banks.iter().flatten().any(|bank| bank.encloses(range)) {
            return Err(OuterRangeError::NotMemory { address });
        }
        Ok(OuterBuffer(range))
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU16;

    use super::*;
    use proptest::prelude::*;

    fn range(start: u64, end: u64) -> Range {
        Range::new(start, end).expect("not empty")
    }

    fn memory() -> OuterMemory {
        let ram = [
            range(0x4000_0000, 0x8000_0000),
            range(0x8000_0000, 0x8000_0800),
        ];
        OuterMemory::new(&ram, &[range(0x7fc0_0000, 0x7fe0_0000)]).expect("few ranges")
    }

    /// No types: every frame is as good as the bank that it is in.
    fn none() -> FrameTable<'static> {
        FrameTable::new(0, &[])
    }

    #[test]
    fn ordinary_buffers_are_believed() {
        let buffer = memory()
            .check(Allegation::new(0x4000_0ff8, 8), &none())
            .expect("outer memory");
        assert_eq!((buffer.address(), buffer.length()), (0x4000_0ff8, 8));
        assert!(
            memory()
                .check(Allegation::new(0x7fbf_f000, 4096), &none())
                .is_ok()
        );
        assert!(
            memory()
                .check(Allegation::new(0x7fe0_0000, 4096), &none())
                .is_ok()
        );
    }

    #[test]
    fn only_ordinary_frames_are_written() {
        const FRAME: u64 = 0x4000_0000;
        for class in FrameType::ALL {
            let entries = [const { AtomicU16::new(0) }; 2];
            let frames = FrameTable::new(FRAME, &entries);
            frames.set(FRAME, class);
            let buffer = memory().check(Allegation::new(FRAME + 8, 64), &frames);
            let writable = buffer.and_then(|it| it.writable(&frames).map(|it| it.length()));
            let expected = match class {
                FrameType::Ordinary => Ok(64),
                FrameType::Private => Err(OuterRangeError::Withheld { address: FRAME + 8 }),
                _ => Err(OuterRangeError::NotOrdinary { address: FRAME + 8 }),
            };
            assert_eq!(writable, expected, "{class:?}");
        }
    }

    #[test]
    fn nothing_is_written_past_the_end() {
        let entries = [AtomicU16::new(0)];
        let frames = FrameTable::new(0x4000_0000, &entries);
        let buffer = memory()
            .check(Allegation::new(0x4000_0010, 32), &frames)
            .and_then(|it| it.writable(&frames))
            .expect("ordinary");
        assert_eq!(buffer.part(24, 8), Some(0x4000_0028));
        assert_eq!(buffer.part(25, 8), None);
        assert_eq!(buffer.part(u64::MAX, 8), None);
    }

    #[test]
    fn each_lie_has_its_own_answer() {
        let refused = |address, length| {
            memory()
                .check(Allegation::new(address, length), &none())
                .expect_err("a lie")
        };
        assert_eq!(refused(0x4000_0000, 0), OuterRangeError::Empty);
        assert!(matches!(
            refused(u64::MAX, 2),
            OuterRangeError::Overflow { .. }
        ));
        assert!(matches!(
            refused(0x4000_0000, u64::MAX),
            OuterRangeError::Overflow { .. }
        ));
        assert!(matches!(
            refused(0x4000_0ff9, 8),
            OuterRangeError::CrossesPage { .. }
        ));
        assert!(matches!(
            refused(0x3fff_f000, 8),
            OuterRangeError::NotMemory { .. }
        ));
        assert!(matches!(
            refused(0x8000_0000, 4096),
            OuterRangeError::NotMemory { .. }
        ));
        assert!(matches!(
            refused(0x7fc0_0000, 1),
            OuterRangeError::Withheld { .. }
        ));
        assert!(matches!(
            refused(0x7fdf_ffff, 1),
            OuterRangeError::Withheld { .. }
        ));
    }

    #[test]
    fn ranges_that_do_not_fit_are_refused_not_forgotten() {
        let many = [range(0, 1); MAX_WITHHELD + 1];
        let error = OuterMemory::new(&[], &many).expect_err("too many");
        let (given, room) = (MAX_WITHHELD + 1, MAX_WITHHELD);
        assert_eq!(error, TooManyRanges { given, room });
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 16 } else { 2048 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_believed_buffer_is_outer_memory_byte_for_byte(
            base in prop_oneof![
                Just(0x3fff_f000_u64), Just(0x7fbf_f000), Just(0x7fdf_f000), Just(0x8000_0000),
                Just(u64::MAX - 0x1fff), Just(0),
            ],
            offset in 0..0x2000_u64,
            length in prop_oneof![0..0x1100_u64, u64::MAX - 0x2000..=u64::MAX],
        ) {
            let address = base.saturating_add(offset);
            let good = |at: u64| {
                (0x4000_0000..0x8000_0800).contains(&at)
                    && !(0x7fc0_0000..0x7fe0_0000).contains(&at)
            };
            let all_good = length != 0
                && length <= 4096
                && (0..length).all(|byte| {
                    let at = address.checked_add(byte);
                    at.is_some_and(|at| good(at) && at >> 12 == address >> 12)
                });
            let checked = memory().check(Allegation::new(address, length), &none());
            prop_assert_eq!(checked.is_ok(), all_good, "{:?}", checked);
        }
    }
}
