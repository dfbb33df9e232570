// SPDX-License-Identifier: MIT OR Apache-2.0
//! gem5's command line, and the files that it reads.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::checkpoint::Checkpoint;
use super::{Gem5, NAME, Parts, program, tree};
use crate::qemu::scratch::Scratch;

/// The description of the machine, which gem5 runs.
const MACHINE: &str = include_str!("machine.py");
/// Where code that starts the image, image, device tree and initial ramdisk are.
const START: u64 = tree::RAM;
const IMAGE: u32 = 0x8020_0000;
const TREE: u32 = 0x8800_0000;
const RAMDISK: u64 = 0x8820_0000;

/// A model of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// No timing.
    Atomic,
    /// In order: gem5's HPI.
    Minor,
    /// Out of order: gem5's O3_ARM_v7a_3.
    O3,
}

impl Core {
    /// The core with this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(name: &str) -> Result<Self> {
        let all = [Self::Atomic, Self::Minor, Self::O3];
        match all.into_iter().find(|it| it.name() == name) {
            Some(core) => Ok(core),
            None => bail!(
                "unknown CPU `{name}` for the machine {NAME}; allowed: {}",
                all.map(Self::name).join(", ")
            ),
        }
    }

    /// Name of the core on the command line, ours and gem5's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Minor => "minor",
            Self::O3 => "o3",
        }
    }
}

impl Gem5 {
    /// What is in memory at the start, as an ELF file.
    pub(super) fn program(&self, parts: &Parts<'_>) -> Result<Vec<u8>> {
        let end = RAMDISK + parts.initramfs.len() as u64;
        ensure!(
            end <= tree::RAM + self.memory,
            "an initial ramdisk of {} MiB does not fit: it starts at {RAMDISK:#x}, and --memory \
             ends before its end",
            parts.initramfs.len() >> 20
        );
        let image =
            fs::read(parts.image).with_context(|| format!("reading {}", parts.image.display()))?;
        let words = format!("console=ttyAMA0 loglevel=4 {}", self.append);
        let tree = tree::build(&tree::Contents {
            memory: self.memory,
            disk: parts.disk.is_some(),
            words: words.trim(),
            ramdisk: RAMDISK..end,
        });
        let segments = [
            (START, &*program::start(IMAGE, TREE)),
            (IMAGE.into(), &image),
            (TREE.into(), &tree),
            (RAMDISK, parts.initramfs),
        ];
        program::link(&segments, START)
    }

    /// The checkpoint of a machine that starts with `program`.
    pub(super) fn checkpoint(&self, base: &Path, program: &[u8]) -> Result<Checkpoint> {
        Checkpoint::of(base, &self.build, MACHINE, program, self.memory)
    }

    /// The command. Its files are in `scratch`.
    pub(super) fn command(
        &self,
        program: &[u8],
        disk: Option<&Path>,
        checkpoint: Option<&Checkpoint>,
        scratch: &Scratch,
    ) -> Result<Command> {
        let file = |name: &str, content: &[u8]| {
            let path = scratch.join(name);
            fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
            Ok::<_, anyhow::Error>(path)
        };
        let script = file("machine.py", MACHINE.as_bytes())?;
        let program = file("program.elf", program)?;

        let mut command = Command::new(&self.build.program);
        command.current_dir(scratch.join(""));
        command.arg("--listener-mode=on");
        command.arg("--outdir").arg(scratch.join("m5out"));
        command.arg(script).arg("--gem5").arg(&self.build.directory);
        command.arg("--program").arg(program);
        command.arg(format!("--memory={}B", self.memory));
        command.arg(format!("--core={}", self.core.name()));
        command.arg("--requests").arg(scratch.join(""));
        if let Some(checkpoint) = checkpoint {
            match checkpoint.saved() {
                Some(directory) => command.arg("--restore").arg(directory),
                None => command.arg("--save").arg(checkpoint.partial()),
            };
        }
        if let Some(disk) = disk {
            command.arg("--disk").arg(absolute(disk)?);
        }
        Ok(command)
    }
}

fn absolute(file: &Path) -> Result<std::path::PathBuf> {
    fs::canonicalize(file).with_context(|| format!("finding {}", file.display()))
}
