// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values for a forged write of `TCR_EL1`.

use donjon_abi::tcr::{INNER, INNER_TLBI, OUTER, STRICT_MIDDLE, T1SZ_SHIFT, TG1_SHIFT};

use donjon_models::space::random::Random;

/// `DS`: 52-bit addresses in descriptors of 4 KiB and 16 KiB tables.
const DS_SHIFT: u32 = 59;
/// `HPD1`: permissions in table descriptors of the upper range count for nothing.
const HPD1_SHIFT: u32 = 42;

/// The fields of `TCR_EL1`: lowest bit and width (DDI 0487, D24.2, TCR_EL1).
const FIELDS: [(u32, u32); 30] = [
    (0, 6),  // T0SZ
    (7, 1),  // EPD0
    (8, 2),  // IRGN0
    (10, 2), // ORGN0
    (12, 2), // SH0
    (14, 2), // TG0
    (16, 6), // T1SZ
    (22, 1), // A1
    (23, 1), // EPD1
    (24, 2), // IRGN1
    (26, 2), // ORGN1
    (28, 2), // SH1
    (30, 2), // TG1
    (32, 3), // IPS
    (36, 1), // AS
    (37, 1), // TBI0
    (38, 1), // TBI1
    (39, 1), // HA
    (40, 1), // HD
    (41, 1), // HPD0
    (42, 1), // HPD1
    (43, 8), // HWU
    (51, 1), // TBID0
    (52, 1), // TBID1
    (53, 2), // NFD0, NFD1
    (55, 2), // E0PD0, E0PD1
    (57, 2), // TCMA0, TCMA1
    (59, 1), // DS
    (60, 2), // MTX0, MTX1
    (62, 2), // none
];

/// Combinations of TG1, T1SZ, DS and HPD1: what decides how the tables are read.
pub const GEOMETRIES: u64 = 4 << 6 << 1 << 1;
/// Prime to the number of geometries, so that its multiples visit each once.
const STRIDE: u64 = 389;

/// The geometry of a number, with everything else as in `base`.
pub const fn geometry(base: u64, number: u64) -> u64 {
    let cleared = base & !(3 << TG1_SHIFT | 0x3f << T1SZ_SHIFT | 1 << DS_SHIFT | 1 << HPD1_SHIFT);
    cleared
        | (number & 3) << TG1_SHIFT
        | (number >> 2 & 0x3f) << T1SZ_SHIFT
        | (number >> 8 & 1) << DS_SHIFT
        | (number >> 9 & 1) << HPD1_SHIFT
}

/// Gives out values: the whole product of the geometry's fields, all neighbours of the right
/// values by one bit, and samples of the product of all fields.
#[derive(Clone, Debug)]
pub struct Values {
    count: u64,
    start: u64,
}

impl Values {
    /// Begins somewhere.
    pub fn new(random: &mut Random) -> Self {
        Self {
            count: 0,
            start: random.any() % GEOMETRIES,
        }
    }

    /// The next one.
    pub fn next(&mut self, random: &mut Random) -> u64 {
        let turn = self.count / 4;
        let kind = self.count % 4;
        self.count += 1;
        let base = random.one_of(&[OUTER, INNER, INNER_TLBI, STRICT_MIDDLE]);
        match kind {
            0 => {
                let number = (self.start + turn * STRIDE) % GEOMETRIES;
                let base = if random.once_in(2) {
                    base
                } else {
                    mixed(base, 8, random)
                };
                geometry(base, number)
            }
            // All bits of one value, then of the next.
            1 => {
                let bases = [INNER, OUTER, STRICT_MIDDLE, INNER_TLBI];
                bases[(turn / 64 % 4) as usize] ^ 1 << (turn * 11 % 64)
            }
            2 => mixed(base, 3, random),
            _ => match random.below(8) {
                0 => base,
                1 => 0,
                2 => u64::MAX,
                3 => random.any(),
                _ => mixed(base, 12, random),
            },
        }
    }
}

/// `base` with every field made anew once in `times`.
fn mixed(base: u64, times: u64, random: &mut Random) -> u64 {
    FIELDS.iter().fold(base, |value, (shift, width)| {
        if random.once_in(times) {
            let mask = (1 << width) - 1;
            value & !(mask << shift) | (random.any() & mask) << shift
        } else {
            value
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_fields_cover_the_register() {
        let covered = FIELDS.iter().fold(0_u64, |all, (shift, width)| {
            let mask = ((1 << width) - 1) << shift;
            assert_eq!(all & mask, 0, "bit {shift} twice");
            all | mask
        });
        // Bits 6 and 35 are RES0; they are flipped with all others.
        assert_eq!(covered, !(1 << 6 | 1 << 35));
    }

    #[test]
    fn every_geometry_and_every_neighbour_comes() {
        let mut random = Random::new(7);
        let mut values = Values::new(&mut random);
        let all: Vec<u64> = (0..4 * GEOMETRIES)
            .map(|_| values.next(&mut random))
            .collect();
        let read_as = |it: &u64| {
            it >> TG1_SHIFT & 3
                | (it >> T1SZ_SHIFT & 0x3f) << 2
                | (it >> DS_SHIFT & 1) << 8
                | (it >> HPD1_SHIFT & 1) << 9
        };
        let geometries: BTreeSet<u64> = all.iter().step_by(4).map(read_as).collect();
        assert_eq!(geometries.len() as u64, GEOMETRIES);
        for base in [INNER, OUTER, STRICT_MIDDLE] {
            for bit in 0..64 {
                assert!(all.contains(&(base ^ 1 << bit)), "{base:#x} bit {bit}");
            }
        }
        // And in the few runs of a test, all neighbours of the inner value.
        let few = &all[..256];
        assert!((0..64).all(|bit| few.contains(&(INNER ^ 1 << bit))));
    }

    #[test]
    fn a_geometry_changes_nothing_else() {
        assert_eq!(geometry(OUTER, 2 | 17 << 2), OUTER);
        assert_eq!(geometry(INNER, 2 | 16 << 2), INNER);
    }
}
