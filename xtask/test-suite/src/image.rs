// SPDX-License-Identifier: MIT OR Apache-2.0
//! What boards start from: files read back out of the image of a card, and refusals.

mod juno;
mod start;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use donjon_card::image::Image;
use donjon_card::juno as files;
use donjon_card::{firmware, rpi3};
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};

use super::scratch::{Scratch, expect_failure};
use super::test::Test;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run;
use donjon_card::command;
use donjon_card::command::arguments::{
    BuildArguments, CardArguments, FirmwareArguments, JunoArguments,
};
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::process;
use donjon_machine::tools::{self, MKE2FS};

/// Tests of images for boards.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let for_rpi3 = host.clone();
    let for_start = host.clone();
    let for_juno = host.clone();
    vec![
        Test::beside("image:rpi3:contents", move || rpi3_contents(&for_rpi3)).on_host(),
        Test::beside("image:rpi3:starts", move || start::test(&for_start)),
        Test::beside("image:juno:contents", move || juno_contents(&for_juno)).on_host(),
        Test::beside("bad-input:image:firmware", wrong_firmware).on_host(),
        Test::beside("bad-input:image:device-trees", no_device_trees).on_host(),
        Test::beside("bad-input:image:board", no_such_board).on_host(),
        Test::beside("bad-input:image:device", no_card).on_host(),
    ]
}

/// A firmware directory without firmware: the real one is not free software.
fn stand_in_firmware(scratch: &Scratch) -> Result<PathBuf> {
    for name in firmware::FILES {
        scratch.file(&format!("firmware/{name}"), &format!("stand-in for {name}"))?;
    }
    scratch.file(&format!("firmware/{}", firmware::LICENCE), "its terms")?;
    Ok(scratch.path().join("firmware"))
}

/// Device trees that nothing starts from.
fn stand_in_trees(scratch: &Scratch) -> Result<PathBuf> {
    for name in rpi3::TREES.iter().chain([&files::TREE]) {
        scratch.file(&format!("trees/{name}"), &format!("stand-in for {name}"))?;
    }
    Ok(scratch.path().join("trees"))
}

fn build(host: &HostArguments, scratch: &Scratch) -> Result<BuildArguments> {
    Ok(BuildArguments {
        switch: Switch::Asid,
        dma: Dma::Strict,
        device_trees: Some(stand_in_trees(scratch)?),
        host: host.clone(),
    })
}

/// The boot image that QEMU starts with `--dma strict`.
fn packed(host: &HostArguments) -> Result<Vec<u8>> {
    let machine = Machine::new(&MachineArguments {
        dma: Some(Dma::Strict),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    Ok(fs::read(&parts.boot.image)?)
}

/// The card of a scratch directory.
fn card(host: &HostArguments, scratch: &Scratch) -> Result<PathBuf> {
    command::card(&CardArguments {
        out: Some(scratch.path().join("card.img")),
        firmware: FirmwareArguments {
            firmware: Some(stand_in_firmware(scratch)?),
        },
        build: build(host, scratch)?,
    })
}

fn rpi3_contents(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let path = card(host, &scratch)?;
    partitions(&path)?;
    let image = Image::read(&path)?;
    ensure!(
        image.file(rpi3::KERNEL)? == packed(host)?,
        "{} is not the boot image",
        rpi3::KERNEL
    );
    for name in firmware::FILES.iter().chain(&rpi3::TREES) {
        let expected = format!("stand-in for {name}");
        ensure!(
            image.file(name)? == expected.as_bytes(),
            "{name} is not what was given"
        );
    }
    ensure!(
        image.file(firmware::LICENCE)? == b"its terms",
        "the licence is not what was given"
    );
    let root = format!("root=PARTUUID={}", image.partuuid(2));
    let line = image.command_line()?;
    ensure!(
        line.split(' ').any(|it| it == root),
        "the command line has no {root}: {line}"
    );
    let [boot, root] = image.split(scratch.path())?;
    programs(&root)?;
    check_file_systems(&boot, &root)?;
    by_mtools(&boot, &image)
}

/// The partition table as it stands on the card, read without a library: type, first sector,
/// sectors.
fn partitions(path: &Path) -> Result<()> {
    let bytes = fs::read(path)?;
    ensure!(
        bytes.len().is_power_of_two(),
        "QEMU takes no SD card of {} bytes",
        bytes.len()
    );
    ensure!(
        bytes[510..512] == [0x55, 0xaa],
        "there is no boot signature"
    );
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|it| bytes[at + it]));
    let entries = [446, 462, 478, 494].map(|at| (bytes[at + 4], word(at + 8), word(at + 12)));
    let expected = [
        (0x0c, 0x800, 0x3f800),
        (0x83, 0x40000, 0x40000),
        (0, 0, 0),
        (0, 0, 0),
    ];
    ensure!(
        entries == expected,
        "the partition table has {entries:x?} in place of {expected:x?}"
    );
    Ok(())
}

