// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machine recipes, read from `qemu/*.toml`.

use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::arguments::{Dma, Firmware, MachineArguments, Switch};
use crate::identity::Identity;
use crate::{fvp, gem5, paths, tools};

/// A recipe in `qemu/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// One line about the machine.
    pub description: String,
    /// Value of `-M`.
    pub machine: String,
    /// The oldest QEMU that has it, if the oldest that works has not.
    pub minimum_qemu: Option<String>,
    /// What to add to it for an entry at EL2; absent if the machine enters there anyway.
    pub el2: Option<String>,
    /// What to add to it for a UEFI firmware that hands on a device tree; absent if there is none.
    pub uefi: Option<String>,
    /// What to add to it for an SMMU between PCI functions and memory; absent if there is none.
    pub smmu: Option<String>,
    /// CPU models that work.
    pub cpus: Vec<String>,
    /// CPU model that is used unless another is named.
    pub default_cpu: String,
    /// Number of CPUs unless another is named.
    pub default_cpus: u32,
    /// Whether the machine has this many CPUs and this much memory, and nothing else.
    #[serde(default)]
    pub is_fixed: bool,
    /// Most CPUs.
    pub maximum_cpus: u32,
    /// Memory unless another size is named.
    pub default_memory: String,
    /// Least memory.
    pub minimum_memory: String,
    /// Console device in Linux.
    pub console: String,
    /// Further arguments of QEMU.
    pub arguments: Vec<String>,
    /// Device tree, a file of the kernel's build; absent if QEMU makes one.
    pub device_tree: Option<String>,
    /// What is behind QEMU's serial ports, in their order.
    #[serde(default = "console_alone")]
    pub serial: Vec<Serial>,
    /// The DMA profile unless another is named.
    pub default_dma: Dma,
    /// How the output of `--exec` leaves the guest.
    pub channel: Channel,
    /// Whether there is a USB controller, with one port.
    #[serde(default)]
    pub has_usb: bool,
    /// What a disk is plugged into; absent if there is nothing that Linux has a driver for.
    pub disk: Option<Disk>,
    /// RAM where an identity can be put that the boot stage takes; absent if there is no way to put
    /// one there.
    pub identity_address: Option<u64>,
    /// Kernel parameters of Linux alone, if it needs any: for devices that QEMU does not model, and
    /// that the inner domain withholds.
    pub native_parameters: Option<String>,
}

/// What a serial port of the machine is for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Serial {
    /// The console.
    Console,
    /// The output of `--exec`.
    Channel,
}

fn console_alone() -> Vec<Serial> {
    vec![Serial::Console]
}

/// How the output of `--exec` leaves the guest.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// Through ports of a virtio device.
    Ports,
    /// In frames, through this serial device of Linux.
    Serial(String),
}

/// What a disk is plugged into.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Disk {
    /// A virtio disk.
    Virtio,
    /// The slot for an SD card.
    SdCard,
}

impl Disk {
    /// Name of the disk in Linux.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Virtio => "/dev/vda",
            Self::SdCard => "/dev/mmcblk0",
        }
    }
}

/// A machine as asked for, checked against its recipe.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The recipe.
    pub recipe: Recipe,
    /// CPU model.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Switch mode.
    pub switch: Switch,
    /// DMA profile.
    pub dma: Dma,
    /// Whether virtio devices are PCI functions in the profile that is open as well, for
    /// comparison.
    pub pci_in_open: bool,
    /// Bytes for compartments where devices are kept from memory, unless they are a part of it.
    pub protected: Option<u64>,
    /// Count instructions.
    pub icount: bool,
    /// With `icount`: while no CPU runs, as before the first instruction, the virtual clock goes on
    /// with the host's. Otherwise it jumps to the next event, and is the same in each run.
    pub icount_sleep: bool,
    /// Enter at EL2.
    pub el2: bool,
    /// What starts the boot image.
    pub firmware: Firmware,
    /// More words for the kernel command line.
    pub append: Option<String>,
    /// The machine's secret.
    pub identity: Option<Identity>,
}

