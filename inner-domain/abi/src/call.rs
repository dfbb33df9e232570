// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inter-domain calls: numbers, results, versions.
//!
//! x0 holds the function number, x1 to x6 the arguments. On return x0 is 0 or a negative
//! [`Error`], x1 the value. x2 to x17, x30 and the flags do not survive, x19 to x29 and SP do;
//! x18 belongs to the gate.

/// Version of this interface. The major half changes when an old caller would misunderstand.
pub const ABI_VERSION: u32 = version(4, 0);

/// A version word.
pub const fn version(major: u16, minor: u16) -> u32 {
    (major as u32) << 16 | minor as u32
}

/// Bits of a function number below its owner.
pub const OWNER_SHIFT: u32 = 16;

/// Who defines a range of function numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Owner {
    /// The inner domain itself. Its numbers are small and dense: the gate indexes a table.
    Core = 0,
    /// Control-flow attestation (planned).
    Attestation = 0x10,
    /// System-call filter (planned).
    Filter = 0x11,
    /// Compartments (planned).
    Compartments = 0x12,
    /// Whatever a user of this project adds.
    Custom = 0x80,
}

/// Functions of [`Owner::Core`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Function {
    /// Does nothing.
    Null = 0,
    /// Negotiates the version.
    Version = 1,
    /// Reads a counter.
    Statistics = 2,
    /// Copies the log.
    Log = 3,
    /// Returns one of its arguments.
    Echo = 4,
    /// Reads a fact about the inner domain.
    Information = 5,
    /// Starts a CPU.
    CpuOn = 6,
    /// Replaces one table entry.
    TableWrite = 7,
    /// Replaces several table entries.
    TableWriteList = 8,
    /// Gives tables back to the pool.
    TableRelease = 9,
    // 10 made a user root of a table of Linux's, and is not used again.
    /// Loads the tree of a process.
    SwitchRoot = 11,
    /// Adds a block of memory to a pool.
    PoolAdd = 12,
    /// Takes a block of memory out of a pool.
    PoolRemove = 13,
    /// Ends the trust in Linux.
    Handover = 14,
    /// Writes a system register.
    SystemRegister = 15,
    /// Changes instructions.
    TextPoke = 16,
    /// Makes a page of instructions executable.
    TextSeal = 17,
    /// Calls the firmware.
    Firmware = 18,
    /// Copies the list of refusals.
    Refusals = 19,
    /// Waits inside while text changes.
    TextWait = 20,
    /// Takes page descriptors of a user over.
    Map = 21,
    /// Takes a block descriptor of a user over.
    MapBlock = 22,
    /// Drops what translates a range of a user's addresses.
    Flush = 23,
    /// Reads what a user may write again.
    Refresh = 24,
    /// Drops all that translates a user's addresses.
    Clear = 25,
    /// Drops a user's tree.
    Free = 26,
}

/// Numbers of functions of [`Owner::Core`]; the gate compares against it.
pub const CORE_FUNCTIONS: usize = 27;

/// A number below that is no function any more.
pub const REMOVED_FUNCTION: usize = 10;

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Error {
    /// No such function.
    UnknownFunction = -1,
    /// An argument is out of range.
    InvalidArgument = -2,
    /// An address is not the caller's to name.
    BadAddress = -3,
    /// The caller speaks another major version.
    IncompatibleVersion = -4,
    /// The call is right, but not now.
    Busy = -5,
    /// The firmware refused; the value is its error.
    Firmware = -6,
    /// A rule forbids it; the value is a [`Reason`].
    Refused = -7,
    /// An instruction is not allowed; the value is its offset, and the instruction from bit 32 on.
    BadInstruction = -8,
    /// The pool is empty.
    NoMemory = -9,
}

/// Which rule forbids something: the value of [`Error::Refused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum Reason {
    /// The entry is not in a table that the caller may change.
    NotATable = 1,
    /// The entry is not 8-byte aligned, or not in the half of a root that is Linux's.
    BadEntry = 2,
    /// The descriptor has bits that have no use, or is a block where there is none.
    BadDescriptor = 3,
    /// The mapped frame's type forbids these permissions.
    BadTarget = 4,
    /// It would be executable at EL1.
    Executable = 5,
    /// A valid entry may not change so without being invalid in between.
    LiveChange = 6,
    /// The physical address is neither RAM nor an allowed device.
    NotMemory = 7,
    /// The memory attributes differ from what the frame needs.
    BadAttributes = 8,
    /// The table has a parent already, or is of another level.
    BadTable = 9,
    /// The root slot is the inner domain's, or must stay empty.
    BadSlot = 10,
    /// The table is in use.
    InUse = 11,
    /// The frame is not one of this kind.
    WrongFrame = 12,
    /// The ASID is reserved, or a CPU uses it for another process.
    BadAsid = 13,
    /// The register may not have this value.
    BadRegister = 14,
    /// The text is not the caller's to change.
    NotText = 15,
    /// The firmware function is not on the list.
    BadFirmwareCall = 16,
    /// It comes before the hand-over, or a second time.
    WrongTime = 17,
    /// The hand-over found something that the rules forbid.
    BadMachine = 18,
    /// No pool has room for it.
    NoRoom = 19,
    /// The text changes in a way that a CPU which executes it must not meet, and one may.
    LiveText = 20,
}

