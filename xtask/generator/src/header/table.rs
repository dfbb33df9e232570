// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of the call reference.

use std::fmt::Write;

use donjon_abi::call::{
    CompartmentExit, CompartmentFact, Counter, Error, Function, Information, Reason,
};
use donjon_abi::declare::{Documentation, Layout};

use super::c::{struct_name, type_name};
use super::{buffers, capitals};

/// The generated part of `docs/idc.md`.
pub fn calls() -> String {
    let mut out = String::new();
    out.push_str("| x0 | function | x1 … | value in x1 | errors | what it does |\n");
    out.push_str("|---:|---|---|---|---|---|\n");
    for function in Function::ALL {
        let signature = function.signature();
        let errors = signature.errors.iter().map(|it| code(it.identifier()));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            *function as u64,
            code(function.identifier()),
            or_dash(&signature.arguments.join("; ")),
            signature.value,
            or_dash(&errors.collect::<Vec<_>>().join(", ")),
            function.about(),
        );
    }
    out.push_str("\n| x0 afterwards | name | meaning |\n|---:|---|---|\n| 0 | | done |\n");
    for it in Error::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    head(&mut out, "reason of `REFUSED`", "meaning");
    for it in Reason::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    head(&mut out, "`STATISTICS` counter", "what it counts");
    for it in Counter::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    head(&mut out, "`INFORMATION` about", "what it tells");
    for it in Information::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    head(&mut out, "`COMPARTMENT_RUN`, x0", "why it was left");
    for it in CompartmentExit::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    head(&mut out, "`COMPARTMENT_INFORMATION` about", "what it tells");
    for it in CompartmentFact::ALL {
        row(&mut out, *it as i64, it.identifier(), it.about());
    }
    for (layout, functions) in buffers() {
        buffer(&mut out, &layout, &functions);
    }
    out.push_str("\n| constant | value | meaning |\n|---|---:|---|\n");
    for it in donjon_abi::constants() {
        let _ = writeln!(out, "| `{}` | `{:#x}` | {} |", it.name, it.value, it.about);
    }
    out
}

fn buffer(out: &mut String, layout: &Layout, functions: &[Function]) {
    let functions: Vec<_> = functions.iter().map(|it| code(it.identifier())).collect();
    let (name, size, functions) = (struct_name(layout), layout.size, functions.join(", "));
    let _ = write!(
        out,
        "\n`struct {name}`, {size} bytes, in {functions}. {}\n\n\
         | offset | field | type | meaning |\n|---:|---|---|---|\n",
        layout.about
    );
    for field in layout.fields {
        let (offset, name, kind) = (field.offset, field.name, type_name(field.kind));
        let _ = writeln!(out, "| {offset} | `{name}` | {kind} | {} |", field.about);
    }
}

fn head(out: &mut String, name: &str, meaning: &str) {
    let _ = write!(out, "\n| number | {name} | {meaning} |\n|---:|---|---|\n");
}

fn row(out: &mut String, number: i64, identifier: &str, about: Documentation) {
    let _ = writeln!(out, "| {number} | {} | {about} |", code(identifier));
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

/// The name in C, as code.
fn code(identifier: &str) -> String {
    format!("`{}`", capitals(identifier))
}
