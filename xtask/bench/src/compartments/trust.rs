// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who can read the messages of libraries, in compartments and in processes.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_figures::records::compartments::{Counts, Goal, Trial, Tried, Trust};
use donjon_machine::arguments::Switch;

use super::{Measured, goal, scrape};
use crate::table::table;

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

fn trial(text: &str, is_inside: bool, index: usize) -> Result<Trial> {
    let (name, who, is_expected_outside) = WHO[index];
    let place = if is_inside { "inside" } else { "outside" };
    let begin = format!("{place}-{name}-");
    let names = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix(&begin)?.split_once(':')?.0));
    let way = |name: &str| -> Result<Tried> {
        Ok(Tried {
            counts: scrape::counts(text, &format!("{begin}{name}"))?,
            name: name.to_owned(),
        })
    };
    let ways: Vec<Tried> = names.map(way).collect::<Result<_>>()?;
    let tried = ways.iter().map(|it| it.counts.read + it.counts.refused);
    ensure!(tried.sum::<u64>() > 0, "{who} has tried nothing {place}");
    let is_visible = ways.iter().any(|it| it.counts.found > 0);
    Ok(Trial {
        is_inside,
        who: who.into(),
        is_granted: is_visible || ways.iter().any(|it| it.counts.reached > 0),
        is_visible,
        is_expected_outside,
        ways,
    })
}

/// What a row of the file has behind the number.
pub fn columns(trial: &Trial) -> [&str; 4] {
    let word = |is_so, yes, no| if is_so { yes } else { no };
    [
        word(trial.is_inside, "in Compartment", "out Compartment"),
        &trial.who,
        word(trial.is_granted, "Granted", "Denied"),
        word(trial.is_visible, "Yes", "No"),
    ]
}

impl Measured for Trust {
    fn of(text: &str) -> Result<Self> {
        let all = [true, false]
            .into_iter()
            .flat_map(|is_inside| (0..WHO.len()).map(move |index| trial(text, is_inside, index)));
        let trials = all.collect::<Result<_>>().context("trials of trust")?;
        Ok(Self { trials })
    }

    fn goals(&self) -> Vec<Goal> {
        let count = |is_inside: bool, is_wrong: &dyn Fn(&Trial) -> bool| {
            let trials = self.trials.iter().filter(|it| it.is_inside == is_inside);
            trials.filter(|it| is_wrong(it)).count() as f64
        };
        let open = count(true, &|it| it.is_granted || it.is_visible);
        let other = count(false, &|it| {
            [it.is_granted, it.is_visible] != [it.is_expected_outside; 2]
        });
        vec![
            goal::at_most("trials that are granted inside", open, 0.0),
            goal::at_most("trials outside that do not go as Linux has it", other, 0.0),
        ]
    }

    fn table(&self) -> Table {
        let header = "where and who|access|data visible|pages read|with messages|\
                      refused|words found"
            .split('|');
        let parts: [fn(&Counts) -> u64; 4] = [
            |it| it.read,
            |it| it.reached,
            |it| it.refused,
            |it| it.found,
        ];
        let rows = self.trials.iter().map(|trial| {
            let [place, who, access, visible] = columns(trial);
            let mut row = vec![format!("{place}: {who}"), access.into(), visible.into()];
            row.extend(parts.map(|part| {
                let parts = trial.ways.iter().map(|it| part(&it.counts));
                parts.sum::<u64>().to_string()
            }));
            row
        });
        table(1, header, rows)
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
        let outside = it.trials[4..].iter().map(columns);
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
