// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a call takes, and wiping.

use anyhow::{Result, ensure};
use comfy_table::Table;
use donjon_figures::records::compartments::{Calls, Goal, Samples};

use super::lines::{self, median};
use super::{Measured, goal};
use crate::table::table;

const TRIALS: u64 = 100;
/// What the kernel measures itself.
const FILE: &str = "/sys/kernel/security/donjon/bench_compartment";
/// The most that a call may take from user space and from the kernel, and wiping of a MiB.
const USER_MAX: f64 = 1000.0;
const KERNEL_MAX: f64 = 450.0;
const WIPE_MAX: f64 = 60_000.0;

fn samples(text: &str, name: &str) -> Result<Samples> {
    let samples = lines::all(text, name)?.concat();
    ensure!(!samples.is_empty(), "the guest's line `{name}:` is empty");
    Ok(Samples {
        median: median(samples.iter().copied()),
        samples,
    })
}

fn row(name: &str, it: &Samples) -> Vec<String> {
    let ends = [it.samples.iter().min(), it.samples.iter().max()];
    let mut row = vec![name.to_owned(), format!("{:.0}", it.median)];
    row.extend(ends.map(|it| it.map_or(String::new(), u64::to_string)));
    row.push(it.samples.len().to_string());
    row
}

/// What the guest runs.
pub fn command() -> String {
    format!("donjon-compare call {TRIALS} && cat {FILE}")
}

impl Measured for Calls {
    fn of(text: &str) -> Result<Self> {
        Ok(Self {
            user: samples(text, "user_call")?,
            unknown_request: samples(text, "unknown_request")?,
            kernel: samples(text, "compartment_call")?,
            wipe_mib: samples(text, "compartment_wipe")?,
        })
    }

    fn goals(&self) -> Vec<Goal> {
        [
            ("a call from user space", &self.user, USER_MAX),
            ("a call from the kernel", &self.kernel, KERNEL_MAX),
            ("wiping a MiB", &self.wipe_mib, WIPE_MAX),
        ]
        .map(|(name, it, most)| goal::at_most(name, it.median, most))
        .into()
    }

    fn table(&self) -> Table {
        let rows = [
            ("call from user space and back", &self.user),
            (
                "request that the device does not know",
                &self.unknown_request,
            ),
            ("call from the kernel and back", &self.kernel),
            ("wiping a MiB", &self.wipe_mib),
        ]
        .map(|(name, it)| row(name, it));
        table(1, ["what", "median", "least", "most", "samples"], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "user_call: 894 895 1200\nunknown_request: 380 380\n\
                        compartment_call: 400 451 452\ncompartment_wipe: 50000 50002\n";

    #[test]
    fn goals_are_about_medians() {
        let goals = Calls::of(TEXT).expect("calls").goals();
        let met: Vec<bool> = goals.iter().map(|it| it.is_met).collect();
        assert_eq!(met, [true, false, true]);
        assert_eq!(goals[2].figure, Some(50001.0));
    }

    #[test]
    fn a_line_that_is_missing_is_named() {
        let text = TEXT.replace("compartment_wipe", "wipe");
        let error = Calls::of(&text).expect_err("no line").to_string();
        assert!(error.contains("`compartment_wipe:`"), "{error}");
        let text = TEXT.replace(" 400 451 452", "");
        let error = Calls::of(&text).expect_err("no samples").to_string();
        assert!(error.contains("`compartment_call:` is empty"), "{error}");
    }
}
