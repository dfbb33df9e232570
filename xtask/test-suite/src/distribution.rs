// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels with the options that distributions have on, and with all of Debian's.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::guest;
use donjon_builder::kernel::{Variant, check_objects, try_options};
use donjon_builder::run::prepare;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::paths;
use donjon_machine::qemu::{DiskImage, Network};
use donjon_machine::said::{Said, says};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};

use super::machines::change_tree;
use super::scratch::Scratch;
use super::test::Test;
use super::{audit, dma, load};

const FRAGMENT: &str = "kernel-patch/config/distribution.config";
const TIMEOUT: Duration = Duration::from_secs(240);
const CPUS: u32 = 4;
/// Features that a core of QEMU's `max` has, as Linux names them to programs.
const FEATURES: [&str; 4] = ["paca", "bti", "sve", "atomics"];
/// Features that the kernel names to people.
const DETECTED: [&str; 2] = [
    "Privileged Access Never",
    "TLB range maintenance instructions",
];
/// A line for each option whose effect shows. BusyBox for 32 bits is in the initial ramdisk.
const CHECK: &str = "\
cp /busybox32 /bin/busybox /tmp/ && chmod +x /tmp/busybox32 && cd /tmp
echo class: $(od -An -tx1 -j4 -N1 busybox32)
echo 32 bits: $(./busybox32 sh -c 'for i in 1 2 3; do echo $i | ./busybox32 cat; done; (exit 4) || echo $?')
for i in 1 2 3 4 5 6 7 8; do
    ./busybox32 sha256sum /bin/busybox >sum$i &
done
wait
echo sums: $(cat sum? | sort -u | wc -l)
echo nodes: $(ls -d /sys/devices/system/node/node* | wc -l)
echo idle: $(cat /sys/devices/system/cpu/cpuidle/current_driver)
echo states: $(ls /sys/devices/system/cpu/cpu0/cpuidle | wc -l)
echo functions: $(ls /sys/bus/pci/devices | wc -l)
ping -c 3 10.0.2.2 | grep received
echo isolation: $(dmesg | grep -i -m 1 'page table isolation' | sed 's/.*isolation //')
echo detected: $(dmesg | sed -n 's/.*CPU features: detected: //p' | tr '\n' ,)
mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing
echo p:entry /tmp/busybox:$((0x$(od -An -tx4 -j24 -N4 /bin/busybox | tr -d ' ') - 0x400000)) >uprobe_events
echo 1 >events/uprobes/entry/enable
for i in 1 2 3; do /tmp/busybox true; done
echo 0 >events/uprobes/entry/enable
echo probe: $(grep -c entry: trace)
grep -m 1 Features /proc/cpuinfo
cd /sys/kernel/security/donjon 2>/dev/null && cat status && cat selftest
exit 0";
/// What `ping` says where QEMU's router answers.
const ANSWERED: &str = "3 packets transmitted, 3 packets received, 0% packet loss";
/// What both kernels say.
const SAME: [&str; 6] = [
    "class: 01",
    "32 bits: 1 2 3 4",
    "sums: 1",
    "functions: 2",
    ANSWERED,
    "probe: 3",
];
/// What the kernel says where an option is configured and off, and what it says without Donjon:
/// with `kpti=1`, two nodes of memory and an idle state of the firmware's.
const DIFFERENT: [(&str, &str); 4] = [
    (
        "isolation: is off under DONJON",
        "isolation: forced ON by kpti command line option",
    ),
    ("nodes: 1", "nodes: 2"),
    ("idle: none", "idle: psci_idle"),
    ("states: 0", "states: 3"),
];
/// Features that the native kernel uses there, and the protected one does not.
const UNUSED: [&str; 4] = [
    "Kernel page table isolation (KPTI)",
    "Common not Private translations",
    "E0PD",
    "Hardware dirty bit management",
];
/// Two nodes of memory with two CPUs each, for QEMU.
const NODES: [&str; 8] = [
    "-object",
    "memory-backend-ram,id=memory0,size=256M",
    "-object",
    "memory-backend-ram,id=memory1,size=256M",
    "-numa",
    "node,nodeid=0,cpus=0-1,memdev=memory0",
    "-numa",
    "node,nodeid=1,cpus=2-3,memdev=memory1",
];
/// A number that no node of QEMU's tree has.
const IDLE_STATE: u32 = 0x7000;

