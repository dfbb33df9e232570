// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of the core: the one place where a call is declared.
//!
//! A call has an entry in [`Function`] with its number, documentation, arguments, value, errors
//! and buffers. Below it stand the bounds and kinds of arguments, and the layouts of buffers. From
//! them come the number of functions, the C header with its names and structs, the reference in
//! `docs/idc.md`, and the table of the dispatcher.
//!
//! `CONTRIBUTING.md` says how to add a call.

use super::Error;
use crate::declare::{Layout, buffers, constants, functions};

/// What a function takes and gives.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Arguments, in x1 onwards.
    pub arguments: &'static [&'static str],
    /// What x1 holds afterwards.
    pub value: &'static str,
    /// The errors that it gives.
    pub errors: &'static [Error],
    /// What stands in the memory that an argument points to, in order. Memory that holds text,
    /// instructions or descriptors alone has no layout here.
    pub buffers: &'static [Layout],
}

functions! {
    /// Functions of [`Owner::Core`](crate::call::Owner::Core). The number 10 was one, and is not
    /// used again.
    pub enum Function {
        /// Enters and leaves; the measure of the gate.
        Null = 0 {
            arguments: [],
            value: "unchanged",
            errors: [],
        }
        /// Negotiates: the major halves must agree; the caller then uses the smaller minor.
        Version = 1 {
            arguments: ["version the caller speaks"],
            value: "version of the inner domain",
            errors: [IncompatibleVersion],
        }
        /// Reads one counter of one function on one CPU.
        Statistics = 2 {
            arguments: ["CPU index", "function, or FUNCTIONS for calls to unknown ones", "counter"],
            value: "the counter",
            errors: [InvalidArgument],
        }
        /// Copies log text from the cursor on into memory of the caller, within one page.
        Log = 3 {
            arguments: ["cursor", "physical address", "bytes"],
            value: "bytes copied, the header included",
            errors: [InvalidArgument, BadAddress, Busy],
            buffers: [ReplyHeader],
        }
        /// Shows that every argument register arrives.
        Echo = 4 {
            arguments: ["which (0 to 4)", "a", "b", "c", "d", "e"],
            value: "the chosen one of a to e",
            errors: [InvalidArgument],
        }
        /// Reads one fact about the inner domain.
        Information = 5 {
            arguments: ["which"],
            value: "the fact",
            errors: [InvalidArgument],
        }
        /// Starts a CPU, which arrives at the entry in the outer view with all controlled
        /// registers set.
        CpuOn = 6 {
            arguments: ["MPIDR", "virtual entry address"],
            value: "0, or the error of the firmware",
            errors: [InvalidArgument, BadAddress, Firmware],
        }
        /// Replaces one entry of a kernel table.
        TableWrite = 7 {
            arguments: ["physical address of the entry", "new value"],
            value: "the old value",
            errors: [Refused],
        }
        /// Replaces table entries in order, up to the first that is refused.
        TableWriteList = 8 {
            arguments: ["physical address of the list", "entries (1 to LIST_MAX)"],
            value: "entries written, not all when that takes long; when refused: index, and the \
                    reason from bit 32 on",
            errors: [InvalidArgument, BadAddress, Refused],
            buffers: [TableEntry],
        }
        /// Gives unlinked tables back to the pool and clears them.
        TableRelease = 9 {
            arguments: [
                "physical address of the list, or of the frame",
                "frames (1 to RELEASE_MAX), or 0 for the frame itself",
            ],
            value: "frames released, not all when that takes long; when refused: index, and the \
                    reason from bit 32 on",
            errors: [InvalidArgument, BadAddress, Refused],
        }
        /// Loads the tree of a process, which is made if there is none, into TTBR0_EL1.
        SwitchRoot = 11 {
            arguments: [
                "process, or 0 for none",
                "before the hand-over: physical address of Linux's root, or 0",
            ],
            value: "0",
            errors: [Refused],
        }
        /// Takes a block of ordinary memory into a pool, a part in each call: call again while it
        /// is busy. A block of private memory may wait: those that wait are taken with the first
        /// that does not, POOL_TOGETHER_MAX at most, and one search looks for all. If the search
        /// finds one of them mapped elsewhere, all are ordinary again. A block that cannot be taken
        /// for another reason changes nothing for those that wait.
        PoolAdd = 12 {
            arguments: [
                "physical address of a 2 MiB block",
                "kind (POOL_TABLES, POOL_TEXT, POOL_PRIVATE)",
                "1 if it waits",
            ],
            value: "0",
            errors: [InvalidArgument, Busy, Refused],
        }
        /// Gives an unused block of a pool back, private memory a part in each call: call again
        /// while it is busy.
        PoolRemove = 13 {
            arguments: ["physical address of a 2 MiB block"],
            value: "0",
            errors: [Busy, Refused],
        }
        /// Ends the trust in Linux; with 0 checks the registers of this CPU afterwards.
        Handover = 14 {
            arguments: ["physical address of the description, or 0"],
            value: "0; with 0 as argument the CPUs that have still to be checked, a bit each",
            errors: [BadAddress, Refused, BadInstruction],
            buffers: [Handover],
        }
        /// Writes a register; after the hand-over only the value that it has.
        SystemRegister = 15 {
            arguments: ["which (REGISTER_SCTLR)", "value"],
            value: "0",
            errors: [InvalidArgument, Refused],
        }
        /// Changes instructions within one page of kernel or module text, at its executable
        /// address.
        TextPoke = 16 {
            arguments: [
                "virtual address",
                "source",
                "bytes (4 to POKE_MAX)",
                "kind (POKE_VALUE, POKE_COPY, POKE_FILL), plus POKE_STOPPED if the other CPUs come to wait",
            ],
            value: "0",
            errors: [InvalidArgument, BadAddress, Busy, Refused, BadInstruction],
        }
        /// Replaces a page of data by an executable copy of it.
        TextSeal = 17 {
            arguments: ["virtual address of a page"],
            value: "1 when there is more to do, by the same call",
            errors: [Refused, BadInstruction, NoMemory],
        }
        /// Calls the firmware, for functions on a list.
        Firmware = 18 {
            arguments: ["function identifier", "a", "b", "c"],
            value: "x0 of the firmware",
            errors: [Refused],
        }
        /// Copies the records of refused calls from the cursor on.
        Refusals = 19 {
            arguments: ["cursor", "physical address", "bytes"],
            value: "bytes copied, the header included",
            errors: [InvalidArgument, BadAddress, Busy],
            buffers: [ReplyHeader, RefusalRecord],
        }
        /// Keeps this CPU inside until text has changed, or for a short while.
        TextWait = 20 {
            arguments: [],
            value: "changes of stopped text meanwhile",
            errors: [Refused],
        }
        /// Takes a user's page descriptors over; those that are invalid or refused leave nothing
        /// mapped.
        Map = 21 {
            arguments: [
                "process",
                "virtual address",
                "physical address of the first descriptor",
                "descriptors (1 to MAP_MAX)",
            ],
            value: "0; when refused: index of the first that was, and the reason from bit 32 on",
            errors: [Refused],
        }
        /// Takes over a user's block of 2 MiB, or what became of it.
        MapBlock = 22 {
            arguments: ["process", "virtual address", "physical address of the descriptor"],
            value: "0",
            errors: [Refused],
        }
        /// Drops what translates a range of a user's addresses, in tables and TLBs.
        Flush = 23 {
            arguments: ["process", "first virtual address", "end"],
            value: "the end, or where to go on by the same call",
            errors: [Refused],
        }
        /// Takes the right to write a user's pages away, as after fork: where their descriptors,
        /// which are read again, say so, or everywhere.
        Refresh = 24 {
            arguments: [
                "process",
                "1 to begin, 0 to go on",
                "0 to read descriptors again, 1 to make all read-only",
            ],
            value: "1 when there is more to do",
            errors: [Refused],
        }
        /// Drops all that translates a user's addresses.
        Clear = 25 {
            arguments: ["process"],
            value: "0",
            errors: [Refused],
        }
        /// Drops a user's tree; refused while a CPU has it.
        Free = 26 {
            arguments: ["process"],
            value: "0",
            errors: [Refused],
        }
        /// Writes a register of 32 bits in a page of devices that Linux maps read-only, if it is on
        /// the list.
        DeviceWrite = 27 {
            arguments: ["physical address of the register", "value"],
            value: "0",
            errors: [BadAddress, Refused],
        }
        /// Asks the VideoCore of a Raspberry Pi for a property, by one tag. Its answer takes the
        /// place of the value. When it has not answered yet, the error is BUSY and the same call
        /// waits on.
        Properties = 28 {
            arguments: ["physical address of the tag, within one page", "bytes"],
            value: "the VideoCore's word about the message",
            errors: [InvalidArgument, BadAddress, Busy, Refused],
        }
        /// Makes a compartment without pages.
        CompartmentCreate = 29 {
            arguments: ["frames that it may have, its tables included"],
            value: "its handle",
            errors: [Refused],
        }
        /// Adds a page to a compartment that is not sealed, a piece in each call: copied from
        /// Linux's memory and measured.
        CompartmentAdd = 30 {
            arguments: [
                "handle",
                "virtual address",
                "access (ACCESS_READ, ACCESS_WRITE, ACCESS_EXECUTE)",
                "physical address of the page to copy",
            ],
            value: "1 when there is more to do, by the same call",
            errors: [InvalidArgument, Refused],
        }
        /// Lets a compartment read and write a page of Linux's.
        CompartmentShare = 31 {
            arguments: ["handle", "virtual address", "physical address of the page"],
            value: "0",
            errors: [Refused],
        }
        /// Ends the building of a compartment, after which it can run.
        CompartmentSeal = 32 {
            arguments: ["handle", "entry, a virtual address", "end of its stack"],
            value: "0",
            errors: [Refused],
        }
        /// Runs a compartment until it is left. x0 is a positive number then, an exit. Where
        /// there is SVE or SME, Linux has saved their registers.
        CompartmentRun = 33 {
            arguments: [
                "handle",
                "first argument, or the answer to its call to the host",
                "second argument",
                "third argument",
                "fourth argument",
            ],
            value: "what it returned or asks for; after EXIT_FAULTED the ESR_EL1 of its exception; \
                    under flow attestation, when it has ended or its log is full, the words of the \
                    segment that waits for its commit",
            errors: [Refused],
        }
        /// Wipes a compartment that does not run, a part in each call.
        CompartmentDestroy = 34 {
            arguments: ["handle"],
            value: "1 when there is more to do, by the same call",
            errors: [Refused],
        }
        /// Reads one fact about a compartment.
        CompartmentInformation = 35 {
            arguments: ["handle", "which"],
            value: "the fact",
            errors: [InvalidArgument, Refused],
        }
        /// Makes a copy of a template, which is a compartment that is sealed and has not run.
        CompartmentClone = 36 {
            arguments: ["handle of the other one"],
            value: "its handle",
            errors: [Refused],
        }
        /// Copies a part of what a clone is made from; it can run when all is copied.
        CompartmentCopy = 37 {
            arguments: ["handle of the clone"],
            value: "1 when there is more to do, by the same call",
            errors: [Refused],
        }
        /// Joins two compartments by a channel.
        CompartmentConnect = 38 {
            arguments: ["handle", "handle of the other one"],
            value: "numbers of the channel's ends: the first one's, and the other one's times 2^32",
            errors: [Refused],
        }
        /// Puts a compartment that is sealed and has not run, no clone, under flow attestation, and
        /// says which arguments its only call will have.
        CompartmentFlow = 39 {
            arguments: [
                "handle",
                "physical address of the nonce, 32 bytes",
                "first argument",
                "second argument",
                "third argument",
                "fourth argument",
            ],
            value: "0",
            errors: [BadAddress, Refused],
        }
        /// Adds a page of Linux's to the end of a log, before the compartment runs.
        CompartmentFlowLog = 40 {
            arguments: ["handle", "physical address of the page"],
            value: "pages that the log has now",
            errors: [Refused],
        }
        /// Binds the digest of a segment that is closed, and shows the segment's states: writes the
        /// message of the segment over the buffer, where the digest stood in its place.
        CompartmentCommit = 41 {
            arguments: ["handle", "physical address of FLOW_MESSAGE bytes"],
            value: "0",
            errors: [BadAddress, Refused],
        }
        /// Ends the transcript of a run that is over, or of one that is cut now: writes the last
        /// message.
        CompartmentFlowEnd = 42 {
            arguments: ["handle", "physical address of FLOW_MESSAGE bytes"],
            value: "0",
            errors: [BadAddress, Refused],
        }
        /// Makes the report that binds a transcript.
        CompartmentFlowReport = 43 {
            arguments: ["handle", "physical address of FLOW_RECORD bytes"],
            value: "0",
            errors: [BadAddress, Refused],
        }
        /// Starts a transfer of the USB controller's that the inner domain writes for Linux, if
        /// devices reach all of it. The words are those of the channel's registers.
        UsbStart = 44 {
            arguments: [
                "channel",
                "HCCHAR, without the bits that start and stop",
                "HCTSIZ",
                "HCDMA",
                "HCSPLT",
            ],
            value: "0",
            errors: [InvalidArgument, Busy, Refused],
        }
    }
}

