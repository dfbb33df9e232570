// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where an address leads under a forged geometry of the tables.
//!
//! The gate's write of TCR_EL1 can be reached with any value in the register. The comparison
//! after it protects only if it is what is fetched after it: with another granule and size
//! *together* the same tables are read as different ones, and the next instruction may come from
//! a page of the attacker's choosing. This module enumerates every value of TG1, T1SZ and DS,
//! with every behaviour that the architecture allows a CPU to have for it, and says for an
//! address where each leads.
//!
//! What it takes for granted, each time in the attacker's favour:
//!
//! * Hierarchical permissions count for nothing (TCR_EL1.HPD1 can be forged), nor does AF
//!   (TCR_EL1.HA can), nor an output size (IPS can).
//! * The reserved encoding TG1 = 0b00 selects any granule.
//! * A size below the minimum or above the maximum faults or is clamped; the minimum and maximum
//!   depend on features that the CPU has or has not (LVA, LPA2, TTST).
//! * A root table that is not aligned to its size in the forged geometry is rounded down, or any
//!   of the base address bits that are lost this way comes out as 0 or 1 (Arm DDI 0487, K1.2.5).
//! * A table read from a frame that is not known to be harmless in that role is an escape, no
//!   matter what stands there today.
//!
//! Not covered: tables of 128-bit descriptors (TCR2_EL1.D128 is not in TCR_EL1), walks that mix
//! two geometries, and stale data that a forged IRGN1 or ORGN1 would let the walk see in memory
//! behind the caches.

mod walk;

use std::fmt;

pub use walk::walk;

/// Size of the smallest unit of translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granule {
    /// 4 KiB: 9 bits per level.
    Kib4,
    /// 16 KiB: 11 bits per level.
    Kib16,
    /// 64 KiB: 13 bits per level.
    Kib64,
}

impl Granule {
    /// log2 of the bytes of a page and of a full table.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Kib4 => 12,
            Self::Kib16 => 14,
            Self::Kib64 => 16,
        }
    }

    /// The granules that a TCR_EL1.TG1 encoding (0 to 3) may select (D24.2, TCR_EL1).
    const fn of_tg1(tg1: u8) -> &'static [Self] {
        match tg1 {
            0b01 => &[Self::Kib16],
            0b10 => &[Self::Kib4],
            0b11 => &[Self::Kib64],
            _ => &[Self::Kib4, Self::Kib16, Self::Kib64],
        }
    }

    /// Smallest sizes that a CPU may support: a minimum of 16, or 12 with LVA (64 KiB) or with
    /// LPA2 and DS (others) (D8.2, minimum TxSZ).
    const fn minimums(self, large_addresses: bool) -> &'static [u8] {
        match (self, large_addresses) {
            (Self::Kib64, _) => &[16, 12],
            (_, false) => &[16],
            (_, true) => &[12],
        }
    }

    /// Largest sizes that a CPU may support: 39, or more with TTST (D8.2, maximum TxSZ).
    const fn maximums(self) -> &'static [u8] {
        match self {
            Self::Kib64 => &[39, 47],
            _ => &[39, 48],
        }
    }
}

impl fmt::Display for Granule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kib4 => "4K",
            Self::Kib16 => "16K",
            Self::Kib64 => "64K",
        })
    }
}

/// One way in which the tables of the upper range may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Geometry {
    /// Size of pages and tables.
    pub granule: Granule,
    /// T1SZ as it takes effect: the range has 64 minus this many bits.
    pub size_offset: u8,
    /// Whether descriptors hold 52-bit addresses: DS with LPA2, or LPA with 64 KiB.
    pub large_addresses: bool,
    /// What becomes of the base address bits below the root table's alignment: none if they are
    /// zeroed, else the value that they take. Always a subset of the bits that are ones.
    pub corruption: Option<u64>,
}

/// One read of a descriptor during a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRead {
    /// Physical address of the descriptor, 8 bytes.
    pub address: u64,
    /// The granule of the walk.
    pub granule: Granule,
    /// Level of the table in the walk, -1 to 3.
    pub level: i8,
}

/// Physical memory as a forged walk finds it.
pub trait PhysicalMemory {
    /// The 8-byte word at `address`, a multiple of 8; none where no memory is.
    fn read(&self, address: u64) -> Option<u64>;
    /// Whether the outer domain may be able to choose what this read returns. Frames whose
    /// contents are only safe in the role that they were built for must say yes in any other.
    fn is_hostile(&self, read: TableRead) -> bool;
}

/// An address that must not lead elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The virtual address.
    pub address: u64,
    /// The physical address that it is meant to show.
    pub expected: u64,
}

/// Why a walk faults. A fault on the gate or the vectors is taken again and again: a hang, which
/// is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The CPU supports no such T1SZ and says so.
    UnsupportedSize,
    /// The address is outside the range.
    OutOfRange,
    /// An invalid or reserved descriptor.
    Invalid {
        /// Where it stands.
        descriptor: u64,
    },
    /// A table or the output is where no memory is.
    NoMemory {
        /// Physical address.
        address: u64,
    },
}

/// Where a walk leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WalkResult {
    /// Nowhere.
    Fault(Fault),
    /// To what the address is meant to show.
    Itself {
        /// Physical address.
        address: u64,
    },
    /// To memory that EL1 cannot execute because the leaf says so.
    NotExecutable {
        /// Physical address.
        address: u64,
    },
    /// To other memory, executable at EL1.
    Escape {
        /// Physical address.
        address: u64,
    },
    /// Through a descriptor that the outer domain may choose, hence anywhere.
    HostileTable {
        /// Physical address of the descriptor.
        descriptor: u64,
        /// Level at which it was read.
        level: i8,
    },
}

