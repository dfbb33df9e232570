// SPDX-License-Identifier: MIT OR Apache-2.0
//! QEMU's Raspberry Pi 3: no firmware behind PSCI, registers and memory in one GiB, no virtio. The
//! 4 needs a newer QEMU than Debian 12 has.

use std::fs;
use std::os::unix::fs::FileExt;

use anyhow::{Result, ensure};
use donjon_attack::Bench;
use donjon_bench::{self as bench, samples::Samples};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::DiskImage;
use donjon_machine::said::{self, says};

use super::super::boots::built;
use super::super::scratch::Scratch;
use super::super::test::Test;
use super::{TIMEOUT, said_by};

/// Recipe of the Raspberry Pi 3.
const NAME: &str = "raspi3b";
/// Recipe of the newer one.
const NEWER: &str = "raspi4b";
/// Most instructions of a null call.
const NULL_CALL: f64 = 60.0;
/// Tables, text and CPUs.
const ATTACKS: [&str; 3] = [
    "store-to-table",
    "hide-instructions",
    "start-cpu-by-firmware",
];
/// Shell script of `boots::CHECK`, after each CPU but the first was parked in the inner domain and
/// came back.
const ON_BOARD: &str = "\
back=0
for cpu in 1 2 3; do
    echo 0 >/sys/devices/system/cpu/cpu$cpu/online || exit 4
    echo 1 >/sys/devices/system/cpu/cpu$cpu/online || exit 5
    back=$((back + 1))
done
echo back: $back
dmesg | grep -q 'Attached to firmware from' && echo firmware: found
echo root hub: $(cat /sys/bus/usb/devices/usb1/idVendor)
echo online: $(grep -c ^processor /proc/cpuinfo)
cd /sys/kernel/security/donjon && cat status log && cat selftest";

/// Shell script of `boots::CHECK`, and the vendor of the root hub of USB.
const WITH_USB: &str = "\
dmesg | grep -q 'Attached to firmware from' && echo firmware: found
echo root hub: $(cat /sys/bus/usb/devices/usb1/idVendor)
cd /sys/kernel/security/donjon && cat status log && cat selftest";

/// Tests of the Raspberry Pi 3 and 4.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        let host = host.clone();
        let name = format!("machine:{NAME}:{}", switch.name());
        let test = Test::beside(&name, move || boots(&host, NAME, switch));
        tests.push(test.holds(&["I11"]).long_if(switch == Switch::Tlbi));
    }
    let with_dma = host.clone();
    tests.push(Test::beside(
        &format!("machine:{NAME}:dma-open"),
        move || has_usb(&with_dma),
    ));
    let for_bench = host.clone();
    tests.push(Test::beside(
        &format!("machine:{NAME}:null-call"),
        move || null_call(&for_bench),
    ));
    let for_card = host.clone();
    tests.push(Test::beside(&format!("machine:{NAME}:disk"), move || {
        reads_card(&for_card)
    }));
    let for_panic = host.clone();
    tests.push(Test::beside(&format!("machine:{NAME}:panic"), move || {
        reports_a_panic(&for_panic)
    }));
    let for_attacks = host.clone();
    tests.push(Test::beside(
        &format!("machine:{NAME}:attacks"),
        move || {
            donjon_attack::are_stopped(
                Bench {
                    host: &for_attacks,
                    switch: Switch::Asid,
                    machine: NAME,
                },
                &ATTACKS,
            )
        },
    ));
    tests
}

/// What stands at both ends of an SD card arrives in the guest, and the card has its size.
fn reads_card(host: &HostArguments) -> Result<()> {
    const SIZE: u64 = 16 << 20;
    const BLOCK: usize = 512;
    let scratch = Scratch::new()?;
    let card = scratch.path().join("card.img");
    let file = fs::File::create(&card)?;
    file.set_len(SIZE)?;
    let block = |word: &str| word.repeat(BLOCK / word.len());
    file.write_all_at(block("begin---").as_bytes(), 0)?;
    file.write_all_at(block("the-end-").as_bytes(), SIZE - BLOCK as u64)?;
    let sound = InnerVariant::sound(Switch::Asid);
    let mut parts = built(host, machine()?, &sound, Variant::Donjon)?;
    parts.boot.disk = Some(DiskImage::unchanged(card));
    let last = SIZE / BLOCK as u64 - 1;
    let command = format!(
        "echo sectors: $(cat /sys/block/mmcblk0/size)
        read() {{ dd if=/dev/mmcblk0 bs={BLOCK} skip=$1 count=1 2>/dev/null; }}
        for at in 0 {last}; do echo \"block: $(read $at)\"; done"
    );
    let said = says(&parts.boot, &command, TIMEOUT)?;
    said.expect_success()?;
    said.expect_line(&format!("sectors: {}", last + 1))?;
    said.expect_line(&format!("block: {}", block("begin---")))?;
    said.expect_line(&format!("block: {}", block("the-end-")))
}

