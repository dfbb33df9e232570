// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stage 1 walk of the upper range in any geometry (Arm DDI 0487, D8.2 and D8.3).

use super::{Fault, Geometry, Granule, PhysicalMemory, Probe, TableRead, WalkResult};

const PRIVILEGED_EXECUTE_NEVER: u64 = 1 << 53;
const LAST_LEVEL: i8 = 3;

/// Bits `low` to `high`, both included.
const fn bits(high: u32, low: u32) -> u64 {
    (u64::MAX >> (63 - high)) & (u64::MAX << low)
}

impl Geometry {
    /// Bits of an address in the range.
    const fn address_bits(self) -> u32 {
        64 - self.size_offset as u32
    }

    /// Address bits that one full table resolves.
    const fn table_bits(self) -> u32 {
        self.granule.bits() - 3
    }

    /// Tables on the way to a page.
    const fn levels(self) -> u32 {
        (self.address_bits() - self.granule.bits()).div_ceil(self.table_bits())
    }

    /// Position of the lowest address bit that a table `remaining` levels above the last one
    /// resolves.
    const fn shift(self, remaining: u32) -> u32 {
        self.granule.bits() + remaining * self.table_bits()
    }

    /// log2 of the alignment of the root table: its size, and never below 64 bytes.
    const fn root_alignment(self) -> u32 {
        let resolved = self.address_bits() - self.shift(self.levels() - 1);
        let size = resolved + 3;
        if size < 6 { 6 } else { size }
    }

    /// The address that `raw` holds, of a table, a block or a page.
    const fn address(self, raw: u64) -> u64 {
        let granule = self.granule.bits();
        if !self.large_addresses {
            return raw & bits(47, granule);
        }
        match self.granule {
            // D8.3: with LPA, bits 15 to 12 hold address bits 51 to 48.
            Granule::Kib64 => raw & bits(47, 16) | (raw & bits(15, 12)) << 36,
            // With DS, bits 9 and 8 hold address bits 51 and 50.
            _ => raw & bits(49, granule) | (raw & bits(9, 8)) << 42,
        }
    }

    /// Whether a block may stand at `level`.
    pub(super) const fn has_blocks(self, level: i8) -> bool {
        match self.granule {
            Granule::Kib4 => level == 2 || level == 1 || (level == 0 && self.large_addresses),
            _ => level == 2 || (level == 1 && self.large_addresses),
        }
    }
}

/// Bits of `root` that are ones and that the geometry's root table alignment does away with.
pub(super) const fn lost_base_bits(root: u64, geometry: Geometry) -> u64 {
    root & bits(geometry.root_alignment() - 1, 0)
}

/// Where `probe` leads when the table at `root` is read with `geometry`.
pub fn walk(
    memory: &impl PhysicalMemory,
    root: u64,
    geometry: Geometry,
    probe: Probe,
) -> WalkResult {
    let out_of_range = !bits(geometry.address_bits() - 1, 0);
    if probe.address & out_of_range != out_of_range {
        return WalkResult::Fault(Fault::OutOfRange);
    }
    let in_range = probe.address & !out_of_range;
    let mut remaining = geometry.levels() - 1;
    let mut level = LAST_LEVEL - remaining as i8;
    let mut descriptor = root_descriptor(root, geometry, in_range >> geometry.shift(remaining));
    loop {
        let read = TableRead {
            address: descriptor,
            granule: geometry.granule,
            level,
        };
        let Some(raw) = memory.read(descriptor) else {
            let address = descriptor;
            return WalkResult::Fault(Fault::NoMemory { address });
        };
        if memory.is_hostile(read) {
            return WalkResult::HostileTable { descriptor, level };
        }
        let shift = geometry.shift(remaining);
        match (raw & 0b11, level == LAST_LEVEL) {
            (0b11, true) => return leaf(memory, geometry, raw, shift, probe),
            (0b01, false) if geometry.has_blocks(level) => {
                return leaf(memory, geometry, raw, shift, probe);
            }
            (0b11, false) => {}
            _ => return WalkResult::Fault(Fault::Invalid { descriptor }),
        }
        remaining -= 1;
        level += 1;
        let index = in_range >> geometry.shift(remaining) & bits(geometry.table_bits() - 1, 0);
        descriptor = geometry.address(raw) + index * 8;
    }
}

/// Address of the entry `index` of the root table. A base that is not aligned to the table loses
/// its low bits, or leaves any of those that are ones in the result (K1.2.5).
fn root_descriptor(root: u64, geometry: Geometry, index: u64) -> u64 {
    let alignment = bits(geometry.root_alignment() - 1, 0);
    let address = (root & !alignment) + index * 8;
    match geometry.corruption {
        None => address,
        Some(corrupted) => address & !lost_base_bits(root, geometry) | corrupted,
    }
}

fn leaf(
    memory: &impl PhysicalMemory,
    geometry: Geometry,
    raw: u64,
    shift: u32,
    probe: Probe,
) -> WalkResult {
    let offset = bits(shift - 1, 0);
    let address = geometry.address(raw) & !offset | probe.address & offset;
    if raw & PRIVILEGED_EXECUTE_NEVER != 0 {
        WalkResult::NotExecutable { address }
    } else if address == probe.expected {
        WalkResult::Itself { address }
    } else if memory.read(address & !7).is_none() {
        WalkResult::Fault(Fault::NoMemory { address })
    } else {
        WalkResult::Escape { address }
    }
}
