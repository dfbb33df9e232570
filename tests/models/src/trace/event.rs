// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events of a trace.

use std::fmt;

use donjon_abi::trace::{BYTES, CPU_SHIFT, Kind, WORDS};

/// Something that a CPU did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its index.
    pub cpu: usize,
    /// What it did.
    pub action: Action,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A store to a table.
    Store {
        /// Physical address of the entry.
        entry: u64,
        /// What stood there.
        old: u64,
        /// What stands there now.
        value: u64,
    },
    /// A frame was filled with zeros.
    Zero(u64),
    /// A frame was cleaned to memory.
    Clean(u64),
    /// DSB ISHST.
    StoreBarrier,
    /// DSB ISH.
    Barrier,
    /// TLBI VAALE1IS.
    InvalidateLeaf(u64),
    /// TLBI VAAE1IS.
    InvalidateTable(u64),
    /// TLBI VALE1IS.
    InvalidatePage {
        /// The address.
        va: u64,
        /// The ASID.
        asid: u16,
    },
    /// TLBI ASIDE1IS.
    InvalidateAsid(u16),
    /// TLBI VMALLE1IS.
    InvalidateAll,
    /// TTBR0_EL1 was written.
    Load {
        /// The root.
        root: u64,
        /// The ASID; 0 stands for the root that maps nothing.
        asid: u16,
    },
    /// A call is over.
    End,
}

impl Event {
    /// Reads a record; none if it is not one.
    pub fn of(words: [u64; WORDS]) -> Option<Self> {
        let [first, a, b, c] = words;
        let action = match Kind::from_number(first as u8)? {
            Kind::Store => Action::Store {
                entry: a,
                old: b,
                value: c,
            },
            Kind::Zero => Action::Zero(a),
            Kind::Clean => Action::Clean(a),
            Kind::StoreBarrier => Action::StoreBarrier,
            Kind::Barrier => Action::Barrier,
            Kind::InvalidateLeaf => Action::InvalidateLeaf(a),
            Kind::InvalidateTable => Action::InvalidateTable(a),
            Kind::InvalidatePage => Action::InvalidatePage {
                va: a,
                asid: u16::try_from(b).ok()?,
            },
            Kind::InvalidateAsid => Action::InvalidateAsid(u16::try_from(a).ok()?),
            Kind::InvalidateAll => Action::InvalidateAll,
            Kind::Load => Action::Load {
                root: a & 0x0000_ffff_ffff_f000,
                asid: (a >> 48) as u16,
            },
            Kind::End => Action::End,
        };
        let cpu = usize::try_from(first >> CPU_SHIFT).ok()?;
        (cpu < donjon_abi::layout::MAX_CPUS).then_some(Self { cpu, action })
    }

    /// Reads a whole trace; none if something in it is no record.
    pub fn all(bytes: &[u8]) -> Option<Vec<Self>> {
        let records = bytes.chunks(BYTES).map(|record| {
            let record: &[u8; BYTES] = record.try_into().ok()?;
            let mut words = [0; WORDS];
            for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().ok()?);
            }
            Self::of(words)
        });
        records.collect()
    }

    /// Its kind.
    pub const fn kind(&self) -> Kind {
        match self.action {
            Action::Store { .. } => Kind::Store,
            Action::Zero(_) => Kind::Zero,
            Action::Clean(_) => Kind::Clean,
            Action::StoreBarrier => Kind::StoreBarrier,
            Action::Barrier => Kind::Barrier,
            Action::InvalidateLeaf(_) => Kind::InvalidateLeaf,
            Action::InvalidateTable(_) => Kind::InvalidateTable,
            Action::InvalidatePage { .. } => Kind::InvalidatePage,
            Action::InvalidateAsid(_) => Kind::InvalidateAsid,
            Action::InvalidateAll => Kind::InvalidateAll,
            Action::Load { .. } => Kind::Load,
            Action::End => Kind::End,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { entry, old, value } => {
                write!(f, "entry {entry:#x} from {old:#x} to {value:#x}")
            }
            other => write!(f, "{other:x?}"),
        }
    }
}
