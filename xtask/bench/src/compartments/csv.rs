// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of values with commas between them. Times are of a machine that takes a nanosecond for an
//! instruction, as QEMU's does under `-icount shift=0`.

use std::path::Path;

use anyhow::Result;
use donjon_figures::records::compartments::{Compartments, Size};

use super::trust;
use crate::table::{rounded, write_csv};

const NANOSECONDS_OF_MILLISECOND: f64 = 1e6;
const KIB_OF_MB: f64 = 1024.0;

/// Writes a file for each table of what was measured.
pub fn write(folder: &Path, all: &Compartments) -> Result<()> {
    if let Some(it) = &all.number {
        let rows = it.rows.iter().map(|[count, kib, instructions]| {
            let used = rounded(*kib as f64 / KIB_OF_MB, 2);
            vec![count.to_string(), used, milliseconds(*instructions)]
        });
        let header = "Number of Compartments,Memory Used (MB),Time Elapsed (ms)";
        write_csv(folder, "number", header, rows)?;
    }
    for way in all.pipe.iter().flat_map(|it| &it.ways) {
        let rows = way.trials.iter().map(|[trial, write, read, total]| {
            let parts = [*write, *read].map(|it| match it {
                0 => String::new(),
                it => milliseconds(it),
            });
            let [write, read] = parts;
            let trial = trial.to_string();
            vec![trial, "1024".into(), write, read, milliseconds(*total)]
        });
        let header = "Trial,Message Size (Bytes),Write Time (ms),Read Time (ms),Total Time (ms)";
        write_csv(folder, &way.name, header, rows)?;
    }
    if let Some(it) = &all.memory {
        for (name, inside) in [("memory-inside", true), ("memory-outside", false)] {
            let row = |it: &Size| {
                let costs = if inside { it.inside } else { it.outside };
                let more = if inside { it.reserve } else { 0 };
                let mut row = vec![it.megabytes.to_string()];
                let figures = [more + costs.grow, costs.write, costs.read, costs.release];
                row.extend(figures.map(milliseconds));
                row
            };
            let header = "Block Size (MB),Allocation Time (ms),Write Time (ms),Read Time (ms),\
                          Free Time (ms)";
            write_csv(folder, name, header, it.sizes.iter().map(row))?;
        }
    }
    if let Some(it) = &all.cpu_loops {
        let rows = it.loops.iter().map(|it| {
            let times = [it.outside, it.inside].map(|it| milliseconds(it.round() as u64));
            [vec![it.name.clone()], times.to_vec()].concat()
        });
        let header = "Trial Type,CPU Time (ms) - Normal,CPU Time (ms) - Secure";
        write_csv(folder, "cpu", header, rows)?;
    }
    if let Some(it) = &all.call {
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
        write_csv(folder, "call", "Operation,Trial,Time (ms)", rows)?;
    }
    if let Some(it) = &all.trust {
        let rows = (1..).zip(&it.trials).map(|(number, it): (u64, _)| {
            let columns = trust::columns(it).map(ToOwned::to_owned);
            [vec![number.to_string()], columns.to_vec()].concat()
        });
        let header = "Trial num.,Execution env.,User privileges,Access,Sensitive Data Visible";
        write_csv(folder, "trust", header, rows)?;
    }
    if let Some(it) = &all.libraries {
        let rows = it.ways.iter().flat_map(|it| {
            let sides = [
                ("in Compartment", it.inside),
                ("out Compartment", it.outside),
            ];
            sides.map(|(place, counts)| {
                let there = if counts.is_there { "Yes" } else { "No" };
                let mut row = [&it.name, place, there].map(ToOwned::to_owned).to_vec();
                row.extend([counts.read, counts.refused, counts.found].map(|it| it.to_string()));
                row
            })
        });
        let header = "Way,Execution env.,Available,Pages Read,Pages Refused,Words Found";
        write_csv(folder, "libraries", header, rows)?;
    }
    Ok(())
}

fn milliseconds(instructions: u64) -> String {
    rounded(instructions as f64 / NANOSECONDS_OF_MILLISECOND, 6)
}