/// What Debian's configuration has in the kernel itself, and ours has not. It has a driver for the
/// SMMU, and finds none.
const OF_DEBIAN: &str = "\
uname -r
[ -d /sys/class/iommu ] || exit 4
echo units: $(ls /sys/class/iommu | wc -l)
ping -c 3 10.0.2.2 | grep received
ls /proc/mounts /proc/self/attr/apparmor/current /dev/mem
echo security modules: $(cat /sys/kernel/security/lsm)
cd /sys/kernel/security/donjon && cat status && cat selftest";

/// Bytes of the disk.
const DISK: usize = 16 << 20;

/// A kernel of thousands of options, so it runs by name alone.
pub fn debian(host: &HostArguments) -> Test {
    let host = HostArguments {
        config: Some("debian".into()),
        ..host.clone()
    };
    Test::alone("kernel:debian", move || {
        // Its build needs more than others do.
        environment::prepare(&host, Needs::default())?;
        let machine = MachineArguments {
            memory: Some("1G".into()),
            append: Some("donjon.network".into()),
            ..machine(Switch::Asid)
        };
        let variant = InnerVariant::sound(machine.switch);
        let scratch = Scratch::new()?;
        let disk = scratch.path().join("disk.img");
        let digest = dma::fill(&disk, DISK)?;
        let mut boot = prepare(&host, Machine::new(&machine)?, &variant)?.boot;
        boot.disk = Some(DiskImage::unchanged(disk));
        boot.network = Some(Network::Virtio);
        let said = says(&boot, &format!("{}{OF_DEBIAN}", dma::USE_DISK), TIMEOUT)?;
        said.expect_success()?;
        said.expect_line(&format!("digest: {digest}"))?;
        said.expect_line("units: 0")?;
        said.expect_line(ANSWERED)?;
        passes(&said)?;
        audit::is_clean(&host, &machine)
    })
    .long()
}

/// Debian's options and ours agree; nothing is built.
pub fn debian_options(host: &HostArguments) -> Test {
    let host = HostArguments {
        config: Some("debian".into()),
        ..host.clone()
    };
    Test::beside("kernel:debian:options", move || {
        environment::prepare(&host, Needs::NONE)?;
        try_options(&host, Variant::Donjon)?;
        try_options(&host, Variant::Native)
    })
}

/// Directories with what Debian builds as modules of ciphers and hashes.
const CRYPTO: [&str; 3] = ["arch/arm64/crypto/", "crypto/", "lib/crypto/"];
/// Objects that are in them at least.
const OBJECTS: usize = 150;

/// All ciphers and hashes of Debian's configuration, each of which the inner domain would accept.
/// It takes minutes, so it runs by name alone.
pub fn debian_crypto(host: &HostArguments) -> Test {
    let host = HostArguments {
        config: Some("debian".into()),
        ..host.clone()
    };
    Test::alone("kernel:debian:crypto", move || {
        environment::prepare(&host, Needs::default())?;
        let directories = CRYPTO.map(str::to_owned);
        let checked = check_objects(&host, Variant::Donjon, &directories)?;
        ensure!(checked >= OBJECTS, "{checked} objects in {CRYPTO:?}");
        Ok(())
    })
    .long()
}

/// Two kernels of its own, so it runs by name alone.
pub fn test(host: &HostArguments) -> Test {
    let host = HostArguments {
        config: Some(paths::in_root(FRAGMENT)),
        ..host.clone()
    };
    Test::alone("kernel:distribution", move || {
        let protected = said_by(&host, Switch::Asid)?;
        passes(&protected)?;
        let native = said_by(&host, Switch::None)?;
        for (ours, theirs) in DIFFERENT {
            protected.expect_line(ours)?;
            native.expect_line(theirs)?;
        }
        let (ours, theirs) = (detected(&protected)?, detected(&native)?);
        for feature in UNUSED {
            ensure!(!ours.contains(feature), "{feature} is used: {ours}");
            ensure!(theirs.contains(feature), "no {feature} to use: {theirs}");
        }
        for said in [protected, native] {
            takes_effect(&said)?;
        }
        audit::is_clean(&host, &machine(Switch::Asid))?;
        audit::is_clean(&host, &machine(Switch::Tlbi))?;
        load::compare(&host, load::machine("max", CPUS, Switch::Asid, ""))
    })
    .long()
}

