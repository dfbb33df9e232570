// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inter-domain calls: numbers, results, versions.
//!
//! x0 holds the function number, x1 to x6 the arguments. On return x0 is 0 or a negative
//! [`Error`], x1 the value. x2 to x17, x30 and the flags do not survive, x19 to x29 and SP do;
//! x18 belongs to the gate.

/// Version of this interface. The major half changes when an old caller would misunderstand.
pub const ABI_VERSION: u32 = version(1, 0);

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
}

/// Number of functions of [`Owner::Core`]; the gate compares against it.
pub const CORE_FUNCTIONS: usize = 7;

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
}

/// x0 on the way into the inner domain after a TCR_EL1 mismatch: not a call but a stop. Bit 63
/// makes the gate invalidate the TLB before anything else.
pub const REASON_MISMATCH: u64 = 0x8000_444f_4e4a_0001;
