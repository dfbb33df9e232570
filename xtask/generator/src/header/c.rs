// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C header: macros, which assembly can include too, and the structs of buffers for C alone.

use std::fmt::{Display, Write};

use donjon_abi::call::{
    CORE_FUNCTIONS, CompartmentExit, CompartmentFact, Counter, Error, Function, Information,
    PROPERTIES, Reason, Supervisor,
};
use donjon_abi::declare::{Documentation, Layout};
use donjon_abi::manifest::{DmaProfile, Identity, Randomness, SwitchMode};

use super::{buffers, capitals, snake};

const HEAD: &str = "\
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and buffers that Linux shares with the inner domain. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef __ASM_DONJON_ABI_H
#define __ASM_DONJON_ABI_H

#include <linux/const.h>
";

const STRUCTS: &str = "
#ifndef __ASSEMBLY__

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
";

const TAIL: &str = "
#endif /* !__ASSEMBLY__ */

#endif /* __ASM_DONJON_ABI_H */
";

/// Columns of a line.
const WIDTH: usize = 80;
/// Column of the backslash that continues a line of a macro.
const BACKSLASH: usize = 72;

/// A constant for each number of an enumeration.
macro_rules! values {
    ($out:ident, $prefix:literal, $numbers:ident) => {
        for it in $numbers::ALL {
            let name = format!("{}{}", $prefix, capitals(it.identifier()));
            define(&mut $out, &name, unsigned(*it as u64), it.about());
        }
    };
}

/// The whole header.
pub fn header() -> String {
    let mut out = String::from(HEAD);
    for it in donjon_abi::constants() {
        out.push('\n');
        define(&mut out, it.name, unsigned(it.value), it.about);
    }
    section(&mut out, "Functions, in x0");
    values!(out, "FN_", Function);
    section(
        &mut out,
        "An array with their names, by number, and one for calls to unknown ones",
    );
    strings(&mut out, "FUNCTION_NAMES", function_names());
    section(&mut out, "Errors, in x0 afterwards");
    for it in Error::ALL {
        let name = format!("ERR_{}", capitals(it.identifier()));
        define(&mut out, &name, format!("({})", *it as i64), it.about());
    }
    section(
        &mut out,
        "An array with words for each error, by its number without the sign",
    );
    strings(&mut out, "ERROR_WORDS", error_words());
    section(&mut out, "Reasons of DONJON_ERR_REFUSED, in x1 afterwards");
    values!(out, "REASON_", Reason);
    section(&mut out, "An array with words for each reason, by number");
    strings(&mut out, "REASON_WORDS", reason_words());
    section(&mut out, "What DONJON_FN_STATISTICS counts");
    values!(out, "COUNTER_", Counter);
    section(&mut out, "What DONJON_FN_INFORMATION tells");
    values!(out, "INFO_", Information);
    section(
        &mut out,
        "How a compartment was left, in x0 after DONJON_FN_COMPARTMENT_RUN",
    );
    values!(out, "EXIT_", CompartmentExit);
    section(&mut out, "What DONJON_FN_COMPARTMENT_INFORMATION tells");
    values!(out, "COMPARTMENT_", CompartmentFact);
    section(&mut out, "Numbers of SVC in a compartment");
    values!(out, "SVC_", Supervisor);
    section(
        &mut out,
        "The numbers of SVC behind which a compartment goes on, as a list",
    );
    let _ = writeln!(out, "#define DONJON_SVC_GO_ON\t\t{}", going_on());
    section(&mut out, "Values of DONJON_INFO_SWITCH_MODE");
    values!(out, "SWITCH_", SwitchMode);
    section(&mut out, "An array with their names, by number");
    strings(&mut out, "SWITCH_NAMES", switch_names());
    section(&mut out, "Values of DONJON_INFO_DMA_PROFILE");
    values!(out, "DMA_", DmaProfile);
    section(&mut out, "An array with their names, by number");
    strings(&mut out, "DMA_NAMES", dma_names());
    section(
        &mut out,
        "An array of the tags that DONJON_FN_PROPERTIES passes on",
    );
    properties(&mut out);
    section(&mut out, "Values of DONJON_INFO_IDENTITY");
    values!(out, "IDENTITY_", Identity);
    section(&mut out, "Values of DONJON_INFO_RANDOMNESS");
    values!(out, "RANDOM_", Randomness);
    out.push_str(STRUCTS);
    for (buffer, _) in buffers() {
        structure(&mut out, &buffer);
    }
    out.push_str(TAIL);
    out
}

/// The requests behind which a compartment goes on.
fn going_on() -> String {
    let ends = [Supervisor::Return, Supervisor::Exit, Supervisor::FlowEnd];
    let others = Supervisor::ALL.iter().filter(|it| !ends.contains(it));
    let numbers = others.map(|it| (*it as u64).to_string());
    numbers.collect::<Vec<_>>().join(", ")
}

/// An entry of an array: its index in C, and the string.
type Entry = (String, String);

fn function_names() -> Vec<Entry> {
    let name = |number| match Function::from_number(number) {
        Some(it) => (
            format!("DONJON_FN_{}", capitals(it.identifier())),
            snake(it.identifier()),
        ),
        None => (number.to_string(), "removed".to_owned()),
    };
    let unknown = ("DONJON_FUNCTIONS".to_owned(), "unknown".to_owned());
    let known = (0..CORE_FUNCTIONS as u64).map(name);
    known.chain([unknown]).collect()
}

fn error_words() -> Vec<Entry> {
    let index = |it: &Error| format!("-DONJON_ERR_{}", capitals(it.identifier()));
    let words = Error::ALL.iter();
    words.map(|it| (index(it), it.words().to_owned())).collect()
}

