// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the gate its constants; the gate itself is `gate.S`.

use core::arch::global_asm;

use donjon_abi::manifest::SwitchMode;
use donjon_abi::{call, layout, tcr};

use crate::checks::{self, Checks, Configured};
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

/// Returns bits that tell which checks this image leaves out, and whether it writes down its steps.
pub fn left_out() -> u64 {
    checks::left_out() | u64::from(cfg!(feature = "trace-steps")) << 18
}

/// `TCR_EL1` of this image's inner view.
pub const INNER: u64 = match SWITCH_MODE {
    SwitchMode::Tlbi => tcr::INNER_TLBI,
    SwitchMode::Asid if !Configured::RESERVED_ASID.is_in_code() => tcr::INNER_TLBI,
    SwitchMode::Asid | SwitchMode::Strict => tcr::INNER,
};

global_asm!(
    include_str!("gate_weakened.S"),
    include_str!("gate.S"),
    INNER = const INNER,
    OUTER = const tcr::OUTER,
    STRICT_MIDDLE = const tcr::STRICT_MIDDLE,
    WIDE = const tcr::OUTER - ((tcr::T1SZ_OUTER - tcr::T1SZ_INNER) << tcr::T1SZ_SHIFT),
    STRICT = const matches!(SWITCH_MODE, SwitchMode::Strict) as u32,
    TLBI = const matches!(SWITCH_MODE, SwitchMode::Tlbi) as u32,
    NARROW = const Configured::NARROW.is_in_code() as u32,
    COMPARE = const Configured::COMPARE.is_in_code() as u32,
    COMPARE_FIRST = const Configured::COMPARE_FIRST.is_in_code() as u32,
    COMPARE_EXIT = const Configured::COMPARE_EXIT.is_in_code() as u32,
    MASK = const Configured::MASK.is_in_code() as u32,
    CLEAR = const Configured::CLEAR.is_in_code() as u32,
    EARLY_TLBI = const
        (!Configured::LATE_TLBI.is_in_code() && matches!(SWITCH_MODE, SwitchMode::Tlbi)) as u32,
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
