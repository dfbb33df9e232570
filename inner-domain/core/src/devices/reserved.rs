// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the device tree sets aside: whose it is.
//!
//! Firmware executes some of it (a pen for CPUs, a secure monitor in ordinary DRAM), and nothing
//! in the device tree tells which. So Linux gets none of it that nothing in Linux needs.

use donjon_abi::boot_info::{Bank, MAX_RESERVED};
use thiserror::Error;

use crate::devices::DeviceList;
use crate::range::Range;

/// Compatible strings of regions that Linux uses by itself: pools for DMA, and a log that
/// survives a restart.
pub const LINUX_OWN: [&str; 3] = ["shared-dma-pool", "restricted-dma-pool", "ramoops"];

/// Whether a region of `/reserved-memory` stays Linux's: because of what it is, or because a
/// device that Linux has `is_named` by names it (`memory-region`).
pub fn is_linux_own<'a>(compatible: impl IntoIterator<Item = &'a str>, is_named: bool) -> bool {
    is_named || compatible.into_iter().any(|it| LINUX_OWN.contains(&it))
}

/// Too many pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the device tree sets memory aside in more than {MAX_RESERVED} pieces")]
pub struct TooManyPieces;

/// The pages that Linux does not get: those that `reserved` ranges touch in one of the `banks`,
/// without those that any of the ranges that Linux has to read touches (`kept`: device tree,
/// initial ramdisk). A loader reserves these as well.
///
/// # Errors
///
/// [`TooManyPieces`] for more than [`MAX_RESERVED`].
pub fn withheld(
    reserved: &[Range],
    kept: &[Range],
    banks: &[Range],
) -> Result<[Bank; MAX_RESERVED], TooManyPieces> {
    let mut pages = DeviceList::new();
    for range in reserved {
        for bank in banks {
            let start = range.start().max(bank.start());
            let end = range.end().min(bank.end());
            if let Some(part) = Range::new(start, end) {
                pages.add(part).map_err(|_| TooManyPieces)?;
            }
        }
    }
    for range in kept {
        pages.remove(*range).map_err(|_| TooManyPieces)?;
    }
    let mut list = [Bank::default(); MAX_RESERVED];
    for (index, piece) in pages.iter().enumerate() {
        *list.get_mut(index).ok_or(TooManyPieces)? = piece;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn range(start: u64, end: u64) -> Range {
        Range::new(start, end).expect("not empty")
    }

    fn pieces(reserved: &[Range], kept: &[Range]) -> Vec<(u64, u64)> {
        let banks = [range(0, 0x4000_0000), range(0x8000_0000, 0xc000_0000)];
        let list = withheld(reserved, kept, &banks).expect("room");
        let used = list.iter().filter(|it| it.start < it.end);
        used.map(|it| (it.start, it.end)).collect()
    }

    #[test]
    fn the_pen_of_a_raspberry_pi_is_withheld_as_a_whole_page() {
        assert_eq!(pieces(&[range(0xd8, 0xf8)], &[]), [(0, 0x1000)]);
        let twice = [range(0, 0x1000), range(0x10_0000, 0x10_0800)];
        assert_eq!(pieces(&twice, &[]), [(0, 0x1000), (0x10_0000, 0x10_1000)]);
    }

    #[test]
    fn what_linux_reads_stays_its_own() {
        let tree = range(0x800_0010, 0x800_3000);
        assert!(pieces(&[range(0x800_0000, 0x800_3000)], &[tree]).is_empty());
        // A loader rounds up; the rest of the page is free.
        assert_eq!(
            pieces(&[range(0x800_0000, 0x800_5000)], &[tree]),
            [(0x800_3000, 0x800_5000)]
        );
    }

    #[test]
    fn what_is_no_memory_needs_no_withholding() {
        assert!(pieces(&[range(0x5000_0000, 0x6000_0000)], &[]).is_empty());
        assert_eq!(
            pieces(&[range(0x3fff_f000, 0x8000_1000)], &[]),
            [(0x3fff_f000, 0x4000_0000), (0x8000_0000, 0x8000_1000)]
        );
    }

    #[test]
    fn more_pieces_than_fit_are_an_error() {
        let banks = [range(0, 0x4000_0000)];
        let many: Vec<_> = (0..=MAX_RESERVED as u64)
            .map(|it| range(it * 0x2000, it * 0x2000 + 0x1000))
            .collect();
        assert!(withheld(&many[1..], &[], &banks).is_ok());
        assert_eq!(withheld(&many, &[], &banks), Err(TooManyPieces));
    }

    #[test]
    fn pools_and_what_a_device_names_are_linux_s() {
        assert!(is_linux_own(["shared-dma-pool"], false));
        assert!(is_linux_own(["vendor,log", "ramoops"], false));
        assert!(is_linux_own([], true));
        assert!(!is_linux_own([], false));
        assert!(!is_linux_own(["vendor,monitor"], false));
    }
}
