// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask compartment`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use donjon_compartment_image::{Access, Image, PAGE, hexadecimal};

use super::{build, measurement, read};
use crate::arguments::HostArguments;
use crate::environment::{self, Needs};

/// Arguments of `compartment`.
#[derive(Args, Debug)]
pub struct CompartmentCommand {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// What `compartment` does.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// Build a program for a compartment, and say what its image has.
    Build {
        /// A Rust crate, a C file, or a folder with C files.
        path: PathBuf,
        /// Where to put the image as well.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// The host.
        #[command(flatten)]
        host: HostArguments,
    },
    /// Print the measurement of an image.
    Measure {
        /// The image.
        file: PathBuf,
    },
}

/// Carries out the command.
pub fn run(command: &CompartmentCommand) -> Result<()> {
    match &command.action {
        Action::Build { path, out, host } => {
            environment::prepare(host, Needs::default())?;
            let mut image = build(path)?;
            if let Some(out) = out {
                fs::copy(&image, out).with_context(|| format!("writing {}", out.display()))?;
                image.clone_from(out);
            }
            describe(&image)
        }
        Action::Measure { file } => {
            let measured = measurement(&read(file)?);
            println!("{}", measured.with_context(|| file.display().to_string())?);
            Ok(())
        }
    }
}

fn describe(path: &Path) -> Result<()> {
    let bytes = read(path)?;
    let image = Image::parse(&bytes).with_context(|| path.display().to_string())?;
    println!("image:       {}", path.display());
    println!("measurement: {}", hexadecimal(&image.measurement()));
    println!("entry:       {:#x}", image.entry);
    println!(
        "pages:       {} code, {} constants, {} data (stack: {}), {} shared",
        image.count(Access::Execute),
        image.count(Access::Read),
        image.count(Access::Write),
        image.stack_size.div_ceil(PAGE),
        image.shared_pages
    );
    println!(
        "frames:      {} at the beginning, {} at most",
        image.frames(),
        image.limit
    );
    Ok(())
}
