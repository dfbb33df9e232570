// SPDX-License-Identifier: MIT OR Apache-2.0
//! Laying files and patches over a tree such that a later change of them touches only what it
//! changes, which keeps builds incremental.
//!
//! The original of every touched file is kept beside the tree. Patches are applied to a copy of
//! the originals; only results that differ from what stands in the tree are written into it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use donjon_machine::process;
use serde::{Deserialize, Serialize};

use super::source::Version;
use super::{Recipe, walk};
use crate::paths::CacheLock;
use crate::progress::Step;

/// What was done to a tree.
#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Touched files. Those without an original did not exist.
    touched: BTreeSet<PathBuf>,
}

struct TreePath<'a>(&'a Path);

impl TreePath<'_> {
    fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    fn originals(&self) -> PathBuf {
        self.0.join("originals")
    }

    fn state(&self) -> State {
        let text = fs::read_to_string(self.0.join("touched.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn save(&self, state: &State) -> Result<()> {
        let path = self.0.join("touched.json");
        let unfinished = path.with_extension("new");
        fs::write(&unfinished, serde_json::to_string_pretty(state)?)?;
        Ok(fs::rename(unfinished, path)?)
    }
}

/// Brings the tree in `place` to the originals plus `recipe`.
pub fn apply(lock: &CacheLock, place: &Path, recipe: &Recipe, version: Version) -> Result<()> {
    let place = TreePath(place);
    let patches = recipe.patches()?;
    let new = walk::files(&recipe.files)?;
    let mut touched = BTreeSet::new();
    for file in &new {
        touched.insert(file.strip_prefix(&recipe.files)?.to_path_buf());
    }
    for patch in &patches {
        touched.extend(named_in(&fs::read_to_string(patch)?));
    }
    let mut state = place.state();
    keep_originals(&place, &mut state, &touched)?;

    let overlay = lock.unfinished("overlay");
    fs::create_dir_all(&overlay)?;
    for path in &touched {
        copy_if_there(&place.originals().join(path), &overlay.join(path))?;
    }
    for file in &new {
        copy_if_there(file, &overlay.join(file.strip_prefix(&recipe.files)?))?;
    }
    let step = Step::counted("patch Linux", patches.len() as u64);
    for patch in &patches {
        apply_one(patch, &overlay, version)?;
        step.advance(1);
    }
    step.vanish();

    for path in &state.touched {
        let wanted = if touched.contains(path) {
            overlay.join(path)
        } else {
            place.originals().join(path)
        };
        bring(&wanted, &place.tree().join(path))?;
    }
    fs::remove_dir_all(&overlay)?;
    state.touched = touched;
    place.save(&state)
}

/// Brings the tree in `place` back to the originals and forgets them.
pub fn undo(place: &Path) -> Result<()> {
    let place = TreePath(place);
    for path in &place.state().touched {
        bring(&place.originals().join(path), &place.tree().join(path))?;
    }
    if place.0.exists() {
        place.save(&State::default())?;
        let _ = fs::remove_dir_all(place.originals());
    }
    Ok(())
}

/// From here on `state` covers `touched`, and it is on the disk before the tree changes.
fn keep_originals(place: &TreePath, state: &mut State, touched: &BTreeSet<PathBuf>) -> Result<()> {
    let before = state.touched.clone();
    for path in touched.difference(&before) {
        let original = place.originals().join(path);
        let _ = fs::remove_file(&original);
        copy_if_there(&place.tree().join(path), &original)?;
        state.touched.insert(path.clone());
    }
    place.save(state)
}

/// The files that a patch names.
fn named_in(patch: &str) -> BTreeSet<PathBuf> {
    let headers = patch
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git a/"));
    headers
        .filter_map(|rest| rest.split_once(" b/"))
        .flat_map(|(old, new)| [PathBuf::from(old), PathBuf::from(new)])
        .collect()
}

fn apply_one(patch: &Path, tree: &Path, version: Version) -> Result<()> {
    let mut command = Command::new("patch");
    command.args([
        "--strip=1",
        "--batch",
        "--forward",
        "--fuzz=0",
        "--no-backup-if-mismatch",
    ]);
    command
        .args(["--reject-file=-", "--silent", "--directory"])
        .arg(tree);
    command.arg("--input").arg(patch);
    let output = process::both(&mut command)?;
    if !output.status.success() {
        bail!(
            "the patch {} does not apply to Linux {version}:\n{}\nUse a release that it is known \
             to apply to (Debian's linux-source-6.12), or adapt the patch",
            patch.display(),
            String::from_utf8_lossy(&output.stdout).trim()
        );
    }
    Ok(())
}

fn copy_if_there(from: &Path, to: &Path) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to)
        .with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Makes `to` what `wanted` is, or absent like it, without touching it when it is right already.
fn bring(wanted: &Path, to: &Path) -> Result<()> {
    if !wanted.exists() {
        if to.exists() {
            fs::remove_file(to)?;
        }
        return Ok(());
    }
    let bytes = fs::read(wanted)?;
    if fs::read(to).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let unfinished = to.with_extension("donjon-new");
    fs::write(&unfinished, bytes)?;
    fs::set_permissions(&unfinished, fs::metadata(wanted)?.permissions())?;
    Ok(fs::rename(unfinished, to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_old_and_new_files() {
        let patch = "From x\n\ndiff --git a/a/b.c b/a/b.c\n--- a/a/b.c\n+++ b/a/b.c\n@@ -1 +1 @@\n";
        assert_eq!(named_in(patch), BTreeSet::from([PathBuf::from("a/b.c")]));
    }
}
