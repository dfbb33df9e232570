// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of small parts.

use std::fs;

use cpio::newc::{Builder, ModeFileType, trailer};
use tempfile::TempDir;

use super::*;
use crate::rpi3::{CONFIG, KERNEL, TREES};

fn archive(names: impl IntoIterator<Item = (&'static str, ModeFileType)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, kind) in names {
        let builder = Builder::new(name).mode(0o755).set_mode_file_type(kind);
        builder.write(&mut bytes, 0).finish().expect("entry");
    }
    trailer(&mut bytes).expect("trailer");
    bytes
}

fn parts() -> Parts {
    let programs = [
        ("bin", ModeFileType::Directory),
        ("bin/busybox", ModeFileType::Regular),
        ("init", ModeFileType::Regular),
    ];
    Parts {
        kernel: (0..5_000_000_u32).map(|it| (it >> 9) as u8).collect(),
        trees: TREES.map(|name| BootFile::new(name, name)).to_vec(),
        firmware: vec![BootFile::new("start.elf", "firmware")],
        root: archive(programs),
    }
}

fn scratch() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("directory");
    let image = directory.path().join("card.img");
    (directory, image)
}

#[test]
fn files_are_read_back_as_they_were_and_the_image_is_always_the_same() {
    let (directory, path) = scratch();
    write(&parts(), &path).expect("image");
    let image = Image::read(&path).expect("image");
    assert_eq!(image.file(KERNEL).expect("kernel"), parts().kernel);
    for name in TREES {
        assert_eq!(image.file(name).expect("tree"), name.as_bytes());
    }
    assert!(image.file(CONFIG).is_ok() && image.file("nothing").is_err());
    let line = image.command_line().expect("command line");
    assert!(line.contains(&format!("root=PARTUUID={}", image.partuuid(2))));
    assert_eq!(fs::metadata(&path).expect("image").len(), layout::SIZE);

    let again = directory.path().join("again.img");
    write(&parts(), &again).expect("image");
    let same = fs::read(&path).expect("image") == fs::read(&again).expect("image");
    assert!(same, "two images of the same parts differ");
    let left = fs::read_dir(directory.path()).expect("directory").count();
    assert_eq!(left, 2, "something unfinished was left");
}

#[test]
fn another_content_is_another_card() {
    let (_directory, path) = scratch();
    write(&parts(), &path).expect("image");
    let first = Image::read(&path).expect("image").partuuid(2);
    let mut others = parts();
    others.firmware[0].content.push(0);
    write(&others, &path).expect("image");
    assert_ne!(Image::read(&path).expect("image").partuuid(2), first);
}

#[test]
fn a_boot_image_that_is_too_large_is_refused_and_leaves_nothing() {
    let (directory, path) = scratch();
    let mut large = parts();
    large.kernel = vec![0; 128 << 20];
    let error = write(&large, &path).expect_err("it must be refused");
    assert!(format!("{error:#}").contains("smaller"), "{error:#}");
    assert_eq!(
        fs::read_dir(directory.path()).expect("directory").count(),
        0
    );
}

#[test]
fn an_archive_that_leaves_its_directory_or_has_devices_is_refused() {
    let (directory, path) = scratch();
    for (name, kind) in [
        ("../outside", ModeFileType::Regular),
        ("two words", ModeFileType::Regular),
        ("console", ModeFileType::Char),
    ] {
        let mut wrong = parts();
        wrong.root = archive([(name, kind)]);
        let error = write(&wrong, &path).expect_err("it must be refused");
        assert!(format!("{error:#}").contains("archive"), "{error:#}");
    }
    assert_eq!(
        fs::read_dir(directory.path()).expect("directory").count(),
        0
    );
}

#[test]
fn what_is_no_image_is_an_error() {
    let (_directory, path) = scratch();
    assert!(Image::read(&path).is_err());
    fs::write(&path, vec![0; 4096]).expect("file");
    assert!(Image::read(&path).is_err());
    // A partition table with nothing behind it.
    let mut disk = io::Cursor::new(vec![0; 1 << 20]);
    layout::write(&mut disk, [1, 2, 3, 4]).expect("table");
    fs::write(&path, disk.into_inner()).expect("file");
    assert!(Image::read(&path).is_err());
}
