// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checkpoints: a machine's state when its shell starts. A boot takes minutes; it is made once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::install::Gem5Build;

/// How many are kept. One takes some 15 MB.
const KEPT: usize = 32;

/// One, saved or not.
pub struct Checkpoint {
    directory: PathBuf,
}

impl Checkpoint {
    /// The one in `base` of a machine with `program` and `memory`, which the description `machine`
    /// makes in `build`.
    pub fn of(
        base: &Path,
        build: &Gem5Build,
        machine: &str,
        program: &[u8],
        memory: u64,
    ) -> Result<Self> {
        let file = fs::metadata(&build.program)
            .with_context(|| format!("reading {}", build.program.display()))?;
        let built = file.modified().unwrap_or(UNIX_EPOCH);
        let built = built.duration_since(UNIX_EPOCH).unwrap_or_default();
        let digest = Sha256::new()
            .chain_update(machine)
            .chain_update(memory.to_le_bytes())
            .chain_update(file.len().to_le_bytes())
            .chain_update(built.as_nanos().to_le_bytes())
            .chain_update(build.program.as_os_str().as_encoded_bytes())
            .chain_update([0])
            .chain_update(program)
            .finalize();
        let name: String = digest
            .iter()
            .take(8)
            .map(|it| format!("{it:02x}"))
            .collect();
        Ok(Self {
            directory: base.join(name),
        })
    }

    /// Directory of the checkpoint, if it was saved.
    pub fn saved(&self) -> Option<&Path> {
        self.directory
            .join("m5.cpt")
            .is_file()
            .then_some(&self.directory)
    }

    /// Where gem5 writes it. Another command may be writing the same one.
    pub fn partial(&self) -> PathBuf {
        let extension = format!("{}.partial", std::process::id());
        self.directory.with_extension(extension)
    }

    /// Keeps what gem5 wrote, if another command has not kept the same one, and removes the oldest
    /// ones.
    pub fn keep(&self) -> Result<()> {
        let partial = self.partial();
        match fs::rename(&partial, &self.directory) {
            Err(_) if self.saved().is_some() => fs::remove_dir_all(&partial)
                .with_context(|| format!("removing {}", partial.display()))?,
            renamed => renamed.with_context(|| format!("renaming {}", partial.display()))?,
        }
        let base = self.directory.parent().unwrap_or(Path::new("."));
        let entries = fs::read_dir(base).with_context(|| format!("reading {}", base.display()))?;
        let mut all: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|it| {
                let it = it.ok()?;
                Some((it.metadata().ok()?.modified().ok()?, it.path()))
            })
            .collect();
        all.sort();
        for (_, path) in all.iter().take(all.len().saturating_sub(KEPT)) {
            // Another command may have removed it.
            let _ = fs::remove_dir_all(path);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_kept_for_each_machine() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().join("checkpoints");
        let program = directory.path().join("gem5.opt");
        fs::write(&program, "").expect("a file");
        let build = Gem5Build {
            directory: directory.path().to_owned(),
            program,
        };
        let of =
            |content: &[u8]| Checkpoint::of(&base, &build, "machine", content, 1).expect("one");
        for number in 0..KEPT as u8 + 2 {
            let one = of(&[number]);
            assert!(one.saved().is_none());
            fs::create_dir_all(one.partial()).expect("a directory");
            fs::write(one.partial().join("m5.cpt"), "").expect("a file");
            assert!(one.saved().is_none());
            one.keep().expect("kept");
            assert!(of(&[number]).saved().is_some());
        }
        // Another command has made the last one as well.
        let last = of(&[KEPT as u8 + 1]);
        fs::create_dir_all(last.partial()).expect("a directory");
        fs::write(last.partial().join("m5.cpt"), "").expect("a file");
        last.keep().expect("the one that is there");
        assert_eq!(fs::read_dir(&base).expect("a directory").count(), KEPT);
    }
}