constants! {
    /// One more than the highest number of a function of the core. As an index of STATISTICS: calls
    /// to unknown functions.
    ///
    /// The gate compares with it before it indexes the dispatcher's table.
    pub const CORE_FUNCTIONS: usize = one_past_the_highest(Function::ALL) => "FUNCTIONS";

    /// Most entries of TABLE_WRITE_LIST.
    pub const LIST_MAX: usize = 64 => "LIST_MAX";
    /// Most frames of TABLE_RELEASE.
    pub const RELEASE_MAX: usize = 16 => "RELEASE_MAX";
    /// Most descriptors of MAP.
    pub const MAP_MAX: usize = 64 => "MAP_MAX";
    /// Most bytes of TEXT_POKE.
    pub const POKE_MAX: usize = 1024 => "POKE_MAX";

    /// Most bytes of the tag of PROPERTIES.
    pub const PROPERTIES_MAX: usize = 44 => "PROPERTIES_MAX";

    /// POOL_ADD: most blocks of private memory that are taken together.
    pub const POOL_TOGETHER_MAX: usize = 32 => "POOL_TOGETHER_MAX";
    /// POOL_ADD: for tables.
    pub const POOL_TABLES: u64 = 0 => "POOL_TABLES";
    /// POOL_ADD: for the text of modules.
    pub const POOL_TEXT: u64 = 1 => "POOL_TEXT";
    /// POOL_ADD: for compartments. The linear map shows the block no more.
    pub const POOL_PRIVATE: u64 = 2 => "POOL_PRIVATE";

    /// COMPARTMENT_ADD: constants.
    pub const ACCESS_READ: u64 = 0 => "ACCESS_READ";
    /// COMPARTMENT_ADD: data.
    pub const ACCESS_WRITE: u64 = 1 => "ACCESS_WRITE";
    /// COMPARTMENT_ADD: code.
    pub const ACCESS_EXECUTE: u64 = 2 => "ACCESS_EXECUTE";

    /// SYSTEM_REGISTER: SCTLR_EL1.
    pub const REGISTER_SCTLR: u64 = 0 => "REGISTER_SCTLR";

    /// TEXT_POKE: the source is the data itself, 4 or 8 bytes.
    pub const POKE_VALUE: u64 = 0 => "POKE_VALUE";
    /// TEXT_POKE: the source is the physical address of a buffer.
    pub const POKE_COPY: u64 = 1 => "POKE_COPY";
    /// TEXT_POKE: the source is an instruction to fill the range with.
    pub const POKE_FILL: u64 = 2 => "POKE_FILL";
    /// TEXT_POKE, added to the kind: the other CPUs are on their way into TEXT_WAIT. The answer is
    /// BUSY until all are there.
    pub const POKE_STOPPED: u64 = 1 << 8 => "POKE_STOPPED";
}

