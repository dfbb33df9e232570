// SPDX-License-Identifier: MIT OR Apache-2.0
//! Widths of lines.

use super::comments::Source;

/// Most columns of a line.
const MOST: usize = 100;

/// Columns of a tab in C and assembly.
const TAB: usize = 8;

/// Extensions of further files whose width is checked.
pub const OTHERS: [&str; 3] = ["md", "sh", "py"];

/// Lines that are too wide and could be wrapped. A string is left alone in code, as rustfmt and
/// the kernel's style have it, and so is an address of the Web.
pub fn complaints(extension: &str, text: &str, source: &Source) -> Vec<(usize, String)> {
    let fixed: Vec<bool> = match extension {
        "md" => fixed_in_markdown(text),
        _ => text.lines().map(is_directive).collect(),
    };
    let wide = (1..)
        .zip(text.lines())
        .zip(fixed)
        .filter(|((number, line), fixed)| {
            columns(line) > MOST
                && !fixed
                && !line.contains("://")
                && !source.strings.contains(number)
        });
    wide.map(|((number, line), _)| {
        (
            number,
            format!("{} columns; wrap it at {MOST}", columns(line)),
        )
    })
    .collect()
}

fn columns(line: &str) -> usize {
    line.chars()
        .map(|it| if it == '\t' { TAB } else { 1 })
        .sum()
}

/// Whether a preprocessor or an assembler needs the line as a whole.
fn is_directive(line: &str) -> bool {
    line.starts_with("#error") || line.trim_start().starts_with(".irp")
}

/// Whether a line is in a table, a block of code, a definition of a link or a generated section.
fn fixed_in_markdown(text: &str) -> Vec<bool> {
    let (mut code, mut generated) = (false, text.contains("; do not edit. -->"));
    let mut fixed = Vec::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if line.starts_with("<!-- ") && line.ends_with(":begin -->") {
            generated = true;
        } else if line.starts_with("<!-- ") && line.ends_with(":end -->") {
            generated = false;
        }
        let is_link = line.starts_with('[') && line.contains("]: ");
        fixed.push(code || fence || generated || is_link || line.trim_start().starts_with('|'));
    }
    fixed
}