/// A jump into the gate with a forged TCR_EL1, with one CPU on: the report is on the small UART,
/// and the watchdog switches the board off.
fn reports_a_panic(host: &HostArguments) -> Result<()> {
    const FATAL: &str = "\
for cpu in 1 2 3; do echo 0 >/sys/devices/system/cpu/cpu$cpu/online || exit 4; done
echo 'forge 0x33b5503590' >/sys/kernel/security/donjon/attack; sleep 600";
    let sound = InnerVariant::sound(Switch::Asid);
    let parts = built(host, machine()?, &sound, Variant::Donjon)?;
    let ended = said::ends(&parts.boot, FATAL, TIMEOUT)?;
    for part in [
        "donjon: PANIC on CPU 0x0: TCR_EL1 is neither domain's",
        "0x00000033b5503590",
    ] {
        ensure!(ended.text.contains(part), "no `{part}` in:\n{}", ended.text);
    }
    ensure!(
        ended.reason == "guest-shutdown",
        "the board was not switched off, QEMU ended by {}",
        ended.reason
    );
    Ok(())
}

/// The Raspberry Pi 4 in each mode; it runs by name alone.
pub fn newer(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::alone(&format!("machine:{NEWER}"), move || {
        for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
            boots(&host, NEWER, switch)?;
        }
        Ok(())
    })
    .long()
}

/// The machine in mode `asid`.
pub fn machine() -> Result<Machine> {
    Machine::new(&arguments(NAME, Switch::Asid))
}

/// The machine in mode `asid`, with devices that have DMA.
pub fn machine_with_dma() -> Result<Machine> {
    Machine::new(&MachineArguments {
        dma: Some(Dma::Open),
        ..arguments(NAME, Switch::Asid)
    })
}

fn arguments(board: &str, switch: Switch) -> MachineArguments {
    MachineArguments {
        machine: board.into(),
        ..MachineArguments::virt(switch)
    }
}

/// To a shell on all CPUs; the self-test passes.
fn boots(host: &HostArguments, board: &str, switch: Switch) -> Result<()> {
    let machine = Machine::new(&arguments(board, switch))?;
    let said = said_by(host, &machine, &[], None, ON_BOARD, TIMEOUT)?;
    said.expect_success()?;
    let mode = format!("switch: {}", switch.name());
    // The newer board's controller is a device as well, and withheld.
    let root_hub = if board == NAME {
        "root hub: 1d6b"
    } else {
        "root hub:"
    };
    for line in [
        "online: 4",
        &mode,
        "dma: strict",
        "firmware: found",
        // Linux's own drivers cause none.
        "refusals: 0",
        root_hub,
        "back: 3",
    ] {
        said.expect_line(line)?;
    }
    said.expect_self_test().map(|_| ())
}

/// USB works where devices with DMA are Linux's, and the mailbox is its own.
fn has_usb(host: &HostArguments) -> Result<()> {
    let said = said_by(host, &machine_with_dma()?, &[], None, WITH_USB, TIMEOUT)?;
    said.expect_success()?;
    for line in ["dma: open", "root hub: 1d6b", "firmware: found"] {
        said.expect_line(line)?;
    }
    said.expect_self_test().map(|_| ())
}

/// By counted instructions, with which QEMU runs one CPU at a time.
fn null_call(host: &HostArguments) -> Result<()> {
    let switch = Switch::Asid;
    let machine = Machine::new(&MachineArguments {
        icount: true,
        ..arguments(NAME, switch)
    })?;
    let parts = built(host, machine, &InnerVariant::sound(switch), Variant::Donjon)?;
    let text = bench::measure(&parts.boot, switch, false)?;
    let median = Samples::named("null_idc", &text)?.median();
    if !(30.0..=NULL_CALL).contains(&median) {
        let text = format!("a null call takes {median} instructions");
        return Err(Finding::Figures.error(text));
    }
    Ok(())
}
