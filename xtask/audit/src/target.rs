// SPDX-License-Identifier: MIT OR Apache-2.0
//! QEMU as the machine that the auditor looks at.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result};
use donjon_auditor::descriptor::{ENTRIES, PAGE};
use donjon_auditor::memory::{Memory, Words};
use donjon_auditor::target::{Registers, Target};
use donjon_machine::gdb::{PC, PSTATE, Stub};
use donjon_machine::qemu::scratch::Scratch;
use donjon_machine::qemu::{Live, monitor};

/// A guest in QEMU.
pub struct Guest<'a>(pub &'a Live<'a>);

impl Target for Guest<'_> {
    fn stop(&self) -> Result<()> {
        monitor::stop(self.0.monitor)
    }

    fn resume(&self) -> Result<()> {
        monitor::resume(self.0.monitor)
    }

    fn loaded_at(&self, image: &Path) -> Result<u64> {
        monitor::loaded_at(self.0.monitor, image)
    }

    fn memory(&self, banks: &[Range<u64>]) -> Result<Box<dyn Memory>> {
        Ok(Box::new(Copied::from_machine(self.0.monitor, banks)?))
    }

    fn device(&self, address: u64) -> Result<u32> {
        monitor::word(self.0.monitor, address)
    }

    fn registers(&self) -> Result<Box<dyn Registers>> {
        Ok(Box::new(Cpus(Stub::connect(self.0.gdb)?)))
    }
}

/// Registers of a guest's CPUs, by its gdb stub.
struct Cpus(Stub);

impl Registers for Cpus {
    fn cpus(&mut self) -> Result<Vec<String>> {
        self.0.cpus()
    }

    fn select(&mut self, cpu: &str) -> Result<()> {
        self.0.select(cpu)
    }

    fn is_halted(&mut self, cpu: &str) -> Result<bool> {
        self.0.is_halted(cpu)
    }

    fn system(&mut self, names: &[&str]) -> Result<Option<u64>> {
        self.0.system(names)
    }

    fn pc(&mut self) -> Result<u64> {
        self.0.register(PC)
    }

    fn pstate(&mut self) -> Result<u64> {
        self.0.register(PSTATE)
    }
}

/// A copy of all RAM in files, one for each bank.
struct Copied {
    banks: Vec<(Range<u64>, File)>,
    _files: Scratch,
}

impl Copied {
    /// Copies `banks` out of the machine behind `monitor`, which must be stopped.
    fn from_machine(monitor: &Path, banks: &[Range<u64>]) -> Result<Self> {
        let files = Scratch::new()?;
        let copy = |(number, bank): (usize, &Range<u64>)| {
            let path = files.join(format!("bank{number}"));
            monitor::save_memory(monitor, bank.start, bank.end - bank.start, &path)?;
            let file = File::open(&path).context("reading the copy of the guest's memory")?;
            anyhow::Ok((bank.clone(), file))
        };
        let banks = banks.iter().enumerate().map(copy).collect::<Result<_>>()?;
        Ok(Self {
            banks,
            _files: files,
        })
    }
}

impl Memory for Copied {
    fn page(&self, address: u64) -> Option<Box<Words>> {
        let (bank, file) = self.banks.iter().find(|(it, _)| it.contains(&address))?;
        let mut bytes = vec![0; PAGE as usize];
        file.read_exact_at(&mut bytes, address - bank.start).ok()?;
        let mut words = Box::new([0; ENTRIES as usize]);
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(words)
    }
}