fn machine(switch: Switch) -> MachineArguments {
    MachineArguments {
        cpu: Some("max".into()),
        cpus: Some(CPUS),
        memory: Some("512M".into()),
        ..MachineArguments::virt(switch)
    }
}

/// A machine that offers what is configured and off.
fn said_by(host: &HostArguments, switch: Switch) -> Result<Said> {
    let mut machine = Machine::new(&MachineArguments {
        append: Some("donjon.network kpti=1".into()),
        ..machine(switch)
    })?;
    // The network card goes around the SMMU.
    machine.dma = Dma::Open;
    machine.recipe.arguments.extend(NODES.map(str::to_owned));
    let mut boot = prepare(host, machine, &InnerVariant::sound(switch))?.boot;
    let busybox = fs::read(guest::obtain_busybox_for_32_bits()?)?;
    boot.initramfs = guest::with_file(&boot.initramfs, "busybox32", &busybox)?;
    boot.network = Some(Network::AroundSmmu);
    let scratch = Scratch::new()?;
    change_tree(&mut boot, &scratch, add_idle_state)?;
    let said = says(&boot, CHECK, TIMEOUT)?;
    said.expect_success()?;
    Ok(said)
}

/// A state in which a CPU powers down, as boards have it; QEMU's firmware only waits.
fn add_idle_state(tree: &mut DeviceTree) {
    let mut state = DeviceTreeNode::new_unchecked("cpu-sleep");
    for (name, value) in [
        ("arm,psci-suspend-param", 0x1_0000),
        ("entry-latency-us", 40),
        ("exit-latency-us", 100),
        ("min-residency-us", 150),
        ("phandle", IDLE_STATE),
    ] {
        state.add_property(DeviceTreeProperty::new_unchecked(name, value));
    }
    state.add_property(DeviceTreeProperty::new_unchecked(
        "compatible",
        "arm,idle-state",
    ));
    let mut states = DeviceTreeNode::new_unchecked("idle-states");
    states.add_property(DeviceTreeProperty::new_unchecked("entry-method", "psci"));
    states.add_child(state);
    for cpu in 0..CPUS {
        if let Some(node) = tree.find_node_mut(&format!("/cpus/cpu@{cpu}")) {
            let property = DeviceTreeProperty::new_unchecked("cpu-idle-states", IDLE_STATE);
            node.add_property(property);
        }
    }
    if let Some(cpus) = tree.find_node_mut("/cpus") {
        cpus.add_child(states);
    }
}

/// What the kernel says that it found in its CPUs.
fn detected(said: &Said) -> Result<&str> {
    let line = said.text.lines().find(|it| it.starts_with("detected: "));
    line.context("no features of CPUs")
}

/// Options have the effect that programs see.
fn takes_effect(said: &Said) -> Result<()> {
    for line in SAME {
        said.expect_line(line)?;
    }
    let line = said.text.lines().find(|it| it.starts_with("Features"));
    let features: Vec<&str> = line.context("no features")?.split_whitespace().collect();
    for wanted in FEATURES {
        ensure!(features.contains(&wanted), "no {wanted} in {features:?}");
    }
    let detected = detected(said)?;
    for wanted in DETECTED {
        ensure!(detected.contains(wanted), "no `{wanted}` in {detected}");
    }
    Ok(())
}

/// The inner domain runs, has refused nothing, and its self-test passes.
fn passes(said: &Said) -> Result<()> {
    said.expect_line("state: running")?;
    said.expect_line("refusals: 0")?;
    said.expect_self_test().map(|_| ())
}
