// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C files of Linux's side call each other in one direction, and the product calls no test.
//!
//! A file uses another one if it names a function or a variable that the other file defines
//! without `static`. Symbols of assembly are not followed: no assembly file calls C.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use donjon_machine::paths;

use super::walk;

/// The folder of the product, with `test/` and `attack/` in it.
const FOLDER: &str = "kernel-patch/files/arch/arm64/donjon";
/// The folder of a module, whose names the kernel's image cannot use.
const MODULE: &str = "attack/";
/// The folder of the self-test and the measurements.
const TEST: &str = "test/";

/// The files that a file uses, by the file, each with a name that is used.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// The text without comments, literals and lines of the preprocessor.
fn code_of(text: &str) -> String {
    let joined = text.replace("\\\n", " ");
    let mut plain = String::new();
    let mut rest = joined.as_str();
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' || first == '\'' {
            literal(rest, first)
        } else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        plain.push(' ');
        rest = &rest[skipped..];
    }
    let lines = plain.lines().filter(|it| !it.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

/// The length of the literal at the beginning of `text`.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|it| !is_word(it)).filter(|it| !it.is_empty())
}

/// What stands at the top level of a file: each declaration, and of each function its head.
fn declarations(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut head = String::new();
    let (mut depth, mut is_function) = (0, false);
    for letter in code.chars() {
        match letter {
            '{' => {
                if depth == 0 {
                    is_function = head.trim_end().ends_with(')') && !head.contains('=');
                }
                depth += 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 && is_function {
                    found.push(format!("{}{{", std::mem::take(&mut head)));
                }
            }
            ';' if depth == 0 => found.push(std::mem::take(&mut head)),
            _ if depth == 0 => head.push(letter),
            _ => {}
        }
    }
    found
}

/// The names that macros define in a declaration, and the declaration without them.
fn by_macros(declaration: &str) -> (Vec<String>, String) {
    let mut names = Vec::new();
    let mut rest = declaration.to_owned();
    for prefix in ["DEFINE_", "DECLARE_BITMAP"] {
        while let Some(start) = rest.find(prefix) {
            let Some(length) = rest[start..].find(')') else {
                break;
            };
            let invocation = rest[start..start + length].to_owned();
            let name = match invocation.starts_with("DEFINE_PER_CPU") {
                true => words(&invocation).next_back(),
                false => words(&invocation).nth(1),
            };
            // What this one defines is `static`.
            if !invocation.starts_with("DEFINE_SHOW_ATTRIBUTE") {
                names.extend(name.map(str::to_owned));
            }
            rest.replace_range(start..=start + length, " ");
        }
    }
    (names, rest)
}

/// The names that a declaration defines.
fn defined_in(declaration: &str) -> Vec<String> {
    let (mut names, rest) = by_macros(declaration);
    let first = words(&rest).next().unwrap_or_default();
    if ["extern", "typedef"].contains(&first) {
        return names;
    }
    let before = rest.split('=').next().unwrap_or_default();
    if before.contains('(') {
        // Without a body a prototype, or a macro that defines nothing.
        if rest.ends_with('{') {
            let head = before.split('(').next().unwrap_or_default();
            names.extend(words(head).next_back().map(str::to_owned));
        }
        return names;
    }
    let is_type = ["struct", "enum", "union"].contains(&first) && words(before).count() == 2;
    if !is_type {
        for variable in before.split(',') {
            let name = variable.split('[').next().unwrap_or_default();
            let name = words(name).rfind(|it| !it.starts_with("__"));
            names.extend(name.map(str::to_owned));
        }
    }
    names
}

/// The names in a file's code, except for members of structures.
fn named_in(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut before = ' ';
    for part in code.split_inclusive(|it| !is_word(it)) {
        let name = part.trim_end_matches(|it| !is_word(it));
        if before != '.' && before != '>' {
            names.insert(name.to_owned());
        }
        before = part.chars().next_back().unwrap_or(' ');
    }
    names
}

/// Which file uses which, from the name and the text of each.
fn uses(files: &BTreeMap<String, String>) -> Uses {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let mut own: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let codes: BTreeMap<&str, String> = files
        .iter()
        .map(|(file, text)| (file.as_str(), code_of(text)))
        .collect();
    for (file, code) in &codes {
        for declaration in declarations(code) {
            let is_static = words(&declaration).any(|it| it == "static");
            for name in defined_in(&declaration) {
                if !is_static {
                    owners.insert(name.clone(), file);
                }
                own.entry(file).or_default().insert(name);
            }
        }
    }
    let mut uses = Uses::new();
    for (file, code) in &codes {
        let used = uses.entry((*file).to_owned()).or_default();
        for name in named_in(code) {
            let Some(owner) = owners.get(&name) else {
                continue;
            };
            let is_own = own.get(file).is_some_and(|it| it.contains(&name));
            let is_hidden = owner.starts_with(MODULE) && !file.starts_with(MODULE);
            if !is_own && !is_hidden {
                used.insert((*owner).to_owned(), name);
            }
        }
    }
    uses
}