/// Programs on the root partition, by a reader that is not ours.
fn programs(root: &Path) -> Result<()> {
    let debugfs = Path::new(MKE2FS).with_file_name("debugfs");
    let ask = |what: &str| process::output(Command::new(&debugfs).args(["-R", what]).arg(root));
    let init = include_str!("../../machine/src/init.sh");
    ensure!(ask("cat /init")? == init, "/init is not what it should be");
    let list = ask("ls -l /bin")?;
    for name in ["busybox", "donjon-"] {
        ensure!(list.contains(name), "/bin has no {name}:\n{list}");
    }
    Ok(())
}

/// What checks file systems on this host finds nothing. Only e2fsck is always there.
fn check_file_systems(boot: &Path, root: &Path) -> Result<()> {
    let e2fsck = Path::new(MKE2FS).with_file_name("e2fsck");
    process::output(Command::new(e2fsck).arg("-fn").arg(root)).context("root partition")?;
    let fsck = ["fsck.vfat", "/usr/sbin/fsck.vfat"];
    if let Some(program) = fsck.into_iter().find_map(tools::find) {
        process::output(Command::new(program).arg("-n").arg(boot)).context("boot partition")?;
    }
    Ok(())
}

/// mtools, if they are there, read the same files.
fn by_mtools(boot: &Path, image: &Image) -> Result<()> {
    let Some(mtype) = tools::find("mtype") else {
        return Ok(());
    };
    for file in &image.files {
        let mut command = Command::new(&mtype);
        command.arg("-i").arg(boot).arg(format!("::{}", file.name));
        let found = process::both(&mut command)?.stdout;
        ensure!(found == file.content, "mtools read another {}", file.name);
    }
    Ok(())
}

fn juno_contents(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let place = command::files_of_juno(&JunoArguments {
        out: Some(scratch.path().join("juno")),
        build: BuildArguments {
            device_trees: None,
            ..build(host, &scratch)?
        },
    })?;
    ensure!(
        fs::read(place.join(files::IMAGE))? == packed(host)?,
        "{} is not the boot image",
        files::IMAGE
    );
    let bytes = fs::read(place.join(files::TREE))?;
    let tree = Fdt::new(&bytes).map_err(|it| anyhow!("{}: {it}", files::TREE))?;
    let board = tree.root().property("compatible");
    let board = board.map(|it| it.value().to_vec()).unwrap_or_default();
    ensure!(
        board.starts_with(b"arm,juno-r1\0"),
        "{} is of another board",
        files::TREE
    );
    juno::is_understood(bytes.clone()).context(files::TREE)?;
    ensure!(
        fs::read(place.join(files::INITRAMFS))?.starts_with(b"070701"),
        "{} is no archive",
        files::INITRAMFS
    );
    Ok(())
}

fn wrong_firmware() -> Result<()> {
    let scratch = Scratch::new()?;
    let refused = |directory: &Path, words: &[&str]| {
        let directory = directory.to_string_lossy();
        let arguments = ["image", "rpi3", "--firmware", &directory];
        expect_failure(scratch.xtask(&arguments), words)
    };
    let nowhere = Path::new("/does/not/exist");
    refused(
        nowhere,
        &["/does/not/exist", "--firmware", "raspi-firmware"],
    )?;
    let words = ["bootcode.bin, start.elf, fixup.dat", "raspi-firmware"];
    refused(scratch.path(), &words)?;
    let directory = stand_in_firmware(&scratch)?;
    fs::remove_file(directory.join(firmware::LICENCE))?;
    refused(&directory, &[firmware::LICENCE, "copy it there"])
}

fn no_device_trees() -> Result<()> {
    let scratch = Scratch::new()?;
    let empty = scratch.path().to_string_lossy().into_owned();
    for (board, tree) in [("rpi3", rpi3::TREE_B_PLUS), ("juno", files::TREE)] {
        let arguments = ["image", board, "--device-trees", &empty];
        expect_failure(scratch.xtask(&arguments), &[tree, "--device-trees"])?;
    }
    Ok(())
}

fn no_such_board() -> Result<()> {
    let scratch = Scratch::new()?;
    expect_failure(scratch.xtask(&["image", "toaster"]), &["toaster", "--help"])?;
    expect_failure(scratch.xtask(&["flash", "rpi3"]), &["<DEVICE>"])
}

/// What is no card is refused before anything is built.
fn no_card() -> Result<()> {
    let scratch = Scratch::new()?;
    let file = scratch.file("card.img", "")?;
    let file = file.to_string_lossy();
    for (device, words) in [
        ("/dev/null", ["not a block device", "lsblk"]),
        ("/dev/no-such-card", ["no device", "lsblk"]),
        (&*file, ["not a block device", "lsblk"]),
    ] {
        expect_failure(scratch.xtask(&["flash", "rpi3", device, "--yes"]), &words)?;
    }
    Ok(())
}
