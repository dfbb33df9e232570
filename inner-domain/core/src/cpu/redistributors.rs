// SPDX-License-Identifier: MIT OR Apache-2.0
//! The redistributors of a GICv3, one for each CPU, one behind the other in a region.
//!
//! Each has frames of 64 KiB. The first holds GICR_PROPBASER and GICR_PENDBASER, which say where
//! the tables of LPIs are: the redistributor reads the one and writes the other. The third and
//! fourth, for virtual LPIs, have registers of the same kind. The second one, SGI_base, has
//! enables, priorities and pending bits of a CPU's own interrupts alone (Arm IHI 0069, 12.10 and
//! 12.11). So Linux writes the second frame, and of all others one register.

use crate::range::Range;

/// Offset of GICR_CTLR.
const CTLR: u64 = 0x0;
/// Offset of the lower half of GICR_TYPER.
const TYPER: u64 = 0x8;
/// Offset of GICR_WAKER.
const WAKER: u64 = 0x14;
/// GICR_WAKER.ProcessorSleep. Other bits are the implementation's.
pub const WAKER_BITS: u32 = 1 << 1;

const ENABLE_LPIS: u32 = 1 << 0;
const VLPIS: u32 = 1 << 1;
const LAST: u32 = 1 << 4;
const FRAME: u64 = 0x1_0000;

/// One redistributor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistributor {
    /// The frame that Linux writes.
    pub own: Range,
    /// The register by which a CPU says whether it takes interrupts.
    pub waker: Range,
    /// Whether it uses tables already.
    pub has_lpis_enabled: bool,
}

/// Calls `each` for the redistributors of a region, up to the last one. Each takes `stride` bytes,
/// or what GICR_TYPER tells. `read` reads a register of 32 bits.
///
/// # Errors
///
/// What `each` returns.
pub fn walk<E>(
    region: Range,
    stride: Option<u64>,
    read: impl Fn(u64) -> u32,
    mut each: impl FnMut(Redistributor) -> Result<(), E>,
) -> Result<(), E> {
    let mut start = region.start();
    while region.end() - start >= 2 * FRAME {
        let typer = read(start + TYPER);
        let frames = if typer & VLPIS == 0 { 2 } else { 4 };
        let (own, waker) = (start + FRAME, start + WAKER);
        let ranges = (Range::with_size(own, FRAME), Range::with_size(waker, 4));
        let (Some(own), Some(waker)) = ranges else {
            break;
        };
        each(Redistributor {
            own,
            waker,
            has_lpis_enabled: read(start + CTLR) & ENABLE_LPIS != 0,
        })?;
        // The next redistributor cannot begin within these frames.
        let size = stride.unwrap_or(0).max(frames * FRAME);
        if typer & LAST != 0 || size > region.end() - start {
            break;
        }
        start += size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::convert::Infallible;
    use std::vec::Vec;

    use super::*;

    const START: u64 = 0x80a_0000;

    fn range(frames: u64) -> Range {
        Range::with_size(START, frames * FRAME).expect("a range")
    }

    /// The frames that Linux gets, counted from the region's start. `typers` has a register for
    /// each frame.
    fn own(region: Range, stride: Option<u64>, typers: &[u32]) -> Vec<u64> {
        let read = |address: u64| match (address - START) % FRAME {
            CTLR => 0,
            TYPER => typers[((address - START) / FRAME) as usize],
            other => panic!("a register at {other:#x}"),
        };
        let mut found = Vec::new();
        let walked = walk::<Infallible>(region, stride, read, |it| {
            assert_eq!(it.own.size(), FRAME);
            assert_eq!(it.waker.start() + FRAME, it.own.start() + WAKER);
            assert_eq!(it.waker.size(), 4);
            assert!(!it.has_lpis_enabled);
            found.push((it.own.start() - START) / FRAME);
            Ok(())
        });
        assert_eq!(walked, Ok(()));
        found
    }

    #[test]
    fn the_walk_ends_with_the_last_redistributor_or_the_region() {
        let typers = [0, 0, 0x100, 0, LAST, 0, 0, 0];
        assert_eq!(own(range(8), None, &typers), [1, 3, 5]);
        assert_eq!(own(range(4), None, &typers), [1, 3]);
        assert_eq!(own(range(5), None, &typers), [1, 3]);
        assert_eq!(own(range(1), None, &typers), []);
        assert_eq!(own(range(8), None, &[LAST; 8]), [1]);
    }

    #[test]
    fn virtual_lpis_take_two_more_frames() {
        let typers = [VLPIS, 9, 9, 9, VLPIS, 9, 9, 9, LAST, 0];
        assert_eq!(own(range(10), None, &typers), [1, 5, 9]);
    }

    #[test]
    fn a_stride_is_at_least_the_frames() {
        let typers = [0, 9, 9, 9, LAST, 9, 0, 0];
        assert_eq!(own(range(8), Some(4 * FRAME), &typers), [1, 5]);
        let typers = [0, 9, LAST, 9, 0, 0, 0, 0];
        assert_eq!(own(range(8), Some(0), &typers), [1, 3]);
        assert_eq!(own(range(8), Some(u64::MAX), &typers), [1]);
    }

    #[test]
    fn tables_in_use_are_seen_and_errors_end_the_walk() {
        let mut seen = Vec::new();
        let read = |address: u64| u32::from(address == START + 2 * FRAME + CTLR);
        let walked = walk(range(8), None, read, |it| {
            seen.push(it.has_lpis_enabled);
            if it.has_lpis_enabled { Err(7) } else { Ok(()) }
        });
        assert_eq!(walked, Err(7));
        assert_eq!(seen, [false, true]);
    }
}
