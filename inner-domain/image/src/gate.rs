// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the gate its constants; the gate itself is `gate.S`.

use core::arch::global_asm;

use donjon_abi::manifest::SwitchMode;
use donjon_abi::{call, layout, tcr};
use donjon_core::weaken;

use crate::per_cpu::SAVED_REGISTERS;

/// How this image is entered and left: decided when it is built, so that the gate has no branch
/// for it.
pub const SWITCH_MODE: SwitchMode = if cfg!(feature = "switch-tlbi") {
    SwitchMode::Tlbi
} else if cfg!(feature = "switch-strict") {
    SwitchMode::Strict
} else {
    SwitchMode::Asid
};

const _: () = assert!(
    cfg!(feature = "switch-asid") as u32
        + cfg!(feature = "switch-tlbi") as u32
        + cfg!(feature = "switch-strict") as u32
        == 1,
    "choose one of the features switch-asid, switch-tlbi and switch-strict"
);

/// Returns bits that tell which protections this image lacks, and whether it writes down its steps.
pub fn weakened() -> u64 {
    weaken::mask() | u64::from(cfg!(feature = "trace-steps")) << 18
}

/// `TCR_EL1` of this image's inner view.
pub const INNER: u64 = match SWITCH_MODE {
    SwitchMode::Tlbi => tcr::INNER_TLBI,
    // For a test alone: without the reserved ASID.
    SwitchMode::Asid if weaken::SAME_ASID => tcr::INNER_TLBI,
    SwitchMode::Asid | SwitchMode::Strict => tcr::INNER,
};

global_asm!(
    include_str!("gate.S"),
    INNER = const INNER,
    OUTER = const tcr::OUTER,
    STRICT_MIDDLE = const tcr::STRICT_MIDDLE,
    WIDE = const tcr::OUTER - ((tcr::T1SZ_OUTER - tcr::T1SZ_INNER) << tcr::T1SZ_SHIFT),
    STRICT = const matches!(SWITCH_MODE, SwitchMode::Strict) as u32,
    TLBI = const matches!(SWITCH_MODE, SwitchMode::Tlbi) as u32,
    WEAKEN_NO_NARROW = const weaken::NO_NARROW as u32,
    WEAKEN_NO_COMPARE = const weaken::NO_COMPARE as u32,
    WEAKEN_NO_COMPARE_FIRST = const weaken::NO_COMPARE_FIRST as u32,
    WEAKEN_NO_COMPARE_EXIT = const weaken::NO_COMPARE_EXIT as u32,
    WEAKEN_NO_MASK = const weaken::NO_MASK as u32,
    WEAKEN_NO_CLEAR = const weaken::NO_CLEAR as u32,
    WEAKEN_EARLY_TLBI =
        const (weaken::EARLY_TLBI && matches!(SWITCH_MODE, SwitchMode::Tlbi)) as u32,
    CPU_INDEX_SHIFT = const layout::CPU_INDEX_SHIFT,
    CPU_INDEX_MASK = const layout::MAX_CPUS - 1,
    STACK_STRIDE_SHIFT = const layout::STACK_STRIDE_SHIFT,
    CORE_FUNCTIONS = const call::CORE_FUNCTIONS,
    ENTRY = const layout::GATE_ENTRY - layout::GATE,
    REPAIR = const layout::GATE_REPAIR - layout::GATE,
    TLBI_LIST = const layout::GATE_TLBI_LIST,
    SAVED_REGISTERS = const SAVED_REGISTERS,
    REASON = const call::REASON_MISMATCH,
);
