// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes a [`Snapshot`] of a machine.
//!
//! See [`super::inner`] for where the inner domain's memory is found, and why a hostile kernel has
//! no say in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};

use super::code::AllowList;
use super::descriptor::PAGE;
use super::devices;
use super::image::Image;
use super::inner::{Inner, Known};
use super::linux;
use super::memory::Memory;
use super::metadata::Metadata;
use super::snapshot::{Cpu, Facts, Linux, Smmu, Snapshot, Usb};
use super::target::{Registers, Target};

/// Registers that a CPU may have and that would change what translation means.
const EXTENSIONS: [&str; 5] = ["TCR2_EL1", "SCTLR2_EL1", "PIR_EL1", "PIRE0_EL1", "POR_EL1"];
/// Registers of EL2 that are looked at, where a CPU has them.
const LEVEL_2: [&str; 8] = [
    "HCR_EL2",
    "SCTLR_EL2",
    "VBAR_EL2",
    "VTTBR_EL2",
    "MDCR_EL2",
    "VMPIDR_EL2",
    "HSTR_EL2",
    "CNTVOFF_EL2",
];

/// What a machine boots, all of it on the host.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The device tree of the machine, as QEMU makes it.
    pub device_tree: &'a [u8],
    /// The boot image that QEMU loads.
    pub image: &'a Path,
    /// ELF file of the inner domain in it.
    pub inner: &'a Path,
    /// ELF file of the boot stage in it.
    pub boot: &'a Path,
    /// ELF file of Linux.
    pub vmlinux: &'a Path,
    /// The list of instructions that may be executable at EL1.
    pub allow_list: &'a Path,
    /// Whether the gate switches in mode `strict`.
    pub strict: bool,
    /// Whether the machine starts at EL2.
    pub el2: bool,
}

/// What is known of a machine before it starts.
pub struct Subject {
    /// The file that QEMU loads.
    file: PathBuf,
    fixed: Fixed,
}

/// What neither boot nor guest decide.
pub struct Fixed {
    /// RAM, CPUs and devices.
    pub machinery: devices::Machinery,
    /// Symbols of Linux; where it is in memory is not known yet.
    pub linux: Linux,
    /// What the boot image says.
    pub image: Rc<Image>,
    /// Instructions that may be executable at EL1.
    pub allowed: AllowList,
    /// Writes of TCR_EL1 in the gate page.
    pub gate_writes: usize,
    /// Whether the machine starts at EL2.
    pub el2: bool,
}

impl Subject {
    /// Reads the facts of what a machine boots.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is not what it should be.
    pub fn of(sources: &Sources<'_>) -> Result<Self> {
        let file = sources.image.to_path_buf();
        let image = Rc::new(Image::read(&file, sources.inner, sources.boot)?);
        let fixed = Fixed {
            machinery: devices::of(sources.device_tree, image.dma)?,
            linux: linux::symbols(sources.vmlinux)?,
            image,
            allowed: AllowList::read(sources.allow_list)?,
            gate_writes: if sources.strict { 3 } else { 1 },
            el2: sources.el2,
        };
        Ok(Self { file, fixed })
    }
}

impl Fixed {
    /// What is where, with the boot image at `loaded`.
    ///
    /// # Errors
    ///
    /// If the inner domain is not found.
    pub fn facts(&self, memory: &dyn Memory, loaded: u64) -> Result<Facts> {
        let linux = Linux {
            physical: loaded + self.image.linux,
            ..self.linux.clone()
        };
        let stay = &self.image.stay.place;
        let stay = loaded + stay.start..loaded + stay.end;
        let block = linux.to_physical(linux.table_block);
        let known = Known {
            root: super::frames::root_in(block),
            table_block: block,
            reserved_root: linux.to_physical(linux.reserved_root),
            stay: stay.clone(),
            arrival: loaded + self.image.stay.arrival.start,
        };
        let inner = Inner::find(memory, &known).context("looking for the inner domain")?;
        let first = self.machinery.ram.iter().map(|it| it.start).min();
        let metadata = Metadata::read(memory, &inner.frame_table, first.unwrap_or_default());
        let user_trees = trees(memory, &inner);
        let private = private(memory, &inner, &metadata);
        let mut devices = self.machinery.devices.clone();
        let mut withheld = self.machinery.withheld.clone();
        // Without a reserve the boot stage has withheld the bridge, and left the SMMU alone.
        let part = if inner.reserve.is_empty() {
            &mut withheld
        } else {
            &mut devices
        };
        part.extend(self.machinery.behind.iter().cloned());
        Ok(Facts {
            ram: self.machinery.ram.clone(),
            mpidrs: self.machinery.mpidrs.clone(),
            loaded,
            inner: vec![inner.region.clone(), stay.clone()],
            stay,
            table_pools: metadata.table_pools(),
            text_pools: metadata.text_pools(),
            metadata,
            user_trees,
            user_arena: inner.user_arena.clone(),
            user_tree_table: inner.user_trees.clone(),
            private,
            compartments: compartments(memory, &inner),
            reserve: inner.reserve.clone(),
            devices,
            read_only_devices: self.machinery.read_only.clone(),
            withheld,
            linux,
            image: Rc::clone(&self.image),
            allowed: self.allowed.clone(),
            gate_writes: self.gate_writes,
            el2: self.el2,
        })
    }
}

/// The roots that the inner domain has for ASIDs.
fn trees(memory: &dyn Memory, inner: &Inner) -> BTreeMap<u16, u64> {
    let words = memory.words(&inner.user_trees).into_iter();
    let numbers = words.flat_map(|it| [it as u32, (it >> 32) as u32]);
    let roots = (0..=u16::MAX)
        .zip(numbers)
        .filter(|(_, number)| *number != 0);
    let page = |number: u32| inner.user_arena.start + u64::from(number - 1) * PAGE;
    roots.map(|(asid, number)| (asid, page(number))).collect()
}

