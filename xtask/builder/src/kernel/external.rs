// SPDX-License-Identifier: MIT OR Apache-2.0
//! A directory to build modules in that are not of the kernel's tree: headers, configuration,
//! symbols and tools, as distributions have it in their packages of kernel headers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_machine::process;

use super::build::{self, make};
use super::tree::{self, Tree};
use super::{Recipe, Variant, obtain, place_of, source};
use crate::arguments::HostArguments;
use crate::paths::{self, CacheLock};
use crate::progress::Step;

/// Where the tools of the directory run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolsFor {
    /// On this host: modules are cross-compiled.
    Host,
    /// In the guest.
    Guest,
}

impl ToolsFor {
    /// Name of the directory beside the kernel in the cache.
    const fn directory(self) -> &'static str {
        match self {
            Self::Host => "build",
            Self::Guest => "build-guest",
        }
    }

    /// What `make` runs. The script builds the tools anew where the two compilers differ.
    fn command(self, directory: &Path) -> String {
        let script = format!(
            "$(srctree)/scripts/package/install-extmod-build {}",
            directory.display()
        );
        match self {
            Self::Host => format!("+CC=$(HOSTCC) {script}"),
            Self::Guest => format!("+{script}"),
        }
    }
}

/// The directory for a kernel, made if the cache does not have it.
///
/// # Errors
///
/// If the kernel or its tools cannot be built.
pub fn build_directory(host: &HostArguments, variant: Variant, tools: ToolsFor) -> Result<PathBuf> {
    obtain(host, variant)?;
    let recipe = Recipe::chosen(host, variant)?;
    ensure!(
        recipe.modules,
        "a kernel with --config {} has no modules, so there is nothing to build others against; \
         leave out --config, or name a file with options",
        super::DEBIAN
    );
    let source = source::find(host)?;
    let place = place_of(host, variant, &recipe, &source)?.join(tools.directory());
    if let Some(lock) = CacheLock::take_unless_there(&place)? {
        let tree = tree::prepare(&lock, &source, &recipe)?;
        let unfinished = lock.unfinished("build-directory");
        install(&tree, &recipe, variant, tools, &unfinished)?;
        fs::rename(&unfinished, &place)
            .with_context(|| format!("moving {}", unfinished.display()))?;
    }
    Ok(place)
}

/// The directory for the guest as an archive, compressed: a file for the initial ramdisk.
///
/// # Errors
///
/// If the directory or the archive cannot be made.
pub fn for_guest(host: &HostArguments, variant: Variant) -> Result<Vec<u8>> {
    let directory = build_directory(host, variant, ToolsFor::Guest)?;
    let mut command = Command::new("tar");
    command.args([
        "--create",
        "--gzip",
        "--owner=0",
        "--group=0",
        "--directory",
    ]);
    let output = command
        .arg(&directory)
        .arg(".")
        .output()
        .context("running tar")?;
    ensure!(
        output.status.success(),
        "tar of {}: {}",
        directory.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}

/// Brings the directory in which the kernel was built to this kernel again, if a different kernel
/// was built in it since, and copies from it.
fn install(
    tree: &Tree,
    recipe: &Recipe,
    variant: Variant,
    tools: ToolsFor,
    to: &Path,
) -> Result<()> {
    let output = paths::cache()?
        .join("build")
        .join(format!("{}-{}", tree.name, recipe.directory));
    let log = paths::cache()?.join("logs/build-directory.log");
    build::everything(tree, &output, recipe, variant, &log)?;
    let step = Step::spinner("collect headers and tools");
    let mut command = make(tree, &output, variant);
    command
        .arg("run-command")
        .arg(format!("KBUILD_RUN_COMMAND={}", tools.command(to)));
    process::logged(&mut command, &log, |_| ())?;
    // The script that makes it leaves this to the packages.
    fs::copy(output.join(".config"), to.join(".config"))?;
    step.finish();
    Ok(())
}
