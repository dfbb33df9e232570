// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface as a table, for the generators of the C header and of the documentation.

use crate::call::{self, Counter, Error, Function, Information, Reason};
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
        arguments: &["MPIDR", "virtual entry address"],
        value: "0, or the error of the firmware",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "FIRMWARE"],
        about: "Starts a CPU, which arrives at the entry in the outer view with all controlled registers set.",
    },
    Call {
        function: Function::TableWrite,
        name: "TABLE_WRITE",
        arguments: &["physical address of the entry", "new value"],
        value: "the old value",
        errors: &["REFUSED"],
        about: "Replaces one table entry.",
    },
    Call {
        function: Function::TableWriteList,
        name: "TABLE_WRITE_LIST",
        arguments: &["physical address of the list", "entries (1 to 64)"],
        value: "entries written, not all when that takes long; when refused: index, and the reason from bit 32 on",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "REFUSED"],
        about: "Replaces table entries in order, up to the first that is refused.",
    },
    Call {
        function: Function::TableRelease,
        name: "TABLE_RELEASE",
        arguments: &[
            "physical address of the list, or of the frame",
            "frames (1 to 16), or 0 for the frame itself",
        ],
        value: "frames released, not all when that takes long; when refused: index, and the reason from bit 32 on",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "REFUSED"],
        about: "Gives unlinked tables back to the pool and clears them.",
    },
    Call {
        function: Function::RootNew,
        name: "ROOT_NEW",
        arguments: &["physical address of the frame"],
        value: "0",
        errors: &["REFUSED"],
        about: "Makes a user root of a free table.",
    },
    Call {
        function: Function::SwitchRoot,
        name: "SWITCH_ROOT",
        arguments: &["physical address of the root, or 0 for none", "ASID"],
        value: "0",
        errors: &["REFUSED"],
        about: "Loads TTBR0_EL1.",
    },
    Call {
        function: Function::PoolAdd,
        name: "POOL_ADD",
        arguments: &[
            "physical address of a 2 MiB block",
            "kind (0 tables, 1 text)",
        ],
        value: "0; when busy: steps to go",
        errors: &["BUSY", "REFUSED", "NO_MEMORY"],
        about: "Takes a block of ordinary memory into a pool, in steps: call again while it is busy.",
    },
    Call {
        function: Function::PoolRemove,
        name: "POOL_REMOVE",
        arguments: &["physical address of a 2 MiB block"],
        value: "0",
        errors: &["REFUSED"],
        about: "Gives an unused block of a pool back.",
    },
    Call {
        function: Function::Handover,
        name: "HANDOVER",
        arguments: &["physical address of the description, or 0"],
        value: "0",
        errors: &["BAD_ADDRESS", "REFUSED", "BAD_INSTRUCTION"],
        about: "Ends the trust in Linux; with 0 checks the registers of this CPU afterwards.",
    },
    Call {
        function: Function::SystemRegister,
        name: "SYSTEM_REGISTER",
        arguments: &["which (0 SCTLR_EL1)", "value"],
        value: "0",
        errors: &["INVALID_ARGUMENT", "REFUSED"],
        about: "Writes a register; after the hand-over only the value that it has.",
    },
    Call {
        function: Function::TextPoke,
        name: "TEXT_POKE",
        arguments: &[
            "virtual address",
            "source",
            "bytes (4 to 1024)",
            "kind (0 value, 1 copy, 2 fill)",
        ],
        value: "0",
        errors: &[
            "INVALID_ARGUMENT",
            "BAD_ADDRESS",
            "REFUSED",
            "BAD_INSTRUCTION",
        ],
        about: "Changes instructions within one page of kernel or module text.",
    },
    Call {
        function: Function::TextSeal,
        name: "TEXT_SEAL",
        arguments: &["virtual address of a page"],
        value: "1 when there is more to do, by the same call",
        errors: &["REFUSED", "BAD_INSTRUCTION", "NO_MEMORY"],
        about: "Replaces a page of data by an executable copy of it.",
    },
    Call {
        function: Function::Firmware,
        name: "FIRMWARE",
        arguments: &["function identifier", "a", "b", "c"],
        value: "x0 of the firmware",
        errors: &["REFUSED"],
        about: "Calls the firmware, for functions on a list.",
    },
    Call {
        function: Function::Refusals,
        name: "REFUSALS",
        arguments: &["cursor", "physical address", "bytes"],
        value: "bytes copied; the next cursor stands in the first 8 of them",
        errors: &["INVALID_ARGUMENT", "BAD_ADDRESS", "BUSY"],
        about: "Copies the records of refused calls from the cursor on.",
    },
];

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
pub const CONSTANTS: [Constant; 31] = [
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
    Constant {
        name: "LIST_MAX",
        value: call::LIST_MAX as u64,
        about: "most entries of TABLE_WRITE_LIST",
    },
    Constant {
        name: "RELEASE_MAX",
        value: call::RELEASE_MAX as u64,
        about: "most frames of TABLE_RELEASE",
    },
    Constant {
        name: "POKE_MAX",
        value: call::POKE_MAX as u64,
        about: "most bytes of TEXT_POKE",
    },
    Constant {
        name: "HANDOVER_ROOTS",
        value: call::HANDOVER_ROOTS as u64,
        about: "most user roots of HANDOVER",
    },
    Constant {
        name: "POOL_TABLES",
        value: call::POOL_TABLES,
        about: "POOL_ADD: for tables",
    },
    Constant {
        name: "POOL_TEXT",
        value: call::POOL_TEXT,
        about: "POOL_ADD: for text",
    },
    Constant {
        name: "REGISTER_SCTLR",
        value: call::REGISTER_SCTLR,
        about: "SYSTEM_REGISTER: SCTLR_EL1",
    },
    Constant {
        name: "POKE_VALUE",
        value: call::POKE_VALUE,
        about: "TEXT_POKE: the source is the data",
    },
    Constant {
        name: "POKE_COPY",
        value: call::POKE_COPY,
        about: "TEXT_POKE: the source is a physical address",
    },
    Constant {
        name: "POKE_FILL",
        value: call::POKE_FILL,
        about: "TEXT_POKE: the source is an instruction to repeat",
    },
];

/// Every reason of a refusal: name in C without the prefix, and words for people.
pub const REASONS: [(&str, Reason, &str); 19] = [
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
];
