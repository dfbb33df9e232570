// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files with an injected line of each kind.

use super::*;

const NONE: [usize; 0] = [];

fn found(extension: &str, text: &str) -> Vec<usize> {
    let complaints = complaints_about(extension, text);
    complaints.into_iter().map(|(line, _)| line).collect()
}

#[test]
fn a_doc_comment_that_leans_on_others_is_found() {
    for opening in POINTERS.iter().chain(&PRONOUNS) {
        for mark in ["///", "//!"] {
            let text = format!("fn one() {{}}\n{mark} {opening} for two.\nfn two() {{}}\n");
            assert_eq!(found("rs", &text), [2], "{text}");
        }
    }
}

#[test]
fn a_later_line_of_a_doc_comment_is_looked_at() {
    let text = "DOC Adds one.\nDOC\nDOC # Errors\nDOC\nDOC As for [`other`].\nfn one() {}\n";
    assert_eq!(found("rs", &text.replace("DOC", "///")), [5]);
    let text = "/// Adds one to what is there.\n/// This never overflows.\nfn one() {}\n";
    assert_eq!(found("rs", text), NONE);
}

#[test]
fn words_that_only_begin_alike_are_no_opening() {
    let text = "/// Items of a list.\nfn one() {}\n/// Aspects, and Orders.\nfn two() {}\n";
    assert_eq!(found("rs", text), NONE);
}

#[test]
fn a_safety_comment_that_only_points_is_found() {
    for claim in [
        "as above.",
        "as for reading; mapped.",
        "the caller's promise.",
        "see `new`.",
    ] {
        let text = format!("fn one() {{\n    // Why.\n    // SAFETY: {claim}\n}}\n");
        assert_eq!(found("rs", &text), [3], "{text}");
    }
    let text = "// SAFETY: the caller maps the range, which is RAM.\n";
    assert_eq!(found("rs", text), NONE);
}

#[test]
fn comments_of_c_and_assembly_are_looked_at() {
    let text = "/* SPDX */\n\n/**\n * As above, twice.\n */\nint two(void); /* All of them */\n";
    assert_eq!(found("c", text), [4, 6]);
    let text = "\t// As in start.S.\n\tnop\n\t// It stays.\n\tnop\n";
    assert_eq!(found("S", text), [1]);
}

#[test]
fn strings_are_no_comments() {
    let text = "const A: &str = \"\\\" DOC The same\";\nconst B: char = '\"';\nconst C: &str = r#\"\n\
                DOC As above \" \"#;\nfn d<'a>(_: &'a str) {}\nDOC The same.\n\
                const E: u8 = b'\\'';\n";
    assert_eq!(found("rs", &text.replace("DOC", "///")), [6]);
}

#[test]
fn lines_that_are_too_wide_are_found() {
    let wide = "word ".repeat(21);
    assert_eq!(found("rs", &format!("fn one() {{}}\n// {wide}\n")), [2]);
    assert_eq!(found("rs", &format!("fn one() {{}} // {wide}\n")), [1]);
    assert_eq!(found("md", &format!("# Page\n\n{wide}\n")), [3]);
    assert_eq!(found("sh", &format!("# {wide}\n")), [1]);
    let tabs = format!("{}x\n", "\t".repeat(13));
    assert_eq!(found("c", &tabs), [1]);
    let fits = format!("// {}\n", "x".repeat(97));
    assert_eq!(found("rs", &fits), NONE);
}

#[test]
fn what_cannot_be_wrapped_may_be_wide() {
    let wide = "word ".repeat(21);
    let fixed = [
        ("rs", format!("const A: &str = \"{wide}\";\n")),
        (
            "rs",
            format!("// https://example.org/{}\n", "x".repeat(100)),
        ),
        ("h", format!("#error \"{wide}\"\n")),
        ("md", format!("| {wide} |\n")),
        ("md", format!("```\n{wide}\n```\n")),
        (
            "md",
            format!("<!-- calls:begin -->\n{wide}\n<!-- calls:end -->\n"),
        ),
        (
            "md",
            format!("<!-- Written by a command; do not edit. -->\n{wide}\n"),
        ),
    ];
    for (extension, text) in fixed {
        assert_eq!(found(extension, &text), NONE, "{text}");
    }
    let behind = format!("<!-- calls:begin -->\n<!-- calls:end -->\n\n{wide}\n");
    assert_eq!(found("md", &behind), [4]);
}
