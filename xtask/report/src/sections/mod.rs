// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sections of the report, each from the JSON of one part.

mod attacks;
mod audit;
mod calls;
mod compartments;
mod frame;
mod idc;
mod kselftests;
mod lmbench;
mod programs;
mod projection;
mod provenance;
mod scale;
mod stress;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::{Document, Headline, Section};
use crate::envelope::Tree;
use crate::store::Loaded;
use donjon_figures::parts::Part;

/// Modes in the order of all tables.
const MODES: [&str; 3] = ["asid", "tlbi", "strict"];
/// The kernel without Donjon.
const NATIVE: &str = "native";

/// What the report is made of.
pub struct Material {
    /// Figures by part.
    pub parts: BTreeMap<Part, Loaded>,
    /// Why a part is missing or older than was asked for.
    pub reasons: BTreeMap<Part, String>,
    /// The sources as they are now.
    pub tree: Tree,
    /// When the report is made.
    pub date: String,
}

/// What a part gives to the report.
struct Chapter {
    section: Section,
    headline: Vec<Headline>,
}

/// Makes the report. A part whose JSON has another form is listed as not measured.
///
/// # Errors
///
/// If a file of the project itself cannot be read.
pub fn document(mut material: Material) -> Result<Document> {
    let mut chapters = Vec::new();
    let mut unreadable = Vec::new();
    for (part, loaded) in &material.parts {
        match chapter(*part, &loaded.value) {
            Ok(chapter) => chapters.push(chapter),
            Err(error) => unreadable.push((*part, format!("{error:#}"))),
        }
    }
    for (part, why) in unreadable {
        material.parts.remove(&part);
        material.reasons.insert(part, why);
    }
    let mut sections = vec![provenance::section(&material)];
    let mut headline = Vec::new();
    for chapter in chapters {
        sections.push(chapter.section);
        headline.extend(chapter.headline);
    }
    sections.extend(projection::section(&material)?);
    sections.push(frame::method());
    sections.push(frame::caveats());
    sections.push(provenance::missing(&material));
    Ok(Document {
        title: "Donjon: what was measured".into(),
        summary: frame::SUMMARY.into(),
        headline,
        sections,
    })
}

fn chapter(part: Part, value: &Value) -> Result<Chapter> {
    match part {
        Part::Idc => idc::chapter(&read(value)?),
        Part::Lmbench => lmbench::chapter(&read(value)?),
        Part::Calls => calls::chapter(&read(value)?),
        Part::Programs => programs::chapter(&read(value)?),
        Part::Scale => scale::chapter(value),
        Part::Stress => stress::chapter(&read(value)?),
        Part::Compartments => compartments::chapter(&read(value)?),
        Part::Attacks => attacks::chapter(&read::<Vec<_>>(value)?),
        Part::Audit => audit::chapter(&read(value)?),
        Part::Kselftests => kselftests::chapter(&read(value)?),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T> {
    serde_json::from_value(value.clone()).context("its JSON has another form")
}

/// The names of modes, those that are known first.
fn modes<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = names
        .into_iter()
        .filter(|it| *it != NATIVE)
        .cloned()
        .collect();
    let place = |it: &String| {
        MODES
            .iter()
            .position(|mode| mode == it)
            .unwrap_or(MODES.len())
    };
    all.sort_by_key(|it| (place(it), it.clone()));
    all.dedup();
    all
}

fn headline(value: impl Into<String>, what: impl Into<String>) -> Headline {
    Headline {
        value: value.into(),
        what: what.into(),
    }
}

#[cfg(test)]
mod tests;
