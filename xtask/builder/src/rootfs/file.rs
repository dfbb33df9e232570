// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be wrong with an image of the user's.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Kinds of files that are no plain image: their first bytes, and what makes one of them. `FILE`
/// stands for the file.
const OTHERS: [(&[u8], &str, &str); 7] = [
    (b"QFI\xfb", "qcow2", "qemu-img convert -O raw FILE FILE.img"),
    (b"KDMV", "vmdk", "qemu-img convert -O raw FILE FILE.img"),
    (b"vhdxfile", "vhdx", "qemu-img convert -O raw FILE FILE.img"),
    (b"\x1f\x8b", "gzip", "gunzip <FILE >FILE.img"),
    (b"\xfd7zXZ", "xz", "unxz <FILE >FILE.img"),
    (b"\x28\xb5\x2f\xfd", "zstd", "unzstd <FILE >FILE.img"),
    (b"BZh", "bzip2", "bunzip2 <FILE >FILE.img"),
];

/// Refuses a file that the guest cannot have for its disk.
pub fn check(path: &Path, keep: bool) -> Result<()> {
    let name = path.display();
    let is_device = path
        .metadata()
        .is_ok_and(|it| it.file_type().is_block_device());
    ensure!(
        !is_device,
        "{name} is a device, and --rootfs takes a file: copy it with `dd if={name} of=FILE`, then \
         --rootfs FILE"
    );
    ensure!(
        path.is_file(),
        "there is no image {name}; --rootfs takes a file with an ext4 file system, or \
         debian[:PACKAGE,…]"
    );
    let mut start = Vec::new();
    File::open(path)
        .and_then(|it| it.take(8).read_to_end(&mut start))
        .with_context(|| format!("the image {name} cannot be read"))?;
    if let Some((kind, how)) = other(&start) {
        let how = how.replace("FILE", &name.to_string());
        bail!("{name} is a file of the kind {kind}, and --rootfs takes a plain image: `{how}`");
    }
    if keep {
        let open = File::options().write(true).open(path);
        open.with_context(|| {
            format!(
                "--keep writes to {name}, which cannot be written: change its permissions, or \
                 leave out --keep"
            )
        })?;
    }
    Ok(())
}

/// What kind of file begins so, unless it may be an image, and how one is made of it.
fn other(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = OTHERS.iter().find(|(magic, ..)| start.starts_with(magic));
    found.map(|(_, kind, how)| (*kind, *how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_kinds_of_files_are_named_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cloud");
        std::fs::write(&path, b"QFI\xfb\0\0\0\x03").expect("written");
        let said = format!("{:#}", check(&path, false).expect_err("no plain image"));
        assert!(said.contains("qcow2"), "{said}");
        let how = format!("`qemu-img convert -O raw {0} {0}.img`", path.display());
        assert!(said.contains(&how), "{said}");
        std::fs::write(&path, [0; 4096]).expect("written");
        check(&path, true).expect("may be an image");
        std::fs::write(&path, [0; 4]).expect("written");
        check(&path, false).expect("the guest says what it lacks");
        assert!(check(folder.path(), false).is_err());
    }
}
