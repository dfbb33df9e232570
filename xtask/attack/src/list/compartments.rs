// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments.

use super::{Attack, Attempt, Control, Without};

const BAD_FRAME: &str = "refused: frame is not of this kind";
const BAD_TARGET: &str = "refused: permissions do not suit the frame";
const WITHHELD: &str = "refused: the address is not Linux's to name";
const NO_REGISTER: &str = "no register has the secret";
const ALL_THE_CALLERS: &str = "all of them are the caller's";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "read-compartment",
        title: "read the memory of a compartment by every mapping that Linux can ask for",
        stopped_by: "No mapping of the outer view leads to a private frame, and no call reads one for Linux.",
        attempts: &[
            Attempt::stopped("linear", "16 of 16 loads faulted"),
            Attempt::stopped("map", BAD_TARGET),
            Attempt::stopped("user", BAD_TARGET),
            Attempt::stopped("buffer", WITHHELD),
            Attempt::stopped("seal", "refused: table is in use"),
            Attempt::stopped("asid", "refused: ASID is reserved or taken"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-pool"]),
                attempts: &["linear"],
                seen_as: &["I19"],
            },
            Control {
                without: Without::inner(&["weaken-target"]),
                attempts: &["map", "user"],
                seen_as: &["I19"],
            },
            control(&["weaken-bounds"], &["buffer"]),
            control(&["weaken-source"], &["seal"]),
            control(&["weaken-asid"], &["asid"]),
        ],
        holds: &["I21", "P5"],
        ..Attack::ROW
    },
    Attack {
        name: "map-compartment",
        title: "read the memory of a compartment by Linux's own ways to map a page",
        stopped_by: "No call makes a mapping of a private frame, whatever its memory attributes and its size.",
        attempts: &[
            Attempt::stopped("vmap", "each load faults"),
            Attempt::stopped("ioremap", "each load faults"),
            Attempt::stopped("memremap", "each load faults"),
            Attempt::stopped("fixmap", "each load faults"),
            Attempt::stopped("process", "each load faults"),
            Attempt::stopped("uncached", BAD_TARGET),
            Attempt::stopped("block", BAD_TARGET),
            Attempt::stopped("linear-entry", BAD_TARGET),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-target"]),
                attempts: &[
                    "vmap",
                    "ioremap",
                    "fixmap",
                    "process",
                    "uncached",
                    "block",
                    "linear-entry",
                ],
                seen_as: &["I19"],
            },
            // It gives an address in the linear map.
            Control {
                without: Without::inner(&["weaken-pool"]),
                attempts: &["memremap"],
                seen_as: &["I19"],
            },
        ],
        ..Attack::ROW
    },
    Attack {
        name: "watch-compartment",
        title: "see what a compartment had in registers, and stop it on its way",
        stopped_by: "The registers of FP are the caller's again when a compartment is left, those of its last exception and the others are zeroed, and Linux's debug registers are off in it.",
        attempts: &[
            Attempt::stopped("returned", ALL_THE_CALLERS),
            Attempt::stopped("interrupted", ALL_THE_CALLERS),
            Attempt::stopped("faulted", ALL_THE_CALLERS),
            Attempt::stopped("asked", ALL_THE_CALLERS),
            Attempt::stopped("general-registers", NO_REGISTER),
            Attempt::stopped("general-interrupted", NO_REGISTER),
            Attempt::stopped("general-faulted", NO_REGISTER),
            Attempt::stopped("general-asked", NO_REGISTER),
            Attempt::stopped("exception-registers", "ELR_EL1 and SPSR_EL1 are 0"),
            Attempt::stopped("breakpoint", "it ran to its end"),
            Attempt::stopped("watchpoint", "it ran to its end"),
            Attempt::stopped("step", "it ran to its end"),
        ],
        controls: &[
            control(
                &["weaken-scrub"],
                &[
                    "returned",
                    "interrupted",
                    "faulted",
                    "asked",
                    "exception-registers",
                ],
            ),
            control(
                &["weaken-no-clear"],
                &[
                    "general-registers",
                    "general-interrupted",
                    "general-faulted",
                    "general-asked",
                ],
            ),
            control(
                &["weaken-context-debug"],
                &["breakpoint", "watchpoint", "step"],
            ),
        ],
        holds: &["I21", "P5"],
        ..Attack::ROW
    },
    Attack {
        name: "look-behind-compartment",
        title: "load from an address of a compartment's right after it was left",
        stopped_by: "The inner domain loads the user's tables again before it leaves.",
        attempts: &[
            Attempt::stopped("load", "the load faulted"),
            Attempt::stopped("unprivileged", "the load faulted"),
            Attempt::stopped("copy", "the load faulted"),
        ],
        controls: &[control(
            &["weaken-left-root"],
            &["load", "unprivileged", "copy"],
        )],
        holds: &["I21"],
        ..Attack::ROW
    },
    Attack {
        name: "run-compartment-twice",
        title: "have a compartment on two CPUs, and destroy it while it runs",
        stopped_by: "A compartment that runs has a phase of its own, in which it is neither entered nor destroyed.",
        attempts: &[
            Attempt::stopped("two-cpus", "refused: table is in use"),
            Attempt::stopped("destroy", "refused: table is in use"),
        ],
        controls: &[control(&["weaken-running"], &["two-cpus", "destroy"])],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "use-dead-compartment",
        title: "use the handle of a compartment that is gone",
        stopped_by: "A handle has the number that its slot had with that compartment alone.",
        attempts: &[
            Attempt::stopped("destroyed", "refused: no such compartment"),
            Attempt::stopped("recycled", "refused: no such compartment"),
        ],
        controls: &[control(&["weaken-handle"], &["destroyed", "recycled"])],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "clone-compartment",
        title: "clone a compartment that has run, and end one whose clones go on",
        stopped_by: "A template has not run, and stays as long as it has clones.",
        attempts: &[
            Attempt::stopped("used", "refused: before the hand-over or twice"),
            Attempt::stopped("template-ends", "refused: table is in use"),
        ],
        controls: &[
            control(&["weaken-pristine"], &["used"]),
            control(&["weaken-template"], &["template-ends"]),
        ],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "change-compartment",
        title: "add code to a compartment that was measured, or memory beyond its limit",
        stopped_by: "Nothing is added behind the seal, and each frame that is taken is counted.",
        attempts: &[
            Attempt::stopped("add-after-seal", "refused: before the hand-over or twice"),
            Attempt::stopped("grow", "it has what it may have"),
        ],
        controls: &[
            control(&["weaken-seal"], &["add-after-seal"]),
            control(&["weaken-limit"], &["grow"]),
        ],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "share-with-compartment",
        title: "have a compartment read or write a frame that Linux cannot",
        stopped_by: "Linux names frames of ordinary memory alone.",
        attempts: &[
            Attempt::stopped("inner", BAD_FRAME),
            Attempt::stopped("table", BAD_FRAME),
            Attempt::stopped("text", BAD_FRAME),
            Attempt::stopped("private", BAD_FRAME),
            Attempt::stopped("copy-private", BAD_FRAME),
            Attempt::stopped("log", WITHHELD),
            Attempt::stopped("refusal", WITHHELD),
        ],
        controls: &[
            control(
                &["weaken-share"],
                &["inner", "table", "text", "private", "copy-private"],
            ),
            control(&["weaken-bounds", "weaken-buffer"], &["log", "refusal"]),
        ],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "change-compartment-tables",
        title: "write, release or link a table of a compartment's",
        stopped_by: "A private frame is no table of Linux's.",
        attempts: &[
            Attempt::stopped("write", "refused: entry outside every table"),
            Attempt::stopped("release", BAD_FRAME),
            Attempt::stopped("link", "refused: table has a parent or another level"),
        ],
        controls: &[control(
            &["weaken-private-tables"],
            &["write", "release", "link"],
        )],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "rewrite-compartment-input",
        title: "change a page while it is measured, and send a message where code is",
        stopped_by: "What is copied is what is measured, and a message goes where its receiver may write.",
        attempts: &[
            Attempt::stopped("page", "what it has is what was measured"),
            Attempt::stopped("message-to-code", "it may not receive there"),
        ],
        controls: &[
            control(&["weaken-read-once"], &["page"]),
            control(&["weaken-message"], &["message-to-code"]),
        ],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "rewrite-message",
        title: "rewrite a message while it is sent, give its page away, reach over its end, and send to one that is gone",
        stopped_by: "A message is copied once, out of and into frames that stay what they are, of the length that was checked, and both ends of a channel name each other.",
        attempts: &[
            Attempt::stopped("over-end", "it may not send what it has not"),
            Attempt::stopped("recycled", "the other end is closed"),
            // No control: the inner domain decides nothing by a byte of a message, and where it is
            // and how long are in registers, which no other CPU writes.
            Attempt::stopped("contents", "each message is what was there"),
            Attempt::stopped("page-to-pool", "refused: table is in use"),
        ],
        controls: &[
            control(&["weaken-message"], &["over-end"]),
            control(&["weaken-handle"], &["recycled"]),
            Control {
                without: Without::inner(&["weaken-withdraw"]),
                attempts: &["page-to-pool"],
                seen_as: &["I20"],
            },
        ],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "keep-compartment-memory",
        title: "take the memory of a compartment back and look for what was in it",
        stopped_by: "Frames are wiped when a compartment ends, before they are anything else, and a block goes back when all of it is free.",
        attempts: &[
            Attempt::stopped("leftovers", "all of the block is wiped"),
            Attempt::stopped("in-use", "refused: table is in use"),
        ],
        controls: &[
            control(&["weaken-wipe"], &["leftovers"]),
            control(&["weaken-removal"], &["in-use"]),
        ],
        holds: &["I22", "P5"],
        ..Attack::ROW
    },
];

/// Attempts that a protection alone stops, and that leave nothing for the auditor.
const fn control(without: &'static [&'static str], attempts: &'static [&'static str]) -> Control {
    Control {
        without: Without::inner(without),
        attempts,
        seen_as: &[],
    }
}
