// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects GICv3 redistributors that keep tables in memory (LPIs).
//!
//! With LPIs, GICR_PROPBASER and GICR_PENDBASER say where the tables of their configuration and
//! their pending bits are, and the redistributor writes the second one. They stand in one page
//! with registers that Linux needs, so such a redistributor cannot be mapped at all
//! (Arm IHI 0069, 12.11). GICR_TYPER.PLPIS tells.

/// Offset of GICR_TYPER.
pub const TYPER: u64 = 0x8;
const PLPIS: u64 = 1 << 0;
const VLPIS: u64 = 1 << 1;
const LAST: u64 = 1 << 4;
/// A redistributor's two frames of 64 KiB.
const FRAMES: u64 = 0x2_0000;

/// The first redistributor of a region of `size` bytes that can hold LPIs, by its offset.
/// `typer` reads GICR_TYPER of the redistributor at an offset.
pub fn first_with_lpis(size: u64, mut typer: impl FnMut(u64) -> u64) -> Option<u64> {
    let mut offset = 0;
    while offset + FRAMES <= size {
        let found = typer(offset);
        // Virtual LPIs have tables of the same kind.
        if found & (PLPIS | VLPIS) != 0 {
            return Some(offset);
        }
        if found & LAST != 0 {
            return None;
        }
        offset += FRAMES;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_redistributor_is_asked_up_to_the_last() {
        let plain = |offset| if offset == 3 * FRAMES { LAST } else { 0 };
        assert_eq!(first_with_lpis(4 * FRAMES, plain), None);
        let third = |offset| match offset / FRAMES {
            2 => PLPIS,
            3 => LAST,
            _ => 0x100,
        };
        assert_eq!(first_with_lpis(4 * FRAMES, third), Some(2 * FRAMES));
        assert_eq!(first_with_lpis(2 * FRAMES, third), None);
        let behind = |offset| if offset == 0 { LAST } else { PLPIS };
        assert_eq!(first_with_lpis(4 * FRAMES, behind), None);
        assert_eq!(first_with_lpis(FRAMES, |_| VLPIS), Some(0));
        assert_eq!(first_with_lpis(FRAMES - 1, |_| PLPIS), None);
    }
}
