// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments against processes, beside library compartments of others.

mod call;
mod cpu;
mod libraries;
mod memory;
mod number;
mod pipe;
mod trust;

use anyhow::Result;
use serde::Deserialize;

use super::{Chapter, headline};
use crate::document::{Block, Section, Table};
use crate::plot::{Bar, Colour};
use crate::published::compartments::Morello;
use donjon_figures::format::number as figure;
use donjon_figures::parts::Part;

/// Document of `bench compartments --json`.
#[derive(Deserialize)]
pub struct Compartments {
    unit: String,
    cpu: String,
    linux: String,
    number: Option<number::Number>,
    pipe: Option<pipe::Pipes>,
    memory: Option<memory::Sizes>,
    cpu_loops: Option<cpu::Loops>,
    call: Option<call::Calls>,
    trust: Option<trust::Trust>,
    libraries: Option<libraries::Libraries>,
    goals: Vec<Goal>,
}

#[derive(Deserialize)]
struct Goal {
    name: String,
    /// Nothing if it is no number.
    figure: Option<f64>,
    most: f64,
    is_met: bool,
}

/// Colours of both sides, and their names.
const INSIDE: (Colour, &str) = (Colour::Asid, "inside");
const OUTSIDE: (Colour, &str) = (Colour::Native, "outside");

/// How the figures of others came about, as their text and their sources have it.
const NOTES: [&str; 5] = [
    "Its loops that write and read touch no memory: the inner loop runs `1000000 / block size` \
     times, and that is 0 for each of its sizes. Writing takes as long as reading there, though \
     the memory is new.",
    "Its tables of memory say milliseconds. The files that they were made of have 283.226 ms where \
     the table has 283,239: the unit is microseconds.",
    "The sources of its memory and pipe programs name `-O2` for the benchmark ABI and nothing for \
     the other builds. What that ABI gains over a process is a flag of the compiler.",
    "Each of its compartments is a process. The script that starts them sleeps after each, so the \
     time is no cost of making one.",
    "The time of its first read of a pipe has the wait for the other process in it.",
];

pub(super) fn chapter(all: &Compartments) -> Result<Chapter> {
    let morello = Morello::read()?;
    let mut section = Section::new(Part::Compartments.name(), Part::Compartments.title());
    section.text(format!(
        "The same work in a compartment and in a process of the same guest, in {}; CPU {}, Linux \
         {}. The guest is protected in both cases.",
        all.unit, all.cpu, all.linux
    ));
    section.text(
        "Beside it are library compartments on a Morello board (R. R. Schuch and C. \
         Molina-Jimenez, `tee-morello-performance-experiments`). They are measured in time on \
         hardware, ours in instructions in an emulator; what can be compared is how inside relates \
         to outside. About their figures:",
    );
    section.add(Block::List(NOTES.map(str::to_owned).to_vec()));
    let missed = all.goals.iter().filter(|it| !it.is_met);
    let missed: Vec<&str> = missed.map(|it| it.name.as_str()).collect();
    if !missed.is_empty() {
        section.note(format!("Goals that are missed: {}.", missed.join("; ")));
    }
    let mut chapter = Chapter {
        section,
        headline: Vec::new(),
    };
    let section = &mut chapter.section;
    if let Some(it) = &all.number {
        it.show(section, &morello);
        let kib = figure(it.kib_each(), 1);
        let count = figure(it.count as f64, 0);
        let what = format!("compartments at once in 4 GiB, {kib} KiB each");
        chapter.headline.push(headline(count, what));
    }
    if let Some(it) = &all.call {
        it.show(section);
        let what = "instructions for a call into a compartment and back, from user space";
        let call = figure(it.user.median, 0);
        chapter.headline.push(headline(call, what));
    }
    if let Some(it) = &all.memory {
        it.show(section, &morello);
    }
    if let Some(it) = &all.pipe {
        it.show(section, &morello);
    }
    if let Some(it) = &all.cpu_loops {
        it.show(section, &morello);
    }
    if let Some(it) = &all.trust {
        it.show(section, &morello);
    }
    if let Some(it) = &all.libraries {
        it.show(section);
    }
    section.heading("Goals");
    section.add(Block::Table(goals(&all.goals)));
    Ok(chapter)
}

fn goals(goals: &[Goal]) -> Table {
    let mut table = Table::new(
        "What was to be reached",
        &["goal", "figure", "at most", "met"],
    );
    for it in goals {
        let is_small = it.most > 0.0 && it.most < 10.0;
        let places = if is_small { 3 } else { 0 };
        table.row(vec![
            it.name.clone(),
            it.figure.map_or(String::new(), |it| figure(it, places)),
            figure(it.most, if it.most.fract() == 0.0 { 0 } else { 2 }),
            if it.is_met { "yes" } else { "no" }.into(),
        ]);
    }
    table
}

/// A bar of a series, with its figure.
fn bar(series: usize, value: f64, text: String) -> Bar {
    Bar {
        series,
        value,
        deviation: 0.0,
        text,
    }
}

/// Times as a figure; nothing where there is none.
fn times(ratio: Option<f64>) -> String {
    ratio.map_or(String::new(), |it| {
        figure(it, if it < 10.0 { 3 } else { 1 })
    })
}
