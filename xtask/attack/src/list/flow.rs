// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow attestation. What a verifier rejects is tried by `cargo xtask test flow:`.

use super::{Attack, Attempt, Control, Without};

const WRONG_TIME: &str = "refused: before the hand-over or twice";
const BAD_ENTRY: &str = "refused: misaligned entry";

/// The rows.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "flow-key",
        title: "see the states of a segment of the flow log, and choose the log's digest afterwards",
        stopped_by: "The states of a closed segment are shown once, and with that a digest is bound; those of an open one are not.",
        attempts: &[
            Attempt::stopped("state-before-commit", WRONG_TIME),
            Attempt::stopped("digest-after-state", WRONG_TIME),
        ],
        controls: &[control(&["weaken-flow-commit"], &["digest-after-state"])],
        holds: &["P7"],
        ..Attack::ROW
    },
    Attack {
        name: "flow-life",
        title: "run a program under flow attestation where nothing binds its path",
        stopped_by: "A run begins with what was measured, waits for each commit, and ends for good.",
        attempts: &[
            Attempt::stopped("run-before-commit", WRONG_TIME),
            Attempt::stopped("run-after-end", WRONG_TIME),
            Attempt::stopped("attest-used", WRONG_TIME),
            Attempt::stopped("attest-twice", WRONG_TIME),
        ],
        controls: &[
            control(&["weaken-flow-commit"], &["run-before-commit"]),
            control(&["weaken-pristine"], &["attest-used"]),
        ],
        holds: &["P7"],
        ..Attack::ROW
    },
    Attack {
        name: "flow-log-place",
        title: "lay a flow log over other pages of a compartment, or pages of the host's behind it",
        stopped_by: "A log has addresses of its own, at which nothing else is mapped.",
        attempts: &[
            Attempt::stopped("over-data", BAD_ENTRY),
            Attempt::stopped("share", BAD_ENTRY),
        ],
        controls: &[control(&["weaken-flow-place"], &["over-data", "share"])],
        holds: &["P5"],
        ..Attack::ROW
    },
    Attack {
        name: "flow-report",
        title: "have a program make a report that says it is one about a flow",
        stopped_by: "The kind of a report stands above the limit, and no limit has bits there.",
        attempts: &[Attempt::stopped(
            "kind-in-limit",
            "refused: compartment at its limit",
        )],
        controls: &[control(&["weaken-flow-kind"], &["kind-in-limit"])],
        holds: &["P7"],
        ..Attack::ROW
    },
];

const fn control(inner: &'static [&'static str], attempts: &'static [&'static str]) -> Control {
    Control {
        without: Without::inner(inner),
        attempts,
        seen_as: &[],
    }
}
