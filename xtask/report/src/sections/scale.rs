// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost as the work grows. Tables whose columns are not known here are shown as they are.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Chapter, NATIVE, headline, modes};
use crate::document::{Block, Figure, Section, Table};
use crate::plot::{Chart, Colour, Curve, Curves};
use crate::published;
use donjon_figures::format::{added, number, percent};
use donjon_figures::parts::Part;

/// A measurement: an operation on a number of pages.
struct Point {
    name: String,
    pages: f64,
    native: Option<f64>,
    /// Figures by mode.
    modes: BTreeMap<String, Figures>,
}

/// Figures of an operation in a mode.
struct Figures {
    instructions: f64,
    calls: Option<f64>,
    /// Instructions in the inner domain.
    inside: Option<f64>,
}

/// Tables besides the operations, and what they show.
const TABLES: [(&str, &str); 5] = [
    (
        "exponents",
        "Exponents: the cost grows with this power of the pages",
    ),
    ("cpus", "The same work on more CPUs"),
    ("memory", "Memory of the inner domain"),
    (
        "boot",
        "A boot over each kernel: instructions from reset to the first process, and its parts",
    ),
    ("longest", "The longest calls meanwhile"),
];

/// Words of names in the file, and what stands for them in a head. The first that fits counts.
const WORDS: [(&str, &str); 12] = [
    ("ram kib", "RAM, KiB"),
    ("inner kib", "inner domain, KiB"),
    ("text kib", "its code, KiB"),
    ("total kib", "MemTotal, KiB"),
    ("available kib", "MemAvailable, KiB"),
    ("wall milliseconds", "wall time, ms"),
    ("cpus", "CPUs"),
    ("to clock", "to Linux's clock"),
    ("to kernel up", "to its end of initialisation"),
    ("to process", "to the first process"),
    ("to first instruction", "to its first instruction"),
    ("waits ", "looks at a held lock, "),
];

pub(super) fn chapter(value: &Value) -> Result<Chapter> {
    let points = points(value)?;
    let mut section = Section::new(Part::Scale.name(), Part::Scale.title());
    let word = |name: &str| value[name].as_str().unwrap_or("not named").to_owned();
    section.text(format!(
        "The same operation on more and more pages: {}. CPU {}, Linux {}.",
        word("unit"),
        word("cpu"),
        word("linux")
    ));
    let instructions = |it: &Point| it.modes.get("asid").map(|it| it.instructions);
    let calls = |it: &Point| it.modes.get("asid").and_then(|it| it.calls);
    if let Some(figure) = curves(&points, "instructions", instructions) {
        section.add(Block::Figure(figure));
    }
    if let Some(figure) = curves(&points, "calls", calls) {
        section.add(Block::Figure(figure));
    }
    section.add(Block::Table(table(&points)));
    section.text(
        "Entries are those of the last level of the tables, one for each page. Instructions for an \
         entry are those in the inner domain, without the gate.",
    );
    section.add(published::of_section(
        Part::Scale,
        "What others published of a fork with 1 GiB, which is 262,144 pages: time on hardware",
    )?);
    for (name, caption) in TABLES {
        if let Some(table) = generic(caption, &value[name]) {
            section.add(Block::Table(table));
        }
    }
    let largest = points
        .iter()
        .max_by(|one, other| one.pages.total_cmp(&other.pages));
    let mut chapter = Chapter {
        section,
        headline: Vec::new(),
    };
    if let Some(largest) = largest
        && let Some(added) = instructions(largest)
            .zip(largest.native)
            .and_then(|(with, without)| added(without, with))
    {
        let what = format!("{} of {} pages", largest.name, number(largest.pages, 0));
        chapter.headline.push(headline(
            percent(added),
            format!("that `asid` adds to {what}"),
        ));
    }
    Ok(chapter)
}

fn points(value: &Value) -> Result<Vec<Point>> {
    let operations = value["operations"]
        .as_array()
        .context("there are no operations")?;
    let point = |it: &Value| {
        let modes = it["modes"].as_object().into_iter().flatten();
        let figures = modes.filter_map(|(mode, it)| {
            let instructions = it["instructions"].as_f64()?;
            let (calls, inside) = (it["calls"].as_f64(), it["inside"].as_f64());
            let figures = Figures {
                instructions,
                calls,
                inside,
            };
            Some((mode.clone(), figures))
        });
        Some(Point {
            name: it["name"].as_str()?.to_owned(),
            pages: it["pages"].as_f64()?,
            native: it[NATIVE]["instructions"].as_f64(),
            modes: figures.collect(),
        })
    };
    let points = operations
        .iter()
        .map(|it| point(it).context("an operation has no name or pages"));
    points.collect()
}

