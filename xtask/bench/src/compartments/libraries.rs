// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two libraries exchange messages, and a search goes on by every way to read memory.

use std::time::Duration;

use anyhow::{Result, ensure};
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use serde::Serialize;

use super::goal::Goal;
use super::scrape::{self, Counts, PLACES};
use super::{lines, table};

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

/// What was searched and found.
#[derive(Debug, Serialize)]
pub struct Libraries {
    /// CPUs of the guest.
    pub cpus: u32,
    /// RAM of the guest.
    pub memory: &'static str,
    /// Search of processes.
    pub outside: Side,
    /// Search of compartments.
    pub inside: Side,
    /// The ways.
    pub ways: Vec<Way>,
}

/// A search.
#[derive(Debug, Serialize)]
pub struct Side {
    /// How often each way was gone.
    pub rounds: u64,
    /// How long it took.
    pub seconds: u64,
    /// Messages that each library has said meanwhile.
    pub messages: u64,
}

/// A way to read memory.
#[derive(Debug, Serialize)]
pub struct Way {
    /// Name of the way.
    pub name: &'static str,
    /// What it found of processes.
    pub outside: Counts,
    /// What it found of compartments.
    pub inside: Counts,
}

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

impl Side {
    fn of(text: &str, name: &str) -> Result<Self> {
        let [rounds, seconds, messages] = lines::one(text, name)?;
        Ok(Self {
            rounds,
            seconds,
            messages,
        })
    }
}

impl Libraries {
    /// Reads what the guest printed.
    fn of(text: &str) -> Result<Self> {
        let way = |(name, _)| -> Result<Way> {
            let [outside, inside] =
                PLACES.map(|place| Counts::of(text, &format!("{place}-{name}")));
            Ok(Way {
                name,
                outside: outside?,
                inside: inside?,
            })
        };
        let [outside, inside] = PLACES.map(|place| Side::of(text, place));
        let this = Self {
            cpus: scrape::CPUS,
            memory: scrape::MEMORY,
            outside: outside?,
            inside: inside?,
            ways: WAYS.into_iter().map(way).collect::<Result<_>>()?,
        };
        this.is_complete()?;
        Ok(this)
    }

    /// The linear map was asked for the same pages of RAM each time, and what could be read outside
    /// could be read inside.
    fn is_complete(&self) -> Result<()> {
        for it in self.ways.iter().filter(|it| it.name == "linear") {
            let [outside, inside] = [(it.outside, &self.outside), (it.inside, &self.inside)]
                .map(|(counts, side)| (counts.read + counts.refused) / side.rounds.max(1));
            ensure!(
                outside == inside && it.inside.read > 0,
                "{outside} pages of RAM were searched outside, {inside} inside"
            );
        }
        let idle = |it: &&Way| it.outside.read > 0 && it.inside.read == 0;
        let idle = self.ways.iter().find(idle).map(|it| it.name);
        ensure!(
            idle.is_none(),
            "{idle:?} read memory outside, and none inside"
        );
        Ok(())
    }

    /// Words that were found inside.
    pub fn found_inside(&self) -> u64 {
        self.ways.iter().map(|it| it.inside.found).sum()
    }

    /// What should be so.
    pub fn goals(&self) -> Vec<Goal> {
        let reads = self.ways.iter().map(|it| it.outside);
        let blind = reads.filter(|it| it.read > 0 && it.found == 0).count();
        vec![
            Goal::at_most(
                "words of messages that were found inside",
                self.found_inside() as f64,
                0.0,
            ),
            Goal::at_most(
                "ways that read memory outside and found nothing there",
                blind as f64,
                0.0,
            ),
        ]
    }

    /// Lays the counts out as a table.
    pub fn table(&self) -> Table {
        let header = [
            "way",
            "outside: pages read",
            "refused",
            "words found",
            "inside: pages read",
            "refused",
            "words found",
        ];
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
        let side = |name: &str, it: &Side| {
            let mut row = vec![format!("{name}: {} s, rounds: {}", it.seconds, it.rounds)];
            row.push(format!("{} messages", it.messages));
            row.resize(header.len(), String::new());
            row
        };
        let sides = [side("outside", &self.outside), side("inside", &self.inside)];
        table(&header, rows.chain(sides).collect::<Vec<_>>())
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
        assert!((it.goals()[1].figure - (WAYS.len() - 1) as f64).abs() < 0.5);
    }

    #[test]
    fn a_search_of_less_memory_is_an_error() {
        let text = text("outside", "linear").replace("inside-linear: 1 200", "inside-linear: 1 90");
        assert!(Libraries::of(&text).is_err());
    }
}
