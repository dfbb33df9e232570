// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gives the gate its constants; the gate itself is `gate.S`.

use core::arch::global_asm;

use donjon_abi::manifest::SwitchMode;
use donjon_abi::{call, layout, tcr};

use crate::cpu_block::SAVED_REGISTERS;

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

/// Bits that tell which protections this image was built without, and whether it writes down its
/// steps.
pub const WEAKENED: u64 = cfg!(feature = "weaken-no-narrow") as u64
    | (cfg!(feature = "weaken-no-compare") as u64) << 1
    | (cfg!(feature = "weaken-no-clear") as u64) << 2
    | (cfg!(feature = "weaken-target") as u64) << 3
    | (cfg!(feature = "weaken-transition") as u64) << 4
    | (cfg!(feature = "weaken-contiguous") as u64) << 5
    | (cfg!(feature = "weaken-dbm") as u64) << 6
    | (cfg!(feature = "weaken-parent") as u64) << 7
    | (cfg!(feature = "weaken-asid") as u64) << 8
    | (cfg!(feature = "weaken-flush") as u64) << 10
    | (cfg!(feature = "weaken-scan") as u64) << 11
    | (cfg!(feature = "weaken-execute") as u64) << 12
    | (cfg!(feature = "weaken-pool") as u64) << 13
    | (cfg!(feature = "weaken-poke") as u64) << 14
    | (cfg!(feature = "weaken-firmware") as u64) << 15
    | (cfg!(feature = "weaken-buffer") as u64) << 16
    | (cfg!(feature = "weaken-vectors") as u64) << 17
    | (cfg!(feature = "trace-steps") as u64) << 18
    | (cfg!(feature = "weaken-vectors-page") as u64) << 19
    | (cfg!(feature = "weaken-live-text") as u64) << 20
    | (cfg!(feature = "weaken-alias") as u64) << 21
    | (cfg!(feature = "weaken-read-once") as u64) << 22
    | (cfg!(feature = "weaken-reserved") as u64) << 23
    | (cfg!(feature = "weaken-list") as u64) << 24
    | (cfg!(feature = "weaken-bounds") as u64) << 25
    | (cfg!(feature = "weaken-devices") as u64) << 26
    | (cfg!(feature = "weaken-no-compare-first") as u64) << 27
    | (cfg!(feature = "weaken-no-compare-exit") as u64) << 28
    | (cfg!(feature = "weaken-no-mask") as u64) << 29
    | (cfg!(feature = "weaken-source") as u64) << 30
    | (cfg!(feature = "weaken-once") as u64) << 31
    | (cfg!(feature = "weaken-withdraw") as u64) << 32;

/// `TCR_EL1` of this image's inner view.
pub const INNER: u64 = match SWITCH_MODE {
    SwitchMode::Tlbi => tcr::INNER_TLBI,
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
    WEAKEN_NO_NARROW = const cfg!(feature = "weaken-no-narrow") as u32,
    WEAKEN_NO_COMPARE = const cfg!(feature = "weaken-no-compare") as u32,
    WEAKEN_NO_COMPARE_FIRST = const cfg!(feature = "weaken-no-compare-first") as u32,
    WEAKEN_NO_COMPARE_EXIT = const cfg!(feature = "weaken-no-compare-exit") as u32,
    WEAKEN_NO_MASK = const cfg!(feature = "weaken-no-mask") as u32,
    WEAKEN_NO_CLEAR = const cfg!(feature = "weaken-no-clear") as u32,
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