/// The names of operations, in their order.
fn names(points: &[Point]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.name.as_str()) {
            names.push(&point.name);
        }
    }
    names
}

fn curves(points: &[Point], what: &str, of: impl Fn(&Point) -> Option<f64>) -> Option<Figure> {
    let mut curves = Vec::new();
    let mut said = Vec::new();
    for (number_of, name) in names(points).into_iter().enumerate() {
        let these = points.iter().filter(|it| it.name == name);
        let mut line: Vec<(f64, f64)> = these
            .filter_map(|it| Some((it.pages, of(it)?)))
            .filter(|it| it.0 > 0.0 && it.1 > 0.0)
            .collect();
        line.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (Some(first), Some(last)) = (line.first(), line.last()) else {
            continue;
        };
        let figure = |it: &(f64, f64)| format!("{} at {}", number(it.1, 0), number(it.0, 0));
        said.push(format!(
            "{name} from {} to {} pages",
            figure(first),
            figure(last)
        ));
        curves.push(Curve {
            name: name.to_owned(),
            colour: Colour::LINES[number_of % Colour::LINES.len()],
            points: line,
        });
    }
    (!curves.is_empty()).then(|| Figure {
        caption: format!(
            "One operation in mode `asid`: {what} over pages; both axes are logarithmic."
        ),
        alternative: format!("Lines, {what} over pages: {}.", said.join("; ")),
        chart: Chart::Curves(Curves {
            across: "pages".into(),
            up: what.to_owned(),
            curves,
        }),
    })
}

fn table(points: &[Point]) -> Table {
    let all: Vec<String> = points
        .iter()
        .flat_map(|it| it.modes.keys().cloned())
        .collect();
    let modes = modes(&all);
    let mut header = vec![
        "operation".to_owned(),
        "pages".into(),
        "native instructions".into(),
    ];
    header.extend(modes.iter().flat_map(|it| {
        let more = ["calls", "entries for a call", "instructions for an entry"];
        let more = more.map(|what| format!("{what}, `{it}`"));
        [vec![format!("`{it}`")], more.to_vec()].concat()
    }));
    let mut table = Table {
        caption: "What each mode adds to an operation on so many pages".into(),
        header,
        words: 1,
        rows: Vec::new(),
    };
    for point in points {
        let whole = |it: Option<f64>| it.map_or(String::new(), |it| number(it, 0));
        let mut cells = vec![
            point.name.clone(),
            number(point.pages, 0),
            whole(point.native),
        ];
        for mode in &modes {
            let figures = point.modes.get(mode);
            let added = figures
                .zip(point.native)
                .and_then(|(it, native)| added(native, it.instructions));
            cells.push(added.map_or(String::new(), percent));
            let calls = figures.and_then(|it| it.calls);
            let inside = figures.and_then(|it| it.inside);
            let of_call = calls.filter(|it| *it > 0.0).map(|it| point.pages / it);
            let of_entry = inside.map(|it| it / point.pages);
            let tenths = |it: Option<f64>| it.map_or(String::new(), |it| number(it, 1));
            cells.extend([calls, of_call, of_entry].map(tenths));
        }
        table.row(cells);
    }
    table.without_empty_columns()
}

/// A table of objects with whatever they have, or of one object; of the kernels if it has some.
fn generic(caption: &str, value: &Value) -> Option<Table> {
    let rows: Vec<Vec<(String, Value)>> = match value {
        Value::Array(rows) => rows.iter().map(flat).collect(),
        Value::Object(fields) if fields.contains_key(MODES) => {
            return generic(caption, &by_kernel(value));
        }
        Value::Object(_) => {
            let pairs = flat(value).into_iter();
            let pair = |(name, value)| {
                vec![
                    ("what".to_owned(), Value::String(name)),
                    ("figure".to_owned(), value),
                ]
            };
            pairs.map(pair).collect()
        }
        _ => return None,
    };
    let mut header: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !header.contains(name) {
            header.push(name.clone());
        }
    }
    let is_word = |name: &String| {
        let mut cells = rows.iter().flatten().filter(|it| it.0 == *name);
        cells.any(|it| it.1.is_string())
    };
    // Words first.
    header.sort_by_key(|it| !is_word(it));
    let words = header.iter().filter(|it| is_word(it)).count();
    let mut table = Table {
        caption: caption.to_owned(),
        header: header.iter().map(|it| head(it)).collect(),
        words,
        rows: Vec::new(),
    };
    for row in &rows {
        let cell = |name: &String| {
            let found = row.iter().find(|it| it.0 == *name);
            found.map_or(String::new(), |it| plain(&it.1))
        };
        table.row(header.iter().map(cell).collect());
    }
    (!table.rows.is_empty()).then_some(table)
}

