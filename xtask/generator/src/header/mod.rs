// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is generated from `inner-domain/abi`: the header that Linux includes, and the tables of
//! the call reference.

mod c;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use donjon_abi::call::Function;
use donjon_abi::declare::Layout;
use donjon_machine::paths;
use heck::{ToShoutySnakeCase, ToSnakeCase};

use crate::{generated, section};

const HEADER: &str = "kernel-patch/files/arch/arm64/include/asm/donjon_abi.h";
const REFERENCE: &str = "docs/idc.md";

/// Writes both, or with `check` only compares them.
pub fn run(check: bool) -> Result<()> {
    let files = [
        (HEADER, c::header()),
        (REFERENCE, reference(&paths::in_root(REFERENCE))?),
    ];
    generated::write_or_check(files, check, "inner-domain/abi", "cargo xtask header")
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

/// The reference with its part of calls replaced.
fn reference(path: &Path) -> Result<String> {
    let found = fs::read_to_string(path).with_context(|| format!("reading {REFERENCE}"))?;
    section::replace(&found, "calls", &table::calls()).context(REFERENCE)
}
