// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of the paper's figure 5 in four builds, and with all that a host does.

use anyhow::{Result, ensure};
use comfy_table::Table;
use donjon_figures::records::flow::{Fig5, Program};
use indexmap::IndexMap;

use super::programs::{FOLDER, NAMES};
use crate::compartments::lines::{self, median};
use crate::table::{more, rounded, table};

/// Instructions of a run, about, and trials.
const QUICK: (u64, u64) = (2_000_000, 1);
const FULL: (u64, u64) = (40_000_000, 3);

/// What the guest runs.
pub fn command(quick: bool) -> String {
    let (instructions, trials) = if quick { QUICK } else { FULL };
    format!(
        "donjon-flow fig5 {instructions} {trials} {FOLDER} {}",
        NAMES.join(" ")
    )
}

fn program(text: &str, name: &str) -> Result<Program> {
    let rows: Vec<[u64; 9]> = lines::rows(text, name)?;
    let column = |at: usize| median(rows.iter().map(|it| it[at]));
    let program = Program {
        repetitions: rows[0][1],
        plain_outside: column(2),
        plain_inside: column(3),
        instrumented_outside: column(4),
        instrumented_inside: column(5),
        all_in_sha: column(6),
        all_in_software: column(7),
        words: column(8),
    };
    ensure!(program.plain_outside > 0.0, "{name} took no instruction");
    Ok(program)
}

/// Reads what the guest printed.
pub fn read(text: &str) -> Result<Fig5> {
    let programs = NAMES.map(|name| Ok((name.to_owned(), program(text, name)?)));
    let programs: IndexMap<String, Program> = programs.into_iter().collect::<Result<_>>()?;
    let mean = |of: fn(&Program) -> f64| mean(programs.values().map(of));
    let percent = |of: fn(&Program) -> f64| (mean(of) - 1.0) * 100.0;
    Ok(Fig5 {
        plain_inside_over_outside_percent: percent(|it| it.plain_inside / it.plain_outside),
        instrumented_over_plain_percent: percent(|it| it.instrumented_outside / it.plain_outside),
        instrumented_inside_over_outside_percent: percent(|it| {
            it.instrumented_inside / it.instrumented_outside
        }),
        instrumented_inside_over_plain_inside_percent: percent(|it| {
            it.instrumented_inside / it.plain_inside
        }),
        all_in_sha_percent: percent(|it| it.all_in_sha / it.plain_outside),
        all_in_software_percent: percent(|it| it.all_in_software / it.plain_outside),
        log_bytes_per_instruction: mean(log_bytes),
        programs,
    })
}

fn log_bytes(program: &Program) -> f64 {
    8.0 * program.words / program.plain_outside
}

/// The ratios of geometric means beside the paper's, and the most that they may be.
pub fn ratios(fig5: &Fig5) -> Table {
    let rows = [
        (
            "inside over outside, plain",
            fig5.plain_inside_over_outside_percent,
            Some(1.67),
            Some(0.10),
        ),
        (
            "instrumented over plain, outside",
            fig5.instrumented_over_plain_percent,
            Some(59.88),
            Some(40.0),
        ),
        (
            "instrumented over plain, inside",
            fig5.instrumented_inside_over_plain_inside_percent,
            Some(62.99),
            None,
        ),
        (
            "inside over outside, instrumented",
            fig5.instrumented_inside_over_outside_percent,
            Some(1.94),
            Some(0.30),
        ),
        (
            "all in, SHA extension",
            fig5.all_in_sha_percent,
            None,
            Some(59.88),
        ),
        (
            "all in, SHA in software",
            fig5.all_in_software_percent,
            None,
            None,
        ),
    ];
    let cell = |it: Option<f64>| it.map_or(String::new(), |percent| format!("{percent:+.2} %"));
    let rows = rows.map(|(name, percent, seed, most)| {
        vec![name.to_owned(), cell(Some(percent)), cell(seed), cell(most)]
    });
    table(1, ["geometric mean", "here", "Sulfur", "at most"], rows)
}

/// The programs as a table.
pub fn programs(fig5: &Fig5) -> Table {
    let rows = fig5.programs.iter().map(|(name, it)| {
        vec![
            name.clone(),
            rounded(it.plain_outside, 0),
            more(it.plain_inside, it.plain_outside),
            more(it.instrumented_outside, it.plain_outside),
            more(it.instrumented_inside, it.instrumented_outside),
            more(it.all_in_sha, it.plain_outside),
            more(it.all_in_software, it.plain_outside),
            rounded(log_bytes(it), 4),
        ]
    });
    let header = "program|plain|inside|instrumented|inside|all in|in software|\
                  log bytes/instr"
        .split('|');
    table(1, header, rows)
}

/// The geometric mean.
fn mean(figures: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = figures.len() as f64;
    let sum: f64 = figures.map(f64::ln).sum();
    (sum / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_of_geometric_means() {
        let text: String = NAMES
            .iter()
            .enumerate()
            .map(|(at, name)| {
                // One program costs twice as much as the others' +25 %.
                let flow = if at == 0 { 2500 } else { 1250 };
                format!("{name}: 1 7 1000 1001 {flow} {flow} 1400 3000 5\n")
            })
            .collect();
        let fig5 = read(&text).expect("complete");
        assert!((fig5.plain_inside_over_outside_percent - 0.1).abs() < 1e-9);
        let expected = (1.25 * 2_f64.powf(1.0 / 15.0) - 1.0) * 100.0;
        assert!((fig5.instrumented_over_plain_percent - expected).abs() < 1e-9);
        assert!((fig5.all_in_sha_percent - 40.0).abs() < 1e-9);
        assert!((fig5.log_bytes_per_instruction - 0.04).abs() < 1e-9);
        assert_eq!(fig5.programs["tarfind"].repetitions, 7);
        let text = text.replace("tarfind", "other");
        assert!(read(&text).is_err());
    }
}
