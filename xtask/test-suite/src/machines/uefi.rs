// SPDX-License-Identifier: MIT OR Apache-2.0
//! Started by a UEFI firmware, by itself and through GRUB.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::Needs;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{Firmware, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::{Said, says};

use super::super::boots::{CHECK, built};
use super::super::test::Test;
use super::{REFUSAL, TIMEOUT, is_refused, machine, said_by};

/// What a test needs that UEFI starts.
const UEFI: Needs = Needs {
    uefi: true,
    ..Needs::NONE
};

/// Tests of machines that start by UEFI.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let test = |name: &str, body: fn(&HostArguments) -> Result<()>| {
        let host = host.clone();
        Test::beside(&format!("machine:uefi{name}"), move || body(&host)).needs(UEFI)
    };
    vec![
        test("", |host| works(host, &machine()?, Firmware::Uefi)),
        test(":run-time:refused", run_time_is_refused).holds(&["I3"]),
        // The firmware runs at EL2 there.
        test(":grub:el2", |host| {
            let mut machine = machine()?;
            machine.el2 = true;
            works(host, &machine, Firmware::Grub)
        }),
        test(":acpi:refused", |host| {
            let mut machine = machine()?.with_firmware(Firmware::Uefi)?;
            // It hands on the device tree only where there is no ACPI.
            machine.recipe.uefi = None;
            is_refused(
                said(host, &machine, REFUSAL),
                &[
                    "cannot start: ACPI-only machines are not supported",
                    "acpi=off",
                ],
            )
        }),
    ]
}

/// Maps what follows the first bank of RAM: what the firmware keeps for its run-time services.
const MAP_BEHIND: &str = "\
insmod /lib/modules/donjon_attack.ko || exit 3
bank=$(hexdump -v -n 16 -e '/1 \"%02x\"' /proc/device-tree/memory@*/reg)
page=$((0x${bank%????????????????} + 0x${bank#????????????????}))
cd /sys/module/donjon_attack/parameters
echo $page >value
dmesg -c >/dev/null
echo map-protected-memory/device >run
dmesg | grep -o 'attack map-protected-memory/.*'
";

/// Checks that a hostile kernel cannot map memory of the firmware.
fn run_time_is_refused(host: &HostArguments) -> Result<()> {
    let machine = machine()?.with_firmware(Firmware::Uefi)?;
    let said = said_by(host, &machine, &[], None, MAP_BEHIND, TIMEOUT);
    let said = Said::of_sound(said)?;
    said.expect_success()?;
    ensure!(
        said.text
            .contains("stopped, refused: neither memory nor an allowed device"),
        "{}",
        said.text
    );
    Ok(())
}

/// Checks that the machine boots without the memory that the firmware keeps, and passes the
/// self-test.
fn works(host: &HostArguments, machine: &Machine, firmware: Firmware) -> Result<()> {
    let said = said(host, &machine.clone().with_firmware(firmware)?, TIMEOUT)?;
    said.expect_success()?;
    said.expect_self_test()?;
    let banks = said.text.lines().filter(|it| it.contains(": System RAM"));
    ensure!(
        banks.count() > 1,
        "memory is in one piece, so the firmware keeps none of it:\n{}",
        said.text
    );
    Ok(())
}

fn said(host: &HostArguments, machine: &Machine, timeout: Duration) -> Result<Said> {
    let inner = InnerVariant::sound(Switch::Asid);
    let parts = built(host, machine.clone(), &inner, Variant::Donjon)?;
    says(&parts.boot, &format!("cat /proc/iomem\n{CHECK}"), timeout)
}
