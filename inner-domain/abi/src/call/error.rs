// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of calls, and the reasons of refusals.

use crate::declare::numbers;

numbers! {
    /// Why a call was refused: x0 on return.
    pub enum Error: i64 {
        /// No such function.
        UnknownFunction = -1 => "no such function",
        /// An argument is out of range.
        InvalidArgument = -2 => "an argument is out of range",
        /// The caller may not name this address.
        BadAddress = -3 => "the address is not Linux's to name",
        /// The caller speaks another major version.
        IncompatibleVersion = -4 => "the major versions differ",
        /// The call is right, but not now.
        Busy = -5 => "not now",
        /// The firmware refused; the value is its error.
        Firmware = -6 => "the firmware refused",
        /// A rule forbids it; the value is the reason.
        Refused = -7 => "a rule forbids it",
        /// An instruction is not allowed; the value is its offset, and the instruction from bit 32
        /// on.
        BadInstruction = -8 => "an instruction is not allowed",
        /// The pool is empty.
        NoMemory = -9 => "the pool is empty",
    }
}

numbers! {
    /// Which rule forbids something: the value of [`Error::Refused`].
    pub enum Reason: u64 {
        /// The entry is not in a table that the caller may change.
        NotATable = 1 => "entry outside every table",
        /// The entry is not 8-byte aligned, or not in the half of a root that is Linux's.
        BadEntry = 2 => "misaligned entry",
        /// The descriptor has bits that have no use, or is a block where there is none.
        BadDescriptor = 3 => "unknown bits or a block",
        /// The mapped frame's type forbids these permissions.
        BadTarget = 4 => "permissions do not suit the frame",
        /// The mapping would be executable at EL1.
        Executable = 5 => "executable at EL1",
        /// A valid entry may not change so without being invalid in between.
        LiveChange = 6 => "valid entry not made invalid first",
        /// The physical address is neither RAM nor an allowed device.
        NotMemory = 7 => "neither memory nor an allowed device",
        /// The memory attributes differ from what the frame needs.
        BadAttributes = 8 => "memory attributes do not suit the frame",
        /// The table has a parent already, or is of another level.
        BadTable = 9 => "table has a parent or another level",
        /// The root slot is the inner domain's, or must stay empty.
        BadSlot = 10 => "root slot must stay as it is",
        /// The table is in use.
        InUse = 11 => "table is in use",
        /// The frame is not one of this kind.
        WrongFrame = 12 => "frame is not of this kind",
        /// The ASID is reserved, or a CPU uses it for another process.
        BadAsid = 13 => "ASID is reserved or taken",
        /// The register may not have this value.
        BadRegister = 14 => "register may not have this value",
        /// The text is not the caller's to change.
        NotText = 15 => "not text that may change",
        /// The firmware function is not on the list.
        BadFirmwareCall = 16 => "firmware function not on the list",
        /// The call comes before the hand-over, or a second time.
        WrongTime = 17 => "before the hand-over or twice",
        /// The hand-over found something that the rules forbid.
        BadMachine = 18 => "hand-over found something forbidden",
        /// No pool has room for it.
        NoRoom = 19 => "no pool has room",
        /// The text changes in a way that a CPU which executes it must not meet, and one may.
        LiveText = 20 => "another CPU may execute the text",
        /// The VideoCore's property is not on the list, or the message is malformed.
        BadProperty = 21 => "property not on the list",
        /// No compartment has this handle.
        NoCompartment = 22 => "no such compartment",
        /// The compartment would have more memory than it may.
        OverLimit = 23 => "compartment at its limit",
        /// The boot has no secret, or no source of random bytes.
        NoSecret = 24 => "this boot has no secret",
        /// The memory is not in the reserve, so a device may write to it at any time.
        Reachable = 25 => "memory that devices reach",
        /// A device would read or write memory that is not in the window of devices.
        BadTransfer = 26 => "a device would leave its window",
    }
}
