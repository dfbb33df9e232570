// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask kernel`.

use anyhow::Result;

use super::external::{ToolsFor, build_directory};
use super::{Variant, obtain, source_tree};
use crate::arguments::KernelArguments;
use crate::environment::{self, Needs};

/// Builds Linux, or unpacks and patches it, and prints where it is.
pub fn run(arguments: &KernelArguments) -> Result<()> {
    environment::prepare(&arguments.host, Needs::default())?;
    let variant = if arguments.native {
        Variant::Native
    } else {
        Variant::Donjon
    };
    if arguments.source {
        println!("{}", source_tree(&arguments.host, variant)?.display());
    } else if arguments.build_dir {
        let directory = build_directory(&arguments.host, variant, ToolsFor::Host)?;
        println!("{}", directory.display());
    } else {
        println!("{}", obtain(&arguments.host, variant)?.image.display());
    }
    Ok(())
}
