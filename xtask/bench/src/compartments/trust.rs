// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who can read the messages of libraries, in compartments and in processes.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_machine::arguments::Switch;
use serde::Serialize;

use super::goal::Goal;
use super::scrape::{self, Counts};
use super::table;

/// Longest time of the experiment, which is one round.
const LONGEST: Duration = Duration::from_secs(120);
/// What messages are computed from.
const SEEDS: [u64; 2] = [3, 4];
/// The names in what a guest prints, what they are, and whether a process is open to them.
const WHO: [(&str, &str, bool); 4] = [
    ("root", "Root", true),
    ("user", "Ordinary user", false),
    ("module", "Kernel module", true),
    ("compartment", "Second compartment", false),
];

/// Everyone against both.
#[derive(Debug, Serialize)]
pub struct Trust {
    /// Each trial.
    pub trials: Vec<Trial>,
}

/// A trial.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// Whether the messages were in compartments.
    pub is_inside: bool,
    /// Who tried to read them.
    pub who: &'static str,
    /// Whether memory with messages could be read.
    pub is_granted: bool,
    /// Whether the messages were seen.
    pub is_visible: bool,
    /// Whether a process is open to them.
    pub is_expected_outside: bool,
    /// What they tried.
    pub ways: Vec<Way>,
}

/// A way to read memory.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Name of the way.
    pub name: String,
    /// What came of it.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Has everyone try.
///
/// # Errors
///
/// If a way cannot be tried, or the guest does not go on as before.
pub fn measure(host: &HostArguments, linux: &mut String) -> Result<Trust> {
    let commands = [
        format!("donjon-scrape trust outside {}", SEEDS[0]),
        format!("donjon-scrape trust inside {}", SEEDS[1]),
    ];
    let inner = InnerVariant::sound(Switch::Asid);
    Trust::of(&scrape::guest(host, &inner, commands, LONGEST, linux)?)
}

impl Trial {
    fn of(text: &str, is_inside: bool, index: usize) -> Result<Self> {
        let (name, who, is_expected_outside) = WHO[index];
        let place = if is_inside { "inside" } else { "outside" };
        let begin = format!("{place}-{name}-");
        let names = text
            .lines()
            .filter_map(|line| Some(line.strip_prefix(&begin)?.split_once(':')?.0));
        let way = |name: &str| -> Result<Way> {
            Ok(Way {
                counts: Counts::of(text, &format!("{begin}{name}"))?,
                name: name.to_owned(),
            })
        };
        let ways: Vec<Way> = names.map(way).collect::<Result<_>>()?;
        let tried = ways.iter().map(|it| it.counts.read + it.counts.refused);
        ensure!(tried.sum::<u64>() > 0, "{who} has tried nothing {place}");
        let is_visible = ways.iter().any(|it| it.counts.found > 0);
        Ok(Self {
            is_inside,
            who,
            is_granted: is_visible || ways.iter().any(|it| it.counts.reached > 0),
            is_visible,
            is_expected_outside,
            ways,
        })
    }

    /// What a row of its file has behind the number.
    pub fn columns(&self) -> [&'static str; 4] {
        [
            if self.is_inside {
                "in Compartment"
            } else {
                "out Compartment"
            },
            self.who,
            if self.is_granted { "Granted" } else { "Denied" },
            if self.is_visible { "Yes" } else { "No" },
        ]
    }
}

impl Trust {
    fn of(text: &str) -> Result<Self> {
        let all = [true, false].into_iter().flat_map(|is_inside| {
            (0..WHO.len()).map(move |index| Trial::of(text, is_inside, index))
        });
        let trials = all.collect::<Result<_>>().context("trials of trust")?;
        Ok(Self { trials })
    }

    /// What should be so.
    pub fn goals(&self) -> Vec<Goal> {
        let count = |is_inside: bool, is_wrong: &dyn Fn(&Trial) -> bool| {
            let trials = self.trials.iter().filter(|it| it.is_inside == is_inside);
            trials.filter(|it| is_wrong(it)).count() as f64
        };
        let open = count(true, &|it| it.is_granted || it.is_visible);
        let other = count(false, &|it| {
            [it.is_granted, it.is_visible] != [it.is_expected_outside; 2]
        });
        vec![
            Goal::at_most("trials that are granted inside", open, 0.0),
            Goal::at_most("trials outside that do not go as Linux has it", other, 0.0),
        ]
    }

    /// Lays the counts out as a table.
    pub fn table(&self) -> Table {
        let header = [
            "where and who",
            "access",
            "data visible",
            "pages read",
            "with messages",
            "refused",
            "words found",
        ];
        let rows = self.trials.iter().map(|trial| {
            let [place, who, access, visible] = trial.columns();
            let sum = |part: fn(&Counts) -> u64| {
                let parts = trial.ways.iter().map(|it| part(&it.counts));
                parts.sum::<u64>().to_string()
            };
            vec![
                format!("{place}: {who}"),
                access.into(),
                visible.into(),
                sum(|it| it.read),
                sum(|it| it.reached),
                sum(|it| it.refused),
                sum(|it| it.found),
            ]
        });
        table(&header, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AS_IT_SHOULD_BE: &str = "\
outside-user-mem: 1 0 2 0 0
outside-root-mem: 1 9 1 2 4
outside-module-linear: 1 90 8 5 5
outside-module-link: 1 0 1 0 0
outside-compartment-load: 1 0 16 0 0
inside-user-mem: 1 0 2 0 0
inside-root-mem: 1 9 5 0 0
inside-module-linear: 1 90 8 0 0
inside-compartment-load: 1 0 16 0 0
";

    #[test]
    fn a_trial_is_what_its_ways_have_come_to() {
        let it = Trust::of(AS_IT_SHOULD_BE).expect("trials");
        assert!(it.goals().iter().all(|it| it.is_met), "{:?}", it.goals());
        let outside = it.trials[4..].iter().map(Trial::columns);
        let words: Vec<_> = outside.map(|it| it[1..].join(" ")).collect();
        assert_eq!(words[0], "Root Granted Yes");
        assert_eq!(words[3], "Second compartment Denied No");
    }

    #[test]
    fn memory_that_can_be_read_misses_a_goal_and_so_does_a_control_that_is_denied() {
        let open = AS_IT_SHOULD_BE.replace("inside-root-mem: 1 9 5 0", "inside-root-mem: 1 9 5 1");
        let it = Trust::of(&open).expect("trials");
        assert!(!it.goals()[0].is_met && it.goals()[1].is_met);
        let blind = AS_IT_SHOULD_BE.replace("1 9 1 2 4", "1 0 1 0 0");
        let it = Trust::of(&blind).expect("trials");
        assert!(it.goals()[0].is_met && !it.goals()[1].is_met);
    }

    #[test]
    fn nothing_tried_is_an_error() {
        let text = AS_IT_SHOULD_BE.replace("inside-user-mem: 1 0 2", "inside-user-mem: 0 0 0");
        assert!(Trust::of(&text).is_err());
    }
}
