// SPDX-License-Identifier: MIT OR Apache-2.0
//! Firmware and CPUs.

use super::{Attack, Attempt, Control, Without};

const REFUSED: &str = "refused: firmware function not on the list";

/// The rows.
pub const ATTACKS: &[Attack] = &[Attack {
    name: "start-cpu-by-firmware",
    alias: Some("B6"),
    title: "have the firmware start or resume a CPU at an address of one's own",
    stopped_by: "What starts a CPU elsewhere is not on the list of firmware calls.",
    attempts: &[
        Attempt::stopped("cpu-on", REFUSED),
        Attempt::stopped("cpu-on-32", REFUSED),
        Attempt::stopped("cpu-suspend", REFUSED),
        Attempt::stopped("system-suspend", REFUSED),
    ],
    controls: &[Control {
        without: Without::inner(&["weaken-firmware"]),
        attempts: &["cpu-on", "cpu-on-32"],
        seen_as: &[],
    }],
    holds: &["I11"],
    ..Attack::ROW
}];
