// SPDX-License-Identifier: MIT OR Apache-2.0
//! The identity of a machine: a secret in its memory, which the boot stage takes and wipes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::arguments::Switch;
use crate::machine::Recipe;

/// Bytes of the secret.
const BYTES: u64 = 32;
/// Magic number before the secret.
const MAGIC: &[u8; 8] = b"DONJONID";

/// A secret in a file, and where the boot stage finds it.
#[derive(Clone, Debug)]
pub struct Identity {
    file: PathBuf,
    address: u64,
    /// Kernel parameter that tells the boot stage where the secret is.
    pub word: String,
}

impl Identity {
    /// Takes the secret of a file for a machine of this recipe.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has another size, or the machine can have none.
    pub(crate) fn new(file: &Path, recipe: &Recipe, switch: Switch) -> Result<Self> {
        ensure!(
            switch != Switch::None,
            "--identity is for the inner domain, and --switch none has none: leave one of them out"
        );
        let address = recipe.identity_address.with_context(|| {
            format!(
                "--identity is not offered on this machine ({})",
                recipe.description
            )
        })?;
        let about = fs::metadata(file)
            .with_context(|| format!("the identity {} cannot be read", file.display()))?;
        ensure!(
            about.is_file() && about.len() == BYTES,
            "the identity {} must be a file of {BYTES} bytes; make one with `head -c {BYTES} \
             /dev/urandom > FILE`",
            file.display()
        );
        Ok(Self {
            file: file.to_owned(),
            address,
            word: format!("donjon.identity={address:#x}"),
        })
    }

    /// Arguments of QEMU that put the magic number and the secret into memory.
    pub(crate) fn qemu_arguments(&self) -> Vec<String> {
        let magic = u64::from_le_bytes(*MAGIC);
        let file = self.file.display();
        let behind = self.address + MAGIC.len() as u64;
        [
            format!(
                "loader,addr={:#x},data={magic:#x},data-len={}",
                self.address,
                MAGIC.len()
            ),
            format!("loader,addr={behind:#x},file={file},force-raw=on"),
        ]
        .into_iter()
        .flat_map(|it| ["-device".to_owned(), it])
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recipe;

    fn refused(content: &[u8], machine: &str, switch: Switch) -> String {
        let place = tempfile::NamedTempFile::new().expect("a file");
        fs::write(place.path(), content).expect("content");
        let recipe = recipe(machine).expect("a recipe");
        match Identity::new(place.path(), &recipe, switch) {
            Ok(it) => format!("{:?}", it.qemu_arguments()),
            Err(why) => format!("{why:#}"),
        }
    }

    #[test]
    fn a_wrong_one_is_refused() {
        assert!(refused(&[1; 31], "virt", Switch::Asid).contains("must be a file of 32 bytes"));
        assert!(refused(&[1; 32], "raspi3b", Switch::Asid).contains("not offered on this machine"));
        assert!(refused(&[1; 32], "virt", Switch::None).contains("leave one of them out"));
        assert!(refused(&[1; 32], "virt", Switch::Asid).contains("data=0x44494e4f4a4e4f44"));
    }
}
