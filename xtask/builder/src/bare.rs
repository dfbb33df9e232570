// SPDX-License-Identifier: MIT OR Apache-2.0
//! Building the programs that do not run on the host: inner domain, boot stage, guest programs.

mod left_out;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use donjon_core::checks::IN_IMAGE_AND_BOOT;
use donjon_machine::arguments::Switch;
use donjon_machine::process::Running;
use donjon_machine::qemu::SOURCES;

use crate::environment::{BARE_TARGET, GUEST_TARGET};
use crate::{lock, paths};

/// The two programs of a boot image.
#[derive(Clone, Debug)]
pub struct BareMetal {
    /// ELF file of the inner domain.
    pub inner: PathBuf,
    /// ELF file of the boot stage.
    pub boot: PathBuf,
}

/// What an inner domain is built as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerVariant {
    /// Switch mode; not [`Switch::None`].
    pub switch: Switch,
    /// Features that break a rule on purpose, for the tests that show what the rule is for, or
    /// that make it write down its steps. Only the test command sets them.
    pub weakened: Vec<String>,
}

impl InnerVariant {
    /// The build that `run` and `bench` use.
    pub fn sound(switch: Switch) -> Self {
        Self {
            switch,
            weakened: Vec::new(),
        }
    }

    /// The build without the protections of these features; with all of them where none is named.
    pub fn without(switch: Switch, features: &[&str]) -> Self {
        Self {
            switch,
            weakened: features.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    /// Name of its directory below target/.
    pub fn name(&self) -> String {
        let mut name = self.switch.name().to_owned();
        for feature in &self.weakened {
            name.push('+');
            name.push_str(feature);
        }
        name
    }
}

/// Profile of the builds that the test command alone boots, those that are weakened and those that
/// write down their steps: 7 s of CPU time each instead of 20. One unit stays: the gate's symbols
/// are local to it.
const BUILT_SOON: [&str; 2] = [
    "--config=profile.release.lto=\"off\"",
    "--config=profile.release.debug=\"line-tables-only\"",
];

/// Where sources are.
#[derive(Clone, Debug)]
pub struct Place {
    /// Ours.
    pub sources: PathBuf,
    /// Sources of libraries: cargo's own directory.
    pub cargo_home: Option<PathBuf>,
}

impl Place {
    /// The directory of this repository, and the one that cargo uses.
    pub fn ours() -> Self {
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"));
        Self {
            sources: paths::root().to_owned(),
            cargo_home: env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home),
        }
    }
}

/// Directory of the builds, one for each variant.
const BUILDS: &str = "target/bare";

/// Builds inner domain and boot stage.
///
/// All variants share one directory of cargo's, so that each compiles only what its features
/// change; what is linked is copied out of it, to the variant's own directory.
pub fn build(variant: &InnerVariant) -> Result<BareMetal> {
    build_in(&Place::ours(), variant)
}

/// Builds a variant from the sources of `place`.
pub fn build_in(place: &Place, variant: &InnerVariant) -> Result<BareMetal> {
    let shared = place.sources.join("target/bare/cargo");
    let own = place.sources.join(BUILDS).join(variant.name());
    for directory in [&shared, &own] {
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    }
    // Another process may build another variant: its programs have the same names.
    let _lock = lock::take(&shared.join("lock"))?;
    inner_domain(place, variant, &shared)?;
    boot_stage(place, variant, &shared)?;
    let programs = shared.join(BARE_TARGET).join("release");
    let built = BareMetal {
        inner: copy(&programs, "donjon-image", &own)?,
        boot: copy(&programs, "donjon-boot", &own)?,
    };
    left_out::choose(&built.inner, &variant.weakened)?;
    Ok(built)
}

/// Builds the inner domain of a variant.
fn inner_domain(place: &Place, variant: &InnerVariant, shared: &Path) -> Result<()> {
    let switch = format!("switch-{}", variant.switch.name());
    let mut features = vec![switch.as_str()];
    features.extend(left_out::features(&variant.weakened));
    let features: Vec<_> = features
        .iter()
        .map(|it| format!("donjon-image/{it}"))
        .collect();
    let mut command = cargo(place, BARE_TARGET, &[])?;
    command.arg("--package=donjon-image");
    if !variant.weakened.is_empty() {
        command.args(BUILT_SOON);
    }
    command.arg("--target-dir").arg(shared);
    command.arg(format!("--features={}", features.join(",")));
    finish(command, "inner domain")
}

/// Builds the boot stage by a command of its own, since cargo would compile it again with the rules
/// of each weakened inner domain, which change nothing in it but for [`IN_IMAGE_AND_BOOT`].
fn boot_stage(place: &Place, variant: &InnerVariant, shared: &Path) -> Result<()> {
    let weakened = variant.weakened.iter().map(String::as_str);
    let features = ["bare"]
        .into_iter()
        .chain(weakened.filter(|it| IN_IMAGE_AND_BOOT.iter().any(|check| check.0 == *it)));
    let features: Vec<_> = features.map(|it| format!("donjon-boot/{it}")).collect();
    let mut command = cargo(place, BARE_TARGET, &[])?;
    command.arg("--package=donjon-boot");
    command.arg(format!("--features={}", features.join(",")));
    command.arg("--target-dir").arg(shared);
    finish(command, "boot stage")
}

/// Where a variant's programs and boot images are.
pub fn variant_directory(variant: &InnerVariant) -> PathBuf {
    paths::in_root(BUILDS).join(variant.name())
}

/// Copies a program, so that a reader sees the old one or the new one.
fn copy(from: &Path, name: &str, to: &Path) -> Result<PathBuf> {
    let program = to.join(name);
    let new = to.join(format!("{name}.new"));
    fs::copy(from.join(name), &new)
        .and_then(|_| fs::rename(&new, &program))
        .with_context(|| format!("writing {}", program.display()))?;
    Ok(program)
}

/// What programs for compartments and the process that they are compared with are compiled with.
/// The targets differ: that of processes keeps frame pointers in some functions and makes programs
/// that can be anywhere, that of compartments neither.
pub const ALIKE: [&str; 2] = ["-Cforce-frame-pointers=yes", "-Crelocation-model=static"];

/// Builds the guest programs; returns the directories that have them.
pub fn build_guests() -> Result<[PathBuf; 2]> {
    let plain = [
        "--package=donjon-guests",
        "--package=donjon-client",
        "--features=donjon-guests/guest",
    ];
    let alike = [
        "--package=donjon-guests",
        "--bin=donjon-compare",
        "--features=compare",
    ];
    Ok([
        build_for_guests("target/guests", &plain, &[])?,
        build_for_guests("target/guests-alike", &alike, &ALIKE)?,
    ])
}

fn build_for_guests(target: &str, what: &[&str], flags: &[&str]) -> Result<PathBuf> {
    let target = paths::in_root(target);
    fs::create_dir_all(&target).with_context(|| format!("making {}", target.display()))?;
    // cargo would wait for another one without a word.
    let _lock = lock::take(&target.join("lock"))?;
    let mut command = cargo(&Place::ours(), GUEST_TARGET, flags)?;
    command.args(what).arg("--target-dir").arg(&target);
    // Nothing reads it, it takes a minute, and each boot unpacks the programs.
    command.arg("--config=profile.release.debug=false");
    // The target brings its own C library and start files, so no cross linker is needed.
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    finish(command, "guest programs")?;
    Ok(target.join(GUEST_TARGET).join("release"))
}

/// cargo for a target, with flags of the compiler. What it makes does not depend on the place.
fn cargo(place: &Place, target: &str, more: &[&str]) -> Result<Command> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--release", "--quiet"])
        .arg(format!("--target={target}"))
        .current_dir(&place.sources);
    let mut flags = vec![format!(
        "--remap-path-prefix={}={SOURCES}",
        place.sources.display()
    )];
    flags.extend(more.iter().map(|it| (*it).to_owned()));
    if let Some(home) = &place.cargo_home {
        command.env("CARGO_HOME", home);
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    let flags = serde_json::to_string(&flags).context("quoting flags")?;
    command
        .arg("--config")
        .arg(format!("target.{target}.rustflags={flags}"));
    Ok(command)
}

fn finish(mut command: Command, what: &str) -> Result<()> {
    // Cargo's diagnostics are for the reader, and ours would not improve them.
    let status = Running::start(command.stdin(std::process::Stdio::null()))?.wait()?;
    if !status.success() {
        bail!("building the {what} failed ({status}); cargo's messages stand above");
    }
    Ok(())
}
