// SPDX-License-Identifier: MIT OR Apache-2.0
//! A build of gem5 that the user names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Programs of a build; the first one is the fastest.
const PROGRAMS: &[&str] = &["gem5.fast", "gem5.opt", "gem5.debug"];
/// Builds that have Arm's instruction set, the smallest first.
const BUILDS: &[&str] = &["ARM", "ALL"];
/// A part of the source tree that the machine's description uses.
pub const CONFIGURATION: &str = "configs/example/arm/devices.py";

/// A source tree of gem5 and its program.
#[derive(Clone, Debug)]
pub struct Gem5Build {
    /// The source tree.
    pub directory: PathBuf,
    /// The program.
    pub program: PathBuf,
}

impl Gem5Build {
    /// The build in the source tree `directory`.
    ///
    /// # Errors
    ///
    /// If there is none; the error says how one is made.
    pub fn find(directory: Option<&Path>) -> Result<Self> {
        let Some(directory) = directory else {
            bail!(
                "the machine gem5 needs a build of gem5: add --gem5 DIR, {}",
                recipe()
            );
        };
        let directory = fs::canonicalize(directory)
            .with_context(|| format!("finding {}", directory.display()))?;
        if !directory.join(CONFIGURATION).is_file() {
            bail!(
                "{} is no source tree of gem5: it has no {CONFIGURATION}; name one, {}",
                directory.display(),
                recipe()
            );
        }
        let found = BUILDS.iter().find_map(|build| {
            let mut programs = PROGRAMS.iter();
            programs.find_map(|program| {
                let path = directory.join("build").join(build).join(program);
                path.is_file().then_some(path)
            })
        });
        let Some(program) = found else {
            bail!(
                "{} has no build/ARM/gem5.opt; gem5 is not built there: name a tree, {}",
                directory.display(),
                recipe()
            );
        };
        Ok(Self { directory, program })
    }
}

fn recipe() -> &'static str {
    "a source tree of gem5 24.0 (https://www.gem5.org) in which `scons build/ARM/gem5.opt -j2` has \
     run, which takes an hour or so; docs/gem5.md says more"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let refused = |directory: Option<&Path>| match Gem5Build::find(directory) {
            Ok(found) => panic!("{found:?}"),
            Err(error) => format!("{error:#}"),
        };
        assert!(refused(None).contains("--gem5 DIR"));
        assert!(refused(Some(Path::new("/nowhere"))).contains("finding /nowhere"));
        let path = directory.path();
        assert!(refused(Some(path)).contains("no source tree of gem5"));
        let write = |name: &str| {
            let file = path.join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            fs::write(file, "").expect("a file");
        };
        write(CONFIGURATION);
        assert!(refused(Some(path)).contains("scons build/ARM/gem5.opt"));
        write("build/ALL/gem5.opt");
        write("build/ARM/gem5.debug");
        let found = Gem5Build::find(Some(path)).expect("a build");
        assert!(found.program.ends_with("build/ARM/gem5.debug"));
    }
}