impl Machine {
    /// Checks `arguments`.
    ///
    /// # Errors
    ///
    /// If there is no such recipe, or it does not allow what is asked for.
    pub fn new(arguments: &MachineArguments) -> Result<Self> {
        let recipe = recipe(&arguments.machine)?;
        let cpu = arguments
            .cpu
            .clone()
            .unwrap_or_else(|| recipe.default_cpu.clone());
        if !recipe.cpus.contains(&cpu) {
            bail!(
                "unknown CPU `{cpu}` for the machine {}; allowed: {}",
                arguments.machine,
                recipe.cpus.join(", ")
            );
        }
        let cpus = arguments.cpus.unwrap_or(recipe.default_cpus);
        if !(1..=recipe.maximum_cpus).contains(&cpus) {
            bail!(
                "{cpus} CPUs are not possible on the machine {}; allowed: 1 to {}",
                arguments.machine,
                recipe.maximum_cpus
            );
        }
        let memory = bytes(
            arguments
                .memory
                .as_deref()
                .unwrap_or(&recipe.default_memory),
        )?;
        if recipe.is_fixed
            && (cpus != recipe.default_cpus || memory != bytes(&recipe.default_memory)?)
        {
            bail!(
                "the machine {} has {} CPUs and {} of memory; leave --cpus and --memory out",
                arguments.machine,
                recipe.default_cpus,
                recipe.default_memory
            );
        }
        if memory < bytes(&recipe.minimum_memory)? {
            bail!(
                "too little memory: {} MiB; Linux and the inner domain need {} or more on the \
                 machine {}",
                memory >> 20,
                recipe.minimum_memory,
                arguments.machine
            );
        }
        if arguments.dma.is_some() && arguments.switch == Switch::None {
            bail!(
                "--dma is for the inner domain, and --switch none has none: leave one of them out"
            );
        }
        let protected = arguments.protected.as_deref().map(bytes).transpose()?;
        if protected.is_some_and(|it| it > memory / 2) {
            bail!(
                "--protected may be half of the memory at most, {} MiB here",
                memory >> 21
            );
        }
        let identity = arguments.identity.as_deref();
        let identity = identity
            .map(|file| Identity::new(file, &recipe, arguments.switch))
            .transpose()?;
        let native = match arguments.switch {
            Switch::None => recipe.native_parameters.as_deref(),
            _ => None,
        };
        let append: Vec<&str> = native
            .into_iter()
            .chain(arguments.append.as_deref())
            .chain(identity.as_ref().map(|it| it.word.as_str()))
            .collect();
        Ok(Self {
            append: (!append.is_empty()).then(|| append.join(" ")),
            dma: arguments.dma.unwrap_or(recipe.default_dma),
            pci_in_open: false,
            protected,
            recipe,
            cpu,
            cpus,
            memory,
            switch: arguments.switch,
            icount: arguments.icount,
            icount_sleep: true,
            el2: arguments.el2,
            firmware: Firmware::None,
            identity,
        })
    }

    /// Gives the machine a firmware.
    ///
    /// # Errors
    ///
    /// If the recipe knows none, or Linux is to be started alone.
    pub fn with_firmware(self, firmware: Firmware) -> Result<Self> {
        if firmware != Firmware::None {
            if self.recipe.uefi.is_none() {
                bail!(
                    "there is no UEFI for this machine ({})",
                    self.recipe.description
                );
            }
            if self.switch == Switch::None {
                bail!(
                    "UEFI cannot start Linux alone, which is built without CONFIG_EFI: use \
                     --firmware with another --switch than none"
                );
            }
        }
        Ok(Self { firmware, ..self })
    }

    /// The machine in the profile that is open, with the same PCI functions and without the SMMU.
    #[must_use]
    pub fn without_smmu(self) -> Self {
        Self {
            dma: Dma::Open,
            pci_in_open: true,
            ..self
        }
    }

    /// Where a disk is plugged in.
    ///
    /// # Errors
    ///
    /// If there is no such place, or the DMA profile withholds it.
    pub fn disk(&self) -> Result<Disk> {
        self.can_have("--disk")?;
        self.recipe.disk.with_context(|| {
            format!(
                "--disk is not offered on this machine ({}): Linux has no driver for its slot",
                self.recipe.description
            )
        })
    }

    /// How the machine attaches a disk whose image is `file`.
    ///
    /// # Errors
    ///
    /// Those of [`Machine::disk`]; also if the file cannot be read, or QEMU takes no SD card of its
    /// size.
    pub fn disk_from(&self, file: &Path) -> Result<Disk> {
        let disk = self.disk()?;
        let size = fs::File::open(file)
            .and_then(|mut it| it.seek(SeekFrom::End(0)))
            .with_context(|| format!("the disk {} cannot be read", file.display()))?;
        if disk == Disk::SdCard && !size.is_power_of_two() {
            let next = size
                .max(1 << 20)
                .checked_next_power_of_two()
                .unwrap_or(size);
            bail!(
                "the disk {file} has {size} bytes, and QEMU takes an SD card only if its size is a \
                 power of two: make it larger with `truncate --size={next} {file}`",
                file = file.display()
            );
        }
        Ok(disk)
    }

    /// Refuses a network card where none can be plugged in.
    ///
    /// # Errors
    ///
    /// If the machine has no virtio, or the DMA profile withholds it.
    pub fn network(&self) -> Result<()> {
        self.can_have("--network")?;
        if self.recipe.disk != Some(Disk::Virtio) {
            bail!(
                "--network is not offered on this machine ({}): it has no virtio",
                self.recipe.description
            );
        }
        Ok(())
    }

    /// Refuses what is plugged into USB where there is none.
    ///
    /// # Errors
    ///
    /// If the machine has no USB.
    pub fn usb(&self, what: &str) -> Result<()> {
        if !self.recipe.has_usb {
            bail!(
                "{what} is not offered on this machine ({}): it has no USB",
                self.recipe.description
            );
        }
        Ok(())
    }

