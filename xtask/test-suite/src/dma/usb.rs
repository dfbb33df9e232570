// SPDX-License-Identifier: MIT OR Apache-2.0
//! The USB controller of a Raspberry Pi, whose registers the inner domain writes for Linux: that a
//! disk behind it works in the profile that is strict, whatever is transferred.

use std::time::Duration;

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::Switch;
use donjon_machine::qemu::{DiskImage, WAIT_FOR_USB_DISK};
use donjon_machine::said::says;

use crate::boots::built;
use crate::machines::board;
use crate::scratch::Scratch;
use crate::test::Test;

const TIMEOUT: Duration = Duration::from_secs(240);

/// Shell script: the digest of the disk, a page that is written and read back past the page cache,
/// pages of the kernel's constants that a user writes, and the controller once more after its
/// driver left it. QEMU's does not say again then that a disk is plugged in, where Linux writes its
/// registers as well.
const DISK: &str = "\
grep '^dma: \\|^refusals: ' /sys/kernel/security/donjon/status
echo digest: $(sha256sum /dev/sda | cut -d' ' -f1)
dd if=/bin/busybox of=/tmp/page bs=4096 count=1 2>/dev/null || exit 5
dd if=/tmp/page of=/dev/sda bs=4096 seek=9 oflag=direct 2>/dev/null || exit 6
dd if=/dev/sda of=/tmp/back bs=4096 skip=9 count=1 iflag=direct 2>/dev/null || exit 7
cmp /tmp/page /tmp/back || exit 8
donjon-dma --constants /dev/sda || exit 9
cd /sys/bus/platform/drivers/dwc2 || exit 10
echo 3f980000.usb >unbind || exit 11
echo 3f980000.usb >bind || exit 12
[ -e /sys/bus/usb/devices/usb1 ] || exit 13
echo at the end: $(grep '^refusals: ' /sys/kernel/security/donjon/status)
cat /sys/kernel/security/donjon/selftest";

/// The test of a disk.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("dma:usb", move || disk(&host)).holds(&["I24"])
}

fn disk(host: &HostArguments) -> Result<()> {
    const SIZE: usize = 64 << 20;
    let scratch = Scratch::new()?;
    let path = scratch.path().join("disk.img");
    let digest = super::fill(&path, SIZE)?;
    let sound = InnerVariant::sound(Switch::Asid);
    let mut boot = built(host, board::machine()?, &sound, Variant::Donjon)?.boot;
    boot.usb_disk = Some(DiskImage::unchanged(path));
    let said = says(&boot, &format!("{WAIT_FOR_USB_DISK}{DISK}"), TIMEOUT)?;
    said.expect_success()?;
    for line in [
        "dma: strict",
        // Linux's own drivers cause none.
        "refusals: 0",
        &format!("digest: {digest}"),
        "vdso: arrived",
        "text: arrived",
        "at the end: refusals: 0",
    ] {
        said.expect_line(line)?;
    }
    said.expect_self_test().map(|_| ())
}
