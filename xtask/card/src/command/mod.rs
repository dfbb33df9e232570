// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask image` and `cargo xtask flash`: what boards start from.

pub mod arguments;
mod flash;
mod release;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::progress::Step;
use donjon_builder::{guest, paths, run};
use donjon_machine::arguments::MachineArguments;
use donjon_machine::machine::Machine;

use crate::rpi3::{self, BootFile};
use crate::{firmware, image, juno};
use arguments::{
    BuildArguments, CardArguments, FirmwareArguments, ImageBoard, ImageCommand, JunoArguments,
};

pub use flash::run as run_flash;
pub use release::run as run_release;

/// Debian's package with the firmware of Raspberry Pis.
const FIRMWARE_PACKAGE: &str = "raspi-firmware";
/// Where its files are.
const FIRMWARE_PLACE: &str = "usr/lib/raspi-firmware";
/// Where its copyright file is.
const FIRMWARE_DOCUMENTS: &str = "usr/share/doc/raspi-firmware";

/// Makes what the arguments ask for.
pub fn run(command: &ImageCommand) -> Result<()> {
    match &command.board {
        ImageBoard::Rpi3(arguments) => {
            let place = card(arguments)?;
            println!("{}", place.display());
        }
        ImageBoard::Juno(arguments) => {
            let place = files_of_juno(arguments)?;
            println!("{}", place.display());
        }
    }
    Ok(())
}

/// Makes the image of a card; returns where it is.
pub fn card(arguments: &CardArguments) -> Result<PathBuf> {
    // What is wrong in the arguments is said before anything is built.
    if let Some(directory) = &arguments.firmware.firmware {
        firmware::read(directory, None)?;
    }
    let mut trees = Vec::new();
    if let Some(directory) = &arguments.build.device_trees {
        trees = device_trees(directory, &rpi3::TREES)?;
    }
    let built = Built::new(&arguments.build)?;
    if trees.is_empty() {
        trees = device_trees(&built.device_trees, &rpi3::TREES)?;
    }
    let parts = rpi3::Parts {
        kernel: built.image,
        trees,
        firmware: obtain_firmware(&arguments.firmware)?,
        root: built.initramfs,
    };
    let default = || paths::in_root("target/images/rpi3.img");
    let place = arguments.out.clone().unwrap_or_else(default);
    let step = Step::spinner("make the image of the card");
    image::write(&parts, &place)?;
    step.finish();
    Ok(place)
}

/// Writes the files for a Juno board; returns the directory.
pub fn files_of_juno(arguments: &JunoArguments) -> Result<PathBuf> {
    let given = arguments.build.device_trees.as_deref();
    let given = given
        .map(|it| device_trees(it, &[juno::TREE]))
        .transpose()?;
    let built = Built::new(&arguments.build)?;
    let trees = match given {
        Some(trees) => trees,
        None => device_trees(&built.device_trees, &[juno::TREE])?,
    };
    let tree = trees.first().context("no device tree")?;
    let parts = juno::Parts {
        image: &built.image,
        tree: &tree.content,
        initramfs: &built.initramfs,
    };
    let default = || paths::in_root("target/images/juno");
    let place = arguments.out.clone().unwrap_or_else(default);
    juno::write(&parts, &place)?;
    Ok(place)
}

/// What every board starts.
struct Built {
    image: Vec<u8>,
    initramfs: Vec<u8>,
    device_trees: PathBuf,
}

impl Built {
    fn new(arguments: &BuildArguments) -> Result<Self> {
        environment::prepare(&arguments.host, Needs::default())?;
        let variant = InnerVariant::sound(arguments.switch);
        let machine = Machine::new(&MachineArguments {
            dma: Some(arguments.dma),
            ..MachineArguments::virt(arguments.switch)
        })?;
        let parts = run::prepare(&arguments.host, machine, &variant)?;
        let image = &parts.boot.image;
        Ok(Self {
            image: fs::read(image).with_context(|| format!("reading {}", image.display()))?,
            initramfs: parts.boot.initramfs,
            device_trees: parts.kernel.image.with_file_name("dtbs"),
        })
    }
}

/// Reads device trees by their names.
fn device_trees(directory: &Path, names: &[&str]) -> Result<Vec<BootFile>> {
    let read = |name: &&str| {
        let path = directory.join(name);
        let content = fs::read(&path).with_context(|| {
            format!(
                "there is no device tree {}; the kernel's build makes it (`make dtbs`), and \
                 --device-trees DIR names another place",
                path.display()
            )
        })?;
        Ok(BootFile::new(*name, content))
    };
    names.iter().map(read).collect()
}

/// The firmware of the arguments, or Debian's.
fn obtain_firmware(arguments: &FirmwareArguments) -> Result<Vec<BootFile>> {
    if let Some(directory) = &arguments.firmware {
        return firmware::read(directory, None);
    }
    let proof = format!("{FIRMWARE_PLACE}/{}", firmware::FILES[0]);
    let package = format!("{FIRMWARE_PACKAGE}:arm64");
    let component = guest::Component::NonFreeFirmware;
    let found = guest::obtain_non_free(FIRMWARE_PACKAGE, component, &[&package], &proof);
    let found = found.with_context(|| {
        format!(
            "the firmware of the Raspberry Pi is missing: the files {} are not free software, and \
             Debian's package {FIRMWARE_PACKAGE} could not be had; if the network went away, run \
             the same command again, or give a directory that has them with --firmware DIR",
            firmware::FILES.join(", ")
        )
    })?;
    firmware::read(
        &found.root.join(FIRMWARE_PLACE),
        Some(&found.root.join(FIRMWARE_DOCUMENTS)),
    )
}
