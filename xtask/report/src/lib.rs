// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask report`: all measurements on one page.
//!
//! * `measure`: runs them, by starting this very program; `store` keeps their JSON, `envelope`
//!   what is known of it.
//! * `compare`: how the counts of two recorded runs differ.
//! * `chapters`: what becomes of each JSON document, by the `templates`; `flat` has tables of which
//!   only the JSON knows the columns, `projection` the costs of events.
//! * `markdown` and `html`: the two forms of a report, `chart` and `plot` its charts.

pub mod arguments;
mod chapters;
mod chart;
mod compare;
mod envelope;
mod flat;
mod html;
mod markdown;
mod measure;
mod plot;
mod projection;
mod store;
mod templates;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_figures::store::{Store, write};
use donjon_machine::paths;

use crate::arguments::{Choice, ReportArguments};
use crate::chapters::Material;
use crate::envelope::Tree;
use crate::templates::Templates;
use donjon_figures::parts::Part;

/// Said where nothing can be written.
const ELSEWHERE: &str = "make room for the report, or name another folder with --out";

/// Measures what is asked for and writes the report, or compares two runs; returns the exit status,
/// which is 1 if a part could not be measured, or if the runs differ by more than they may.
///
/// # Errors
///
/// If the report cannot be written, or nothing can be compared.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    if let [one, other] = &arguments.compare[..] {
        return compare::run(one, other);
    }
    let none = arguments.run.contains(&Choice::None);
    ensure!(
        !none || arguments.run.len() == 1,
        "`--run none` and other parts exclude each other"
    );
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| paths::in_root("target/report"));
    let folder = out.join("data");
    let store = Store::make(&folder).context(ELSEWHERE)?;
    // What cannot be removed is overwritten or named later.
    let _ = store.sweep(|_| false);
    let tree = Tree::now(&arguments.host);
    let mut reasons = BTreeMap::new();
    if let Some(data) = &arguments.data {
        ensure!(
            data.is_dir(),
            "--data: there is no folder {}",
            data.display()
        );
        let from = Store::new(&store::folder_of_data(data));
        ensure!(
            Part::ALL.iter().any(|it| from.path(it.name()).exists()),
            "--data: the folder {} has no file of a part, such as idc.json",
            data.display()
        );
        take_over(&from, &store, &mut reasons)?;
    }
    let has_data = arguments.data.is_some();
    let plan = measure::plan(&arguments.run, has_data, &store, &tree);
    for (done, part) in plan.iter().enumerate() {
        let place = (done, plan.len());
        if let Err(error) = measure::measure(*part, place, &arguments.host, &tree, &store) {
            eprintln!("{}: {error:#}", part.name());
            reasons.insert(*part, last_line(&format!("{error:#}")));
        }
    }
    let failed = plan.iter().filter(|it| reasons.contains_key(it)).count();
    let mut material = material(&store, tree, reasons)?;
    for part in Part::ALL {
        if !material.parts.contains_key(&part) && !material.reasons.contains_key(&part) {
            let why = measure::why_not_offered(part);
            material.reasons.extend(why.map(|it| (part, it)));
        }
    }
    let (count, all) = (material.parts.len(), Part::ALL.len());
    let templates = Templates::new()?;
    let report = chapters::report(&templates, material)?;
    let (page, summary) = (out.join("report.html"), out.join("report.md"));
    let (html, markdown) = (html::page(&templates, &report)?, markdown::page(&report));
    for (file, text) in [(&page, html), (&summary, markdown)] {
        write(file, text.as_bytes()).context(ELSEWHERE)?;
    }
    println!(
        "{count} of {all} parts: {}, {}",
        page.display(),
        summary.display()
    );
    Ok(u8::from(failed > 0))
}

/// Copies what another folder has.
fn take_over(from: &Store, store: &Store, reasons: &mut BTreeMap<Part, String>) -> Result<()> {
    for part in Part::ALL {
        match store::load(from, part) {
            Ok(None) => {}
            Ok(Some(loaded)) => {
                let json = fs::read(from.path(part.name())).context("--data")?;
                store.keep(part.name(), &json, loaded.envelope.as_ref())?;
            }
            Err(error) => {
                reasons.insert(part, format!("{error:#}"));
            }
        }
    }
    Ok(())
}

/// All figures that there are.
fn material(store: &Store, tree: Tree, mut reasons: BTreeMap<Part, String>) -> Result<Material> {
    let mut parts = BTreeMap::new();
    for part in Part::ALL {
        let loaded = match store::load(store, part) {
            Ok(Some(loaded)) => Some(loaded),
            Ok(None) => store::recorded(part)?,
            Err(error) => {
                reasons.insert(part, format!("{error:#}"));
                None
            }
        };
        parts.extend(loaded.map(|it| (part, it)));
    }
    Ok(Material {
        parts,
        reasons,
        tree,
        date: envelope::now(),
    })
}

/// What a failed command said last; the rest is in its log.
fn last_line(text: &str) -> String {
    let error = text.lines().rev().find(|it| it.starts_with("error: "));
    let line = error.or_else(|| text.lines().next()).unwrap_or_default();
    line.chars().take(300).collect()
}
