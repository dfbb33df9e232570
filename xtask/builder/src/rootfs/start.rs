// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an image with packages is made of: the base image, or one that has some of the packages
//! already.

use std::fs;
use std::path::{Path, PathBuf};

use super::base::{IMAGE, STATUS};

/// How names of images with packages begin and end, and what is between two packages. No package
/// has that in its name.
const BEGIN: &str = "with_";
const END: &str = ".img";
const BETWEEN: char = '_';

/// An image in the cache, and what dpkg says is installed in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The image.
    pub image: PathBuf,
    /// The list.
    pub status: PathBuf,
    /// How many of the wanted packages it was made for.
    pub packages: usize,
}

impl Start {
    /// The minimal Debian.
    pub fn base(directory: &Path) -> Self {
        Self {
            image: directory.join(IMAGE),
            status: directory.join(STATUS),
            packages: 0,
        }
    }

    /// The name of an image with these packages.
    pub fn name(packages: &[String]) -> String {
        format!("{BEGIN}{}{END}", packages.join(&BETWEEN.to_string()))
    }

    /// Images in `directory` that have no package but those in `wanted`, the one with most of them
    /// first, and the base image last.
    pub fn all(directory: &Path, wanted: &[String]) -> Vec<Self> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let paths = entries.filter_map(|it| Some(it.ok()?.path()));
        let mut found: Vec<Self> = paths
            .filter_map(|image| {
                let packages = packages(&image, wanted)?;
                let status = list_of(&image);
                status.is_file().then_some(Self {
                    image,
                    status,
                    packages,
                })
            })
            .collect();
        // By name where that does not decide, so that the same images lead to the same choice.
        found.sort_by(|a, b| (b.packages, &a.image).cmp(&(a.packages, &b.image)));
        found.push(Self::base(directory));
        found
    }

    /// Whether it is the minimal Debian.
    pub fn is_base(&self) -> bool {
        self.packages == 0
    }
}

/// Where the list of what is installed in an image is.
pub fn list_of(image: &Path) -> PathBuf {
    image.with_extension("status")
}

/// How many packages an image was made for, if all of them are wanted.
fn packages(image: &Path, wanted: &[String]) -> Option<usize> {
    let name = image.file_name()?.to_str()?;
    let names = name.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let mut count = 0;
    for name in names.split(BETWEEN) {
        wanted.iter().find(|it| *it == name)?;
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_with_most_of_the_packages_is_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| fs::write(folder.path().join(name), "").expect("a file");
        for name in [
            "with_a.img",
            "with_a.status",
            "with_a_b.img",
            "with_a_b.status",
            // Made before lists were kept.
            "with_a_b_c.img",
            // Has a package that is not wanted.
            "with_a_z.img",
            "with_a_z.status",
            // Its image was removed.
            "with_b_c.status",
            "kept_with_b.img",
            "kept_with_b.status",
        ] {
            file(name);
        }
        let names = |wanted: &[&str]| -> Vec<String> {
            let wanted: Vec<String> = wanted.iter().map(|it| (*it).to_owned()).collect();
            let all = Start::all(folder.path(), &wanted).into_iter();
            all.map(|it| it.image.file_name().expect("a name").display().to_string())
                .collect()
        };
        assert_eq!(
            names(&["a", "b", "c", "d"]),
            ["with_a_b.img", "with_a.img", "base.img"]
        );
        assert_eq!(names(&["a"]), ["with_a.img", "base.img"]);
        assert_eq!(names(&["b"]), ["base.img"]);
        assert!(Start::base(folder.path()).is_base());
    }

    #[test]
    fn the_name_of_an_image_says_what_it_was_made_for() {
        let wanted = ["a1".to_owned(), "b-2.0+x".to_owned()];
        let image = PathBuf::from(Start::name(&wanted));
        assert_eq!(packages(&image, &wanted), Some(2));
        assert_eq!(packages(&image, &wanted[..1]), None);
        assert_eq!(list_of(&image), Path::new("with_a1_b-2.0+x.status"));
    }
}
