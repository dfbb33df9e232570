// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured.

use anyhow::{Result, ensure};
use donjon_machine::arguments::Switch;

use super::operations::NAMES;
use crate::arguments::ScaleArguments;
use crate::guest::protected;
use crate::selection::Selection;

/// Sizes in pages of 4 KiB: from one page to 1 GiB.
const PAGES: [usize; 6] = [1, 16, 256, 4096, 65_536, 262_144];
/// Number of sizes of a quick run: up to 16 MiB.
const QUICK_PAGES: usize = 4;
const CPUS: [u32; 4] = [1, 2, 4, 8];
const QUICK_CPUS: usize = 2;
/// RAM in gibibytes.
const MEMORY: [u32; 3] = [1, 4, 8];
const QUICK_MEMORY: usize = 1;
/// Subjects beside the operations.
const SUBJECTS: [&str; 4] = ["cpus", "memory", "boot", "longest"];

/// What a run measures.
pub struct Plan {
    /// Modes; the native kernel is measured in any case.
    modes: Vec<Switch>,
    /// Names of operations.
    pub operations: Vec<&'static str>,
    /// Sizes of operations, in pages.
    pub pages: Vec<usize>,
    /// Numbers of CPUs that work.
    pub cpus: Vec<u32>,
    /// Gibibytes of RAM of an idle guest.
    pub memory: Vec<u32>,
    /// Whether to measure the boot.
    pub boot: bool,
    /// Whether to measure the longest calls.
    pub longest: bool,
}

impl Plan {
    /// What the arguments say; an error if that is nothing.
    pub fn new(arguments: &ScaleArguments) -> Result<Self> {
        let names: Vec<&str> = NAMES.iter().chain(&SUBJECTS).copied().collect();
        let selection = Selection::new(&arguments.only, "measurement", &names)?;
        let modes = protected(&arguments.switch);
        ensure!(
            !modes.is_empty(),
            "--switch none is the native kernel, which is measured in any case; name a mode"
        );
        let quick = arguments.quick;
        let shorter = |all: usize, quickly: usize| if quick { quickly } else { all };
        let of = |name: &str, count: usize| if selection.has(name) { count } else { 0 };
        Ok(Self {
            modes,
            operations: NAMES.into_iter().filter(|it| selection.has(it)).collect(),
            pages: PAGES[..shorter(PAGES.len(), QUICK_PAGES)].to_vec(),
            cpus: CPUS[..of("cpus", shorter(CPUS.len(), QUICK_CPUS))].to_vec(),
            memory: MEMORY[..of("memory", shorter(MEMORY.len(), QUICK_MEMORY))].to_vec(),
            boot: selection.has("boot"),
            longest: selection.has("longest") && !quick,
        })
    }

    /// The native kernel, and each mode.
    pub fn kernels(&self) -> impl Iterator<Item = Switch> {
        [Switch::None].into_iter().chain(self.modes.clone())
    }

    /// How many boots there are, those for all sizes of the operations as one.
    pub fn steps(&self) -> u64 {
        let operations = usize::from(!self.operations.is_empty());
        let boot = usize::from(self.boot);
        let of_kernel = operations + self.cpus.len() + self.memory.len() + boot;
        let longest = usize::from(self.longest) * self.modes.len();
        (self.kernels().count() * of_kernel + longest) as u64
    }
}

#[cfg(test)]
mod tests {
    use donjon_builder::arguments::HostArguments;

    use super::*;

    fn plan(only: &[&str], quick: bool) -> Result<Plan> {
        Plan::new(&ScaleArguments {
            only: only.iter().map(|it| (*it).to_owned()).collect(),
            quick,
            ..ScaleArguments::quick(&HostArguments::default())
        })
    }

    #[test]
    fn a_word_chooses_and_an_unknown_one_is_refused() {
        let some = plan(&["map", "mem"], false).expect("a plan");
        assert_eq!(some.operations, ["map", "unmap"]);
        assert_eq!(some.memory, [1, 4, 8]);
        assert!(some.cpus.is_empty() && !some.boot && !some.longest);
        assert!(plan(&["map", "mprotect"], false).is_err());
    }

    #[test]
    fn a_quick_run_leaves_out_what_is_large() {
        let [quick, whole] = [true, false].map(|it| plan(&[], it).expect("a plan"));
        assert_eq!(quick.operations, whole.operations);
        assert_eq!(quick.pages.last(), Some(&4096));
        assert_eq!(whole.pages.last(), Some(&262_144));
        assert!(whole.longest && !quick.longest);
        assert_eq!((quick.cpus.len(), quick.memory.len()), (2, 1));
        // Two kernels: operations, CPUs, RAM, the boot; and the longest calls of one mode.
        assert_eq!(quick.steps(), 2 * (1 + 2 + 1 + 1));
        assert_eq!(whole.steps(), 2 * (1 + 4 + 3 + 1) + 1);
    }
}
