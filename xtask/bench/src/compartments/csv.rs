// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of values with commas between them. Times are of a machine that takes a nanosecond for an
//! instruction, as QEMU's does under `-icount shift=0`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Report, memory};

const NANOSECONDS_OF_MILLISECOND: f64 = 1e6;
const KIB_OF_MB: f64 = 1024.0;

/// Writes a file for each table of what was measured.
pub fn write(directory: &Path, report: &Report) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    for (name, header, rows) in files(report) {
        let path = directory.join(format!("{name}.csv"));
        let mut text = format!("{header}\n");
        for row in rows {
            text.push_str(&row.join(","));
            text.push('\n');
        }
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

type File = (String, &'static str, Vec<Vec<String>>);

fn files(report: &Report) -> Vec<File> {
    let mut files = Vec::new();
    if let Some(it) = &report.number {
        let rows = it.rows.iter().map(|[count, kib, instructions]| {
            let used = *kib as f64 / KIB_OF_MB;
            let elapsed = milliseconds(*instructions);
            vec![count.to_string(), format!("{used:.2}"), elapsed]
        });
        files.push((
            "number".into(),
            "Number of Compartments,Memory Used (MB),Time Elapsed (ms)",
            rows.collect(),
        ));
    }
    for way in report.pipe.iter().flat_map(|it| &it.ways) {
        let rows = way.trials.iter().map(|[trial, write, read, total]| {
            let part = |it: u64| {
                if it == 0 {
                    String::new()
                } else {
                    milliseconds(it)
                }
            };
            vec![
                trial.to_string(),
                "1024".into(),
                part(*write),
                part(*read),
                milliseconds(*total),
            ]
        });
        files.push((
            way.name.into(),
            "Trial,Message Size (Bytes),Write Time (ms),Read Time (ms),Total Time (ms)",
            rows.collect(),
        ));
    }
    if let Some(it) = &report.memory {
        for (name, inside) in [("memory-inside", true), ("memory-outside", false)] {
            let row = |it: &memory::Size| {
                let costs = if inside { it.inside } else { it.outside };
                let more = if inside { it.reserve } else { 0 };
                let mut row = vec![it.megabytes.to_string()];
                let figures = [more + costs.grow, costs.write, costs.read, costs.release];
                row.extend(figures.map(milliseconds));
                row
            };
            files.push((
                name.into(),
                "Block Size (MB),Allocation Time (ms),Write Time (ms),Read Time (ms),Free Time (ms)",
                it.sizes.iter().map(row).collect(),
            ));
        }
    }
    if let Some(it) = &report.cpu_loops {
        let rows = it.loops.iter().map(|it| {
            let times = [it.outside, it.inside].map(|it| milliseconds(it.round() as u64));
            [vec![it.name.to_owned()], times.to_vec()].concat()
        });
        files.push((
            "cpu".into(),
            "Trial Type,CPU Time (ms) - Normal,CPU Time (ms) - Secure",
            rows.collect(),
        ));
    }
    if let Some(it) = &report.call {
        let all = [
            ("user_call", &it.user),
            ("unknown_request", &it.unknown_request),
            ("kernel_call", &it.kernel),
            ("wipe_mib", &it.wipe_mib),
        ];
        let rows = all.into_iter().flat_map(|(name, it)| {
            let trials = (1..).zip(&it.samples);
            trials.map(move |(trial, cost): (u64, _)| {
                vec![name.to_owned(), trial.to_string(), milliseconds(*cost)]
            })
        });
        files.push(("call".into(), "Operation,Trial,Time (ms)", rows.collect()));
    }
    if let Some(it) = &report.trust {
        let trials = (1..).zip(&it.trials);
        let rows = trials.map(|(number, it): (u64, _)| {
            let columns = it.columns().map(ToOwned::to_owned);
            [vec![number.to_string()], columns.to_vec()].concat()
        });
        files.push((
            "trust".into(),
            "Trial num.,Execution env.,User privileges,Access,Sensitive Data Visible",
            rows.collect(),
        ));
    }
    if let Some(it) = &report.libraries {
        let rows = it.ways.iter().flat_map(|it| {
            let sides = [
                ("in Compartment", it.inside),
                ("out Compartment", it.outside),
            ];
            sides.map(|(place, counts)| {
                let there = if counts.is_there { "Yes" } else { "No" };
                let mut row = [it.name, place, there].map(ToOwned::to_owned).to_vec();
                row.extend([counts.read, counts.refused, counts.found].map(|it| it.to_string()));
                row
            })
        });
        files.push((
            "libraries".into(),
            "Way,Execution env.,Available,Pages Read,Pages Refused,Words Found",
            rows.collect(),
        ));
    }
    files
}

fn milliseconds(instructions: u64) -> String {
    format!("{:.6}", instructions as f64 / NANOSECONDS_OF_MILLISECOND)
}
