// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask run`.

mod programs;

use std::ffi::OsStr;
use std::fs;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_machine::arguments::{Dma, Firmware, MachineArguments, Switch};
use donjon_machine::board::Finished;
use donjon_machine::fvp::{self, Fvp};
use donjon_machine::gem5::{self, Gem5};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Boot, DiskImage, Network, Stream, Symbols};

use crate::arguments::{HostArguments, RunArguments};
use crate::bare::{BareMetal, InnerVariant};
use crate::environment::{self, Needs};
use crate::kernel::{self, Kernel, Variant};
use crate::progress::Step;
use crate::rootfs::Root;
use crate::{guest, paths, rootfs};

use programs::Programs;

/// Everything that a boot is made of.
pub struct Parts {
    /// What QEMU starts.
    pub boot: Boot,
    /// Linux.
    pub kernel: Kernel,
    /// Inner domain and boot stage, unless there are none.
    pub bare: Option<BareMetal>,
}

/// Builds what `machine` boots.
pub fn prepare(host: &HostArguments, machine: Machine, variant: &InnerVariant) -> Result<Parts> {
    let linux = Variant::of(&machine);
    prepare_over(host, machine, variant, linux)
}

/// Builds what `machine` boots over a Linux of choice. One build at a time, however many threads
/// ask; what this process has built before is not looked at again.
pub fn prepare_over(
    host: &HostArguments,
    machine: Machine,
    variant: &InnerVariant,
    linux: Variant,
) -> Result<Parts> {
    environment::qemu::check_for(&machine)?;
    let programs = Programs::of(host, &machine, variant, linux)?;
    let grub = match machine.firmware {
        Firmware::Grub => Some(guest::obtain_grub()?),
        Firmware::None | Firmware::Uefi => None,
    };
    let device_tree = machine.recipe.device_tree.as_ref();
    let device_tree = device_tree.map(|it| programs.kernel.device_trees.join(it));
    Ok(Parts {
        boot: Boot {
            machine,
            image: programs.image,
            initramfs: programs.initramfs,
            grub,
            disk: None,
            usb_disk: None,
            disk_is_root: false,
            packages: None,
            network: None,
            devices: Vec::new(),
            device_tree,
            trace: None,
        },
        kernel: programs.kernel,
        bare: programs.bare,
    })
}

/// A file for a guest: where it is there, and its bytes.
pub type GuestFile = (String, Vec<u8>);

/// Runs; returns the exit status. `more` builds the files that `--flow` asks for.
pub fn run(arguments: &RunArguments, more: impl FnOnce() -> Result<Vec<GuestFile>>) -> Result<u8> {
    if arguments.machine.machine == fvp::NAME {
        return run_model(arguments);
    }
    if arguments.machine.machine == gem5::NAME {
        return run_gem5(arguments);
    }
    let machine = Machine::new(&arguments.machine)?.with_firmware(arguments.firmware)?;
    arguments.fvp.expect_none(&arguments.machine.machine)?;
    arguments.gem5.expect_none(&arguments.machine.machine)?;
    let has_disk = arguments.disk.is_some() || arguments.rootfs.is_some();
    if arguments.firmware == Firmware::Grub && has_disk {
        bail!(
            "--disk and --firmware grub do not go together, nor does --rootfs: GRUB starts from a disk of its own"
        );
    }
    if arguments.exec.is_some() {
        machine.can_have("--exec")?;
    }
    if let Some(disk) = &arguments.disk {
        machine.disk_from(disk)?;
    }
    if let Some(disk) = &arguments.usb_disk {
        machine.usb("--usb-disk")?;
        fs::File::open(disk)
            .with_context(|| format!("the disk {} cannot be read", disk.display()))?;
    }
    if let Some(root) = &arguments.rootfs {
        machine.can_have("--rootfs")?;
        machine
            .disk()
            .context("--rootfs needs a disk of the guest's")?;
        root.check(&machine, arguments.keep)?;
    }
    if arguments.network {
        machine.network()?;
    }
    let needs = Needs {
        gdb: arguments.gdb,
        uefi: arguments.firmware != Firmware::None,
        rootfs: matches!(arguments.rootfs, Some(Root::Debian(_))),
        ..Needs::default()
    };
    environment::prepare(&arguments.host, needs)?;
    let mut files = files(&arguments.files)?;
    let variant = InnerVariant::sound(machine.switch);
    // First, because it says at once if there is no network or no space.
    let root = arguments.rootfs.as_ref();
    let root = root.map(|it| rootfs::obtain(&arguments.host, it, arguments.keep));
    let root = root.transpose()?;
    let mut parts = prepare(&arguments.host, machine, &variant)?;
    if arguments.flow {
        files.extend(more()?);
    }
    if !files.is_empty() {
        parts.boot.initramfs = guest::with_programs(&parts.boot.initramfs, &files)?;
    }
    if arguments.build_dir {
        let linux = Variant::of(&parts.boot.machine);
        let archive = kernel::external::for_guest(&arguments.host, linux)?;
        let initramfs = &mut parts.boot.initramfs;
        *initramfs = guest::with_file(initramfs, "donjon/build.tar.gz", &archive)?;
    }
    parts.boot.disk = arguments.disk.clone().map(DiskImage::unchanged);
    parts.boot.usb_disk = arguments.usb_disk.clone().map(DiskImage::unchanged);
    if root.is_some() {
        parts.boot.disk = root;
        parts.boot.disk_is_root = true;
    }
    if arguments.network {
        parts.boot.network = Some(Network::Virtio);
        let words = parts.boot.machine.append.get_or_insert_default();
        words.push_str(" donjon.network");
    }
    let Some(command) = &arguments.exec else {
        let symbols = Symbols {
            vmlinux: &parts.kernel.vmlinux,
            bare: parts
                .bare
                .as_ref()
                .map(|it| (it.inner.as_path(), it.boot.as_path())),
        };
        return qemu::interactive(&parts.boot, arguments.gdb.then_some(&symbols)).map(|()| 0);
    };
    let mut step = Some(Step::spinner("boot"));
    let timeout = Duration::from_secs(arguments.timeout);
    let status = qemu::exec(&parts.boot, command, timeout, |stream, bytes| {
        if let Some(step) = step.take() {
            step.vanish();
        }
        // The reader may be gone; the command's status is still worth having.
        let _ = match stream {
            Stream::Output => stdout().write_all(bytes).and_then(|()| stdout().flush()),
            Stream::Error => stderr().write_all(bytes),
        };
    })?;
    if let Some(step) = step.take() {
        step.vanish();
    }
    Ok(status)
}

