// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two libraries exchange messages, and a search goes on by every way to read memory.

use std::time::Duration;

use anyhow::{Result, ensure};
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_figures::records::compartments::{Counts, Found, Goal, Libraries, Side};

use super::scrape::{self, PLACES};
use super::{Measured, goal, lines};
use crate::table::table;

/// Seconds in the short form and in the full one.
pub const SECONDS: (u64, u64) = (60, 3600);
/// The part of it that the search of processes takes: it is the control.
const OUTSIDE_PART: u64 = 6;
/// What messages are computed from.
const SEEDS: [u64; 2] = [1, 2];
/// The names in what a guest prints, and what they are.
pub const WAYS: [(&str, &str); 13] = [
    ("linear", "kernel: linear map"),
    ("map", "kernel: an entry of its tables (vmap)"),
    ("device", "kernel: the same as a device (ioremap)"),
    ("user", "kernel: an entry of a user's tables"),
    ("table", "kernel: a user's table, edited by stores"),
    ("store", "kernel: its own table, edited by stores"),
    ("link", "kernel: a table of its own, linked"),
    ("mem", "/proc/PID/mem"),
    ("process-vm-readv", "process_vm_readv"),
    ("ptrace", "ptrace"),
    ("kcore", "/proc/kcore"),
    ("dev-mem", "/dev/mem"),
    ("core-dump", "core dump"),
];

/// Searches for `seconds`, over an inner domain of choice.
///
/// # Errors
///
/// If a way cannot be tried, or the guest does not go on as before.
pub fn measure(
    host: &HostArguments,
    inner: &InnerVariant,
    seconds: u64,
    linux: &mut String,
) -> Result<Libraries> {
    let outside = seconds / OUTSIDE_PART;
    let commands = [
        format!("donjon-scrape libraries outside {} {outside}", SEEDS[0]),
        format!("donjon-scrape libraries inside {} {seconds}", SEEDS[1]),
    ];
    let longest = Duration::from_secs(outside + seconds);
    Libraries::of(&scrape::guest(host, inner, commands, longest, linux)?)
}

fn side(text: &str, name: &str) -> Result<Side> {
    let [rounds, seconds, messages] = lines::one(text, name)?;
    Ok(Side {
        rounds,
        seconds,
        messages,
    })
}

/// The linear map was asked for the same pages of RAM each time, and what could be read outside
/// could be read inside.
fn is_complete(all: &Libraries) -> Result<()> {
    for it in all.ways.iter().filter(|it| it.name == "linear") {
        let [outside, inside] = [(it.outside, &all.outside), (it.inside, &all.inside)]
            .map(|(counts, side)| (counts.read + counts.refused) / side.rounds.max(1));
        ensure!(
            outside == inside && it.inside.read > 0,
            "{outside} pages of RAM were searched outside, {inside} inside"
        );
    }
    let idle = |it: &&Found| it.outside.read > 0 && it.inside.read == 0;
    let idle = all.ways.iter().find(idle).map(|it| &it.name);
    ensure!(
        idle.is_none(),
        "{idle:?} read memory outside, and none inside"
    );
    Ok(())
}

impl Measured for Libraries {
    fn of(text: &str) -> Result<Self> {
        let way = |(name, _): (&str, _)| -> Result<Found> {
            let [outside, inside] =
                PLACES.map(|place| scrape::counts(text, &format!("{place}-{name}")));
            Ok(Found {
                name: name.into(),
                outside: outside?,
                inside: inside?,
            })
        };
        let [outside, inside] = PLACES.map(|place| side(text, place));
        let this = Self {
            cpus: scrape::CPUS,
            memory: scrape::MEMORY.into(),
            outside: outside?,
            inside: inside?,
            ways: WAYS.into_iter().map(way).collect::<Result<_>>()?,
        };
        is_complete(&this)?;
        Ok(this)
    }

    fn goals(&self) -> Vec<Goal> {
        let reads = self.ways.iter().map(|it| it.outside);
        let blind = reads.filter(|it| it.read > 0 && it.found == 0).count();
        let found = self.found_inside() as f64;
        vec![
            goal::at_most("words of messages that were found inside", found, 0.0),
            goal::at_most(
                "ways that read memory outside and found nothing there",
                blind as f64,
                0.0,
            ),
        ]
    }

    fn table(&self) -> Table {
        let header = "way|outside: pages read|refused|words found|inside: pages read|\
                      refused|words found"
            .split('|');
        let part = |it: Counts| {
            if it.is_there {
                [it.read, it.refused, it.found].map(|it| it.to_string())
            } else {
                ["not there", "-", "-"].map(Into::into)
            }
        };
        let rows = self.ways.iter().zip(WAYS).map(|(way, (_, title))| {
            [
                vec![title.to_owned()],
                part(way.outside).into(),
                part(way.inside).into(),
            ]
            .concat()
        });
        let sides = [("outside", &self.outside), ("inside", &self.inside)];
        let sides = sides.map(|(name, it)| {
            vec![
                format!("{name}: {} s, rounds: {}", it.seconds, it.rounds),
                format!("{} messages", it.messages),
            ]
        });
        table(1, header, rows.chain(sides))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a guest prints in which one way finds something at a place.
    fn text(place: &str, name: &str) -> String {
        let mut text = String::from("outside: 1 10 500\ninside: 2 60 900\n");
        for (way, _) in WAYS {
            for (at, rounds) in PLACES.iter().zip([1, 2]) {
                let found = u64::from(*at == place && way == name) * 3;
                let read = rounds * 100;
                text.push_str(&format!("{at}-{way}: 1 {read} {rounds} 0 {found}\n"));
            }
        }
        text
    }

    #[test]
    fn what_is_found_inside_and_what_finds_nothing_outside_misses_a_goal() {
        let it = Libraries::of(&text("inside", "user")).expect("it");
        let missed = it.goals().iter().filter(|it| !it.is_met).count();
        assert_eq!((it.found_inside(), missed), (3, 2));
        let it = Libraries::of(&text("outside", "user")).expect("it");
        assert_eq!(it.found_inside(), 0);
        assert!(it.goals()[0].is_met && !it.goals()[1].is_met);
        assert_eq!(it.goals()[1].figure, Some((WAYS.len() - 1) as f64));
    }

    #[test]
    fn a_search_of_less_memory_is_an_error() {
        let text = text("outside", "linear").replace("inside-linear: 1 200", "inside-linear: 1 90");
        assert!(Libraries::of(&text).is_err());
    }
}
