// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long files and functions may be.

use std::fs;

use anyhow::{Context, Result};
use donjon_machine::paths;

use crate::docs::{none, tree};

/// A file that is generated.
const GENERATED: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_abi.h";
/// What source files are, by extension.
const EXTENSIONS: [&str; 7] = ["rs", "c", "h", "S", "s", "sh", "py"];
/// Most lines of a file.
const FILE: usize = 500;
/// Most lines of a function, with its head and its closing brace.
const FUNCTION: usize = 130;
/// Files that are longer, and how long they may be.
const LONGER: [(&str, usize); 2] = [
    ("xtask/auditor/src/tests/injected.rs", 550),
    ("xtask/test-suite/src/bad_input.rs", 550),
];

/// Files with a longer function, and how long that may be.
const LONGER_FUNCTION: [(&str, usize); 1] = [("xtask/machine/src/qemu/exec.rs", 141)];

/// Fails if a source file, or a function in one, is too long.
pub fn check() -> Result<()> {
    let mut all = Vec::new();
    let mut longer = LONGER.to_vec();
    for extension in EXTENSIONS {
        for path in tree::files(extension)? {
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            let name = path.strip_prefix(paths::root()).unwrap_or(&path);
            let name = name.to_string_lossy();
            if name == GENERATED {
                continue;
            }
            let lines = text.lines().count();
            let place = longer.iter().position(|it| it.0 == name);
            let most = place.map_or(FILE, |it| longer[it].1);
            if lines > most {
                all.push(format!(
                    "{name}: {lines} lines, more than {most}: divide it"
                ));
            }
            if let Some(place) = place.filter(|_| lines > FILE) {
                longer.swap_remove(place);
            }
            all.extend(long_functions(&name, extension, &text));
        }
    }
    let needless = longer.iter();
    all.extend(
        needless
            .map(|(name, _)| format!("{name}: it is not longer than {FILE}; take it off the list")),
    );
    none(&all)
}

/// One line for each function that is too long. The text is formatted: a function ends at the first
/// closing brace that stands as far to the left as its head.
fn long_functions(name: &str, extension: &str, text: &str) -> Vec<String> {
    let is_head = match extension {
        "rs" => rust_head,
        "c" | "h" => c_head,
        _ => return Vec::new(),
    };
    let longer = LONGER_FUNCTION.iter().find(|it| it.0 == name);
    let most = longer.map_or(FUNCTION, |it| it.1);
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (number, line) in lines.iter().enumerate().filter(|it| is_head(it.1)) {
        let end = format!("{}}}", &line[..indentation(line)]);
        let length = lines[number..].iter().position(|it| **it == end);
        let length = length.map_or(0, |it| it + 1);
        if length > most {
            all.push(format!(
                "{name}:{}: a function of {length} lines, more than {most}: divide it",
                number + 1
            ));
        }
    }
    all
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line begins a function that has a body of several lines or whose head has.
fn rust_head(line: &str) -> bool {
    let words = line.split_whitespace();
    let mut words = words.skip_while(|it| it.starts_with("pub") || QUALIFIERS.contains(it));
    words.next() == Some("fn") && !line.ends_with(';') && !line.ends_with('}')
}

const QUALIFIERS: [&str; 7] = [
    "const", "async", "unsafe", "extern", "\"C\"", "default", "crate)",
];

/// Whether a line is the opening brace of a function, in the style of Linux.
fn c_head(line: &str) -> bool {
    line == "{"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(head: &str, lines: usize, indent: &str) -> String {
        format!(
            "{indent}{head}\n{}{indent}}}\n",
            "    x();\n".repeat(lines - 2)
        )
    }

    #[test]
    fn a_function_of_the_greatest_length_is_not_too_long() {
        for (extension, head) in [("rs", "pub(super) const fn f() {"), ("c", "{")] {
            let text = function(head, FUNCTION, "");
            assert!(long_functions("f", extension, &text).is_empty());
            let text = function(head, FUNCTION + 1, "");
            let expected = "f:1: a function of 131 lines, more than 130: divide it";
            assert_eq!(long_functions("f", extension, &text), [expected]);
        }
    }

    #[test]
    fn a_function_ends_with_its_own_brace() {
        let inner = function("unsafe extern \"C\" fn f(", 131, "        ");
        let text = format!("impl X {{\n    fn short() {{\n    }}\n{inner}    }}\n}}\n");
        let expected = "f:4: a function of 131 lines, more than 130: divide it";
        assert_eq!(long_functions("f", "rs", &text), [expected]);
    }

    #[test]
    fn a_declaration_is_no_function() {
        let text = format!("    fn f();\n    fn g() {{}}\n{}    }}\n", "\n".repeat(200));
        assert!(long_functions("f", "rs", &text).is_empty());
    }
}
