// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is generated from `inner-domain/abi`: the header that Linux includes, that of programs in C
//! for compartments, the tables of the call reference, and that of requests. Besides, the features
//! that leave out a check, from `inner-domain/core/src/checks.rs`.

mod c;
mod features;
mod requests;
mod table;

use std::fs;

use anyhow::{Context, Result};
use donjon_abi::call::Function;
use donjon_abi::declare::Layout;
use donjon_machine::paths;
use heck::{ToShoutySnakeCase, ToSnakeCase};

use crate::{generated, section};

const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_abi.h";
const REQUESTS: &str = "guests/runtime-c/donjon_requests.h";
const REFERENCE: &str = "docs/idc.md";
const COMPARTMENTS: &str = "docs/compartments.md";

/// Writes the generated files, or with `check` only compares them.
pub fn run(check: bool) -> Result<()> {
    let files = [
        (HEADER, c::header()),
        (REQUESTS, requests::header()),
        (
            REFERENCE,
            with_section(REFERENCE, "calls", &table::calls())?,
        ),
        (
            COMPARTMENTS,
            with_section(COMPARTMENTS, "requests", &requests::table())?,
        ),
    ];
    let files = files.into_iter().chain(features::manifests()?);
    let source = "inner-domain/abi or inner-domain/core/src/checks.rs";
    generated::write_or_check(files, check, source, "cargo xtask header")
}

/// The name of a macro, from the name in Rust: `TableWrite` is `TABLE_WRITE`.
fn capitals(identifier: &str) -> String {
    identifier.to_shouty_snake_case()
}

/// The name of a struct, or of a function in messages: `TableWrite` is `table_write`.
fn snake(identifier: &str) -> String {
    identifier.to_snake_case()
}

/// Every buffer, in the order of the first call that has it, with the calls.
fn buffers() -> Vec<(Layout, Vec<Function>)> {
    let mut found: Vec<(Layout, Vec<Function>)> = Vec::new();
    for function in Function::ALL {
        for layout in function.signature().buffers {
            match found.iter_mut().find(|(it, _)| it.name == layout.name) {
                Some((_, functions)) => functions.push(*function),
                None => found.push((*layout, vec![*function])),
            }
        }
    }
    found
}

/// A document with a section of it replaced.
fn with_section(document: &str, section: &str, text: &str) -> Result<String> {
    let path = paths::in_root(document);
    let found = fs::read_to_string(path).with_context(|| format!("reading {document}"))?;
    section::replace(&found, section, text).context(document.to_owned())
}
