// SPDX-License-Identifier: MIT OR Apache-2.0
//! Building programs that run in compartments, and looking at their images.

pub mod c;
pub mod command;
pub mod rust;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use donjon_compartment_image::{Image, hexadecimal};

use crate::paths;

pub use command::run;

/// The examples, which every guest has.
const PROGRAMS: &str = "guests/programs";
/// Where a guest has them.
const DIRECTORY: &str = "/usr/lib/donjon";
/// Where what is built is left.
const BUILDS: &str = "target/compartments";
/// The linker script of all programs.
pub const SCRIPT: &str = "guests/runtime/compartment.ld";

/// Builds a crate, a C file or a folder with C files; the image.
pub fn build(path: &Path) -> Result<PathBuf> {
    let path = fs::canonicalize(path).with_context(|| format!("opening {}", path.display()))?;
    let image = if path.join("Cargo.toml").is_file() {
        rust::build(&path)?
    } else {
        let sources = c::sources(&path)?;
        if sources.is_empty() {
            bail!(
                "{} is neither a Rust crate nor a C file, nor a folder with C files",
                path.display()
            );
        }
        c::build(&path, &sources)?
    };
    let bytes = read(&image)?;
    Image::parse(&bytes)
        .with_context(|| format!("{} was built, but is no image", image.display()))?;
    Ok(image)
}

/// Where a guest has an example, and its bytes.
pub type Example = (String, Vec<u8>);

/// The examples, built once.
pub fn examples() -> Result<Vec<Example>> {
    static BUILT: Mutex<Option<Vec<Example>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(examples) = &*built {
        return Ok(examples.clone());
    }
    let examples = build_examples()?;
    Ok(built.insert(examples).clone())
}

fn build_examples() -> Result<Vec<Example>> {
    let place = paths::in_root(PROGRAMS);
    let entries = fs::read_dir(&place).with_context(|| format!("reading {}", place.display()))?;
    let mut names: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|it| it.path().is_dir())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let one = |name: &String| {
        let image = build(&place.join(name))?;
        Ok((format!("{DIRECTORY}/{name}"), read(&image)?))
    };
    names.iter().map(one).collect()
}

/// The measurement that a compartment from this image has, in hexadecimal.
pub fn measurement(image: &[u8]) -> Result<String> {
    Ok(hexadecimal(&Image::parse(image)?.measurement()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("reading {}", path.display()))
}
