// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks that a test build can leave out, one at a time, to show that an attack succeeds
//! without.
//!
//! The table at the end of this file names each check once. A product build makes them all. A test
//! build leaves one out in one of two ways:
//!
//! * A check in assembly, or in the layout of tables, is left out by a feature of its own; the
//!   manifests' lists of features are generated from the table.
//! * Each other check asks a word that the builder writes into the finished program: one build with
//!   the feature `checks-by-word` serves them all. Any other build has no such word.
//!
//! [`Configured`] has the checks of this build; a test of the rules names its own [`Checks`]. More
//! than a line that a test build does in place of a check stands in a file `without.rs` beside its
//! module, which is empty in a product build; [`without!`](crate::without) calls it.

mod weakened;

#[cfg(feature = "checks-by-word")]
pub use weakened::choose;
pub use weakened::{bit, left_out};

use weakened::Weakening;

/// Whether a check is made.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// The check is made.
    Made,
    /// The check is not part of the code.
    LeftOut,
    /// The check is made unless the program's word says otherwise.
    Unless(Weakening),
}

impl Check {
    /// Says whether the check is made.
    #[must_use]
    #[inline(always)]
    pub fn is_made(self) -> bool {
        match self {
            Self::Made => true,
            Self::LeftOut => false,
            Self::Unless(weakening) => !weakening.is_left_out(),
        }
    }

    /// Says whether the check is part of the code, for constants and assembly.
    #[must_use]
    pub const fn is_in_code(self) -> bool {
        !matches!(self, Self::LeftOut)
    }
}

/// The feature of the build in which a word leaves out checks.
pub const BY_WORD_FEATURE: &str = "checks-by-word";

/// The checks of this build.
#[derive(Clone, Copy, Debug)]
pub struct Configured;

