// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jumps to the gate's write of `TCR_EL1` with a forged value. One boot each, because the machine
//! does not survive a jump that is stopped.

use donjon_abi::tcr;
use donjon_machine::arguments::Switch;

use super::{Attack, Attempt, AttemptEnd, Control, Without};

/// `TBI1`: a bit that changes nothing which the gate or Linux would stumble over.
const HARMLESS: u64 = 1 << 38;
const T1SZ_18: u64 = (18 ^ tcr::T1SZ_OUTER) << tcr::T1SZ_SHIFT;
const TG1_64K: u64 = 0b01 << tcr::TG1_SHIFT;
const EPD1: u64 = 1 << 23;

const COMPARED: &str = "The gate compares TCR_EL1 with its constant behind the write.";
const NO_FETCH: &str = "The next instruction cannot be fetched, and the vectors neither.";

/// What the rows have in common: the modes in which the value is a forged one.
const JUMP: Attack = Attack {
    modes: &[Switch::Asid],
    ..Attack::ROW
};

const fn jump(value: u64, end: AttemptEnd) -> Attempt {
    Attempt {
        name: "jump",
        end,
        value: Some(value),
    }
}

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "forge-zero",
        alias: Some("zero"),
        title: "write 0",
        stopped_by: NO_FETCH,
        attempts: &[jump(0, AttemptEnd::Hang)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-outer-value",
        alias: Some("outer-value"),
        title: "write the outer value",
        stopped_by: COMPARED,
        attempts: &[jump(tcr::OUTER, AttemptEnd::Panic)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-wide-without-asid",
        alias: Some("wide-without-asid"),
        title: "the 48-bit view with Linux's ASID",
        stopped_by: COMPARED,
        attempts: &[jump(tcr::INNER & !tcr::A1, AttemptEnd::Panic)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-asid-without-wide",
        alias: Some("asid-without-wide"),
        title: "the reserved ASID in the outer view",
        stopped_by: COMPARED,
        attempts: &[jump(tcr::OUTER | tcr::A1, AttemptEnd::Panic)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-no-kernel-walks",
        alias: Some("no-kernel-walks"),
        title: "no walks of the upper range",
        stopped_by: NO_FETCH,
        attempts: &[jump(tcr::INNER | EPD1, AttemptEnd::Hang)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-granule-alone",
        alias: Some("granule-alone"),
        title: "another granule",
        stopped_by: NO_FETCH,
        attempts: &[jump(tcr::OUTER ^ TG1_64K, AttemptEnd::Hang)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-range-alone",
        alias: Some("range-alone"),
        title: "another range",
        stopped_by: NO_FETCH,
        attempts: &[jump(tcr::OUTER ^ T1SZ_18, AttemptEnd::Hang)],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "forge-harmless-bit",
        alias: Some("harmless-bit"),
        title: "the inner value with one bit more",
        stopped_by: COMPARED,
        attempts: &[jump(tcr::INNER | HARMLESS, AttemptEnd::Panic)],
        controls: &[Control {
            without: Without::inner(&["weaken-no-compare"]),
            attempts: &["jump"],
            seen_as: &[],
        }],
        modes: &[Switch::Asid, Switch::Strict],
        holds: &["I6"],
        ..JUMP
    },
    Attack {
        name: "break-behind-forged-write",
        alias: Some("exception-behind-write"),
        title: "a breakpoint between the write and the comparison",
        stopped_by: "The vectors compare TCR_EL1 with the outer value.",
        attempts: &[jump(tcr::INNER | HARMLESS, AttemptEnd::Panic)],
        controls: &[Control {
            without: Without {
                inner: &["weaken-vectors"],
                linux: Some("vectors"),
                ..Without::NOTHING
            },
            attempts: &["jump"],
            seen_as: &[],
        }],
        holds: &["I7"],
        ..JUMP
    },
    // With FEAT_HPDS: without it, PXN in the root entry stops this attack, too. Its control is
    // `gate-run:geometry:control`, from outside: Linux itself has no frame left in which a
    // hostile table would be read.
    Attack {
        name: "forge-geometry",
        alias: Some("geometry"),
        title: "granule and range forged together, with a hostile table beside the linear map's",
        stopped_by: "The linear map's first table lies in a block of its own, and Linux writes nothing there.",
        attempts: &[Attempt {
            name: "jump",
            end: AttemptEnd::Hang,
            value: None,
        }],
        cpu: Some("max"),
        holds: &["I14"],
        ..JUMP
    },
];
