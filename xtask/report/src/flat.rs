// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of whatever a JSON document has: objects in objects become columns.

use donjon_figures::format::number;
use donjon_figures::records::NATIVE;
use serde::Serialize;
use serde_json::Value;

/// A table of words and figures.
#[derive(Debug, Default, Serialize)]
pub struct Flat {
    /// Heads of columns, those of words first.
    head: Vec<String>,
    /// Number of columns of words.
    words: usize,
    /// Rows.
    rows: Vec<Vec<String>>,
}

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
/// Details that a table has no room for.
const DETAILS: &str = "kinds";
/// What groups the modes, whose names are enough.
const MODES: &str = "modes";

/// Lays out a list of objects, or one object; a row for each kernel if it has figures of several.
pub fn table(value: &Value) -> Flat {
    let rows: Vec<Vec<(String, Value)>> = match value {
        Value::Array(rows) => rows.iter().map(fields).collect(),
        Value::Object(all) if all.contains_key(MODES) => return table(&by_kernel(value)),
        Value::Object(_) => {
            let row = |(name, it)| {
                vec![
                    ("what".to_owned(), Value::String(name)),
                    ("figure".to_owned(), it),
                ]
            };
            fields(value).into_iter().map(row).collect()
        }
        _ => Vec::new(),
    };
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_word = |name: &str| {
        rows.iter()
            .flatten()
            .any(|it| it.0 == name && it.1.is_string())
    };
    names.sort_by_key(|it| !is_word(it));
    let cells = |row: &Vec<(String, Value)>| {
        let cell = |name: &&String| row.iter().find(|it| it.0 == **name);
        let cell = |name| cell(name).map_or(String::new(), |it| plain(&it.1));
        names.iter().map(cell).collect()
    };
    Flat {
        head: names.iter().map(|it| head(it)).collect(),
        words: names.iter().filter(|it| is_word(it)).count(),
        rows: rows.iter().map(cells).collect(),
    }
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
        if let Some(row) = row.as_object_mut() {
            row.insert("kernel".to_owned(), name.into());
        }
        row
    };
    kernels.map(row).collect()
}

/// The fields of an object, those of objects in it as well.
fn fields(value: &Value) -> Vec<(String, Value)> {
    let Value::Object(all) = value else {
        return vec![(String::new(), value.clone())];
    };
    let shown = all.iter().filter(|(name, _)| *name != DETAILS);
    let inner = shown.flat_map(|(name, value)| {
        let inner = fields(value).into_iter();
        inner.map(
            move |(below, value)| match (name.as_str(), below.as_str()) {
                (_, "") => (name.clone(), value),
                (MODES, _) => (below, value),
                _ => (format!("{name} {below}"), value),
            },
        )
    });
    inner.collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(figure) => figure.as_f64().map_or(String::new(), |it| match it {
            it if it.fract() == 0.0 => number(it, 0),
            it if it.abs() < 10.0 => number(it, 3),
            it => number(it, 1),
        }),
        Value::Bool(it) => if *it { "yes" } else { "no" }.to_owned(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_a_table_has_is_shown() {
        let rows = table(&json!([
            {"exponent": 0.5, "name": "map", "modes": {"native": {"exponent": 1, "kinds": {"a": 2}}}},
            {"name": "fork", "note": null},
        ]));
        assert_eq!(rows.head, ["name", "exponent", "native exponent", "note"]);
        assert_eq!(rows.rows[0], ["map", "0.500", "1", ""]);
        assert_eq!(rows.words, 1);
        let one = table(&json!({"text_bytes": 1234, "share": {"of_ram": 0.1}}));
        assert_eq!(
            one.rows,
            [["text_bytes", "1,234"], ["share of_ram", "0.100"]]
        );
        let boot = table(&json!({"native": {"to_clock": 1}, "modes": {"asid": {"to_clock": 2}}}));
        assert_eq!(boot.head, ["kernel", "to Linux's clock"]);
        assert_eq!(boot.rows, [["native", "1"], ["asid", "2"]]);
        assert_eq!(head("asid linux total_kib"), "asid linux MemTotal, KiB");
        let steps = table(&json!([{"name": "map", "last_steps": {"modes": {"asid": [0.9, 1.1]}}}]));
        assert_eq!(steps.head, ["name", "last steps asid"]);
        assert_eq!(steps.rows, [["map", "0.900 1.100"]]);
        assert!(table(&Value::Null).rows.is_empty());
        assert!(table(&json!([])).rows.is_empty());
    }
}
