// SPDX-License-Identifier: MIT OR Apache-2.0
//! Do the patch series and the new files keep the kernel's style, and is each touched file listed?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use donjon_machine::process;

use super::{Recipe, Variant, source_tree, walk};
use crate::arguments::HostArguments;
use crate::paths;

/// What the script would say of every series that adds files, and about strings that happen to be
/// the name of the function around them.
const IGNORED: &str = "--ignore=FILE_PATH_CHANGES,EMBEDDED_FUNCTION_NAME";
/// Where each touched file of Linux stands with its purpose.
const LISTING: &str = "docs/porting-the-patch.md";

/// Runs the kernel's checkpatch.pl over the series and the new files; fails on any remark.
pub fn check(host: &HostArguments) -> Result<()> {
    let tree = source_tree(host, Variant::Donjon)?;
    let recipe = Recipe::of(Variant::Donjon);
    let patches = recipe.patches()?;
    run(&tree, &[], &patches)?;
    let mut files = walk::files(&recipe.files)?;
    files.retain(|it| {
        it.extension()
            .is_some_and(|it| it == "c" || it == "h" || it == "S")
    });
    // Generated, in columns.
    files.retain(|it| !it.ends_with("donjon_abi.h"));
    run(&tree, &["--file"], &files)?;
    let listing = fs::read_to_string(paths::in_root(LISTING))?;
    let missing: Vec<_> = touched(&patches)?
        .into_iter()
        .filter(|path| !lists(&listing, path))
        .collect();
    ensure!(
        missing.is_empty(),
        "{LISTING} does not list {}",
        missing.join(", ")
    );
    Ok(())
}

fn run(tree: &Path, options: &[&str], files: &[PathBuf]) -> Result<()> {
    let mut command = Command::new("perl");
    // Not here: a patch that git knows would be read as a source file.
    command.current_dir(tree).arg("scripts/checkpatch.pl");
    command.args(["--no-tree", "--quiet", IGNORED]);
    let output = process::both(command.args(options).args(files))?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && said.trim().is_empty(),
        "checkpatch.pl ({}):\n{said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// The files of Linux that patches change.
fn touched(patches: &[PathBuf]) -> Result<BTreeSet<String>> {
    let mut touched = BTreeSet::new();
    for patch in patches {
        let text = fs::read_to_string(patch)?;
        let paths = text.lines().filter_map(|it| it.strip_prefix("+++ b/"));
        touched.extend(paths.map(str::to_owned));
    }
    Ok(touched)
}

/// Whether a file is named, by itself or with others of its directory.
fn lists(listing: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |it: &str| {
        it.rsplit(['/', '{', ','])
            .next()
            .map(|it| it.trim_end_matches('}'))
            == Some(name)
    };
    listing.split(['`', ' ', ',', '|', '\n']).any(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_names_files_alone_or_in_a_group() {
        let listing = "| code | `arch/arm64/kernel/{patching.c,probes/kprobes.c}`, `init/main.c` |";
        for path in [
            "arch/arm64/kernel/patching.c",
            "arch/arm64/kernel/probes/kprobes.c",
            "init/main.c",
        ] {
            assert!(lists(listing, path), "{path}");
        }
        assert!(!lists(listing, "mm/memory.c"));
        assert!(!lists(listing, "lib/ping.c"));
    }
}