/// A circle of files, each with the name that it uses of the next one.
fn circle(uses: &Uses) -> Option<String> {
    let used = |file: &str| {
        uses.get(file)
            .into_iter()
            .flat_map(|it| it.keys().map(String::as_str))
    };
    let circle = donjon_generator::circle::find(uses.keys().map(String::as_str), used)?;
    let steps = circle
        .windows(2)
        .map(|it| format!("{} uses {} of {}", it[0], uses[it[0]][it[1]], it[1]));
    Some(steps.collect::<Vec<_>>().join("; "))
}

/// The C files of the tree by their names in the folder.
fn tree() -> BTreeMap<String, String> {
    let folder = paths::in_root(FOLDER);
    let mut files = BTreeMap::new();
    for path in walk::files(&folder).expect("the folder") {
        if path.extension().is_some_and(|it| it == "c") {
            let name = path.strip_prefix(&folder).expect("in the folder");
            let text = fs::read_to_string(&path).expect("text");
            files.insert(name.display().to_string(), text);
        }
    }
    files
}

fn planted(files: &[(&str, &str)]) -> Uses {
    let owned = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    uses(&owned.collect())
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let uses = uses(&tree());
    // Uses that are known to be there, so that a reader that sees nothing does not pass.
    assert_eq!(uses["pool.c"]["pool_blocks.c"], "donjon_pool_grow");
    assert_eq!(uses["queue.c"]["state.c"], "donjon_table_refused");
    assert_eq!(
        uses["attack/common/undo.c"]["attack/common/outcome.c"],
        "attack_why"
    );
    assert_eq!(circle(&uses), None);
}

#[test]
fn the_product_uses_no_test() {
    for (file, used) in uses(&tree()) {
        if file.starts_with(TEST) || file.starts_with(MODULE) {
            continue;
        }
        let test = used.iter().find(|(owner, _)| owner.starts_with(TEST));
        assert_eq!(test, None, "{file} uses a file of {TEST}");
    }
}

#[test]
fn a_planted_circle_is_found() {
    let uses = planted(&[
        ("a.c", "int one(void)\n{\n\treturn two();\n}\n"),
        (
            "b.c",
            "struct it held = { 1 };\nint __init two(void)\n{\n\treturn three(1);\n}\n",
        ),
        (
            "c.c",
            "static u64 x, y[2];\nint three(int held)\n{\n\tif (held) {\n\t\tone();\n\t}\n}\n",
        ),
    ]);
    let found = circle(&uses).expect("the circle");
    assert_eq!(
        found,
        "a.c uses two of b.c; b.c uses three of c.c; c.c uses one of a.c"
    );
}

#[test]
fn a_circle_over_a_variable_is_found() {
    let uses = planted(&[
        (
            "a.c",
            "bool live, other __ro_after_init;\nvoid say(void)\n{\n\tstop();\n}\n",
        ),
        (
            "b.c",
            "DEFINE_MUTEX(lock);\nvoid stop(void)\n{\n\twhile (other)\n\t\tpause();\n}\n",
        ),
    ]);
    assert!(circle(&uses).is_some(), "{uses:?}");
}

#[test]
fn statics_members_comments_and_prototypes_make_no_circle() {
    let uses = planted(&[
        (
            "a.c",
            "void two(void);\nvoid one(void)\n{\n\ttwo();\n}\nint held;\n",
        ),
        (
            "b.c",
            "/* one() */\n#define one \\\n\tone()\nstatic int held = 1;\nvoid two(void)\n{\n\
             \tit->one = it.one + held;\n\tsay(\"one\");\n}\n",
        ),
    ]);
    assert_eq!(uses["a.c"]["b.c"], "two");
    assert!(uses["b.c"].is_empty(), "{uses:?}");
    assert_eq!(circle(&uses), None);
}

#[test]
fn a_module_is_hidden_from_the_image_and_not_from_itself() {
    let uses = planted(&[
        ("a.c", "void one(void)\n{\n\ttwo();\n}\n"),
        ("attack/b.c", "void two(void)\n{\n\tone();\n}\n"),
        ("attack/c.c", "void three(void)\n{\n\ttwo();\n}\n"),
    ]);
    assert!(uses["a.c"].is_empty());
    assert_eq!(uses["attack/b.c"]["a.c"], "one");
    assert_eq!(uses["attack/c.c"]["attack/b.c"], "two");
}
