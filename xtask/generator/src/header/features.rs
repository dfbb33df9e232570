// SPDX-License-Identifier: MIT OR Apache-2.0
//! The features that leave out a check, in the manifests of the crates that have a part in it.

use std::fs;

use anyhow::{Context, Result};
use donjon_core::checks::{BY_WORD_FEATURE, IN_IMAGE, IN_IMAGE_AND_BOOT};
use donjon_machine::paths;

use crate::{generated, section};

const CORE: &str = "inner-domain/core/Cargo.toml";
const IMAGE: &str = "inner-domain/image/Cargo.toml";
const BOOT: &str = "boot/Cargo.toml";

/// Returns the three manifests with their lists of features.
///
/// # Errors
///
/// If a manifest cannot be read, or has no place for the list.
pub fn manifests() -> Result<[generated::File; 3]> {
    let of_both = IN_IMAGE_AND_BOOT.iter().map(|it| it.0);
    let of_image = IN_IMAGE.iter().map(|it| it.0);
    let image: Vec<&str> = of_image
        .chain(of_both.clone())
        .chain([BY_WORD_FEATURE])
        .collect();
    let forwarded = |names: &[&str]| -> String {
        let line = |it: &&str| format!("{it} = [\"donjon-core/{it}\"]\n");
        names.iter().map(line).collect()
    };
    let own: String = image.iter().map(|it| format!("{it} = []\n")).collect();
    let boot: Vec<&str> = of_both.collect();
    Ok([
        with_features(CORE, &own)?,
        with_features(IMAGE, &forwarded(&image))?,
        with_features(BOOT, &forwarded(&boot))?,
    ])
}

fn with_features(manifest: &'static str, features: &str) -> Result<generated::File> {
    let found = fs::read_to_string(paths::in_root(manifest));
    let found = found.with_context(|| format!("reading {manifest}"))?;
    let text = section::replace_in_manifest(&found, "checks", features).context(manifest)?;
    Ok((manifest, text))
}
