// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text.

use super::{Attack, Attempt, Control, Without};

const LIVE: &str = "refused: another CPU may execute the text";
const SAME: &str = "what was looked at is what is there";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "hide-instructions",
        alias: Some("B5"),
        title: "put an instruction of each class into a module, generated code, a list, the kernel",
        stopped_by: "New text is scanned, every word of it, wherever it comes from.",
        attempts: &[
            Attempt::stopped("module", "refused: each of "),
            Attempt::stopped("generated", "refused: each of "),
            Attempt::stopped("among-others", "refused: an instruction is not allowed"),
            Attempt::stopped("kernel", "refused: an instruction is not allowed"),
            Attempt::stopped("reply", "refused: the address is not Linux's to name"),
            Attempt::stopped("log", "refused: the address is not Linux's to name"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-scan"]),
                attempts: &["module", "generated", "among-others", "kernel"],
                seen_as: &["I8"],
            },
            Control {
                without: Without::inner(&["weaken-buffer"]),
                attempts: &["reply", "log"],
                seen_as: &["I8"],
            },
        ],
        holds: &["P3"],
        ..Attack::ROW
    },
    Attack {
        name: "hide-later-instructions",
        alias: Some("F20"),
        title: "put registers and instructions that came later into a module or generated code",
        stopped_by: "The scan has a list of what is allowed.",
        attempts: &[
            Attempt::stopped("module", "refused: each of "),
            Attempt::stopped("generated", "refused: each of "),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-scan"]),
            attempts: &["module", "generated"],
            seen_as: &["I8"],
        }],
        holds: &["P3"],
        ..Attack::ROW
    },
    Attack {
        name: "change-text-of-other-cpu",
        alias: Some("B11"),
        title: "change instructions that another CPU executes, or at an address that is an alias",
        stopped_by: "Outside the manual's short list text changes only while all other CPUs wait inside, and at its executable address alone.",
        attempts: &[
            Attempt::stopped("arithmetic", LIVE),
            Attempt::stopped("outside", "refused: not now"),
            Attempt::stopped("one-side", LIVE),
            Attempt::stopped("among-others", LIVE),
            Attempt::stopped("early", "changes fell into its waits"),
            Attempt::stopped("alias", "refused: not text that may change"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-live-text"]),
                attempts: &["arithmetic", "outside", "one-side", "among-others", "early"],
                seen_as: &[],
            },
            Control {
                without: Without::inner(&["weaken-alias"]),
                attempts: &["alias"],
                seen_as: &[],
            },
        ],
        holds: &["I18", "P3"],
        ..Attack::ROW
    },
    Attack {
        name: "change-source-of-text",
        alias: Some("B12"),
        title: "change the source on another CPU while a page is sealed or a list is copied",
        stopped_by: "Each word of the source is read once.",
        attempts: &[
            Attempt::stopped("seal", SAME),
            Attempt::stopped("copy", SAME),
        ],
        controls: &[Control {
            without: Without::inner(&["weaken-read-once"]),
            attempts: &["seal", "copy"],
            seen_as: &["I8"],
        }],
        ..Attack::ROW
    },
    Attack {
        name: "replace-vectors",
        alias: Some("D3"),
        title: "write the vectors, by each address that they have and by the call for text, or put others in their place",
        stopped_by: "The frame of the vectors is read-only wherever it is mapped, no call writes it, and no other frame takes its place.",
        attempts: &[
            Attempt::stopped("linear-map", "the store through the linear map faulted"),
            Attempt::stopped("image", "the store through the kernel's image faulted"),
            Attempt::stopped("remap", "refused: permissions do not suit the frame"),
            Attempt::stopped("poke", "refused: not text that may change"),
            Attempt::stopped("replace", "refused: not text that may change"),
        ],
        controls: &[
            Control {
                without: Without::inner(&["weaken-target"]),
                attempts: &["remap"],
                seen_as: &["I4"],
            },
            Control {
                without: Without::inner(&["weaken-poke"]),
                attempts: &["poke"],
                seen_as: &[],
            },
            Control {
                without: Without::inner(&["weaken-vectors-page"]),
                attempts: &["replace"],
                seen_as: &["I7"],
            },
        ],
        holds: &["I7"],
        ..Attack::ROW
    },
];
