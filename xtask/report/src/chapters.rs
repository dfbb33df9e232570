// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chapters of the report: one from the JSON of each part, and those around them.

use std::collections::BTreeMap;

use anyhow::Result;
use donjon_figures::parts::Part;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use crate::envelope::{Envelope, Tree, UNKNOWN};
use crate::markdown::Chapter;
use crate::store::{Loaded, Origin};
use crate::templates::Templates;

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

/// The report, before it becomes HTML or Markdown.
pub struct Report {
    /// The title of the page, and what it is about.
    pub head: Chapter,
    /// What is below it.
    pub chapters: Vec<Chapter>,
}

/// Makes the report. A part whose JSON has another form is listed as not measured.
///
/// # Errors
///
/// If a file of the project itself cannot be read.
pub fn report(templates: &Templates, mut material: Material) -> Result<Report> {
    let mut of_parts = Vec::new();
    let mut unreadable = Vec::new();
    for (part, loaded) in &material.parts {
        match chapter(templates, *part, &loaded.value) {
            Ok(chapter) => of_parts.push(chapter),
            Err(error) => unreadable.push((*part, format!("{error:#}"))),
        }
    }
    for (part, why) in unreadable {
        material.parts.remove(&part);
        material.reasons.insert(part, why);
    }
    let frame = |id| templates.chapter(id, frame(&material));
    let mut chapters = vec![frame("where")?];
    chapters.extend(of_parts);
    let idc = material.parts.get(&Part::Idc);
    if idc.is_some_and(|it| it.value["unit"] == "instructions") {
        chapters.push(frame("projection")?);
    }
    for id in ["method", "caveats", "missing"] {
        chapters.push(frame(id)?);
    }
    let head = frame("summary")?;
    Ok(Report { head, chapters })
}

/// Makes the chapter of a part from its JSON document, which is read into its record first.
fn chapter(templates: &Templates, part: Part, value: &Value) -> Result<Chapter> {
    let record = (part.row().check)(value)?;
    let data = minijinja::Value::from(Serde(record));
    templates.chapter(part.name(), context! { title => part.title(), data })
}

/// What is known of a part.
#[derive(Serialize)]
struct Known<'a> {
    name: &'static str,
    commit: String,
    is_recorded: bool,
    is_wall_time: bool,
    goal: Option<&'static str>,
    about: Option<&'a Envelope>,
    why: Option<&'a String>,
}

/// What the chapters around those of parts are made of.
fn frame(material: &Material) -> minijinja::Value {
    let parts = material.parts.iter();
    let parts = parts.map(|(part, it)| {
        let tree = it.envelope.as_ref().map(|it| it.tree.short());
        Known {
            name: part.name(),
            commit: tree.unwrap_or_else(|| UNKNOWN.to_owned()),
            is_recorded: it.origin == Origin::Record,
            is_wall_time: part.row().is_wall_time,
            goal: part.row().goal,
            about: it.envelope.as_ref(),
            why: material.reasons.get(part),
        }
    });
    let parts: Vec<Known<'_>> = parts.collect();
    let absent = Part::ALL
        .iter()
        .filter(|it| !material.parts.contains_key(it));
    let absent: Vec<_> = absent
        .map(|it| (it.name(), material.reasons.get(it)))
        .collect();
    let data = material.parts.iter();
    let data: BTreeMap<&str, &Value> = data.map(|(part, it)| (part.name(), &it.value)).collect();
    context! {
        date => material.date.clone(),
        commit => material.tree.short(),
        unknown => UNKNOWN,
        parts => Serde(parts),
        absent => Serde(absent),
        data => Serde(data),
    }
}

#[cfg(test)]
mod tests;