/// Who has which private frame.
fn private(memory: &dyn Memory, inner: &Inner, metadata: &Metadata) -> BTreeMap<u64, u32> {
    const FREE: u32 = 1 << 31;
    let words = memory.words(&inner.private_words).into_iter();
    let owners: Vec<u32> = words
        .flat_map(|it| [it as u32, (it >> 32) as u32])
        .collect();
    let owner = |number: usize| owners.get(number).copied().unwrap_or(FREE);
    metadata
        .private()
        .map(|(number, frame)| (frame, owner(number)))
        .map(|(frame, owner)| (frame, if owner & FREE == 0 { owner } else { 0 }))
        .collect()
}

/// The roots of compartments.
fn compartments(memory: &dyn Memory, inner: &Inner) -> BTreeMap<u32, u64> {
    let roots = memory.words(&inner.compartment_roots);
    let roots = (1..).zip(roots);
    roots.filter(|(_, root)| *root != 0).collect()
}

/// Stops the machine, copies what an audit needs, and lets it go on.
///
/// # Errors
///
/// If the machine does not answer, or the inner domain is not found.
pub fn snapshot(subject: &Subject, target: &impl Target) -> Result<Snapshot> {
    target.stop()?;
    let taken = of_stopped(subject, target);
    target.resume()?;
    taken
}

/// Copies what an audit needs from a machine that the caller has stopped, and leaves it so.
///
/// # Errors
///
/// Those of [`snapshot`].
pub fn of_stopped(subject: &Subject, target: &impl Target) -> Result<Snapshot> {
    let loaded = target.loaded_at(&subject.file)?;
    let memory = target.memory(&subject.fixed.machinery.ram)?;
    let facts = subject.fixed.facts(&*memory, loaded)?;
    let mut registers = target.registers()?;
    let mut cpus = Vec::new();
    for (number, name) in (0..).zip(registers.cpus()?) {
        registers.select(&name)?;
        let halted = registers.is_halted(&name)?;
        let cpu = cpu(&mut *registers, number, halted);
        cpus.push(cpu.with_context(|| format!("registers of CPU {number}"))?);
    }
    // Where the bridge is withheld the SMMU is left alone.
    let smmu = subject.fixed.machinery.smmu.as_ref();
    let smmu = smmu.filter(|_| !facts.reserve.is_empty());
    let smmu = smmu.map(|it| smmu_of(target, it, &facts)).transpose()?;
    let usb = subject.fixed.machinery.usb;
    let usb = usb.map(|it| usb_of(target, it, &facts)).transpose()?;
    Ok(Snapshot {
        facts: Rc::new(facts),
        cpus,
        smmu,
        usb,
        memory,
    })
}

/// The registers of an SMMU (Arm IHI 0070, 6.3).
fn smmu_of(target: &impl Target, between: &devices::Between, facts: &Facts) -> Result<Smmu> {
    let word = |offset: u64| target.device(between.smmu + offset);
    Ok(Smmu {
        control: word(0x20)?,
        acknowledged: word(0x24)?,
        messages: word(0x50)?,
        streams: u64::from(word(0x80)?) | u64::from(word(0x84)?) << 32,
        streams_form: word(0x88)?,
        doorbell: between.doorbell,
        reserve: facts.reserve.clone(),
    })
}

/// The registers of a USB controller from `first` on, by their offsets in Linux's driver.
fn usb_of(target: &impl Target, first: u64, facts: &Facts) -> Result<Usb> {
    /// Memory on the bus of a Raspberry Pi 3.
    const BUS: u64 = 0xc000_0000;
    /// Offsets of HCCHAR, HCTSIZ and HCDMA in the registers of a channel.
    const WORDS: [u64; 3] = [0x0, 0x10, 0x14];
    let word = |offset: u64| target.device(first + offset);
    let mut channels = Vec::new();
    let count = u64::from(word(0x48)? >> 14 & 0xf) + 1;
    for channel in 0..count {
        let [control, amount, address] = WORDS.map(|it| word(0x500 + 0x20 * channel + it));
        channels.push([control?, amount?, address?]);
    }
    Ok(Usb {
        bus: BUS,
        host: word(0x400)?,
        channels,
        reserve: facts.reserve.clone(),
    })
}

fn cpu(registers: &mut dyn Registers, number: u32, halted: bool) -> Result<Cpu> {
    let mut system = |names: &[&str]| {
        let value = registers.system(names)?;
        value.with_context(|| format!("QEMU's gdb stub does not show {}", names[0]))
    };
    // QEMU names those that AArch32 shares after the AArch32 ones.
    let mut cpu = Cpu {
        number,
        halted,
        ttbr0: system(&["TTBR0_EL1"])?,
        ttbr1: system(&["TTBR1_EL1"])?,
        tcr: system(&["TCR_EL1"])?,
        sctlr: system(&["SCTLR_EL1", "SCTLR"])?,
        vbar: system(&["VBAR_EL1", "VBAR"])?,
        mair: system(&["MAIR_EL1"])?,
        amair: system(&["AMAIR_EL1", "AMAIR0"])?,
        ..Cpu::default()
    };
    let mut optional = |names: &[&str]| {
        let mut found = Vec::new();
        for name in names {
            if let Some(value) = registers.system(&[*name])? {
                found.push(((*name).to_owned(), value));
            }
        }
        anyhow::Ok(found)
    };
    cpu.extensions = optional(&EXTENSIONS)?;
    cpu.level_2 = optional(&LEVEL_2)?;
    cpu.pc = registers.pc()?;
    cpu.pstate = registers.pstate()?;
    Ok(cpu)
}
