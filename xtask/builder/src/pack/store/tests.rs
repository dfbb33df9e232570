// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the place of boot images.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::SystemTime;

use super::{LIFE, keep};

/// Makes an image look as if it had been packed long ago.
fn make_old(image: &Path) {
    let long_ago = SystemTime::now() - LIFE * 2;
    let file = File::open(image).expect("a file");
    file.set_modified(long_ago).expect("a file");
}

#[test]
fn an_image_stays_when_another_is_packed_for_the_same_mode() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    let ours = keep(b"one kernel", &newest).expect("a place");
    let theirs = keep(b"another kernel", &newest).expect("a place");
    assert_ne!(ours, theirs);
    assert_eq!(fs::read(&ours).expect("an image"), b"one kernel");
    assert_eq!(fs::read(&newest).expect("an image"), b"another kernel");
}

#[test]
fn the_same_image_is_kept_once_and_the_link_leads_back_to_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    let first = keep(b"one kernel", &newest).expect("a place");
    keep(b"another kernel", &newest).expect("a place");
    assert_eq!(keep(b"one kernel", &newest).expect("a place"), first);
    assert_eq!(fs::read(&newest).expect("an image"), b"one kernel");
    let kept = fs::read_dir(first.parent().expect("a directory")).expect("a file");
    let images = kept.filter(|it| it.as_ref().expect("a file").path().extension().is_some());
    assert_eq!(images.count(), 2);
}

#[test]
fn an_image_that_is_packed_again_is_no_old_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    let image = keep(b"one kernel", &newest).expect("a place");
    make_old(&image);
    keep(b"one kernel", &newest).expect("a place");
    assert_eq!(fs::read(&image).expect("an image"), b"one kernel");
}

#[test]
fn a_file_of_an_older_version_gives_way_to_the_link() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    fs::write(&newest, b"a file").expect("a file");
    keep(b"one kernel", &newest).expect("a place");
    assert_eq!(fs::read(&newest).expect("an image"), b"one kernel");
}

#[test]
fn commands_that_pack_the_same_image_at_once_all_have_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    let image = vec![7; 1 << 20];
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let path = keep(&image, &newest).expect("a place");
                assert_eq!(fs::read(path).expect("an image"), image);
            });
        }
    });
}

#[test]
fn old_images_are_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let newest = directory.path().join("boot.img");
    let old = keep(b"one kernel", &newest).expect("a place");
    make_old(&old);
    keep(b"another kernel", &newest).expect("a place");
    assert!(!old.exists());
}
