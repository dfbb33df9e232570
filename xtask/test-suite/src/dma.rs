// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices that the inner domain keeps to a window of memory: that they work, and which of them
//! withhold the bridge.

mod limits;
mod usb;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_bench::dma::{self, peer::Peer};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::Needs;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{Firmware, MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, Boot, DiskImage, Network, Timeout};
use donjon_machine::said::says;
use sha2::{Digest, Sha256};

use super::boots::built;
use super::scratch::Scratch;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(240);
/// What the console says of a bridge that Linux does not get.
const WITHHELD: &str = "donjon: withheld: /pcie@10000000 (pci-host-ecam-generic): ";
/// A machine whose bridge is withheld has no way to answer: it is over when the console has said
/// so, and a little later, when the rest of the line is there.
const REFUSED: Timeout = Timeout {
    total: Duration::from_secs(120),
    mark: Some((WITHHELD, Duration::from_secs(1))),
};

/// Machines on which the bridge is withheld: name of the test, QEMU's devices, and why. Controls of
/// attacks show what harm could be done there (`weaken-virtio-type`, `weaken-platform-bit`).
const REFUSALS: [(&str, &[&str], &str); 8] = [
    (
        "balloon",
        &["virtio-balloon-pci,iommu_platform=on,disable-legacy=on"],
        "it discards pages by number",
    ),
    (
        "platform",
        &["virtio-rng-pci,disable-legacy=on"],
        "goes around the SMMU (iommu_platform=off)",
    ),
    (
        "legacy",
        &["virtio-rng-pci"],
        "can be used as a legacy device: it goes around the SMMU",
    ),
    (
        "bridge",
        &["pcie-root-port,id=behind"],
        "what is behind it may go around the SMMU",
    ),
    (
        "expander",
        &["pxb-pcie,bus_nr=128,id=expander"],
        "a second host bridge at",
    ),
    (
        "bypass",
        &["pxb-pcie,bus_nr=128,id=expander,bypass_iommu=on"],
        "a second host bridge at",
    ),
    // There is no function 0 with it.
    (
        "lone",
        &["virtio-rng-pci,disable-legacy=on,multifunction=on,addr=05.1"],
        "00:05.1 goes around the SMMU (iommu_platform=off)",
    ),
    (
        "sr-iov",
        &[
            "nvme-subsys,id=several",
            "nvme,subsys=several,serial=1,sriov_max_vfs=1,sriov_vq_flexible=2,sriov_vi_flexible=1,msix_qsize=4,max_ioqpairs=4",
        ],
        "a function with SR-IOV at 00:",
    ),
];

/// Shell script: the digest of the disk, then a page that is written and read back past the page
/// cache.
pub const USE_DISK: &str = "\
grep -q '^dma: strict' /sys/kernel/security/donjon/status || exit 3
echo digest: $(sha256sum /dev/vda | cut -d' ' -f1)
dd if=/bin/busybox of=/tmp/page bs=4096 count=1 2>/dev/null || exit 5
dd if=/tmp/page of=/dev/vda bs=4096 seek=9 oflag=direct 2>/dev/null || exit 6
dd if=/dev/vda of=/tmp/back bs=4096 skip=9 count=1 iflag=direct 2>/dev/null || exit 7
cmp /tmp/page /tmp/back || exit 8
";
/// Shell script: what is left of the reserve, and the self-test.
const LEFT: &str = "\
grep protected_ /sys/kernel/security/donjon/status
cat /sys/kernel/security/donjon/selftest";

/// Shell script: QEMU's router answers.
const NETWORK: &str = "\
ip address show eth0 | grep -q 'inet 10.0.2.15' || { ip link set eth0 up; ip address add 10.0.2.15/24 dev eth0; }
ping -c 3 -w 20 10.0.2.2 >/dev/null || exit 3
echo answers";

/// Tests of devices with DMA.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for machine in ["virt", "virt-gicv3"] {
        let host = host.clone();
        let name = format!("dma:disk:{machine}");
        let test = Test::beside(&name, move || disk(&host, machine));
        tests.push(test.holds(&["I24"]));
    }
    let for_network = host.clone();
    tests.push(Test::beside("dma:network", move || network(&for_network)));
    let for_uefi = host.clone();
    let uefi = Needs {
        uefi: true,
        ..Needs::NONE
    };
    tests.push(Test::beside("dma:uefi", move || by_uefi(&for_uefi)).needs(uefi));
    for (name, devices, why) in REFUSALS {
        let host = host.clone();
        let test = Test::beside(&format!("dma:refused:{name}"), move || {
            is_refused(&host, devices, why)
        });
        tests.push(test.holds(&["I23"]));
    }
    let for_constants = host.clone();
    let constants = Test::beside("dma:constants", move || constants(&for_constants));
    tests.push(constants.holds(&["I24"]));
    tests.extend(limits::tests(host));
    tests.push(usb::test(host));
    tests
}

