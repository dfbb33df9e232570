// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface as a table, for the generators of the C header and of the documentation.

use crate::call::{self, Counter, Error, Function, Information};
use crate::{layout, tcr};

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

/// Every call of the core.
pub const CALLS: [Call; call::CORE_FUNCTIONS] = [
    Call {
        function: Function::Null,
        name: "NULL",
        arguments: &[],
        value: "unchanged",
        errors: &[],
        about: "Enters and leaves; the measure of the gate.",
    },
    Call {
        function: Function::Version,
        name: "VERSION",
        arguments: &["version the caller speaks"],
        value: "version of the inner domain",
        errors: &["INCOMPATIBLE_VERSION"],
        about: "Negotiates: the major halves must agree; the caller then uses the smaller minor.",
    },
    Call {
        function: Function::Statistics,
        name: "STATISTICS",
        arguments: &["CPU index", "function", "counter"],
        value: "the counter",
        errors: &["INVALID_ARGUMENT"],
        about: "Reads one counter of one function on one CPU.",
    },
    Call {
        function: Function::Log,
        name: "LOG",
        arguments: &["cursor", "physical address", "bytes"],
        value: "bytes copied; the next cursor stands in the first 8 of them",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "BUSY"],
        about: "Copies log text from the cursor on into memory of the caller, within one page.",
    },
    Call {
        function: Function::Echo,
        name: "ECHO",
        arguments: &["which (0 to 4)", "a", "b", "c", "d", "e"],
        value: "the chosen one of a to e",
        errors: &["INVALID_ARGUMENT"],
        about: "Shows that every argument register arrives.",
    },
    Call {
        function: Function::Information,
        name: "INFORMATION",
        arguments: &["which"],
        value: "the fact",
        errors: &["INVALID_ARGUMENT"],
        about: "Reads one fact about the inner domain.",
    },
    Call {
        function: Function::CpuOn,
        name: "CPU_ON",
        arguments: &["MPIDR", "physical entry address"],
        value: "0, or the error of the firmware",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "FIRMWARE"],
        about: "Starts a CPU through the boot stage, which leaves EL2 the same way on each.",
    },
];

/// Every error code.
pub const ERRORS: [(&str, Error, &str); 6] = [
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
];

/// What the statistics call counts.
pub const COUNTERS: [(&str, Counter); 3] = [
    ("CALLS", Counter::Calls),
    ("REFUSALS", Counter::Refusals),
    ("INSTRUCTIONS", Counter::Instructions),
];

/// What the information call tells.
pub const INFORMATION: [(&str, Information); 14] = [
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
];

/// Every number that Linux needs besides calls and errors.
pub const CONSTANTS: [Constant; 21] = [
    Constant {
        name: "ABI_VERSION",
        value: call::ABI_VERSION as u64,
        about: "version that this header describes",
    },
    Constant {
        name: "TCR_OUTER",
        value: tcr::OUTER,
        about: "TCR_EL1 whenever Linux runs, bit for bit",
    },
    Constant {
        name: "RESERVED_ASID",
        value: tcr::RESERVED_ASID as u64,
        about: "the ASID in TTBR1_EL1, never a user's",
    },
    Constant {
        name: "GATE",
        value: layout::GATE_ENTRY,
        about: "entry of the gate",
    },
    Constant {
        name: "GATE_ENTRY_WRITE",
        value: layout::GATE_ENTRY_WRITE,
        about: "the write of TCR_EL1 on the way in; what an attacker jumps to",
    },
    Constant {
        name: "GATE_PAGE",
        value: layout::GATE,
        about: "the gate's page; the word before it is the inner-only exit write",
    },
    Constant {
        name: "GATE_REPAIR",
        value: layout::GATE_REPAIR,
        about: "entry of the gate for a vector that found another TCR_EL1",
    },
    Constant {
        name: "GATE_SLOT",
        value: layout::GATE_SLOT as u64,
        about: "root entry of the gate",
    },
    Constant {
        name: "TABLE_BLOCK_SIZE",
        value: layout::TABLE_BLOCK_SIZE,
        about: "bytes and alignment of the table block",
    },
    Constant {
        name: "ROOT_PAGE",
        value: layout::ROOT_PAGE,
        about: "page of the table block that is swapper_pg_dir",
    },
    Constant {
        name: "LINEAR_L1_PAGE",
        value: layout::LINEAR_L1_PAGE,
        about: "page of the table block that is the linear map's first level 1 table",
    },
    Constant {
        name: "VMALLOC_END",
        value: layout::VMALLOC_END,
        about: "end of Linux's vmalloc range, before root entries 232 and 240",
    },
    Constant {
        name: "FUNCTIONS",
        value: call::CORE_FUNCTIONS as u64,
        about: "functions of the core; as an index of STATISTICS: calls to unknown ones",
    },
    Constant {
        name: "TEXT_WINDOW",
        value: layout::TEXT_WINDOW,
        about: "inner-only: text; ends at the gate",
    },
    Constant {
        name: "DATA_WINDOW",
        value: layout::DATA_WINDOW,
        about: "inner-only: data",
    },
    Constant {
        name: "CPU_BLOCKS",
        value: layout::CPU_BLOCKS,
        about: "inner-only: block of CPU index 0, its stack below",
    },
    Constant {
        name: "DEVICE_WINDOW",
        value: layout::DEVICE_WINDOW,
        about: "inner-only: console",
    },
    Constant {
        name: "PHYSMAP",
        value: layout::PHYSMAP,
        about: "inner-only: physical memory, from address 0 on",
    },
    Constant {
        name: "CPU_INDEX_SHIFT",
        value: layout::CPU_INDEX_SHIFT as u64,
        about: "Aff1 is folded onto Aff0 by this shift to give a CPU's index",
    },
    Constant {
        name: "STACK_STRIDE_SHIFT",
        value: layout::STACK_STRIDE_SHIFT as u64,
        about: "log2 of the distance between the blocks of two CPUs",
    },
    Constant {
        name: "MAX_CPUS",
        value: layout::MAX_CPUS as u64,
        about: "bound of a CPU index",
    },
];
