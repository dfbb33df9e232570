// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface as a table, for the generators of the C header and of the documentation.

mod calls;
mod constants;

use crate::call::{Counter, Error, Function, Information, Reason};

pub use calls::CALLS;
pub use constants::CONSTANTS;

/// A named number.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Name in C, without the prefix `DONJON_`.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// One line about it.
    pub about: &'static str,
}

/// One inter-domain call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Which function.
    pub function: Function,
    /// Name in C, without the prefix `DONJON_FN_`.
    pub name: &'static str,
    /// Arguments in x1 onwards.
    pub arguments: &'static [&'static str],
    /// What x1 holds afterwards.
    pub value: &'static str,
    /// Which errors it gives.
    pub errors: &'static [&'static str],
    /// One line about it.
    pub about: &'static str,
}

/// Every error code.
pub const ERRORS: [(&str, Error, &str); 9] = [
    (
        "UNKNOWN_FUNCTION",
        Error::UnknownFunction,
        "no such function",
    ),
    (
        "INVALID_ARGUMENT",
        Error::InvalidArgument,
        "an argument is out of range",
    ),
    (
        "BAD_ADDRESS",
        Error::BadAddress,
        "an address is not the caller's to name",
    ),
    (
        "INCOMPATIBLE_VERSION",
        Error::IncompatibleVersion,
        "the major versions differ",
    ),
    ("BUSY", Error::Busy, "the call is right, but not now"),
    ("FIRMWARE", Error::Firmware, "the firmware refused"),
    ("REFUSED", Error::Refused, "a rule forbids it"),
    (
        "BAD_INSTRUCTION",
        Error::BadInstruction,
        "an instruction is not allowed",
    ),
    ("NO_MEMORY", Error::NoMemory, "the pool is empty"),
];

/// What the statistics call counts.
pub const COUNTERS: [(&str, Counter); 5] = [
    ("CALLS", Counter::Calls),
    ("REFUSALS", Counter::Refusals),
    ("INSTRUCTIONS", Counter::Instructions),
    ("ENTRIES", Counter::Entries),
    ("WORST", Counter::Worst),
];

/// What the information call tells.
pub const INFORMATION: [(&str, Information); 17] = [
    ("RELEASE", Information::Release),
    ("SWITCH_MODE", Information::SwitchMode),
    ("CPUS", Information::Cpus),
    ("MEMORY_START", Information::MemoryStart),
    ("MEMORY_SIZE", Information::MemorySize),
    ("TEXT_SIZE", Information::TextSize),
    ("HEAP_FREE", Information::HeapFree),
    ("DIGEST0", Information::Digest0),
    ("DIGEST1", Information::Digest1),
    ("DIGEST2", Information::Digest2),
    ("DIGEST3", Information::Digest3),
    ("WEAKENED", Information::Weakened),
    ("CPU_MASK", Information::CpuMask),
    ("TLBI_PAGES", Information::TlbiPages),
    ("WAITS_DOMAIN", Information::WaitsDomain),
    ("WAITS_TREES", Information::WaitsTrees),
    ("WAITS_ARENA", Information::WaitsArena),
];

/// Every reason of a refusal: name in C without the prefix, and words for people.
pub const REASONS: [(&str, Reason, &str); 20] = [
    (
        "NOT_A_TABLE",
        Reason::NotATable,
        "entry outside every table",
    ),
    ("BAD_ENTRY", Reason::BadEntry, "misaligned entry"),
    (
        "BAD_DESCRIPTOR",
        Reason::BadDescriptor,
        "unknown bits or a block",
    ),
    (
        "BAD_TARGET",
        Reason::BadTarget,
        "permissions do not suit the frame",
    ),
    ("EXECUTABLE", Reason::Executable, "executable at EL1"),
    (
        "LIVE_CHANGE",
        Reason::LiveChange,
        "valid entry not made invalid first",
    ),
    (
        "NOT_MEMORY",
        Reason::NotMemory,
        "neither memory nor an allowed device",
    ),
    (
        "BAD_ATTRIBUTES",
        Reason::BadAttributes,
        "memory attributes do not suit the frame",
    ),
    (
        "BAD_TABLE",
        Reason::BadTable,
        "table has a parent or another level",
    ),
    ("BAD_SLOT", Reason::BadSlot, "root slot must stay as it is"),
    ("IN_USE", Reason::InUse, "table is in use"),
    (
        "WRONG_FRAME",
        Reason::WrongFrame,
        "frame is not of this kind",
    ),
    ("BAD_ASID", Reason::BadAsid, "ASID is reserved or taken"),
    (
        "BAD_REGISTER",
        Reason::BadRegister,
        "register may not have this value",
    ),
    ("NOT_TEXT", Reason::NotText, "not text that may change"),
    (
        "BAD_FIRMWARE_CALL",
        Reason::BadFirmwareCall,
        "firmware function not on the list",
    ),
    (
        "WRONG_TIME",
        Reason::WrongTime,
        "before the hand-over or twice",
    ),
    (
        "BAD_MACHINE",
        Reason::BadMachine,
        "hand-over found something forbidden",
    ),
    ("NO_ROOM", Reason::NoRoom, "no pool has room"),
    (
        "LIVE_TEXT",
        Reason::LiveText,
        "another CPU may execute the text",
    ),
];