impl WalkResult {
    /// Whether the outer domain may execute what it likes.
    pub const fn is_escape(self) -> bool {
        matches!(self, Self::Escape { .. } | Self::HostileTable { .. })
    }
}

/// What one forged value may lead to on some CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// TCR_EL1.TG1 as written, 0 to 3.
    pub tg1: u8,
    /// TCR_EL1.T1SZ as written, 0 to 63.
    pub t1sz: u8,
    /// TCR_EL1.DS as written.
    pub ds: bool,
    /// How the CPU takes it; none if it refuses the size.
    pub geometry: Option<Geometry>,
    /// Where it leads.
    pub result: WalkResult,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tg1, t1sz, ds, .. } = self;
        write!(f, "TG1={tg1:#04b} T1SZ={t1sz} DS={}", u8::from(*ds))?;
        if let Some(geometry) = self.geometry {
            write!(
                f,
                " taken as {} T1SZ={}",
                geometry.granule, geometry.size_offset
            )?;
            if geometry.large_addresses {
                write!(f, " with 52-bit addresses")?;
            }
            if let Some(bits) = geometry.corruption {
                write!(f, " and base bits {bits:#x}")?;
            }
        }
        match self.result {
            WalkResult::Fault(fault) => write!(f, ": {fault:x?}"),
            WalkResult::Itself { address } => write!(f, ": itself at {address:#x}"),
            WalkResult::NotExecutable { address } => write!(f, ": not executable at {address:#x}"),
            WalkResult::Escape { address } => write!(f, ": ESCAPE, executes {address:#x}"),
            WalkResult::HostileTable { descriptor, level } => {
                write!(f, ": HOSTILE level {level} descriptor at {descriptor:#x}")
            }
        }
    }
}

/// Shows `visit` where `probe` leads for every value of TG1, T1SZ and DS and every behaviour
/// that a CPU may have for it, with the root table at physical address `root`.
pub fn enumerate(
    memory: &impl PhysicalMemory,
    root: u64,
    probe: Probe,
    mut visit: impl FnMut(Finding),
) {
    for (tg1, t1sz, ds) in encodings() {
        let finding = |geometry, result| Finding {
            tg1,
            t1sz,
            ds,
            geometry,
            result,
        };
        for &granule in Granule::of_tg1(tg1) {
            for large_addresses in formats(granule, ds) {
                let sizes = effective_sizes(granule, large_addresses, t1sz);
                if sizes.may_refuse {
                    visit(finding(None, WalkResult::Fault(Fault::UnsupportedSize)));
                }
                for size_offset in (0..64).filter(|size| sizes.mask >> size & 1 == 1) {
                    let aligned = Geometry {
                        granule,
                        size_offset,
                        large_addresses,
                        corruption: None,
                    };
                    for corruption in corruptions(root, aligned) {
                        let geometry = Geometry {
                            corruption,
                            ..aligned
                        };
                        let result = walk(memory, root, geometry, probe);
                        visit(finding(Some(geometry), result));
                    }
                }
            }
        }
    }
}

/// Every value of TG1, T1SZ and DS.
fn encodings() -> impl Iterator<Item = (u8, u8, bool)> {
    (0..4).flat_map(|tg1| {
        (0..64).flat_map(move |t1sz| [false, true].into_iter().map(move |ds| (tg1, t1sz, ds)))
    })
}

/// Whether descriptors may hold 52-bit addresses. With 64 KiB that depends on the CPU (LPA),
/// otherwise on DS, which a CPU without LPA2 ignores.
fn formats(granule: Granule, ds: bool) -> impl Iterator<Item = bool> {
    let possible = ds || granule == Granule::Kib64;
    [false, true]
        .into_iter()
        .filter(move |large| possible || !large)
}

/// What a CPU may make of a T1SZ.
struct EffectiveSizes {
    /// One bit per size that may take effect.
    mask: u64,
    /// Whether it may fault instead.
    may_refuse: bool,
}

fn effective_sizes(granule: Granule, large_addresses: bool, t1sz: u8) -> EffectiveSizes {
    let mut sizes = EffectiveSizes {
        mask: 0,
        may_refuse: false,
    };
    for &minimum in granule.minimums(large_addresses) {
        for &maximum in granule.maximums() {
            sizes.mask |= 1 << t1sz.clamp(minimum, maximum);
            sizes.may_refuse |= !(minimum..=maximum).contains(&t1sz);
        }
    }
    sizes
}

/// No corruption, then every value of the base address bits that the geometry loses.
fn corruptions(root: u64, geometry: Geometry) -> impl Iterator<Item = Option<u64>> {
    let lost = walk::lost_base_bits(root, geometry);
    // All subsets of `lost`, counted in its bits: subtracting it carries across the gaps.
    let mut next = (lost != 0).then_some(0_u64);
    let subsets = std::iter::from_fn(move || {
        let subset = next?;
        let following = subset.wrapping_sub(lost) & lost;
        next = (following != 0).then_some(following);
        Some(Some(subset))
    });
    std::iter::once(None).chain(subsets)
}

#[cfg(test)]
mod tests;