    /// Refuses what Linux would have no device for: the output of a command, or a disk.
    ///
    /// # Errors
    ///
    /// If that is virtio, and the DMA profile withholds it.
    pub fn can_have(&self, what: &str) -> Result<()> {
        let by_virtio = self.recipe.channel == Channel::Ports;
        let is_strict = self.dma == Dma::Strict && self.switch != Switch::None;
        if by_virtio && is_strict && !self.has_pci() {
            bail!(
                "{what} needs virtio on this machine ({}), and --dma strict withholds it: leave one \
                 of them out",
                self.recipe.description
            );
        }
        Ok(())
    }

    /// Whether the boot image is entered at EL2.
    #[must_use]
    pub const fn enters_at_el2(&self) -> bool {
        self.el2 || self.recipe.el2.is_none()
    }

    /// Whether an SMMU that the inner domain owns stands between PCI functions and memory.
    #[must_use]
    pub fn has_smmu(&self) -> bool {
        self.has_pci() && self.dma == Dma::Strict && self.switch != Switch::None
    }

    /// Whether virtio devices are functions on PCI: where an SMMU is before them, and where the
    /// native kernel runs that is compared with it.
    #[must_use]
    pub fn has_pci(&self) -> bool {
        let is_wanted = self.dma == Dma::Strict || self.pci_in_open;
        is_wanted && self.recipe.smmu.is_some()
    }

    /// The argument of QEMU's `-device` for a virtio device, such as `blk` or `serial`.
    #[must_use]
    pub fn virtio(&self, kind: &str) -> String {
        if !self.has_pci() {
            return format!("virtio-{kind}-device");
        }
        // The boot ROM of a network card is in a package of its own.
        let rom = if kind == "net" { ",romfile=" } else { "" };
        format!("virtio-{kind}-pci,bus=pcie.0,iommu_platform=on,disable-legacy=on{rom}")
    }

    /// Arguments of QEMU that describe the hardware.
    pub fn qemu_arguments(&self) -> Vec<String> {
        let mut machine = self.recipe.machine.clone();
        if self.has_smmu() {
            machine.push_str(self.recipe.smmu.as_deref().unwrap_or_default());
        }
        if self.el2 {
            machine.push_str(self.recipe.el2.as_deref().unwrap_or_default());
        }
        if self.firmware != Firmware::None {
            machine.push_str(self.recipe.uefi.as_deref().unwrap_or_default());
        }
        let mut arguments = vec!["-M".into(), machine, "-cpu".into(), self.cpu.clone()];
        if self.firmware != Firmware::None {
            arguments.extend(["-bios".into(), tools::UEFI.name.into()]);
        }
        arguments.extend(["-smp".into(), self.cpus.to_string()]);
        arguments.extend(["-m".into(), format!("{}M", self.memory >> 20)]);
        if self.icount {
            let sleep = if self.icount_sleep { "" } else { ",sleep=off" };
            arguments.extend(["-icount".into(), format!("shift=0{sleep}")]);
        }
        arguments.extend(self.recipe.arguments.iter().cloned());
        arguments
    }
}

/// QEMU's machines whose firmware has no device tree for an operating system.
const ACPI_ONLY: [&str; 1] = ["sbsa-ref"];

pub(crate) fn recipe(name: &str) -> Result<Recipe> {
    let directory = paths::in_root("qemu");
    let mut known = Vec::new();
    for entry in fs::read_dir(&directory).context("reading the machines in qemu/")? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            known.extend(path.file_stem().map(|it| it.to_string_lossy().into_owned()));
        }
    }
    known.sort();
    if [fvp::NAME, gem5::NAME].contains(&name) {
        bail!(
            "only `cargo xtask run` starts the machine `{name}`; allowed here: {}",
            known.join(", ")
        );
    }
    if ACPI_ONLY.contains(&name) {
        bail!(
            "the machine `{name}` describes itself by ACPI tables alone, and Donjon needs a device \
             tree: take another one; allowed: {}",
            known.join(", ")
        );
    }
    if !known.iter().any(|it| it == name) {
        bail!(
            "unknown machine `{name}`; allowed: {}, and {} and {} for `run`",
            known.join(", "),
            fvp::NAME,
            gem5::NAME
        );
    }
    let path = directory.join(format!("{name}.toml"));
    toml::from_str(&fs::read_to_string(&path)?)
        .with_context(|| format!("reading the machine {}", path.display()))
}

/// Bytes of a size such as `512M`; a bare number counts MiB, as in QEMU.
pub(crate) fn bytes(size: &str) -> Result<u64> {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &size[digits.len()..] {
        "" | "M" | "m" | "MiB" => 20,
        "K" | "k" | "KiB" => 10,
        "G" | "g" | "GiB" => 30,
        _ => bail!("`{size}` is not a size of memory; write one such as 512M or 2G"),
    };
    let number: Option<u64> = digits.parse().ok();
    match number.and_then(|it| it.checked_mul(1 << shift)) {
        Some(bytes) => Ok(bytes),
        None => bail!("`{size}` is not a size of memory; write one such as 512M or 2G"),
    }
}

#[cfg(test)]
mod tests;
