// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C header: macros alone, so that assembly can include it too.

use std::fmt::{Display, Write};

use donjon_abi::call::CORE_FUNCTIONS;
use donjon_abi::catalogue::{CALLS, CONSTANTS, COUNTERS, ERRORS, INFORMATION, REASONS};
use donjon_abi::manifest::SwitchMode;

const HEAD: &str = "\
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that Linux shares with the inner domain. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef __ASM_DONJON_ABI_H
#define __ASM_DONJON_ABI_H

#include <linux/const.h>
";

/// The whole header.
pub fn header() -> String {
    let mut out = String::from(HEAD);
    for constant in &CONSTANTS {
        out.push('\n');
        comment(&mut out, constant.about);
        define(&mut out, constant.name, unsigned(constant.value));
    }
    section(&mut out, "Functions, in x0");
    for call in &CALLS {
        comment(&mut out, call.about);
        define(
            &mut out,
            &format!("FN_{}", call.name),
            unsigned(call.function as u64),
        );
    }
    section(
        &mut out,
        "Their names, by number, and one for calls to unknown ones",
    );
    let names: String = (0..CORE_FUNCTIONS as u64)
        .map(|number| {
            let call = CALLS.iter().find(|it| it.function as u64 == number);
            let name = call.map_or("removed".into(), |it| it.name.to_lowercase());
            format!("\"{name}\", ")
        })
        .collect();
    define(
        &mut out,
        "FUNCTION_NAMES",
        format!("{{ {names}\"unknown\" }}"),
    );
    section(&mut out, "Errors, in x0 afterwards");
    for (name, error, about) in &ERRORS {
        comment(&mut out, about);
        define(
            &mut out,
            &format!("ERR_{name}"),
            format!("({})", *error as i64),
        );
    }
    section(&mut out, "Reasons of DONJON_ERR_REFUSED, in x1 afterwards");
    for (name, reason, about) in &REASONS {
        comment(&mut out, about);
        define(
            &mut out,
            &format!("REASON_{name}"),
            unsigned(*reason as u64),
        );
    }
    section(&mut out, "Their words, by number");
    let words: String = REASONS
        .iter()
        .map(|(_, _, about)| format!("\"{about}\", "))
        .collect();
    define(
        &mut out,
        "REASON_WORDS",
        format!("{{ \"\", {} }}", words.trim_end_matches(", ")),
    );
    section(&mut out, "What DONJON_FN_STATISTICS counts");
    for (name, counter) in &COUNTERS {
        define(
            &mut out,
            &format!("COUNTER_{name}"),
            unsigned(*counter as u64),
        );
    }
    section(&mut out, "What DONJON_FN_INFORMATION tells");
    for (name, information) in &INFORMATION {
        define(
            &mut out,
            &format!("INFO_{name}"),
            unsigned(*information as u64),
        );
    }
    section(&mut out, "Values of DONJON_INFO_SWITCH_MODE");
    for mode in [SwitchMode::Asid, SwitchMode::Tlbi, SwitchMode::Strict] {
        let name = format!("SWITCH_{}", mode.name().to_uppercase());
        define(&mut out, &name, unsigned(mode as u64));
    }
    out.push_str("\n#endif /* __ASM_DONJON_ABI_H */\n");
    out
}

fn unsigned(value: u64) -> String {
    format!("_AC({value:#x}, UL)")
}

fn section(out: &mut String, title: &str) {
    out.push('\n');
    comment(out, title);
    out.push('\n');
}

fn comment(out: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "/* {text} */");
}

fn define(out: &mut String, name: &str, value: impl Display) {
    let name = format!("DONJON_{name}");
    // Values in one column, with tabs of eight.
    let tabs = "\t".repeat(5usize.saturating_sub((8 + name.len()) / 8).max(1));
    let _ = writeln!(out, "#define {name}{tabs}{value}");
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
}
