// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices that read and write memory.

use super::{Attack, Attempt, Control, Without};

const UNCHANGED: &str = "the frame is as before";
const ZEROS: &str = "nothing but zeros came";
const NOTHING_THERE: &str = "no message arrives there";
const REACHABLE: &str = "memory that devices reach";

/// The function that is not a disk goes around the SMMU, and its bridge is not withheld.
pub const AROUND: Without = Without::inner(&["weaken-platform-bit"]);
/// The function that is not a disk is a balloon, and its bridge is not withheld, as
/// `dma:refused:balloon` shows that it is in a sound build.
pub const WITH_BALLOON: Without = Without::inner(&["weaken-virtio-type"]);

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "write-by-device",
        title: "have a disk write to memory that the kernel may not write",
        stopped_by: "The SMMU, which is the inner domain's alone, shows devices ordinary memory alone, and the kernel's text and constants read-only.",
        attempts: &[
            Attempt::stopped("inner", UNCHANGED),
            Attempt::stopped("table", UNCHANGED),
            Attempt::stopped("root", UNCHANGED),
            Attempt::stopped("text", UNCHANGED),
            Attempt::stopped("constants", UNCHANGED),
            Attempt::stopped("module", UNCHANGED),
            Attempt::stopped("private", UNCHANGED),
            // A balloon is told numbers of frames, which no table translates.
            Attempt::withheld("discard-table"),
            Attempt::withheld("discard-private"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-window"]),
                attempts: &[
                    "inner",
                    "table",
                    "root",
                    "text",
                    "constants",
                    "module",
                    "private",
                ],
                seen_as: &["I24"],
            },
            Control {
                without: Without::inner(&["weaken-stream"]),
                attempts: &["inner", "table", "private"],
                seen_as: &["I23"],
            },
            Control {
                without: WITH_BALLOON,
                attempts: &["discard-table", "discard-private"],
                // Zeros break no rule of tables, and what compartments have is theirs.
                seen_as: &[],
            },
        ],
        holds: &["I23"],
        by_device: true,
        ..Attack::ROW
    },
    Attack {
        name: "read-by-device",
        title: "have a disk read memory that the kernel may not read",
        stopped_by: "The SMMU shows devices neither inner nor private memory.",
        attempts: &[
            Attempt::stopped("inner", ZEROS),
            Attempt::stopped("private", ZEROS),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-window"]),
                attempts: &["inner", "private"],
                seen_as: &["I24"],
            },
            Control {
                without: Without::inner(&["weaken-stream"]),
                attempts: &["inner", "private"],
                seen_as: &["I23"],
            },
        ],
        by_device: true,
        ..Attack::ROW
    },
    Attack {
        name: "ring-by-device",
        title: "have a device keep its ring in memory that the kernel may not write",
        stopped_by: "Rings go through the SMMU as data do.",
        attempts: &[
            Attempt::stopped("table", UNCHANGED),
            Attempt::stopped("inner", UNCHANGED),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-window"]),
                attempts: &["table", "inner"],
                seen_as: &["I24"],
            },
            Control {
                // What the disk reads goes through the SMMU, so it cannot look at inner memory.
                without: AROUND,
                attempts: &["table"],
                seen_as: &[],
            },
        ],
        holds: &["I23"],
        by_device: true,
        ..Attack::ROW
    },
    Attack {
        name: "message-by-device",
        title: "have a disk raise its interrupts in a table, in the interrupt controller, in the SMMU",
        stopped_by: "Messages go through the SMMU, which shows devices one page of registers, where messages belong.",
        attempts: &[
            Attempt::stopped("table", NOTHING_THERE),
            Attempt::stopped("distributor", NOTHING_THERE),
            Attempt::stopped("smmu", NOTHING_THERE),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-window"]),
                attempts: &["table"],
                seen_as: &["I24"],
            },
            Control {
                without: Without::inner(&["weaken-stream"]),
                // A message that arrives at the distributor ends QEMU, where there are two CPUs.
                // An SMMU that is bypassed need not be off.
                attempts: &["table"],
                seen_as: &["I23"],
            },
        ],
        by_device: true,
        ..Attack::ROW
    },
    Attack {
        name: "take-window-block",
        title: "give the inner domain memory that a disk writes to afterwards",
        stopped_by: "Pools and private memory come from a reserve that no device ever reaches.",
        attempts: &[
            Attempt::stopped("tables", REACHABLE),
            Attempt::stopped("text", REACHABLE),
            Attempt::stopped("private", REACHABLE),
            Attempt::stopped("in-flight", REACHABLE),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-reserve"]),
            attempts: &["tables", "text", "private", "in-flight"],
            seen_as: &["I24"],
        }],
        by_device: true,
        ..Attack::ROW
    },
    Attack {
        name: "usb-dma",
        title: "have a USB controller read and write memory that the kernel may not",
        stopped_by: "The inner domain starts a channel of the controller, whose registers Linux only reads, if devices reach all of its transfer.",
        attempts: &[
            Attempt::stopped("inner", UNCHANGED),
            Attempt::stopped("table", UNCHANGED),
            Attempt::stopped("text", UNCHANGED),
            Attempt::stopped("constants", UNCHANGED),
            Attempt::stopped("private", UNCHANGED),
            Attempt::stopped("read-inner", ZEROS),
            Attempt::stopped("read-private", ZEROS),
            Attempt::stopped("edge", UNCHANGED),
            Attempt::stopped("size", UNCHANGED),
            Attempt::stopped("descriptors", "its addresses stay in registers"),
            Attempt::stopped("turn", UNCHANGED),
            Attempt::stopped("late", UNCHANGED),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-checked"]),
            attempts: &[
                "inner",
                "table",
                "text",
                "constants",
                "private",
                "read-inner",
                "read-private",
                "edge",
                "size",
                "descriptors",
                "turn",
                "late",
            ],
            seen_as: &[],
        }],
        holds: &["I24"],
        by_usb: true,
        ..Attack::ROW
    },
];
