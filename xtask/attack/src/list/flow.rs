// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flow attestation: what the inner domain has to stop, then what a verifier has to.

use donjon_verify::Check;

use super::{Attack, Attempt, Control, Without};
use crate::attempt::Part;

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
    Attack {
        name: "flow-log",
        title: "show a verifier another log than the program wrote",
        stopped_by: "Digests and tags of all segments are bound by the report.",
        attempts: &[
            Attempt::stopped("change-bit", OTHER_WORDS),
            Attempt::stopped("lose-word", "the log has "),
            Attempt::stopped("exchange-words", OTHER_WORDS),
            Attempt::stopped("repeat-word", "the log has "),
        ],
        controls: &[part(Part::Check(Check::Words), &["change-bit"])],
        ..OF_VERIFIER
    },
    Attack {
        name: "flow-return",
        title: "overwrite a return address of the program by its input",
        stopped_by: "A return has its record, and the verifier knows where calls return to.",
        attempts: &[Attempt::stopped("overwrite", "return to ")],
        controls: &[part(Part::Check(Check::Path), &["overwrite"])],
        ..OF_VERIFIER
    },
    Attack {
        name: "flow-pointer",
        title: "overwrite a pointer to a function of the program by its input",
        stopped_by: "A call through a pointer has its record, and the verifier knows what pointers may hold; an address with a tag faults.",
        attempts: &[
            Attempt::stopped("overwrite", "which no pointer may hold"),
            Attempt::stopped("tag", "is of another kind"),
        ],
        controls: &[part(Part::Check(Check::Path), &["overwrite"])],
        ..OF_VERIFIER
    },
    Attack {
        name: "flow-rop-reset",
        title: "return illegally, then repair the chain by pieces of records",
        stopped_by: "A record injects its word once, before the steps that spread it.",
        attempts: &[Attempt::stopped("repair", "0 of 20000 logs")],
        controls: &[part(Part::Record, &["repair"])],
        ..OF_VERIFIER
    },
    Attack {
        name: "flow-replay",
        title: "show a verifier an earlier run, one of a program with other data, or segments in another order",
        stopped_by: "The report binds nonce, measurement and transcript.",
        attempts: &[
            Attempt::stopped("earlier-run", "nonce"),
            Attempt::stopped("other-data", "another program than expected"),
            Attempt::stopped("exchange-segments", "the transcript is another one"),
        ],
        controls: &[
            part(Part::Check(Check::Nonce), &["earlier-run"]),
            part(Part::Check(Check::Program), &["other-data"]),
        ],
        ..OF_VERIFIER
    },
    // Without a policy it is accepted, and the verifier says that data are not covered.
    Attack {
        name: "flow-data",
        title: "overwrite data of the program by its input, so that it takes a lawful path",
        stopped_by: "Only a policy about the path, or a trusted run to compare with.",
        attempts: &[Attempt::stopped("overwrite", "the policy is not fulfilled")],
        controls: &[part(Part::Policy, &["overwrite"])],
        ..OF_VERIFIER
    },
];

/// What a verifier says of a log that was changed.
pub const OTHER_WORDS: &str = "other ones than the host committed to";

/// What the rows of a verifier have in common.
const OF_VERIFIER: Attack = Attack {
    holds: &["P7"],
    is_for_verifier: true,
    ..Attack::ROW
};

const fn control(inner: &'static [&'static str], attempts: &'static [&'static str]) -> Control {
    without(Without::inner(inner), attempts)
}

const fn part(part: Part, attempts: &'static [&'static str]) -> Control {
    without(Without::part(part), attempts)
}

const fn without(without: Without, attempts: &'static [&'static str]) -> Control {
    Control {
        without,
        attempts,
        seen_as: &[],
    }
}
