// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table and the JSON file.

use std::fmt;

use comfy_table::{CellAlignment, Table, presets};
use donjon_machine::arguments::Switch;
use serde_json::{Value, json};

use super::path::PathCost;
use super::samples::{COUNT, Samples};

/// Everything that was measured.
pub struct Report {
    /// Release of the Linux that ran.
    pub linux: String,
    unit: Unit,
    cpu: String,
    modes: Vec<(Switch, Samples, Option<PathCost>)>,
    others: Vec<(&'static str, Samples)>,
    cores: Vec<Core>,
}

/// The figures of one CPU of a machine whose CPUs may be of several types.
struct Core {
    midr: String,
    cpu: u32,
    figures: Report,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Instructions, in QEMU under `-icount shift=0`.
    Instructions,
    /// Nanoseconds of wall time that QEMU takes.
    Nanoseconds,
    /// Cycles of a board.
    Cycles,
    /// Cycles of gem5's model of a core.
    ModelCycles,
}

impl Unit {
    /// The value of `unit` in the document.
    const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Nanoseconds => "nanoseconds of QEMU wall time (emulator)",
            Self::Cycles => "cycles",
            Self::ModelCycles => "cycles of a model (gem5)",
        }
    }

    /// What is said above the table.
    const fn title(self) -> &'static str {
        match self {
            Self::Instructions => "instructions (PMCCNTR_EL0 under -icount shift=0)",
            Self::Nanoseconds => {
                "nanoseconds, QEMU wall time (emulator): no statement about hardware"
            }
            Self::Cycles => "cycles of the board (PMCCNTR_EL0)",
            Self::ModelCycles => "cycles of gem5's model of a core (PMCCNTR_EL0): no hardware",
        }
    }
}

/// Most instructions that the null call may take.
fn target(switch: Switch) -> Option<f64> {
    match switch {
        Switch::Asid => Some(60.0),
        Switch::Strict => Some(72.0),
        Switch::Tlbi | Switch::None => None,
    }
}

impl Report {
    /// An empty report.
    pub fn new(unit: Unit, cpu: &str) -> Self {
        let (modes, others) = (Vec::new(), Vec::new());
        Self {
            linux: String::new(),
            unit,
            cpu: cpu.to_owned(),
            modes,
            others,
            cores: Vec::new(),
        }
    }

    /// Adds the null call of one mode. What it costs is counted in the inner domain's file, if
    /// that is known.
    pub fn add_mode(&mut self, switch: Switch, samples: Samples, cost: Option<PathCost>) {
        self.modes.push((switch, samples, cost));
    }

    /// Adds something to compare with.
    pub fn add(&mut self, name: &'static str, samples: Samples) {
        self.others.push((name, samples));
    }

    /// Adds the figures of the CPU with this number, the first of its type.
    pub fn add_core(&mut self, midr: &str, cpu: u32, figures: Self) {
        let midr = midr.to_owned();
        self.cores.push(Core { midr, cpu, figures });
    }

    /// The JSON document.
    pub fn json(&self) -> Value {
        let mut document = json!({
            "unit": self.unit.name(),
            "samples": COUNT,
            "modes": {},
        });
        self.add_figures(&mut document);
        document["cpu"] = self.cpu.clone().into();
        document["linux"] = self.linux.clone().into();
        if !self.cores.is_empty() {
            document["cores"] = self.cores.iter().map(Core::json).collect();
        }
        document
    }

    fn add_figures(&self, document: &mut Value) {
        for (switch, samples, cost) in &self.modes {
            let mut value = moments(samples);
            if let Some(cost) = cost {
                value["tcr_writes"] = cost.tcr_writes.into();
                value["isb"] = cost.isb.into();
                value["tlb_ops"] = cost.tlb_ops.into();
            }
            document["modes"][switch.name()] = value;
        }
        for (name, samples) in &self.others {
            document[name] = moments(samples);
        }
    }

    /// A row for each mode and operation.
    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header([
            "operation",
            "mean",
            "median",
            "stddev",
            "TCR writes",
            "ISBs",
            "TLB ops",
        ]);
        let numbers = |samples: &Samples| {
            [
                samples.mean(),
                samples.median(),
                samples.standard_deviation(),
            ]
            .map(|it| format!("{it:.1}"))
        };
        for (switch, samples, cost) in &self.modes {
            let mut row = vec![format!("null IDC, {}", switch.name())];
            row.extend(numbers(samples));
            if let Some(cost) = cost {
                row.extend([cost.tcr_writes, cost.isb, cost.tlb_ops].map(|it| it.to_string()));
            }
            table.add_row(row);
        }
        for (name, samples) in &self.others {
            let mut row = vec![name.replace('_', " ").replace("syscall", "system call")];
            row.extend(numbers(samples));
            table.add_row(row);
        }
        for column in table.column_iter_mut().skip(1).take(6) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    /// The target that a mode misses.
    fn missed(&self, switch: Switch, samples: &Samples) -> Option<f64> {
        target(switch).filter(|it| self.unit == Unit::Instructions && samples.median() > *it)
    }
}

impl Core {
    fn json(&self) -> Value {
        let mut document = json!({
            "midr": self.midr,
            "cpu": self.cpu,
            "modes": {},
        });
        self.figures.add_figures(&mut document);
        document
    }
}

fn moments(samples: &Samples) -> Value {
    json!({
        "mean": round(samples.mean()),
        "median": round(samples.median()),
        "stddev": round(samples.standard_deviation()),
    })
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}; {COUNT} samples on one CPU; {}, Linux {}",
            self.unit.title(),
            self.cpu,
            self.linux
        )?;
        write!(f, "{}", self.table())?;
        // The first core's figures are those above.
        for core in self.cores.iter().skip(1) {
            let (cpu, midr, table) = (core.cpu, &core.midr, core.figures.table());
            write!(f, "\n\nCPU {cpu}, MIDR_EL1 {midr}\n{table}")?;
        }
        for (switch, samples, _) in &self.modes {
            if let Some(target) = self.missed(*switch, samples) {
                let (name, median) = (switch.name(), samples.median());
                write!(
                    f,
                    "\nWARNING: {name} takes {median}, the target is at most {target}"
                )?;
            }
        }
        Ok(())
    }
}