/// What [`Function::Statistics`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Counter {
    /// Calls that reached the function.
    Calls = 0,
    /// Calls that it refused.
    Refusals = 1,
    /// Instructions in the handler, while PMCCNTR_EL0 runs and counts them.
    Instructions = 2,
    /// Table entries that it wrote.
    Entries = 3,
    /// Most instructions of one call, under the same condition.
    Worst = 4,
}

/// Pseudo function index of [`Function::Statistics`] for calls to unknown functions.
pub const UNKNOWN_FUNCTION_INDEX: u64 = CORE_FUNCTIONS as u64;

/// What [`Function::Information`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Information {
    /// Version of the inner domain: major, minor, patch in 16 bits each.
    Release = 0,
    /// Switch mode, a `SwitchMode` word.
    SwitchMode = 1,
    /// CPUs that the inner domain has a stack for.
    Cpus = 2,
    /// First byte of its physical memory.
    MemoryStart = 3,
    /// Bytes of its physical memory.
    MemorySize = 4,
    /// Bytes of it that hold text and read-only data.
    TextSize = 5,
    /// Free bytes of its heap.
    HeapFree = 6,
    /// Words 0 to 3 of the SHA-256 digest of Linux, big-endian.
    Digest0 = 7,
    /// Word 1.
    Digest1 = 8,
    /// Word 2.
    Digest2 = 9,
    /// Word 3.
    Digest3 = 10,
    /// Bits that tell a weakened build; 0 in every normal one.
    Weakened = 11,
    /// Mask of the CPU indices that have a stack.
    CpuMask = 12,
    /// TLB invalidations by address that the gate does on the way out (mode `tlbi`, else 0).
    TlbiPages = 13,
    /// How often CPUs found the lock of the protected state held.
    WaitsDomain = 14,
    /// The same for the locks of trees of users.
    WaitsTrees = 15,
    /// The same for the pages that trees are made of.
    WaitsArena = 16,
}

/// x0 on the way into the inner domain after a TCR_EL1 mismatch: not a call but a stop. Bit 63
/// makes the gate invalidate the TLB before anything else.
pub const REASON_MISMATCH: u64 = 0x8000_444f_4e4a_0001;

/// Most entries of one [`Function::TableWriteList`].
pub const LIST_MAX: usize = 64;

/// Most frames of one [`Function::TableRelease`].
pub const RELEASE_MAX: usize = 16;

/// Most bytes of one [`Function::TextPoke`].
pub const POKE_MAX: usize = 1024;

/// Most descriptors of one [`Function::Map`].
pub const MAP_MAX: usize = 64;

/// A process, as Linux names it to the inner domain: its ASID in the low bits, and above them a
/// number that no two processes with this ASID have, nor one process before and after it had
/// another. 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(pub u64);

impl Process {
    /// Bits of the ASID.
    const ASID_BITS: u32 = 16;

    /// The ASID.
    pub const fn asid(self) -> u16 {
        self.0 as u16
    }

    /// The number above it.
    pub const fn id(self) -> u64 {
        self.0 >> Self::ASID_BITS
    }
}

/// [`Function::PoolAdd`]: a pool for tables.
pub const POOL_TABLES: u64 = 0;
/// [`Function::PoolAdd`]: a pool for the text of modules.
pub const POOL_TEXT: u64 = 1;

/// [`Function::SystemRegister`]: SCTLR_EL1.
pub const REGISTER_SCTLR: u64 = 0;

/// [`Function::TextPoke`]: the source is the data itself, 4 or 8 bytes.
pub const POKE_VALUE: u64 = 0;
/// [`Function::TextPoke`]: the source is the physical address of a buffer.
pub const POKE_COPY: u64 = 1;
/// [`Function::TextPoke`]: the source is an instruction to fill the range with.
pub const POKE_FILL: u64 = 2;
/// [`Function::TextPoke`], added to the kind: the other CPUs are on their way into
/// [`Function::TextWait`], so [`Error::Busy`] until all are there.
pub const POKE_STOPPED: u64 = 1 << 8;

/// What Linux tells at [`Function::Handover`], within one page, believed for the last time.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Handover {
    /// First byte of the pool for tables, a physical address; whole 2 MiB blocks.
    pub table_pool_start: u64,
    /// Its end.
    pub table_pool_end: u64,
    /// First byte of the pool for text, a physical address; whole 2 MiB blocks.
    pub text_pool_start: u64,
    /// Its end.
    pub text_pool_end: u64,
    /// First byte of the kernel's text, a virtual address.
    pub text_start: u64,
    /// Its end.
    pub text_end: u64,
    /// First byte of the kernel's constants, a virtual address.
    pub rodata_start: u64,
    /// Their end.
    pub rodata_end: u64,
    /// The exception vectors, a virtual address.
    pub vectors: u64,
}

const _: () = assert!(size_of::<Handover>() <= crate::layout::PAGE_SIZE as usize);

/// One entry of [`Function::TableWriteList`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TableEntry {
    /// Physical address of the entry.
    pub entry: u64,
    /// Its new value.
    pub value: u64,
}

/// One record of [`Function::Refusals`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RefusalRecord {
    /// Number of the refusal, from 1 on.
    pub sequence: u64,
    /// Function number; the CPU's index from bit 32 on.
    pub function: u64,
    /// The [`Error`].
    pub error: i64,
    /// What the call gave back in x1: a [`Reason`], or one from bit 32 on above the index in a
    /// list, or an instruction above its offset.
    pub value: u64,
    /// Where the call came from.
    pub caller: u64,
    /// First argument.
    pub a1: u64,
    /// Second argument.
    pub a2: u64,
}
