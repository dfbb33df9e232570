// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tools of the host, and the Debian packages that contain them.

use std::env;
use std::path::{Path, PathBuf};

/// A file and the package it comes in.
pub struct Tool {
    /// Name of a program, or an absolute path.
    pub name: &'static str,
    /// Debian package.
    pub package: &'static str,
}

const fn tool(name: &'static str, package: &'static str) -> Tool {
    Tool { name, package }
}

/// Debian's source of Linux.
pub const LINUX_TARBALL: &str = "/usr/src/linux-source-6.12.tar.xz";
/// The package that has it.
pub const LINUX_PACKAGE: &str = "linux-source-6.12";

/// gdb, for `--gdb` alone.
pub const GDB: Tool = tool("gdb-multiarch", "gdb-multiarch");

/// The compiler of libFuzzer, for tests alone.
pub const CXX: Tool = tool("c++", "g++");

/// The C library for arm64, which the compiler only recommends: for the kernel's selftests, and for
/// programs of flow attestation as processes.
pub const CROSS_LIBC: Tool = tool("/usr/aarch64-linux-gnu/lib/libc.a", "libc6-dev-arm64-cross");

/// What Debian's configuration of Linux is built with: its tool that collects certificates.
pub const LIBSSL: Tool = tool("/usr/include/openssl/opensslv.h", "libssl-dev");

/// EDK2 for QEMU's machines, for UEFI alone.
pub const UEFI: Tool = tool(
    "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd",
    "qemu-efi-aarch64",
);

/// Runs programs for arm64 on this host: those of flow attestation.
pub const USER_QEMU: Tool = tool("qemu-aarch64", "qemu-user");

/// Compiles programs of flow attestation, if it is asked for.
pub const CLANG: Tool = tool("clang", "clang");

/// What makes a root file system of Debian's packages.
pub const ROOTFS: [Tool; 2] = [
    tool(DEBOOTSTRAP, "debootstrap"),
    tool("fakeroot", "fakeroot"),
];

/// Unpacks the packages of a new system. Not every user's PATH leads there.
pub const DEBOOTSTRAP: &str = "/usr/sbin/debootstrap";

/// What every build and boot needs.
pub const TOOLS: [Tool; 14] = [
    tool("gcc", "gcc"),
    tool("/usr/include/stdio.h", "libc6-dev"),
    tool("make", "make"),
    tool("bc", "bc"),
    tool("perl", "perl"),
    tool("bison", "bison"),
    tool("flex", "flex"),
    tool("patch", "patch"),
    tool("tar", "tar"),
    tool("xz", "xz-utils"),
    tool("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    tool("aarch64-linux-gnu-ld", "binutils-aarch64-linux-gnu"),
    tool(QEMU, "qemu-system-arm"),
    tool(MKE2FS, "e2fsprogs"),
];

/// Makes file systems for disks of guests. Not every user's PATH leads there.
pub const MKE2FS: &str = "/usr/sbin/mke2fs";

/// The emulator.
pub const QEMU: &str = "qemu-system-aarch64";

impl Tool {
    /// Whether it is there.
    pub fn present(&self) -> bool {
        find(self.name).is_some()
    }
}

/// Where a program is.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.starts_with('/') {
        return Some(PathBuf::from(name)).filter(|path| path.exists());
    }
    // Not every user's PATH leads to programs for administrators.
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|directory| directory.join(name))
        .find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    file.is_file() && nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok()
}

/// What to say after "is not installed".
pub fn hint(name: &str) -> String {
    match TOOLS
        .iter()
        .chain([&GDB, &CXX, &USER_QEMU, &CLANG])
        .find(|tool| tool.name == name)
    {
        Some(tool) => format!(
            "; it comes in the Debian package {}, which `cargo xtask run` installs",
            tool.package
        ),
        None => String::new(),
    }
}
