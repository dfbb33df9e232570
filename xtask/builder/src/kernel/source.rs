// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where Linux comes from, and whether it is a version that the patch is for.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use donjon_machine::tools::{LINUX_PACKAGE, LINUX_TARBALL};
use sha2::{Digest, Sha256};

use super::walk;
use crate::arguments::HostArguments;
use crate::paths::digest_name;

/// Oldest sublevel of 6.12 that the patch is for.
const OLDEST_SUBLEVEL: u32 = 100;

/// The source of a kernel.
pub struct Source {
    /// The tarball or tree.
    pub origin: Origin,
    /// Changes whenever the source changes.
    pub identity: String,
    /// Name of its directories in the cache.
    pub name: String,
}

/// What kind of source.
pub enum Origin {
    /// Debian's tarball.
    Tarball(PathBuf),
    /// A tree of the user's.
    Tree(PathBuf),
}

/// The source that the user asked for.
pub fn find(host: &HostArguments) -> Result<Source> {
    match &host.linux {
        Some(directory) => tree(directory),
        None => tarball(Path::new(LINUX_TARBALL)),
    }
}

fn tarball(path: &Path) -> Result<Source> {
    let data = fs::metadata(path).with_context(|| {
        format!(
            "{} is missing; install {LINUX_PACKAGE}, or name a tree with --linux DIR",
            path.display()
        )
    })?;
    let name = format!("debian-{:x}-{:x}", data.len(), data.mtime());
    Ok(Source {
        origin: Origin::Tarball(path.to_path_buf()),
        identity: name.clone(),
        name,
    })
}

fn tree(directory: &Path) -> Result<Source> {
    let directory = fs::canonicalize(directory).with_context(|| {
        format!(
            "{} (from --linux or LINUX_SRC) is not a directory",
            directory.display()
        )
    })?;
    check_version(&directory)?;
    let mut hash = Sha256::new();
    for file in walk::files_except(&directory, &is_build_product)? {
        let data = fs::symlink_metadata(&file)?;
        hash.update(file.as_os_str().as_encoded_bytes());
        for number in [data.len().cast_signed(), data.mtime(), data.mtime_nsec()] {
            hash.update(number.to_le_bytes());
        }
    }
    let place = Sha256::digest(directory.as_os_str().as_encoded_bytes());
    Ok(Source {
        origin: Origin::Tree(directory),
        identity: format!("tree-{}", digest_name(&hash.finalize())),
        name: format!("tree-{}", digest_name(&place)),
    })
}

/// What is not copied from a tree of the user's: version control and what a build left in it.
pub fn is_build_product(path: &Path) -> bool {
    const DIRECTORIES: [&str; 4] = [
        ".git",
        "include/config",
        "include/generated",
        "arch/arm64/include/generated",
    ];
    if DIRECTORIES.iter().any(|it| Path::new(it) == path) {
        return true;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default();
    matches!(
        &*name,
        ".config" | ".config.old" | ".version" | "vmlinux" | ".tmp_vmlinux"
    ) || extension == "o"
        || extension == "ko"
        || (name.starts_with('.') && extension == "cmd")
}

/// A kernel version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u32, u32, u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The version of a tree, refused unless the patch is for it.
pub fn check_version(tree: &Path) -> Result<Version> {
    let makefile = fs::read_to_string(tree.join("Makefile")).with_context(|| {
        format!(
            "{} is not a Linux source tree: it has no Makefile",
            tree.display()
        )
    })?;
    let Some(version) = version(&makefile) else {
        bail!(
            "{} is not a Linux source tree: its Makefile has no VERSION",
            tree.display()
        );
    };
    if (version.0, version.1) != (6, 12) || version.2 < OLDEST_SUBLEVEL {
        bail!(
            "{} is Linux {version}, but kernel-patch is for Linux 6.12 from \
             6.12.{OLDEST_SUBLEVEL} on; use such a tree, or leave out --linux and LINUX_SRC to \
             take Debian's {LINUX_PACKAGE}",
            tree.display()
        );
    }
    Ok(version)
}

fn version(makefile: &str) -> Option<Version> {
    let number = |name: &str| -> Option<u32> {
        let mut lines = makefile.lines().filter_map(|line| line.split_once('='));
        lines
            .find(|(key, _)| key.trim() == name)?
            .1
            .trim()
            .parse()
            .ok()
    };
    Some(Version(
        number("VERSION")?,
        number("PATCHLEVEL")?,
        number("SUBLEVEL")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_comes_from_the_makefile() {
        let makefile = "# comment\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n";
        assert_eq!(version(makefile), Some(Version(6, 12, 117)));
        assert_eq!(version("all:\n"), None);
    }

    #[test]
    fn objects_and_version_control_are_not_copied() {
        for path in [
            ".git",
            "include/config",
            "kernel/fork.o",
            "kernel/.fork.o.cmd",
            ".config",
        ] {
            assert!(is_build_product(Path::new(path)), "{path}");
        }
        assert!(!is_build_product(Path::new("kernel/fork.c")));
    }
}
