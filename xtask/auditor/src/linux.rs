// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds parts of Linux by the symbols of its ELF file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use object::{Object, ObjectSymbol};

use super::snapshot::Linux;

/// Reads the symbols of `vmlinux`. Where the image is in memory is not known yet.
///
/// # Errors
///
/// If the file cannot be read, or lacks a symbol.
pub fn symbols(vmlinux: &Path) -> Result<Linux> {
    let address = addresses(vmlinux)?;
    Ok(Linux {
        image: address("_text")?,
        physical: 0,
        text: address("_stext")?..address("_etext")?,
        read_only: address("__start_rodata")?..address("__init_begin")?,
        vectors: address("vectors")?,
        table_block: address("donjon_table_block")?,
        reserved_root: address("reserved_pg_dir")?,
    })
}

/// Addresses of the symbols of an ELF file, by name.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn addresses(path: &Path) -> Result<impl Fn(&str) -> Result<u64>> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let file = object::File::parse(&*bytes)?;
    let symbols: std::collections::HashMap<String, u64> = file
        .symbols()
        .filter_map(|it| Some((it.name().ok()?.to_owned(), it.address())))
        .collect();
    let path = path.to_path_buf();
    Ok(move |name: &str| {
        let found = symbols.get(name).copied();
        found.with_context(|| format!("{} has no symbol {name}", path.display()))
    })
}
