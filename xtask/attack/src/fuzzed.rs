// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hostile module's random calls have arguments of the types that a call takes, for each call.

use std::collections::BTreeSet;
use std::fs;

use donjon_abi::call::Function;
use donjon_machine::paths;

/// Where the arguments of a call are chosen.
const SOURCES: [&str; 2] = [
    "kernel-patch/files/arch/arm64/donjon/attack/fuzz/calls.c",
    "kernel-patch/files/arch/arm64/donjon/attack/fuzz/compartments.c",
];

/// Calls that are made with small random numbers alone, and why that is enough.
const WITHOUT: [(Function, &str); 11] = [
    (Function::Null, "it has no arguments"),
    (Function::Version, "its argument is a number"),
    (Function::Statistics, "its arguments are small numbers"),
    (Function::Echo, "its arguments are numbers"),
    (Function::Information, "its argument is a small number"),
    (Function::TextWait, "it has no arguments"),
    (
        Function::DeviceWrite,
        "an accepted write would change a device; write-register names registers",
    ),
    (
        Function::Properties,
        "the guest has no VideoCore; ask-videocore names tags",
    ),
    (
        Function::UsbStart,
        "the guest has no USB controller; usb-dma names transfers",
    ),
    (
        Function::CompartmentInformation,
        "fuzz_compartment() gives it a handle and a small number",
    ),
    (
        Function::CompartmentCopy,
        "fuzz_compartment() gives it a handle, and it takes no more",
    ),
];

/// The names behind `case DONJON_FN_NAME:`. A range of calls gives no call arguments of its own.
fn cases(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|it| !it.contains(" ... "));
    let names = lines.filter_map(|it| it.trim().strip_prefix("case DONJON_FN_"));
    names
        .filter_map(|it| it.strip_suffix(':'))
        .map(str::to_owned)
        .collect()
}

/// The name of a call in C: `TableWrite` is `TABLE_WRITE`.
fn in_c(function: Function) -> String {
    let mut name = String::new();
    for letter in function.identifier().chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// What is wrong with the cases, a line for each call.
fn complaints(cases: &BTreeSet<String>, without: &[(Function, &str)]) -> Vec<String> {
    let mut all = Vec::new();
    for function in Function::ALL {
        let name = in_c(*function);
        let excepted = without.iter().any(|(it, _)| it == function);
        match (cases.contains(&name), excepted) {
            (false, false) => all.push(format!(
                "{name} has no typed arguments in {}: add a case, or a reason in WITHOUT",
                SOURCES[0]
            )),
            (true, true) => all.push(format!("{name} has a case: take it out of WITHOUT")),
            _ => {}
        }
    }
    all
}

#[test]
fn each_call_has_typed_arguments_or_a_reason() {
    let mut found = BTreeSet::new();
    for source in SOURCES {
        found.extend(cases(
            &fs::read_to_string(paths::in_root(source)).expect(source),
        ));
    }
    let complaints = complaints(&found, &WITHOUT);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_call_without_a_case_and_a_reason_too_many_are_named() {
    let text = "\tcase DONJON_FN_NULL:\n\tcase DONJON_FN_MAP ... DONJON_FN_FREE:\n";
    let found = complaints(&cases(text), &WITHOUT);
    assert!(found.iter().any(|it| it.starts_with("NULL has a case")));
    assert!(found.iter().any(|it| it.starts_with("TABLE_WRITE has no")));
    assert!(found.iter().any(|it| it.starts_with("MAP has no")));
    assert!(found.iter().any(|it| it.starts_with("FREE has no")));
    assert!(!found.iter().any(|it| it.starts_with("ECHO ")));
}
