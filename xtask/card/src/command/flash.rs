// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask flash`.

use std::fs::{self, File};
use std::io::{stderr, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::paths;
use donjon_builder::progress::Step;

use super::arguments::{CardArguments, FlashArguments, FlashBoard, FlashCommand};
use crate::disk::Disk;
use crate::flash::{self, Card, Failure};
use crate::image::Image;

/// Writes a card.
pub fn run(command: &FlashCommand) -> Result<()> {
    let FlashBoard::Rpi3(arguments) = &command.board;
    // Before the image is made, which takes a while.
    Disk::of_node(&arguments.device)?.check(0)?;
    let image = image(arguments)?;
    Image::read(&image)?;
    let bytes = fs::metadata(&image)?.len();
    let disk = Disk::of_node(&arguments.device)?;
    disk.check(bytes)?;
    if !arguments.yes && !flash::confirmed(&disk, &mut stdin().lock(), &mut stderr().lock())? {
        bail!("that was not /dev/{}: nothing was written", disk.name);
    }
    write(&image, bytes, &disk)?;
    println!(
        "/dev/{} has the image and can be taken out; docs/sd-card.md says how to go on",
        disk.name
    );
    Ok(())
}

/// The image to write.
fn image(arguments: &FlashArguments) -> Result<PathBuf> {
    match &arguments.image {
        Some(image) => Ok(image.clone()),
        None => super::card(&CardArguments {
            out: Some(paths::in_root("target/images/rpi3.img")),
            firmware: arguments.firmware.clone(),
            build: arguments.build.clone(),
        }),
    }
}

fn write(image: &Path, bytes: u64, disk: &Disk) -> Result<()> {
    let open = || File::open(image).with_context(|| format!("opening {}", image.display()));
    let mut card = Card::open(disk)?;
    // The answer was about the card that was there then; this one stays.
    ensure!(
        Disk::of_node(&Path::new("/dev").join(&disk.name))? == *disk,
        "/dev/{} is another card than before the question: nothing was written; run the same \
         command again",
        disk.name
    );
    let step = Step::counted(format!("write /dev/{}", disk.name), bytes);
    flash::copy(&mut open()?, &mut card, bytes, |it| step.advance(it))?;
    card.settle()
        .map_err(|source| Failure::Write { at: bytes, source })?;
    step.finish();
    let step = Step::counted(format!("compare /dev/{}", disk.name), bytes);
    flash::compare(&mut open()?, &mut card.reader()?, bytes, |it| {
        step.advance(it);
    })?;
    step.finish();
    Ok(())
}
