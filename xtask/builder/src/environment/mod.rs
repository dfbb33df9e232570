// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this host must have, and how it gets it.

mod debian;
pub mod program;
pub mod qemu;
mod rust;

use anyhow::{Result, bail};
use donjon_machine::tools;

use crate::arguments::HostArguments;

pub use rust::{BARE_TARGET, COMPARTMENT_TARGET, GUEST_TARGET, NIGHTLY, core_sources};

/// What a command needs beyond the tools that every build needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// gdb for arm64.
    pub gdb: bool,
    /// The nightly toolchain with Miri.
    pub miri: bool,
    /// A C++ compiler.
    pub cxx: bool,
    /// The C library for arm64.
    pub cross_libc: bool,
    /// A UEFI firmware for QEMU.
    pub uefi: bool,
    /// What makes a root file system of Debian's packages.
    pub rootfs: bool,
    /// An emulator that runs programs for arm64 without a machine.
    pub user_qemu: bool,
    /// The compiler clang, for programs of flow attestation.
    pub clang: bool,
    /// The nightly toolchain with the sources of core, which such programs in Rust are built with.
    pub core_sources: bool,
}

impl Needs {
    /// What every build needs, and no more.
    pub const NONE: Self = Self {
        gdb: false,
        miri: false,
        cxx: false,
        cross_libc: false,
        uefi: false,
        rootfs: false,
        user_qemu: false,
        clang: false,
        core_sources: false,
    };

    /// What one of two needs.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            gdb: self.gdb || other.gdb,
            miri: self.miri || other.miri,
            cxx: self.cxx || other.cxx,
            cross_libc: self.cross_libc || other.cross_libc,
            uefi: self.uefi || other.uefi,
            rootfs: self.rootfs || other.rootfs,
            user_qemu: self.user_qemu || other.user_qemu,
            clang: self.clang || other.clang,
            core_sources: self.core_sources || other.core_sources,
        }
    }
}

/// Checks the host and installs what is missing, or with `--no-install` only names it.
pub fn prepare(host: &HostArguments, needs: Needs) -> Result<()> {
    let packages = debian::missing(host, needs)?;
    let rust = rust::missing(needs)?;
    if packages.is_empty() && rust.is_empty() {
        return qemu::check();
    }
    eprintln!("missing on this host:");
    for package in &packages {
        eprintln!("  Debian package {package}");
    }
    for item in &rust {
        eprintln!("  Rust {item}");
    }
    if host.no_install {
        let mut lines = debian::install_line(&packages)
            .into_iter()
            .collect::<Vec<_>>();
        lines.extend(rust.iter().map(rust::Missing::install_line));
        bail!(
            "nothing was installed because of --no-install; to install it:\n  {}",
            lines.join("\n  ")
        );
    }
    debian::install(&packages)?;
    for item in &rust {
        item.install()?;
    }
    qemu::check()
}
