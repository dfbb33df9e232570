// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLB and ASIDs.

use super::{Attack, Attempt, Control, Without};

const FAULT: &str = "faulted";
const ASID: &str = "refused: ASID is reserved or taken";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    // QEMU's TLB of a CPU lasts until an invalidation, so the control needs no luck. The auditor
    // cannot see TLBs.
    Attack {
        name: "keep-tlb-entry",
        alias: Some("B1"),
        title: "write a frame of the pool through what another CPU's TLB still has",
        stopped_by: "What joins a pool is invalidated on all CPUs before it is one.",
        attempts: &[
            Attempt::stopped("linear-map", FAULT),
            Attempt::stopped("other-mapping", FAULT),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-flush"]),
            attempts: &["linear-map", "other-mapping"],
            seen_as: &[],
        }],
        holds: &["I12"],
        ..Attack::ROW
    },
    // What a conflict does cannot be shown in QEMU, so here success is that the state is reached.
    Attack {
        name: "make-tlb-conflict",
        alias: Some("F10"),
        title: "a contiguous entry alone, a live entry changed",
        stopped_by: "There are never two translations of one address that a TLB might hold at a time.",
        attempts: &[
            Attempt::stopped("contiguous", "refused: unknown bits or a block"),
            Attempt::stopped("live-change", "refused: valid entry not made invalid first"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-contiguous"]),
                attempts: &["contiguous"],
                seen_as: &["I10"],
            },
            Control {
                without: Without::inner(&["weaken-transition"]),
                attempts: &["live-change"],
                seen_as: &[],
            },
        ],
        holds: &["I12"],
        ..Attack::ROW
    },
    Attack {
        name: "misuse-asid",
        alias: Some("U5"),
        title: "use the reserved ASID, one ASID for two processes, or free a root in use",
        stopped_by: "An ASID has one tree, a tree one process, and the reserved ASID none.",
        attempts: &[
            Attempt::stopped("reserved", ASID),
            Attempt::stopped("twice", ASID),
            Attempt::stopped("free-current", "refused: table is in use"),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-asid"]),
            attempts: &["reserved", "twice"],
            seen_as: &[],
        }],
        holds: &["I9"],
        ..Attack::ROW
    },
];
