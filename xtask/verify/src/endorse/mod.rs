// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference values of a program and of a boot image, for services that appraise evidence: a CoRIM.
//!
//! The draft is draft-ietf-rats-corim-11. docs/attestation-results.md says which field means what.

mod arguments;
mod boot_image;
mod encode;
mod identifier;
mod reference;
#[cfg(test)]
mod tests;

use anyhow::Result;

use crate::output;

pub use arguments::EndorseArguments;
pub use boot_image::started;
pub use reference::Reference;

/// Writes the reference values that a command line asks for.
///
/// # Errors
///
/// If a file cannot be read, is none of its kind or does not suit the others; if the output is
/// there already or cannot be written.
pub fn run(arguments: &EndorseArguments) -> Result<()> {
    output::is_free(&arguments.output)?;
    let reference = Reference::of(arguments)?;
    let bytes = encode::encode(&reference, arguments)?;
    output::write(&arguments.output, &bytes)?;
    print!("{reference}");
    Ok(())
}
