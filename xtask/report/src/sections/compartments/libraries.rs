// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search of all memory while two libraries exchange messages.

use serde::Deserialize;

use super::figure;
use crate::document::{Block, Section, Table};
use donjon_figures::format::{duration, plural};

#[derive(Deserialize)]
pub(super) struct Libraries {
    cpus: u32,
    memory: String,
    outside: Side,
    inside: Side,
    ways: Vec<Way>,
}

#[derive(Deserialize)]
struct Side {
    rounds: u64,
    seconds: u64,
    messages: u64,
}

#[derive(Deserialize)]
struct Way {
    name: String,
    outside: Counts,
    inside: Counts,
}

#[derive(Deserialize)]
struct Counts {
    is_there: bool,
    read: u64,
    refused: u64,
    found: u64,
}

/// The names of ways, and what they are.
const WAYS: [(&str, &str); 13] = [
    ("linear", "kernel: linear map"),
    ("map", "kernel: entry of its tables, memory"),
    ("device", "kernel: entry of its tables, device"),
    ("user", "kernel: entry of a user's tables"),
    ("table", "kernel: user's table, edited by stores"),
    ("store", "kernel: its own table, edited by stores"),
    ("link", "kernel: a table of its own, linked"),
    ("mem", "`/proc/PID/mem`"),
    ("process-vm-readv", "`process_vm_readv`"),
    ("ptrace", "`ptrace`"),
    ("kcore", "`/proc/kcore`"),
    ("dev-mem", "`/dev/mem`"),
    ("core-dump", "core dump"),
];

impl Way {
    fn title(&self) -> &str {
        let known = WAYS.iter().find(|it| it.0 == self.name);
        known.map_or(self.name.as_str(), |it| it.1)
    }
}

impl Side {
    fn say(&self) -> String {
        format!(
            "{}, {}, {} messages",
            duration(self.seconds as f64),
            plural(self.rounds as usize, "round", "rounds"),
            figure(self.messages as f64, 0)
        )
    }
}

impl Counts {
    fn cells(&self) -> [String; 3] {
        if self.is_there {
            [self.read, self.refused, self.found].map(|it| figure(it as f64, 0))
        } else {
            ["not there", "", ""].map(str::to_owned)
        }
    }
}

impl Libraries {
    pub(super) fn show(&self, section: &mut Section) {
        section.heading("Libraries");
        section.text(format!(
            "Two libraries exchange messages, in compartments or in processes, while root and a \
             kernel module search all memory for them by each way in turn; {} CPUs, {}. Outside: \
             {}. Inside: {}.",
            self.cpus,
            self.memory,
            self.outside.say(),
            self.inside.say()
        ));
        let found: u64 = self.ways.iter().map(|it| it.inside.found).sum();
        if found > 0 {
            section.note(format!(
                "{} words of messages were found inside.",
                figure(found as f64, 0)
            ));
        }
        let header = [
            "way",
            "outside: pages read",
            "refused",
            "words found",
            "inside: pages read",
            "refused",
            "words found",
        ];
        let mut table = Table::new("A search for messages", &header);
        for it in &self.ways {
            let cells = [it.outside.cells(), it.inside.cells()].concat();
            table.row([vec![it.title().to_owned()], cells].concat());
        }
        section.add(Block::Table(table));
        section.text(
            "On the Morello board, root read the messages of libraries in compartments (its section \
             7.2), and a search of memory ended with a crash of the system.",
        );
    }
}
