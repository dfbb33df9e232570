// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inter-domain calls: numbers, results, versions.
//!
//! x0 holds the function number, x1 to x6 the arguments. On return x0 is 0 or a negative
//! [`Error`], x1 the value. x2 to x17, x30 and the flags do not survive, x19 to x29 and SP do;
//! x18 belongs to the gate.

mod compartment;
mod error;
mod facts;
pub(crate) mod function;
mod property;
mod request;

pub use compartment::{CompartmentExit, CompartmentFact};
pub use error::{Error, Reason};
pub use facts::{Counter, Information};
pub use function::{
    ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, CORE_FUNCTIONS, Function, Handover, LIST_MAX,
    MAP_MAX, POKE_COPY, POKE_FILL, POKE_MAX, POKE_STOPPED, POKE_VALUE, POOL_PRIVATE, POOL_TABLES,
    POOL_TEXT, POOL_TOGETHER_MAX, PROPERTIES_MAX, REGISTER_SCTLR, RELEASE_MAX, RefusalRecord,
    ReplyHeader, Signature, TableEntry,
};
pub use property::{PROPERTIES, Property};
pub use request::{
    End, KeyReply, Nothing, Outcome, Pages, PeerReply, Purpose, RandomReply, ReportArguments,
    ReportReply, Request, Resized, Supervisor, Transfer, Transferred, VerifyArguments, VerifyReply,
    Word, request as requests,
};

use crate::declare::constants;

constants! {
    /// Version of the interface. The major half changes when an old caller would misunderstand.
    pub const ABI_VERSION: u32 = version(5, 3) => "ABI_VERSION";

    /// Bits of a function number below its owner.
    pub const OWNER_SHIFT: u32 = 16;

    /// x0 on the way into the inner domain after a TCR_EL1 mismatch: not a call but a stop. Bit
    /// 63 makes the gate invalidate the TLB before anything else.
    pub const REASON_MISMATCH: u64 = 0x8000_444f_4e4a_0001;
}

/// A version word.
pub const fn version(major: u16, minor: u16) -> u32 {
    (major as u32) << 16 | minor as u32
}

/// Who defines a range of function numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Owner {
    /// The inner domain itself. Its numbers are small and dense: the gate indexes a table.
    Core = 0,
    /// Whatever a user of this project adds.
    Custom = 0x80,
}

/// A process, as Linux names it to the inner domain: its ASID in the low bits, and above them a
/// number that no two processes with this ASID have, nor one process before and after it had
/// another. 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(pub u64);

impl Process {
    /// No process: no tree has ASID 0.
    pub const NONE: Self = Self(0);

    /// Bits of the ASID.
    const ASID_BITS: u32 = 16;

    /// The process with an ASID and the lower 48 bits of a number.
    pub const fn new(asid: u16, id: u64) -> Self {
        Self(id << Self::ASID_BITS | asid as u64)
    }

    /// The ASID.
    pub const fn asid(self) -> u16 {
        self.0 as u16
    }

    /// The number above it.
    pub const fn id(self) -> u64 {
        self.0 >> Self::ASID_BITS
    }
}
