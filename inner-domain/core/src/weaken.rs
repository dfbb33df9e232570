// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protections that test builds leave out, one at a time, to show that an attack succeeds without.
//!
//! This is the one place that looks at the features `weaken-*`. A protection whose code is assembly
//! or a table's layout is left out by a feature of its own, and its constant here says so. Every
//! other one is a [`Weakening`]: one build with the feature `weaken-any` serves them all, because
//! it asks a word, [`choose`], that the builder writes into the finished program. A build without
//! these features has all protections and no such word; `status` shows the [`mask`].
//!
//! To add one: a line here, and for the first kind a feature in the manifests of this crate and of
//! the image.

#[cfg(feature = "weaken-any")]
use core::sync::atomic::{AtomicU64, Ordering};

/// A protection that a build with the feature `weaken-any` leaves out where its bit is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Weakening {
    bit: u32,
}

/// What [`choose`] was given.
#[cfg(feature = "weaken-any")]
static CHOSEN: AtomicU64 = AtomicU64::new(0);

/// Leaves out the protections whose bits are set in `mask`, as in [`mask`]. The inner domain calls
/// it before anything else.
#[cfg(feature = "weaken-any")]
pub fn choose(mask: u64) {
    CHOSEN.store(mask, Ordering::Relaxed);
}

impl Weakening {
    /// Says whether the protection is **not** there: false in every normal build.
    #[must_use]
    #[inline(always)]
    pub fn is_left_out(self) -> bool {
        chosen() >> self.bit & 1 != 0
    }
}

/// Returns the bits that were chosen.
#[inline(always)]
fn chosen() -> u64 {
    #[cfg(feature = "weaken-any")]
    return CHOSEN.load(Ordering::Relaxed);
    #[cfg(not(feature = "weaken-any"))]
    0
}

