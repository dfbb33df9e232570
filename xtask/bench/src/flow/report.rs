// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was measured, for people and as a document.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::fig5::Fig5;
use super::hash::Hash;
use super::segments::Log;
use super::{MEMORY, write_csv};
use crate::compartments::table;

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What figures count.
    pub unit: &'static str,
    /// Model of the CPU.
    pub cpu: &'static str,
    /// Release of Linux.
    pub linux: String,
    /// The programs of the paper's figure 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fig5: Option<Fig5>,
    /// Hashing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
}

impl Report {
    /// A report without figures.
    pub fn new(cpu: &'static str) -> Self {
        Self {
            unit: "instructions (-icount shift=0)",
            cpu,
            linux: String::new(),
            fig5: None,
            hash: None,
            log: None,
        }
    }

    /// Writes the programs as values with commas between them.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_csv(&self, directory: &Path) -> Result<()> {
        let Some(fig5) = &self.fig5 else {
            return Ok(());
        };
        let row = |it: &super::fig5::Program| {
            let mut row = vec![it.name.to_owned(), it.repetitions.to_string()];
            let figures = [
                it.plain_outside,
                it.plain_inside,
                it.instrumented_outside,
                it.instrumented_inside,
                it.all_in_sha,
                it.all_in_software,
                it.words,
            ];
            row.extend(figures.map(|it| format!("{it:.0}")));
            row
        };
        let rows: Vec<_> = fig5.programs.iter().map(row).collect();
        write_csv(
            directory,
            "fig5",
            "Program,Repetitions,Plain outside,Plain inside,Instrumented outside,Instrumented \
             inside,All in (SHA extension),All in (software),Log words",
            &rows,
        )
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { unit, cpu, .. } = self;
        writeln!(f, "Linux {}, {cpu}; {unit}; 1 CPU, {MEMORY}", self.linux)?;
        if let Some(fig5) = &self.fig5 {
            writeln!(f, "\n{}", fig5.table())?;
            let percent =
                |it: Option<f64>| it.map_or(String::new(), |percent| format!("{percent:+.2} %"));
            let rows = fig5.rows().map(|it| {
                vec![
                    it.name.to_owned(),
                    format!("{:+.2} %", it.percent),
                    percent(it.seed),
                    percent(it.most),
                ]
            });
            let head = ["geometric mean", "here", "Sulfur", "at most"];
            writeln!(f, "\n{}", table(&head, rows))?;
            writeln!(
                f,
                "\nlog: {:.4} bytes for each instruction of the plain program; at most 0.06",
                fig5.log_bytes_per_instruction
            )?;
            writeln!(
                f,
                "Sulfur's figures are times, and its programs those of Embench. In the two logs of \
                 its FVP the 15 programs take 3.966 times as long with instrumentation, in both: \
                 these logs show no cost of Sulfur itself."
            )?;
        }
        for line in [
            self.hash.as_ref().map(Hash::line),
            self.log.as_ref().map(Log::line),
        ]
        .into_iter()
        .flatten()
        {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}
