// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table and the JSON file.

use std::fmt;

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use donjon_machine::arguments::Switch;
use serde_json::{Map, Value, json};

use super::published;
use super::rows::Row;

/// What the figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds of QEMU: 1000 instructions, or wall time.
    Microseconds,
    /// Thousands of cycles of gem5's model of a core, which LMBench takes for microseconds.
    ModelCycles,
}

impl Unit {
    /// The value of `unit` in the document.
    const fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "microseconds",
            Self::ModelCycles => "thousand cycles of a model (gem5)",
        }
    }

    /// What stands behind a column's name.
    const fn short(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::ModelCycles => "kcycles",
        }
    }
}

/// Mean and standard deviation over layouts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of a sample; 0 for a sample of one.
    pub deviation: f64,
}

impl Spread {
    /// Mean and deviation of at least one figure.
    pub fn of(figures: &[f64]) -> Self {
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|it| (it - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        Self { mean, deviation }
    }
}

/// What was measured.
pub struct Report {
    /// Where the programs come from.
    pub source: String,
    /// What has to be said about them.
    pub note: Option<&'static str>,
    /// How many layouts there were.
    pub layouts: u32,
    /// What is counted.
    pub unit: Unit,
    /// The machine.
    pub machine: String,
    /// Model of its CPU.
    pub cpu: String,
    /// The first lines of the table: machine and unit.
    pub head: String,
    /// The rows.
    pub rows: Vec<&'static Row>,
    /// For each row, without protection.
    pub native: Vec<Spread>,
    /// For each mode, its name and all rows.
    pub modes: Vec<(Switch, Vec<Spread>)>,
}

impl Report {
    /// Percent over native.
    fn overhead(&self, row: usize, spread: Spread) -> f64 {
        (spread.mean / self.native[row].mean - 1.0) * 100.0
    }

    /// The JSON document.
    pub fn json(&self) -> Value {
        let mut rows = Map::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut value = json!({ "native": round(self.native[number].mean) });
            for (switch, spreads) in &self.modes {
                let spread = spreads[number];
                value[switch.name()] = json!({
                    "mean": round(spread.mean),
                    "stddev": round(spread.deviation),
                    "overhead_percent": round(self.overhead(number, spread)),
                });
            }
            rows.insert(row.name.to_owned(), value);
        }
        let mut document = json!({
            "unit": self.unit.name(),
            "layouts": self.layouts,
            "source": self.source,
            "rows": rows,
        });
        if self.unit == Unit::ModelCycles {
            document["machine"] = self.machine.clone().into();
            document["cpu"] = self.cpu.clone().into();
        }
        document
    }

    /// The table as text.
    pub fn table(&self) -> Result<String> {
        let published = published::read()?;
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let unit = self.unit.short();
        let mut header = vec!["row".to_owned(), format!("native {unit}")];
        for (switch, _) in &self.modes {
            header.push(format!("{} {unit}", switch.name()));
            header.push("over native".to_owned());
        }
        header.extend(published::COLUMNS.map(str::to_owned));
        let columns = header.len();
        table.set_header(header);
        for (number, row) in self.rows.iter().enumerate() {
            let mut cells = vec![row.name.to_owned(), self.native[number].to_string()];
            for (_, spreads) in &self.modes {
                cells.push(spreads[number].to_string());
                cells.push(format!("{:+.1} %", self.overhead(number, spreads[number])));
            }
            cells.extend(published.cells(row.name));
            table.add_row(cells);
        }
        for column in table.column_iter_mut().skip(1).take(columns - 1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        Ok(format!("{}\n{table}", self.head))
    }
}

/// Ten-thousandths are what LMBench prints.
fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = match self.mean {
            it if it < 10.0 => 3,
            it if it < 100.0 => 2,
            _ => 1,
        };
        write!(f, "{:.places$} ± {:.places$}", self.mean, self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmbench::rows::selected;

    fn report() -> Report {
        Report {
            source: "own programs".into(),
            note: None,
            layouts: 2,
            unit: Unit::Microseconds,
            machine: "virt".into(),
            cpu: "cortex-a57".into(),
            head: "head".into(),
            rows: selected(&["fork+exit".into()]).expect("a row"),
            native: vec![Spread::of(&[100.0, 102.0])],
            modes: vec![(Switch::Asid, vec![Spread::of(&[110.0, 112.0])])],
        }
    }

    #[test]
    fn the_json_file_has_the_agreed_form() {
        let expected = r#"{"unit":"microseconds","layouts":2,"source":"own programs","rows":{"fork+exit":{"native":101.0,"asid":{"mean":111.0,"stddev":1.4142,"overhead_percent":9.901}}}}"#;
        assert_eq!(report().json().to_string(), expected);
    }

    #[test]
    fn cycles_of_a_model_are_not_called_microseconds() {
        let report = Report {
            unit: Unit::ModelCycles,
            machine: "gem5".into(),
            cpu: "o3".into(),
            ..report()
        };
        let json = report.json();
        assert_eq!(json["unit"], "thousand cycles of a model (gem5)");
        assert_eq!(json["machine"], "gem5");
        assert_eq!(json["cpu"], "o3");
        assert_eq!(json["rows"]["fork+exit"]["native"], 101.0);
        let table = report.table().expect("a table");
        assert!(table.contains("native kcycles") && table.contains("asid kcycles"));
        assert!(!table.contains(" us "), "{table}");
    }

    #[test]
    fn the_table_has_published_figures_beside() {
        let table = report().table().expect("a table");
        for part in [
            "head\n",
            "101.0 ± 1.4",
            "111.0 ± 1.4",
            "+9.9 %",
            "23.0 / 14.7",
        ] {
            assert!(table.contains(part), "{part} in\n{table}");
        }
    }

    #[test]
    fn one_layout_has_no_spread() {
        assert_eq!(
            Spread::of(&[3.0]),
            Spread {
                mean: 3.0,
                deviation: 0.0
            }
        );
    }
}