macro_rules! weakenings {
    (
        compiled { $($(#[$cdoc:meta])* $cname:ident = $cfeature:literal, $cbit:literal;)* }
        chosen { $($(#[$doc:meta])* $name:ident = $text:literal, $bit:literal;)* }
    ) => {
        $($(#[$cdoc])* pub const $cname: bool = cfg!(feature = $cfeature);)*
        $($(#[$doc])* pub const $name: Weakening = Weakening { bit: $bit };)*

        /// The names of those that are features, and the bit of each in [`mask`].
        pub const COMPILED: &[(&str, u32)] = &[$(($cfeature, $cbit)),*];

        /// The names of those that are chosen, and the bit of each in [`mask`].
        pub const CHOICES: &[(&str, u32)] = &[$(($text, $bit)),*];

        const COMPILED_MASK: u64 = $(($cname as u64) << $cbit)|*;
    };
}

/// Returns a bit for each protection that this build lacks; 0 in every normal one.
#[must_use]
#[inline(always)]
pub fn mask() -> u64 {
    COMPILED_MASK | chosen()
}

/// Returns the bit in [`mask`] of a protection, by its name, such as `weaken-seal`.
#[must_use]
pub fn bit(name: &str) -> Option<u32> {
    let mut all = COMPILED.iter().chain(CHOICES);
    all.find(|it| it.0 == name).map(|it| it.1)
}

weakenings! {
    compiled {
        /// The gate leaves without narrowing the range.
        NO_NARROW = "weaken-no-narrow", 0;
        /// The gate does not compare what was written to TCR_EL1.
        NO_COMPARE = "weaken-no-compare", 1;
        /// The gate leaves the inner domain's values in registers.
        NO_CLEAR = "weaken-no-clear", 2;
        /// Mode `strict` does not compare behind its first write.
        NO_COMPARE_FIRST = "weaken-no-compare-first", 27;
        /// Mode `strict` does not compare behind its last write.
        NO_COMPARE_EXIT = "weaken-no-compare-exit", 28;
        /// The gate does not mask exceptions behind its comparison.
        NO_MASK = "weaken-no-mask", 29;
        /// In mode `asid` the inner domain runs with the user's ASID.
        SAME_ASID = "weaken-same-asid", 34;
        /// The inner domain's own pages are mapped for all ASIDs.
        GLOBAL = "weaken-global", 35;
        /// Mode `tlbi` invalidates before it narrows the range.
        EARLY_TLBI = "weaken-early-tlbi", 36;
        /// What a compartment leaves in FP registers, and in those of its last exception, stays
        /// there.
        SCRUB = "weaken-scrub", 37;
        /// Linux's breakpoints and watchpoints work in compartments.
        CONTEXT_DEBUG = "weaken-context-debug", 38;
        /// TTBR0_EL1 still has the compartment's root after an exit.
        LEFT_ROOT = "weaken-left-root", 41;
        /// SVE and SME are open to compartments.
        VECTOR_LENGTH = "weaken-vector-length", 52;
        /// Devices reach all of RAM, and the hand-over accepts text there.
        WINDOW = "weaken-window", 60;
        /// Devices go around the SMMU.
        STREAM = "weaken-stream", 61;
        /// A virtio device may go around the SMMU.
        PLATFORM_BIT = "weaken-platform-bit", 62;
        /// Every kind of virtio device is accepted.
        VIRTIO_TYPE = "weaken-virtio-type", 63;
    }
    chosen {
        /// The type of a mapped frame does not decide how it may be mapped.
        TARGET = "weaken-target", 3;
        /// A valid entry may change in any way.
        TRANSITION = "weaken-transition", 4;
        /// Contiguous groups are allowed.
        CONTIGUOUS = "weaken-contiguous", 5;
        /// DBM does not count as writable.
        DBM = "weaken-dbm", 6;
        /// A kernel table may have several parents.
        PARENT = "weaken-parent", 7;
        /// A process may have any ASID.
        ASID = "weaken-asid", 8;
        /// The USB controller's registers are written without a look at what a channel transfers.
        CHECKED = "weaken-checked", 9;
        /// The TLB is not invalidated before a block of memory changes its class.
        FLUSH = "weaken-flush", 10;
        /// The scanner allows every instruction.
        SCAN = "weaken-scan", 11;
        /// Any table write may make something executable at EL1.
        EXECUTE = "weaken-execute", 12;
        /// The linear map may show pools writable.
        POOL = "weaken-pool", 13;
        /// Text that never changes may be changed.
        POKE = "weaken-poke", 14;
        /// Every firmware call is made.
        FIRMWARE = "weaken-firmware", 15;
        /// Buffers may lie in memory that is not ordinary.
        BUFFER = "weaken-buffer", 16;
        /// Vectors need not compare TCR_EL1.
        VECTORS = "weaken-vectors", 17;
        /// The page of the vectors may be mapped elsewhere.
        VECTORS_PAGE = "weaken-vectors-page", 19;
        /// Text changes while other CPUs execute it.
        LIVE_TEXT = "weaken-live-text", 20;
        /// Text is changed at any address that leads to it.
        ALIAS = "weaken-alias", 21;
        /// What becomes text, or a page of a compartment, is read once to be judged or measured and
        /// once to be written.
        READ_ONCE = "weaken-read-once", 22;
        /// Memory that the device tree sets aside is ordinary memory.
        RESERVED = "weaken-reserved", 23;
        /// Lists are read once to be checked and once to be written.
        LIST = "weaken-list", 24;
        /// Buffers may reach over the end of a page, and into the inner domain's memory.
        BOUNDS = "weaken-bounds", 25;
        /// Device registers that are not listed may be mapped.
        DEVICES = "weaken-devices", 26;
        /// Shadows are filled, and text is made, from any memory.
        SOURCE = "weaken-source", 30;
        /// Shadows are filled from a descriptor that is read twice.
        ONCE = "weaken-once", 31;
        /// Shadows of a frame stay when its type changes.
        WITHDRAW = "weaken-withdraw", 32;
        /// The VideoCore is asked for anything.
        PROPERTIES = "weaken-properties", 33;
        /// Frames of compartments are not wiped.
        WIPE = "weaken-wipe", 39;
        /// Every report is genuine.
        REPORT = "weaken-report", 40;
        /// A compartment may be on several CPUs, and end meanwhile.
        RUNNING = "weaken-running", 42;
        /// A handle is accepted for whatever is in its slot, and so is an end of a channel.
        HANDLE = "weaken-handle", 43;
        /// Pages are added to a compartment that is sealed.
        SEAL = "weaken-seal", 44;
        /// A compartment has as many frames as it wants.
        LIMIT = "weaken-limit", 45;
        /// A compartment is given any frame.
        SHARE = "weaken-share", 46;
        /// A private frame is written, released and linked as a table without a check.
        PRIVATE_TABLES = "weaken-private-tables", 47;
        /// One page of a message's memory is looked at, and not whether it may be written.
        MESSAGE = "weaken-message", 48;
        /// Private memory goes back while a compartment has it.
        REMOVAL = "weaken-removal", 49;
        /// All compartments have one tree of tables.
        TREE = "weaken-tree", 50;
        /// A clone has the data of its template.
        CLONE = "weaken-clone", 51;
        /// A compartment that has run is a template.
        PRISTINE = "weaken-pristine", 53;
        /// A template ends while it has clones.
        TEMPLATE = "weaken-template", 54;
        /// Compartments compute with Linux's generic key.
        GENERIC_KEY = "weaken-generic-key", 55;
        /// The states of a flow's segment are shown before the host has committed to its words.
        FLOW_COMMIT = "weaken-flow-commit", 56;
        /// A log of flow attestation may lie over other pages of a compartment.
        FLOW_PLACE = "weaken-flow-place", 57;
        /// A compartment's limit may have the bits that say the kind of its report.
        FLOW_KIND = "weaken-flow-kind", 58;
        /// Memory that devices reach becomes tables, text and private memory.
        RESERVE = "weaken-reserve", 59;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_bit_and_its_features() {
        let all = COMPILED.iter().chain(CHOICES);
        let bits = all.fold(0, |bits, (_, bit)| bits | 1_u64 << bit);
        assert_eq!(bits.count_ones() as usize, COMPILED.len() + CHOICES.len());
        // Bit 18 says that the image writes its steps down.
        assert_eq!(bits & 1 << 18, 0);
        let own = include_str!("../Cargo.toml");
        let image = include_str!("../../image/Cargo.toml");
        let features = COMPILED.iter().map(|it| it.0).chain(["weaken-any"]);
        let count = features.clone().count();
        for feature in features {
            assert!(own.contains(&std::format!("\n{feature} = []")), "{feature}");
            let forwarded = std::format!("\n{feature} = [\"donjon-core/{feature}\"]");
            assert!(image.contains(&forwarded), "{feature}");
        }
        assert_eq!(own.matches("\nweaken-").count(), count);
        assert_eq!(image.matches("\nweaken-").count(), count);
    }

    #[test]
    fn a_normal_build_has_all_protections() {
        assert_eq!(mask(), 0);
        assert!(!SEAL.is_left_out());
        assert_eq!(bit("weaken-seal"), Some(44));
        assert_eq!(bit("weaken-scrub"), Some(37));
        assert_eq!(bit("weaken-nothing"), None);
    }
}