macro_rules! checks {
    (
        in_image { $($(#[$idoc:meta])* $iname:ident = $ifeature:literal, $ibit:literal;)* }
        in_image_and_boot { $($(#[$bdoc:meta])* $bname:ident = $bfeature:literal, $bbit:literal;)* }
        by_word { $($(#[$doc:meta])* $name:ident = $text:literal, $bit:literal;)* }
        always { $($(#[$adoc:meta])* $aname:ident;)* }
    ) => {
        /// The checks that can be left out, each a constant of its own.
        pub trait Checks {
            $($(#[$idoc])* const $iname: Check = Check::Made;)*
            $($(#[$bdoc])* const $bname: Check = Check::Made;)*
            $($(#[$doc])* const $name: Check = Check::Made;)*
            $($(#[$adoc])* const $aname: Check = Check::Made;)*
        }

        impl Checks for Configured {
            $(const $iname: Check = in_code(cfg!(feature = $ifeature));)*
            $(const $bname: Check = in_code(cfg!(feature = $bfeature));)*
            $(const $name: Check = Check::Unless(Weakening::new($bit));)*
        }

        /// The features that leave out a check of the inner domain's image alone, and the bit of
        /// each in [`left_out`].
        pub const IN_IMAGE: &[(&str, u32)] = &[$(($ifeature, $ibit)),*];

        /// The features that leave out a check in which the boot stage has a part, and the bit of
        /// each in [`left_out`].
        pub const IN_IMAGE_AND_BOOT: &[(&str, u32)] = &[$(($bfeature, $bbit)),*];

        /// The names of checks that the program's word leaves out, and the bit of each in
        /// [`left_out`].
        pub const BY_WORD: &[(&str, u32)] = &[$(($text, $bit)),*];

        /// Bits of the checks that are not part of the code.
        const NOT_IN_CODE: u64 = $((!Configured::$iname.is_in_code() as u64) << $ibit)|*
            | $((!Configured::$bname.is_in_code() as u64) << $bbit)|*;
    };
}

/// Returns a check by whether its feature leaves it out.
const fn in_code(is_left_out: bool) -> Check {
    if is_left_out {
        Check::LeftOut
    } else {
        Check::Made
    }
}

/// Does what a test build does without a check: `without!(LIST, without::write_changed(…))`. Stands
/// for nothing in a product build.
#[macro_export]
macro_rules! without {
    ($check:ident, $does:expr) => {
        #[cfg(feature = "checks-by-word")]
        if !<$crate::checks::Configured as $crate::checks::Checks>::$check.is_made() {
            $does;
        }
    };
}

checks! {
    in_image {
        /// The gate narrows the range on its way out.
        NARROW = "weaken-no-narrow", 0;
        /// The gate compares what was written to TCR_EL1.
        COMPARE = "weaken-no-compare", 1;
        /// The gate clears registers on its way out.
        CLEAR = "weaken-no-clear", 2;
        /// Mode `strict` compares behind its first write.
        COMPARE_FIRST = "weaken-no-compare-first", 27;
        /// Mode `strict` compares behind its last write.
        COMPARE_EXIT = "weaken-no-compare-exit", 28;
        /// The gate masks exceptions behind its comparison.
        MASK = "weaken-no-mask", 29;
        /// In mode `asid` the inner domain runs with an ASID of its own.
        RESERVED_ASID = "weaken-same-asid", 34;
        /// Mode `tlbi` invalidates behind the narrowing of the range.
        LATE_TLBI = "weaken-early-tlbi", 36;
        /// Nothing that a compartment left in FP registers, or in those of its last exception, is
        /// there after its exit.
        SCRUB = "weaken-scrub", 37;
        /// Linux's breakpoints and watchpoints do not work in compartments.
        CONTEXT_DEBUG = "weaken-context-debug", 38;
        /// TTBR0_EL1 has Linux's root after the exit of a compartment.
        LINUX_ROOT = "weaken-left-root", 41;
        /// SVE and SME are closed to compartments.
        VECTOR_LENGTH = "weaken-vector-length", 52;
    }
    in_image_and_boot {
        /// The inner domain's own pages are mapped for one ASID.
        NOT_GLOBAL = "weaken-global", 35;
        /// Devices reach their window of RAM alone, and the hand-over refuses text there.
        WINDOW = "weaken-window", 60;
        /// Devices go through the SMMU.
        STREAM = "weaken-stream", 61;
        /// No virtio device goes around the SMMU.
        PLATFORM_BIT = "weaken-platform-bit", 62;
        /// Kinds of virtio devices are accepted from a list.
        VIRTIO_TYPE = "weaken-virtio-type", 63;
    }
    by_word {
        /// The type of a mapped frame decides how it may be mapped, in the kernel's tables and in
        /// those of users.
        TARGET = "weaken-target", 3;
        /// A valid entry changes only its permissions.
        TRANSITION = "weaken-transition", 4;
        /// Tables have no contiguous groups.
        CONTIGUOUS = "weaken-contiguous", 5;
        /// DBM counts as writable, and no user's entry has it.
        DIRTY_BIT_MODIFIER = "weaken-dbm", 6;
        /// A kernel table has one parent.
        PARENT = "weaken-parent", 7;
        /// No process has the reserved ASID, and no two processes share one.
        ASID = "weaken-asid", 8;
        /// The USB controller's registers are written after a look at what a channel transfers.
        CHECKED = "weaken-checked", 9;
        /// The TLB is invalidated before a block of memory changes its class.
        FLUSH = "weaken-flush", 10;
        /// The scanner refuses instructions that change protection state.
        SCAN = "weaken-scan", 11;
        /// No table write and no user's entry makes anything executable at EL1.
        EXECUTE = "weaken-execute", 12;
        /// The linear map shows the pools read-only.
        POOL = "weaken-pool", 13;
        /// Only text that may change is changed.
        POKE = "weaken-poke", 14;
        /// Firmware calls are made from a list.
        FIRMWARE = "weaken-firmware", 15;
        /// Buffers lie in ordinary memory.
        BUFFER = "weaken-buffer", 16;
        /// Vectors compare TCR_EL1.
        VECTORS_COMPARE = "weaken-vectors", 17;
        /// The page of the vectors stays mapped as it is.
        VECTORS = "weaken-vectors-page", 19;
        /// Text that other CPUs execute changes in ways alone that a CPU may see half-way.
        LIVE_TEXT = "weaken-live-text", 20;
        /// Text is changed at the address alone where EL1 executes it.
        ALIAS = "weaken-alias", 21;
        /// What becomes text, or a page of a compartment, is read once: what is judged or measured
        /// is what is written.
        READ_ONCE = "weaken-read-once", 22;
        /// Memory that the device tree sets aside is not ordinary memory.
        RESERVED = "weaken-reserved", 23;
        /// An item of a list is read once: what is checked is what is written.
        LIST = "weaken-list", 24;
        /// Buffers end in the page where they begin, and outside the inner domain's memory.
        BOUNDS = "weaken-bounds", 25;
        /// What is no RAM is mapped if it is on the list of devices.
        DEVICES = "weaken-devices", 26;
        /// Users' tables are filled, and text is made, from ordinary memory.
        SOURCE = "weaken-source", 30;
        /// What is checked of a descriptor is what a user's entry gets.
        ONCE = "weaken-once", 31;
        /// Users' entries for a frame are dropped before the frame stops being ordinary.
        WITHDRAW = "weaken-withdraw", 32;
        /// The VideoCore is asked for properties of a list.
        PROPERTIES = "weaken-properties", 33;
        /// Frames of compartments are wiped.
        WIPE = "weaken-wipe", 39;
        /// A report is genuine if its code was made with this boot's key.
        REPORT = "weaken-report", 40;
        /// A compartment is on one CPU at a time, and does not end there.
        RUNNING = "weaken-running", 42;
        /// A handle names the compartment that it was given for, and so does an end of a channel.
        HANDLE = "weaken-handle", 43;
        /// Pages are added to a compartment until it is sealed.
        SEAL = "weaken-seal", 44;
        /// A compartment has no more frames than its limit.
        LIMIT = "weaken-limit", 45;
        /// A compartment is given ordinary frames alone.
        SHARE = "weaken-share", 46;
        /// A private frame is no table that Linux may write, release or link.
        PRIVATE_TABLES = "weaken-private-tables", 47;
        /// Each page of a message's memory is looked at, and whether it may be written.
        MESSAGE = "weaken-message", 48;
        /// Private memory goes back when no compartment has it.
        REMOVAL = "weaken-removal", 49;
        /// Each compartment has a tree of tables of its own.
        TREE = "weaken-tree", 50;
        /// A clone has the pages alone that its template may not write.
        CLONE = "weaken-clone", 51;
        /// A template has never run.
        PRISTINE = "weaken-pristine", 53;
        /// A template ends after its clones.
        TEMPLATE = "weaken-template", 54;
        /// Compartments compute with a generic key of their own.
        GENERIC_KEY = "weaken-generic-key", 55;
        /// The states of a flow's segment are shown after the host has committed to its words.
        FLOW_COMMIT = "weaken-flow-commit", 56;
        /// A log of flow attestation lies where a compartment has no other page.
        FLOW_PLACE = "weaken-flow-place", 57;
        /// A compartment's limit has no bits that say the kind of its report.
        FLOW_KIND = "weaken-flow-kind", 58;
        /// Pools and private memory come from memory that no device reaches.
        RESERVE = "weaken-reserve", 59;
    }
    always {
        /// A refresh of a user's entry changes nothing but that a page or block becomes read-only.
        /// There is no test build without: a process's rights are Linux's to give, and the models
        /// show what is lost.
        REFRESH;
    }
}