buffers! {
    /// First words of what LOG and REFUSALS copy; text or records follow.
    pub struct ReplyHeader {
        /// The cursor of the next call.
        pub next: u64,
    }

    /// One entry of the list of TABLE_WRITE_LIST.
    pub struct TableEntry {
        /// Physical address of the entry.
        pub entry: u64,
        /// New value of the entry.
        pub value: u64,
    }

    /// What Linux tells at HANDOVER, within one page. It is not trusted afterwards.
    pub struct Handover {
        /// First byte of the pool for tables, a physical address; whole 2 MiB blocks.
        pub table_pool_start: u64,
        /// End of the pool for tables.
        pub table_pool_end: u64,
        /// First byte of the pool for text, a physical address; whole 2 MiB blocks.
        pub text_pool_start: u64,
        /// End of the pool for text.
        pub text_pool_end: u64,
        /// First byte of the kernel's text, a virtual address.
        pub text_start: u64,
        /// End of the kernel's text.
        pub text_end: u64,
        /// First byte of the kernel's constants, a virtual address.
        pub rodata_start: u64,
        /// End of the kernel's constants.
        pub rodata_end: u64,
        /// The exception vectors, a virtual address.
        pub vectors: u64,
    }

    /// One record of REFUSALS.
    pub struct RefusalRecord {
        /// Number of the refusal, from 1 on.
        pub sequence: u64,
        /// Function number; FUNCTIONS for calls to unknown ones.
        pub function: u32,
        /// Index of the CPU.
        pub cpu: u32,
        /// The error.
        pub error: i64,
        /// What the call gave back in x1: a reason, or one from bit 32 on above the index in a
        /// list or the tag of a property, or an instruction above its offset.
        pub value: u64,
        /// Where the call came from.
        pub caller: u64,
        /// First argument.
        pub a1: u64,
        /// Second argument.
        pub a2: u64,
    }
}

const _: () = assert!(size_of::<Handover>() <= crate::layout::PAGE_SIZE as usize);

const fn one_past_the_highest(functions: &[Function]) -> usize {
    let mut end = 0;
    let mut index = 0;
    while index < functions.len() {
        let number = functions[index] as usize;
        if end <= number {
            end = number + 1;
        }
        index += 1;
    }
    end
}