/// Files for the guest: where each is there, and its bytes.
fn files(paths: &[PathBuf]) -> Result<Vec<GuestFile>> {
    let one = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        let name = name.with_context(|| format!("{} is no file", path.display()))?;
        let bytes = fs::read(path).with_context(|| format!("opening {}", path.display()))?;
        Ok((format!("/files/{name}"), bytes))
    };
    paths.iter().map(one).collect()
}

/// Runs in Arm's model.
fn run_model(arguments: &RunArguments) -> Result<u8> {
    ensure!(
        !arguments.gdb,
        "--gdb is not offered on the machine {}: the model has no gdb stub; its --iris-server is \
         for Arm's debuggers",
        fvp::NAME
    );
    ensure!(
        arguments.firmware == Firmware::None,
        "--firmware is not offered on the machine {}: the model starts from a bl31.bin; name its \
         directory with --fvp-firmware",
        fvp::NAME
    );
    arguments.gem5.expect_none(fvp::NAME)?;
    arguments.expect_no_rootfs()?;
    let fvp = Fvp::new(&arguments.machine, &arguments.fvp)?;
    let (switch, dma) = (arguments.machine.switch, arguments.machine.dma);
    let parts = prepare_for_model(&arguments.host, switch, dma)?;
    let built = parts.kernel.image.with_file_name("dtbs/fvp-base-revc.dtb");
    let tree = arguments.fvp.dtb.as_ref().unwrap_or(&built);
    ensure!(
        tree.is_file(),
        "there is no device tree {}; --dtb names one",
        tree.display()
    );
    let parts = fvp::Parts {
        image: &parts.boot.image,
        initramfs: &parts.boot.initramfs,
        tree,
        disk: arguments.disk.as_deref(),
    };
    let Some(command) = &arguments.exec else {
        return fvp.interactive(&parts).map(|()| 0);
    };
    let step = Step::spinner("boot");
    let finished = fvp.exec(&parts, command, Duration::from_secs(arguments.timeout));
    step.vanish();
    print(&finished?)
}

/// Runs in gem5.
fn run_gem5(arguments: &RunArguments) -> Result<u8> {
    ensure!(
        !arguments.gdb && arguments.firmware == Firmware::None,
        "--gdb and --firmware are not offered on the machine {}",
        gem5::NAME
    );
    arguments.fvp.expect_none(gem5::NAME)?;
    arguments.expect_no_rootfs()?;
    let gem5 = Gem5::new(&arguments.machine, &arguments.gem5)?;
    let (switch, dma) = (arguments.machine.switch, arguments.machine.dma);
    let parts = prepare_for_model(&arguments.host, switch, dma)?;
    let parts = parts_for_gem5(&parts.boot, arguments.disk.as_deref())?;
    let Some(command) = &arguments.exec else {
        return gem5.interactive(&parts).map(|()| 0);
    };
    let step = Step::spinner("boot");
    let finished = gem5.exec(&parts, command, Duration::from_secs(arguments.timeout));
    step.vanish();
    print(&finished?)
}

/// What gem5 starts. Its checkpoints are in the cache.
///
/// # Errors
///
/// If there is no directory for the cache.
pub fn parts_for_gem5<'a>(boot: &'a Boot, disk: Option<&'a Path>) -> Result<gem5::Parts<'a>> {
    Ok(gem5::Parts {
        image: &boot.image,
        initramfs: &boot.initramfs,
        disk,
        checkpoints: paths::cache()?.join("gem5"),
    })
}

/// Builds the image for a machine that is not QEMU's: one image for all machines.
///
/// # Errors
///
/// Those of [`prepare`].
pub fn prepare_for_model(host: &HostArguments, switch: Switch, dma: Option<Dma>) -> Result<Parts> {
    environment::prepare(host, Needs::default())?;
    // Their disks are virtio over MMIO, which nothing confines.
    let open = (switch != Switch::None).then_some(Dma::Open);
    let machine = Machine::new(&MachineArguments {
        dma: dma.or(open),
        ..MachineArguments::virt(switch)
    })?;
    prepare(host, machine, &InnerVariant::sound(switch))
}

/// What a command printed; returns its status.
fn print(finished: &Finished) -> Result<u8> {
    stdout()
        .write_all(&finished.output)
        .and_then(|()| stdout().flush())
        .context("writing what the command printed")?;
    stderr().write_all(&finished.errors)?;
    Ok(finished.status)
}