/// A name of the file in plain words.
fn head(name: &str) -> String {
    let name = name.replace('_', " ");
    let found = WORDS.iter().find(|(words, _)| name.contains(words));
    found.map_or(name.clone(), |(words, plain)| {
        name.replacen(words, plain, 1)
    })
}

/// A row for each kernel: the native one and those of the modes.
fn by_kernel(value: &Value) -> Value {
    let modes = value[MODES].as_object().into_iter().flatten();
    let native = value.get(NATIVE).map(|it| (NATIVE, it));
    let kernels = native
        .into_iter()
        .chain(modes.map(|(mode, it)| (mode.as_str(), it)));
    let row = |(name, figures): (&str, &Value)| {
        let mut row = figures.clone();
        row["kernel"] = name.into();
        row
    };
    kernels.map(row).collect()
}

/// Details that a table has no room for.
const DETAILS: &str = "kinds";
/// What groups the modes, whose names are enough.
const MODES: &str = "modes";

/// The fields of an object, those of objects in it as well.
fn flat(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != DETAILS)
            .flat_map(|(name, value)| {
                let inner = flat(value).into_iter();
                inner.map(
                    move |(below, value)| match (name.as_str(), below.as_str()) {
                        (_, "") => (name.clone(), value),
                        (MODES, _) => (below, value),
                        _ => (format!("{name} {below}"), value),
                    },
                )
            })
            .collect(),
        _ => vec![(String::new(), value.clone())],
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(figure) => figure.as_f64().map_or(String::new(), |it| {
            let places = if it.fract() == 0.0 {
                0
            } else if it.abs() < 10.0 {
                3
            } else {
                1
            };
            number(it, places)
        }),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_a_table_has_is_shown() {
        let rows = json!([
            {"exponent": 0.5, "name": "map", "modes": {"native": {"exponent": 1, "kinds": {"a": 2}}}},
            {"name": "fork", "note": null},
        ]);
        let table = generic("c", &rows).expect("a table");
        assert_eq!(
            table.header,
            ["name", "exponent", "native exponent", "note"]
        );
        assert_eq!(table.rows[0], ["map", "0.500", "1", ""]);
        assert_eq!(table.words, 1);
        let one =
            generic("c", &json!({"text_bytes": 1234, "share": {"of_ram": 0.1}})).expect("a table");
        assert_eq!(one.rows[0], ["text_bytes", "1,234"]);
        let boot = json!({"native": {"to_clock": 1}, "modes": {"asid": {"to_clock": 2}}});
        let boot = generic("c", &boot).expect("a table");
        assert_eq!(boot.header, ["kernel", "to Linux's clock"]);
        assert_eq!(boot.rows, [["native", "1"], ["asid", "2"]]);
        assert_eq!(head("asid linux total_kib"), "asid linux MemTotal, KiB");
        assert_eq!(one.rows[1], ["share of_ram", "0.100"]);
        let steps = json!([{"name": "map", "last_steps": {"modes": {"asid": [0.9, 1.1]}}}]);
        let steps = generic("c", &steps).expect("a table");
        assert_eq!(steps.header, ["name", "last steps asid"]);
        assert_eq!(steps.rows, [["map", "0.900 1.100"]]);
        assert!(generic("c", &Value::Null).is_none());
        assert!(generic("c", &json!([])).is_none());
    }

    #[test]
    fn a_form_that_is_not_known_is_an_error() {
        assert!(chapter(&json!({"unit": "instructions"})).is_err());
        assert!(chapter(&json!({"operations": [{"pages": 1}]})).is_err());
    }
}
