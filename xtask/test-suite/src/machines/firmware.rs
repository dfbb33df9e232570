// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Linux asks firmware at each boot is answered and is no refusal, so that an attack stands
//! out.

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;

use super::super::test::Test;
use super::{TIMEOUT, board, machine, said_by};

/// A firmware call by its number, and how many refusals there are afterwards.
const CALLS: &str = "\
insmod /lib/modules/donjon_attack.ko || exit 3
cd /sys/module/donjon_attack/parameters
echo at first: $(grep refusals: /sys/kernel/security/donjon/status)
for value in 0x84000050 0x8600ff01 0x84000063 0xbf00ff01 0x8600ff02 0x84000053; do
    echo $value >value
    dmesg -c >/dev/null
    echo start-cpu-by-firmware/by-number >run
    echo $value: $(dmesg | grep -o 'by-number: .*') \
        $(grep refusals: /sys/kernel/security/donjon/status)
done";

/// A property that drives the display, and what stands on record of it.
const PROPERTY: &str = "\
insmod /lib/modules/donjon_attack.ko || exit 3
cd /sys/module/donjon_attack/parameters
echo at first: $(grep refusals: /sys/kernel/security/donjon/status)
echo 0x40001 >value
echo ask-videocore/tag >run
echo then: $(grep refusals: /sys/kernel/security/donjon/status)
grep -o 'properties .*' /sys/kernel/security/donjon/refusals | cut -d ' ' -f 1-7
dmesg | grep 'is not passed on'";

/// Tests of what Linux's questions to firmware do to the number of refusals.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let (calls, property) = (host.clone(), host.clone());
    vec![
        Test::beside("machine:firmware-queries", move || answers(&calls)),
        Test::beside("machine:raspi3b:property-record", move || {
            names_the_tag(&property)
        }),
    ]
}

/// Random numbers, KVM, secure partitions and a trusted OS are asked for in vain. A number that
/// resembles these, and a call for random numbers, are refused and counted.
fn answers(host: &HostArguments) -> Result<()> {
    let said = said_by(host, &machine()?, &[], None, CALLS, TIMEOUT)?;
    said.expect_success()?;
    said.expect_line("at first: refusals: 0")?;
    let answered = "by-number: SUCCEEDED, the firmware was asked; it says -1 refusals: 0";
    for function in ["0x84000050", "0x8600ff01", "0x84000063", "0xbf00ff01"] {
        said.expect_line(&format!("{function}: {answered}"))?;
    }
    let refused = "by-number: stopped, refused: firmware function not on the list";
    said.expect_line(&format!("0x8600ff02: {refused} refusals: 1"))?;
    said.expect_line(&format!("0x84000053: {refused} refusals: 2"))
}

/// Drivers of a Raspberry Pi ask for properties that the inner domain does not pass on. Linux
/// answers these itself, and the record of a refusal has the tag in the lower half of its value.
fn names_the_tag(host: &HostArguments) -> Result<()> {
    let said = said_by(host, &board::machine()?, &[], None, PROPERTY, TIMEOUT)?;
    said.expect_success()?;
    said.expect_line("at first: refusals: 0")?;
    said.expect_line("then: refusals: 1")?;
    said.expect_line("properties \"property not on the list\" 0x1500040001")?;
    ensure!(
        said.text.contains("is not passed on"),
        "no driver asked for a property:\n{}",
        said.text
    );
    Ok(())
}
