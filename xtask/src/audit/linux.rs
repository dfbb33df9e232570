// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where things are in Linux and in the boot stage, from their ELF files and the console.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSymbol};

use super::descriptor::PAGE;
use super::snapshot::Linux;

/// Reads the symbols of `vmlinux`. Where the image is in memory is not known yet.
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

/// The boot stage's page that stays, as offsets in its image.
pub fn stay(boot: &Path) -> Result<Range<u64>> {
    let address = addresses(boot)?;
    Ok(address("boot_stay_start")?..address("boot_stay_end")?)
}

/// Addresses of the symbols of an ELF file, by name.
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

/// What the console said while boot was still trusted.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// Where the boot image was loaded.
    pub loaded: u64,
    /// Where Linux is.
    pub linux: u64,
    /// The inner domain's memory.
    pub inner: Range<u64>,
    /// Pools of tables.
    pub table_pools: Vec<Range<u64>>,
    /// Pools of text.
    pub text_pools: Vec<Range<u64>>,
}

impl Said {
    /// Reads the console. The first line of each kind counts: later ones may be anybody's.
    pub fn read(console: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(console);
        let ours = || text.lines().filter_map(|it| it.split_once("donjon: "));
        let first = |start: &str| {
            let found = ours().find_map(|(_, it)| it.strip_prefix(start));
            found.with_context(|| format!("the console has no line `donjon: {start}…`"))
        };
        let image = first("boot image ")?;
        let loaded = image.split(" at ").nth(1).and_then(number);
        let linux = number(first("Linux at ")?);
        let domain = first("inner domain ")?;
        let inner = domain.split("memory ").nth(1).and_then(range);
        let pools = ours().find(|(_, it)| it.starts_with("table pool "));
        let pool = |name: &str| {
            let found = pools.and_then(|(_, it)| it.split_once(name));
            found.and_then(|(_, it)| range(it)).into_iter().collect()
        };
        Ok(Self {
            loaded: loaded.context("the console does not say where the boot image is")?,
            linux: linux.context("the console does not say where Linux is")?,
            inner: inner.context("the console does not say where the inner domain is")?,
            table_pools: pool("table pool "),
            text_pools: pool("text pool "),
        })
    }
}

/// `0x1000-0x1fff`, and `0x1000-0x2000` as well: of both ends of a page one is aligned.
fn range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once('-')?;
    let (start, end) = (number(start)?, number(end)?);
    (start < end).then(|| start..end.next_multiple_of(PAGE))
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim_start().strip_prefix("0x")?;
    let end = digits
        .find(|it: char| !it.is_ascii_hexdigit())
        .unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], 16).ok()
}

/// Whether the ranges make sense.
pub fn check(said: &Said) -> Result<()> {
    let all = [&said.inner]
        .into_iter()
        .chain(&said.table_pools)
        .chain(&said.text_pools);
    for range in all {
        ensure!(
            range.start % PAGE == 0,
            "the console names {:#x}, which begins no page",
            range.start
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::single_range_in_vec_init, reason = "a list of ranges")]
    #[test]
    fn the_console_of_a_boot_is_understood() {
        let console = b"donjon: boot image 0.1.0 at 0x40200000, entered at EL1\r\n\
            donjon: Linux at 0x40400000, 7686 KiB, SHA-256 00\r\n\
            donjon: inner domain 0.1.0 runs, switch asid, 4 CPUs, memory 0x7fe00000-0x7fe57fff\r\n\
            [    0.0] donjon: table pool 0x7f000000-0x7f7fffff, text pool 0x7e000000-0x7e400000\r\n\
            [    9.0] donjon: table pool 0x0-0x1000, text pool 0x0-0x1000\r\n";
        let said = Said::read(console).expect("a boot");
        assert_eq!(
            said,
            Said {
                loaded: 0x4020_0000,
                linux: 0x4040_0000,
                inner: 0x7fe0_0000..0x7fe5_8000,
                table_pools: vec![0x7f00_0000..0x7f80_0000],
                text_pools: vec![0x7e00_0000..0x7e40_0000],
            }
        );
        assert!(Said::read(b"donjon: Linux at 0x40400000").is_err());
    }
}
