// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask release`.

use std::fs;

use anyhow::{Context, Result};
use donjon_builder::paths;
use donjon_builder::run;

use super::arguments::ReleaseArguments;
use crate::release::{self, Parts};

/// Builds the files of this version; prints the directory that has them.
///
/// # Errors
///
/// If a part cannot be built, or a file cannot be written.
pub fn run(arguments: &ReleaseArguments) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let change_log = paths::in_root("CHANGELOG.md");
    let change_log = fs::read_to_string(&change_log)
        .with_context(|| format!("reading {}", change_log.display()))?;
    // What is missing there is said before a kernel is built.
    release::notes(&change_log, version)?;
    let dma = Some(arguments.dma);
    let parts = run::prepare_for_model(&arguments.host, arguments.switch, dma)?;
    let [boot_image, kernel] = [&parts.boot.image, &parts.kernel.image]
        .map(|it| fs::read(it).with_context(|| format!("reading {}", it.display())));
    let default = || paths::in_root("target/release-files").join(version);
    let directory = arguments.out.clone().unwrap_or_else(default);
    let parts = Parts {
        version,
        boot_image: &boot_image?,
        kernel: &kernel?,
        guest: &parts.boot.initramfs,
        change_log: &change_log,
    };
    release::write(&parts, &directory)?;
    println!("{}", directory.display());
    Ok(())
}
