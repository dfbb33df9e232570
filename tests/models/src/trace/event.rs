// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events of a trace.

use std::fmt;

use donjon_abi::trace::{BYTES, CPU_SHIFT, RecordKind, WORDS};

/// Something that a CPU did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the CPU.
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
        let action = match RecordKind::from_number(first as u8)? {
            RecordKind::Store => Action::Store {
                entry: a,
                old: b,
                value: c,
            },
            RecordKind::Zero => Action::Zero(a),
            RecordKind::Clean => Action::Clean(a),
            RecordKind::StoreBarrier => Action::StoreBarrier,
            RecordKind::Barrier => Action::Barrier,
            RecordKind::InvalidateLeaf => Action::InvalidateLeaf(a),
            RecordKind::InvalidateTable => Action::InvalidateTable(a),
            RecordKind::InvalidatePage => Action::InvalidatePage {
                va: a,
                asid: u16::try_from(b).ok()?,
            },
            RecordKind::InvalidateAsid => Action::InvalidateAsid(u16::try_from(a).ok()?),
            RecordKind::InvalidateAll => Action::InvalidateAll,
            RecordKind::Load => Action::Load {
                root: a & 0x0000_ffff_ffff_f000,
                asid: (a >> 48) as u16,
            },
            RecordKind::End => Action::End,
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

    /// Kind of the record.
    pub const fn kind(&self) -> RecordKind {
        match self.action {
            Action::Store { .. } => RecordKind::Store,
            Action::Zero(_) => RecordKind::Zero,
            Action::Clean(_) => RecordKind::Clean,
            Action::StoreBarrier => RecordKind::StoreBarrier,
            Action::Barrier => RecordKind::Barrier,
            Action::InvalidateLeaf(_) => RecordKind::InvalidateLeaf,
            Action::InvalidateTable(_) => RecordKind::InvalidateTable,
            Action::InvalidatePage { .. } => RecordKind::InvalidatePage,
            Action::InvalidateAsid(_) => RecordKind::InvalidateAsid,
            Action::InvalidateAll => RecordKind::InvalidateAll,
            Action::Load { .. } => RecordKind::Load,
            Action::End => RecordKind::End,
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