fn reason_words() -> Vec<Entry> {
    let index = |it: &Reason| format!("DONJON_REASON_{}", capitals(it.identifier()));
    let words = Reason::ALL.iter();
    words.map(|it| (index(it), it.words().to_owned())).collect()
}

fn switch_names() -> Vec<Entry> {
    let index = |it: &SwitchMode| format!("DONJON_SWITCH_{}", capitals(it.identifier()));
    let names = SwitchMode::ALL.iter();
    names.map(|it| (index(it), it.name().to_owned())).collect()
}

fn dma_names() -> Vec<Entry> {
    let index = |it: &DmaProfile| format!("DONJON_DMA_{}", capitals(it.identifier()));
    let names = DmaProfile::ALL.iter();
    names.map(|it| (index(it), it.name().to_owned())).collect()
}

/// The name of a buffer's struct.
pub fn struct_name(buffer: &Layout) -> String {
    format!("donjon_{}", snake(buffer.name))
}

/// The name of a field's type in the kernel.
pub fn type_name(kind: &str) -> &str {
    match kind {
        "i64" => "s64",
        other => other,
    }
}

fn structure(out: &mut String, buffer: &Layout) {
    let name = struct_name(buffer);
    out.push('\n');
    comment(out, "", buffer.about);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "struct {name} {{");
    for field in buffer.fields {
        comment(out, "\t", field.about);
        let _ = writeln!(out, "\t{} {};", type_name(field.kind), field.name);
    }
    out.push_str("};\n\n");
    for field in buffer.fields {
        let (field, offset) = (field.name, field.offset);
        let _ = writeln!(
            out,
            "static_assert(offsetof(struct {name}, {field}) == {offset});"
        );
    }
    let size = buffer.size;
    let _ = writeln!(out, "static_assert(sizeof(struct {name}) == {size});");
}

fn unsigned(value: u64) -> String {
    format!("_AC({value:#x}, UL)")
}

fn section(out: &mut String, title: &str) {
    out.push('\n');
    comment(out, "", title);
    out.push('\n');
}

/// A comment, on several lines if one is too short for it. An indent is tabs.
pub fn comment(out: &mut String, indent: &str, text: impl Display) {
    let text = text.to_string();
    let room = WIDTH - 8 * indent.len();
    if text.len() + "/*  */".len() <= room {
        let _ = writeln!(out, "{indent}/* {text} */");
        return;
    }
    let _ = writeln!(out, "{indent}/*");
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && " * ".len() + line.len() + 1 + word.len() > room {
            let _ = writeln!(out, "{indent} * {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{indent} * {line}\n{indent} */");
}

fn define(out: &mut String, name: &str, value: impl Display, about: Documentation) {
    comment(out, "", about);
    let name = format!("DONJON_{name}");
    // Values in one column, with tabs of eight.
    let tabs = "\t".repeat(5usize.saturating_sub((8 + name.len()) / 8).max(1));
    let _ = writeln!(out, "#define {name}{tabs}{value}");
}

/// The initialiser of an array of strings.
fn strings(out: &mut String, name: &str, entries: Vec<Entry>) {
    continued(out, 0, &format!("#define DONJON_{name} {{"));
    for (index, text) in entries {
        continued(out, 1, &format!("[{index}] = \"{text}\","));
    }
    out.push_str("}\n");
}

/// The initialiser of the array of tags.
fn properties(out: &mut String) {
    continued(out, 0, "#define DONJON_PROPERTIES {");
    for it in PROPERTIES {
        continued(out, 1, &format!("{:#x},", it.tag));
    }
    out.push_str("}\n");
}

/// A line that goes on in the next one, after `indent` tabs.
fn continued(out: &mut String, indent: usize, text: &str) {
    let column = 8 * indent + text.len();
    let gap = match BACKSLASH.checked_sub(column) {
        Some(gap) if gap > 0 => "\t".repeat(gap.div_ceil(8)),
        _ => " ".to_owned(),
    };
    let _ = writeln!(out, "{}{text}{gap}\\", "\t".repeat(indent));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_defined_once() {
        let header = header();
        let mut names: Vec<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("#define "))
            .filter_map(|rest| rest.split_whitespace().next())
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn errors_are_negative_and_the_rest_is_unsigned_long() {
        let header = header();
        assert!(header.contains("DONJON_ERR_UNKNOWN_FUNCTION\t(-1)"));
        assert!(header.contains("DONJON_FN_NULL\t\t\t_AC(0x0, UL)"));
    }

    #[test]
    fn each_number_below_the_count_has_a_name() {
        let names = function_names();
        assert_eq!(names.len(), CORE_FUNCTIONS + 1);
        assert_eq!(names[10], ("10".to_owned(), "removed".to_owned()));
        assert_eq!(names[11].1, "switch_root");
    }

    #[test]
    fn lines_that_are_not_code_keep_to_the_width() {
        for line in header().lines().filter(|it| it.contains("* ")) {
            let tabs = line.chars().filter(|it| *it == '\t').count();
            assert!(line.len() + 7 * tabs <= WIDTH, "{line}");
        }
    }

    #[test]
    fn each_field_of_a_buffer_has_its_offset_asserted() {
        let header = header();
        for (buffer, _) in buffers() {
            let name = struct_name(&buffer);
            for field in buffer.fields {
                let (field, offset) = (field.name, field.offset);
                let assertion =
                    format!("static_assert(offsetof(struct {name}, {field}) == {offset});");
                assert!(header.contains(&assertion), "{assertion}");
            }
        }
    }
}
