// SPDX-License-Identifier: MIT OR Apache-2.0
//! I7: the vectors.

use donjon_abi::tcr::OUTER;

use super::World;
use crate::frames::Class;
use crate::report::Violation;
use crate::walk::translate;

/// Bytes of a vector slot.
const SLOT: u64 = 0x80;
/// Slots of the current exception level: those for SP_EL0 and those for SP_EL1.
const SLOTS: u64 = 8;

/// Checks page and comparison of every CPU's vectors.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    // Linux's own as well, if every CPU is in a compartment.
    let outside = world.outside_compartments();
    let mut addresses: Vec<u64> = outside.map(|it| it.vbar).collect();
    addresses.push(world.snapshot.facts.linux.vectors);
    addresses.sort_unstable();
    addresses.dedup();
    let mut violations = Vec::new();
    for address in addresses {
        one(world, address, &mut violations);
    }
    violations
}

fn one(world: &World<'_>, address: u64, violations: &mut Vec<Violation>) {
    let memory = &*world.snapshot.memory;
    let linux = &world.snapshot.facts.linux;
    let Some(leaf) = translate(memory, world.root, address, false) else {
        violations.push(Violation {
            va: Some(address),
            ..Violation::plain("I7", "vectors", "the vectors are not mapped".to_owned())
        });
        return;
    };
    let at = leaf.pa + (address - leaf.va);
    let mut wrong = |pa: u64, text: &str| {
        violations.push(leaf.violates("I7", pa, &world.owner(pa), text));
    };
    if leaf.attributes().writable() {
        wrong(at, "the vectors are writable");
    }
    if !leaf.attributes().executable_at_el1() {
        wrong(at, "the vectors are not executable");
    }
    if at != linux.to_physical(linux.vectors) || world.frames.class(at) != Class::Vectors {
        wrong(at, "the vectors are not the page that the kernel image has");
    }
    for slot in 0..SLOTS {
        let begin = at + slot * SLOT;
        let word = |number: u64| {
            let pair = memory.word((begin + 4 * number) & !7)?;
            Some((pair >> (8 * ((begin + 4 * number) & 4))) as u32)
        };
        let expected = comparison();
        let same = (0..)
            .zip(&expected)
            .all(|(number, it)| word(number) == Some(*it));
        // CBNZ X18, forward or back.
        let branches =
            word(expected.len() as u64).is_some_and(|it| it & 0xff00_001f == 0xb500_0012);
        if !same || !branches {
            wrong(
                begin,
                &format!("vector slot {slot} does not begin with the exact comparison"),
            );
        }
    }
}

/// The words that leave zero in x18 for the outer TCR_EL1 alone, assembled from the manual's
/// encodings: 24 bits are subtracted, the rest is rotated down, and 24 more.
pub fn comparison() -> [u32; 6] {
    const X18: u32 = 18;
    let subtract = |immediate: u64, shifted: bool| {
        // SUB (immediate), 64 bits.
        0xd100_0000 | u32::from(shifted) << 22 | (immediate as u32 & 0xfff) << 10 | X18 << 5 | X18
    };
    [
        0xd538_2040 | X18, // MRS X18, TCR_EL1
        subtract(OUTER, false),
        subtract(OUTER >> 12, true),
        0x93c0_0000 | X18 << 16 | 24 << 10 | X18 << 5 | X18, // EXTR = ROR X18, X18, #24
        subtract(OUTER >> 24, false),
        subtract(OUTER >> 36, true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the words on `value`.
    fn run(words: &[u32], value: u64) -> u64 {
        words.iter().fold(value, |x, word| match word >> 24 {
            0xd1 => {
                let immediate = u64::from(word >> 10 & 0xfff);
                x.wrapping_sub(immediate << (12 * (word >> 22 & 1)))
            }
            0x93 => x.rotate_right(24),
            _ => x,
        })
    }

    #[test]
    fn the_comparison_is_zero_for_one_value() {
        assert_eq!(run(&comparison(), OUTER), 0);
        for bit in 0..64 {
            assert_ne!(run(&comparison(), OUTER ^ 1 << bit), 0, "bit {bit}");
        }
    }
}