fn boot(host: &HostArguments, machine: &str) -> Result<Boot> {
    boot_by(host, machine, Firmware::None)
}

fn boot_by(host: &HostArguments, machine: &str, firmware: Firmware) -> Result<Boot> {
    let machine = Machine::new(&MachineArguments {
        machine: machine.into(),
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let machine = machine.with_firmware(firmware)?;
    let inner = InnerVariant::sound(Switch::Asid);
    Ok(built(host, machine, &inner, Variant::Donjon)?.boot)
}

/// Fills a disk with bytes without a pattern, equal in each run. Returns their SHA-256 in
/// hexadecimal digits.
pub fn fill(path: &Path, size: usize) -> Result<String> {
    let mut file = fs::File::create(path).context("making a disk")?;
    let mut hash = Sha256::new();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..size >> 20 {
        let mut piece = Vec::with_capacity(1 << 20);
        for _ in 0..(1 << 20) / 8 {
            // Xorshift (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            piece.extend(state.to_le_bytes());
        }
        hash.update(&piece);
        file.write_all(&piece).context("filling a disk")?;
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|it| format!("{it:02x}")).collect())
}

fn disk(host: &HostArguments, machine: &str) -> Result<()> {
    /// More than the machine has memory, so that the page cache takes what is free.
    const SIZE: usize = 272 << 20;
    let scratch = Scratch::new()?;
    let path = scratch.path().join("disk.img");
    let digest = fill(&path, SIZE)?;
    let mut boot = boot(host, machine)?;
    boot.disk = Some(DiskImage::unchanged(path));
    reads_disk(&boot, &digest)
}

/// Fails unless the guest reads what is on its disk, and has something left of the reserve.
fn reads_disk(boot: &Boot, digest: &str) -> Result<()> {
    let said = says(boot, &format!("{USE_DISK}{LEFT}"), TIMEOUT)?;
    said.expect_success()?;
    said.expect_line(&format!("digest: {digest}"))?;
    for part in ["tables", "compartments"] {
        let line = format!("protected_{part}_free_kib: ");
        let free = said.text.lines().find_map(|it| it.strip_prefix(&line));
        let free: u64 = free.context("no line of the reserve")?.parse()?;
        ensure!(free > 0, "nothing of the reserve is left for {part}");
    }
    said.expect_self_test().map(|_| ())
}

fn network(host: &HostArguments) -> Result<()> {
    let mut boot = boot(host, "virt")?;
    boot.network = Some(Network::Virtio);
    let said = says(&boot, NETWORK, TIMEOUT)?;
    said.expect_success()?;
    said.expect_line("answers")
}

/// A firmware has used the disk before, and has put its registers where it likes.
fn by_uefi(host: &HostArguments) -> Result<()> {
    const SIZE: usize = 4 << 20;
    let scratch = Scratch::new()?;
    let path = scratch.path().join("disk.img");
    let digest = fill(&path, SIZE)?;
    let mut boot = boot_by(host, "virt", Firmware::Uefi)?;
    boot.disk = Some(DiskImage::unchanged(path));
    reads_disk(&boot, &digest)
}

/// Devices read pages of the kernel's constants that a user sends, and the right ones arrive.
fn constants(host: &HostArguments) -> Result<()> {
    const SIZE: usize = 4 << 20;
    let scratch = Scratch::new()?;
    let path = scratch.path().join("disk.img");
    fill(&path, SIZE)?;
    let mut boot = boot(host, "virt")?;
    boot.disk = Some(DiskImage::unchanged(path));
    boot.network = Some(Network::Virtio);
    let peer = Peer::listen(0)?;
    let said = says(&boot, &dma::command("--constants", peer.port()), TIMEOUT)?;
    said.expect_success()?;
    said.expect_line("vdso: arrived")?;
    said.expect_line("text: arrived")
}

fn is_refused(host: &HostArguments, devices: &[&str], why: &str) -> Result<()> {
    let mut boot = boot(host, "virt")?;
    boot.devices = devices.iter().map(|it| (*it).to_owned()).collect();
    let Err(error) = qemu::exec(&boot, "true", REFUSED, |_, _| ()) else {
        let text = format!("Linux has the bridge, although {devices:?} is behind it");
        return Err(Finding::Violation.error(text));
    };
    let text = format!("{error:#}");
    let log = text.split_once("end of its console (");
    let log = log.and_then(|it| it.1.split_once("):")).map(|it| it.0);
    let log = fs::read_to_string(log.with_context(|| text.clone())?)?;
    let line = log.lines().find_map(|it| it.split_once(WITHHELD));
    let (_, said) = line.with_context(|| format!("the bridge is not withheld: {text}"))?;
    ensure!(said.contains(why), "withheld for another reason: {said}");
    Ok(())
}
