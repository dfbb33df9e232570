// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes sections out of assembly: what a program does not need, and what is for debuggers.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result};

use crate::Source;
use crate::assembly::{Kind, Line, identifiers, lines};

/// A section of a file: the lines from one directive `.section` to the next one.
struct Section {
    text: String,
    labels: Vec<String>,
    names: HashSet<String>,
}

/// Returns what a program needs of a library: the sections that its text names, and those that they
/// name. Each function of the library and each constant has a section of its own.
///
/// # Errors
///
/// If one of the files is no assembly.
pub fn needed(program: &Source, library: &Source) -> Result<Source> {
    let parsed = lines(&program.text).with_context(|| program.name.clone())?;
    let mut wanted: Vec<String> = names(&parsed).into_iter().collect();
    let own: HashSet<_> = parsed.iter().filter_map(label).collect();
    wanted.retain(|it| !own.contains(it));
    let sections = sections(library)?;
    let mut places = HashMap::new();
    for (index, section) in sections.iter().enumerate() {
        for label in &section.labels {
            places.insert(label.as_str(), index);
        }
    }
    let mut is_needed = vec![false; sections.len()];
    while let Some(name) = wanted.pop() {
        if let Some(&index) = places.get(name.as_str())
            && !std::mem::replace(&mut is_needed[index], true)
        {
            wanted.extend(sections[index].names.iter().cloned());
        }
    }
    let kept = sections.iter().zip(is_needed).filter(|it| it.1);
    Ok(Source {
        name: library.name.clone(),
        text: kept.map(|it| it.0.text.as_str()).collect(),
    })
}

fn sections(library: &Source) -> Result<Vec<Section>> {
    let mut texts = vec![String::new()];
    for line in library.text.lines() {
        if line.trim_start().starts_with(".section") {
            texts.push(String::new());
        }
        if let Some(last) = texts.last_mut() {
            *last += line;
            last.push('\n');
        }
    }
    let one = |text: String| {
        let parsed = lines(&text).with_context(|| library.name.clone())?;
        Ok(Section {
            labels: parsed.iter().filter_map(label).collect(),
            names: names(&parsed),
            text,
        })
    };
    texts.into_iter().map(one).collect()
}

fn label(line: &Line) -> Option<String> {
    match &line.kind {
        Kind::Label(name) => Some(name.clone()),
        _ => None,
    }
}

/// Collects what stands in instructions and data.
fn names(lines: &[Line]) -> HashSet<String> {
    let mut names = HashSet::new();
    for line in lines {
        let texts = match &line.kind {
            Kind::Instruction(it) => it.operands.as_slice(),
            Kind::Directive(_, arguments) => std::slice::from_ref(arguments),
            _ => continue,
        };
        let found = texts.iter().flat_map(|it| identifiers(it));
        names.extend(found.map(str::to_owned));
    }
    names
}

/// Returns a text without debug information.
pub fn without_lines(text: &str) -> String {
    let mut kept = String::new();
    let mut is_debug = false;
    for line in text.lines() {
        let statement = line.trim_start();
        if let Some(section) = statement.strip_prefix(".section") {
            is_debug = section
                .trim_start()
                .trim_start_matches('"')
                .starts_with(".debug");
        } else if statement.starts_with(".text") {
            is_debug = false;
        }
        let directive = statement.split_whitespace().next();
        if !is_debug && !matches!(directive, Some(".loc" | ".file")) {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source {
            name: "a.s".into(),
            text: text.into(),
        }
    }

    #[test]
    fn what_a_program_names_is_kept_with_what_that_names() {
        let program = source("\t.text\nown:\n\tbl\tone\n\tbl\town\n\t.size\town, .-own\n");
        let library = source(
            "\t.file\t\"x\"\n\t.section\t.text.own\nown:\n\tnop\n\
             \t.section\t.text.one\none:\n\tadrp\tx0, .Lnumber\n\
             \t.section\t.text.other\nother:\n\tb\tone\n\
             \t.section\t.rodata\n.Lnumber:\n\t.xword\t7\n",
        );
        let kept = needed(&program, &library).expect("both are assembly").text;
        assert!(
            kept.contains("\none:") && kept.contains(".Lnumber:"),
            "{kept}"
        );
        assert!(!kept.contains("other:") && !kept.contains("own:"), "{kept}");
    }

    #[test]
    fn lines_are_left_out_and_nothing_else() {
        let text = "\t.file\t1 \"a\"\n\t.loc\t1 2\n\tnop\n\t.section\t.debug_line\n\t.byte\t1\n\
                    \t.section\t.rodata\n\t.byte\t2\n";
        let kept = without_lines(text);
        assert_eq!(kept, "\tnop\n\t.section\t.rodata\n\t.byte\t2\n");
    }
}
