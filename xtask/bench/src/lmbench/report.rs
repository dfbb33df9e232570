// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table and the JSON file.

use std::fmt;

use anyhow::Result;
use donjon_figures::records::lmbench::{Cell, Lmbench, Row};
use donjon_machine::arguments::Switch;

use super::{published, rows};
use crate::table::{percent, table};

/// Unit of QEMU: 1000 instructions, or wall time.
pub const MICROSECONDS: &str = "microseconds";
/// Unit of gem5's model of a core, of which LMBench takes a thousand cycles for a microsecond.
pub const MODEL_CYCLES: &str = "thousand cycles of a model (gem5)";

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
    /// The figures.
    pub record: Lmbench,
    /// What has to be said about the programs.
    pub note: Option<&'static str>,
    /// The first lines of the table: machine and unit.
    pub head: String,
    native: Vec<Spread>,
}

impl Report {
    /// A report whose `record` has no rows yet. There is a spread for each row, for the native
    /// kernel and for each mode.
    pub fn new(
        record: Lmbench,
        head: String,
        note: Option<&'static str>,
        rows: &[&rows::Row],
        native: Vec<Spread>,
        modes: &[(Switch, Vec<Spread>)],
    ) -> Self {
        let mut this = Self {
            record,
            note,
            head,
            native,
        };
        for (number, (row, native)) in rows.iter().zip(&this.native).enumerate() {
            let cell = |(switch, spreads): &(Switch, Vec<Spread>)| {
                let spread = spreads[number];
                let cell = Cell {
                    mean: round(spread.mean),
                    stddev: round(spread.deviation),
                    overhead_percent: round(percent(spread.mean, native.mean)),
                };
                (switch.name().to_owned(), cell)
            };
            let row_of = Row {
                native: round(native.mean),
                modes: modes.iter().map(cell).collect(),
            };
            this.record.rows.insert(row.name.to_owned(), row_of);
        }
        this
    }

    /// The table as text.
    pub fn table(&self) -> Result<String> {
        let published = published::read()?;
        let unit = match self.record.unit.as_str() {
            MODEL_CYCLES => "kcycles",
            _ => "us",
        };
        let mut header = vec!["row".to_owned(), format!("native {unit}")];
        let modes = self.record.rows.values().next();
        for mode in modes.into_iter().flat_map(|it| it.modes.keys()) {
            header.extend([format!("{mode} {unit}"), "over native".to_owned()]);
        }
        header.extend(published::COLUMNS.map(str::to_owned));
        let rows = self.record.rows.iter().zip(&self.native);
        let rows = rows.map(|((name, row), native)| {
            let mut cells = vec![name.clone(), native.to_string()];
            for cell in row.modes.values() {
                let spread = Spread {
                    mean: cell.mean,
                    deviation: cell.stddev,
                };
                cells.push(spread.to_string());
                cells.push(format!("{:+.1} %", cell.overhead_percent));
            }
            cells.extend(published.cells(name));
            cells
        });
        Ok(format!("{}\n{}", self.head, table(1, header, rows)))
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

    fn report(unit: &str) -> Report {
        let record = Lmbench {
            unit: unit.into(),
            layouts: 2,
            source: "own programs".into(),
            ..Lmbench::default()
        };
        let rows = selected(&["fork+exit".into()]).expect("a row");
        let native = vec![Spread::of(&[100.0, 102.0])];
        let modes = [(Switch::Asid, vec![Spread::of(&[110.0, 112.0])])];
        Report::new(record, "head".into(), None, &rows, native, &modes)
    }

    #[test]
    fn figures_are_rounded_as_lmbench_prints_them() {
        let expected = r#"{"unit":"microseconds","layouts":2,"source":"own programs","rows":{"fork+exit":{"native":101.0,"asid":{"mean":111.0,"stddev":1.4142,"overhead_percent":9.901}}}}"#;
        let written = serde_json::to_string(&report(MICROSECONDS).record).expect("a document");
        assert_eq!(written, expected);
    }

    #[test]
    fn cycles_of_a_model_are_not_called_microseconds() {
        let table = report(MODEL_CYCLES).table().expect("a table");
        assert!(table.contains("native kcycles") && table.contains("asid kcycles"));
        assert!(!table.contains(" us "), "{table}");
    }

    #[test]
    fn the_table_has_published_figures_beside() {
        let table = report(MICROSECONDS).table().expect("a table");
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
