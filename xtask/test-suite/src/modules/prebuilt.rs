// SPDX-License-Identifier: MIT OR Apache-2.0
//! All modules of Debian's own kernel, scanned on the host: which of them the inner domain would
//! refuse.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_builder::kernel::walk;
use donjon_builder::{guest, progress};
use donjon_generator::allow::Report;
use donjon_machine::process;
use donjon_machine::tools::LINUX_PACKAGE;

use crate::test::Test;

/// What a refused word of a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Data between instructions.
    Constant,
    /// An instruction.
    Instruction,
}

/// The modules that are refused. docs/kernel-options.md gives the reason for each.
const REFUSED: [(&str, Kind); 7] = [
    ("arm_dsu_pmu", Kind::Instruction),
    ("arm_smccc_trng", Kind::Instruction),
    ("arm_spe_pmu", Kind::Instruction),
    ("coresight-etm4x", Kind::Instruction),
    ("coresight-trbe", Kind::Instruction),
    ("sha256-arm64", Kind::Constant),
    ("sha512-arm64", Kind::Constant),
];
/// Modules of Debian's kernel, at least.
const LEAST: usize = 4_000;

/// Downloads 90 MB and scans 4,351 modules in some minutes, so it runs by name alone.
pub fn test() -> Test {
    Test::beside("modules:debian", || {
        let package = package()?;
        let root =
            guest::obtain_libraries(&package, &[&format!("{package}:arm64")], "lib/modules")?;
        let mut modules = walk::files(&root.join("lib/modules"))?;
        modules.retain(|it| name(it).is_some());
        ensure!(
            modules.len() >= LEAST,
            "{} modules in {package}",
            modules.len()
        );
        let step = progress::Step::counted("scan modules", modules.len() as u64);
        let mut found = BTreeMap::new();
        for module in &modules {
            if let Some(kind) = refused(module)? {
                found.insert(name(module).unwrap_or_default().to_owned(), kind);
            }
            step.advance(1);
        }
        step.finish();
        let expected: BTreeMap<_, _> = REFUSED.map(|(name, kind)| (name.to_owned(), kind)).into();
        ensure!(
            found == expected,
            "of {} modules of {package} other ones are refused than expected: {found:?}",
            modules.len()
        );
        Ok(())
    })
    .long()
}

/// Debian's package of the kernel whose source is installed.
fn package() -> Result<String> {
    let mut query = Command::new("dpkg-query");
    let version =
        process::output(query.args(["--show", "--showformat=${Version}", LINUX_PACKAGE]))?;
    let (upstream, _) = version
        .split_once('-')
        .context("a version without a dash")?;
    let release = fs::read_to_string("/etc/os-release")?;
    let debian = release
        .lines()
        .find_map(|it| it.strip_prefix("VERSION_ID="));
    let debian = debian
        .context("this Debian has no VERSION_ID")?
        .trim_matches('"');
    Ok(format!("linux-image-{upstream}+deb{debian}-arm64-unsigned"))
}

/// The name of a module, if a path is one.
fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(".ko.xz")
}

/// What a module is refused for; nothing if it is not.
fn refused(module: &Path) -> Result<Option<Kind>> {
    let mut decompress = Command::new("xz");
    let output = decompress
        .args(["--decompress", "--stdout"])
        .arg(module)
        .output()?;
    ensure!(output.status.success(), "xz of {} failed", module.display());
    let report = Report::of_bytes(&output.stdout).with_context(|| module.display().to_string())?;
    let mut words = report.refused().peekable();
    Ok(words.peek().is_some().then(|| {
        if words.all(|it| it.place.is_constant) {
            Kind::Constant
        } else {
            Kind::Instruction
        }
    }))
}
