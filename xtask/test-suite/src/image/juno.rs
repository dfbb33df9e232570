// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the boot stage makes of the Juno's device tree from the kernel's build.

use anyhow::{Context, Result, anyhow, ensure};
use donjon_abi::boot_info::{Conduit, ConsoleKind};
use donjon_abi::manifest::DmaProfile;
use donjon_boot::bridge::Behind;
use donjon_boot::usb::Usb;
use donjon_boot::{board, device_tree, devices};
use dtoolkit::fdt::Fdt;

/// The watchdog, which Linux has in the profile `open` alone.
const WATCHDOG: (u64, u64) = (0x1c0f_0000, 0x1c0f_ffff);
/// First and last address of what Linux may map there in the profile `open`.
const DEVICES: [(u64, u64); 15] = [
    (0x1800_0000, 0x1800_ffff), // Ethernet.
    (0x1c05_0000, 0x1c05_0fff), // SD card.
    (0x1c06_0000, 0x1c06_0fff), // Keyboard and mouse.
    (0x1c07_0000, 0x1c07_0fff),
    WATCHDOG,
    (0x1c11_0000, 0x1c12_ffff), // Timers.
    (0x1c17_0000, 0x1c17_ffff), // Clock.
    (0x1c1d_0000, 0x1c1d_0fff), // GPIO.
    (0x2a81_0000, 0x2a81_ffff), // Timer, without its frame.
    (0x2c01_0000, 0x2c01_0fff), // GICv2.
    (0x2c02_f000, 0x2c03_0fff),
    (0x2c04_f000, 0x2c05_0fff),
    (0x2c06_f000, 0x2c07_0fff),
    (0x2c1c_0000, 0x2c1f_ffff), // GICv2m.
    (0x7ff8_0000, 0x7ff8_0fff), // Serial port.
];

/// Hardware that answers nothing, and has no bridge.
struct Nothing;

impl devices::Hardware for Nothing {
    fn read(&self, _: u64) -> u32 {
        u32::MAX
    }

    fn take_over(&self, behind: &Behind) -> Result<(), String> {
        Err(format!("{behind:?} is not there"))
    }

    fn take_over_usb(&self, usb: &Usb, _: Option<u64>) -> Result<bool, String> {
        Err(format!("{} is not there", usb.path))
    }
}

/// Fails unless CPUs, memory, console, PSCI and devices are what the board has.
pub fn is_understood(tree: Vec<u8>) -> Result<()> {
    let tree = Fdt::new(tree.leak()).map_err(|it| anyhow!("{it}"))?;
    let conduit = device_tree::conduit(&tree, 2, board::power(&tree).is_some());
    ensure!(conduit == Conduit::Smc, "PSCI is called by {conduit:?}");
    let cpus = device_tree::cpus(&tree, conduit).map_err(|it| anyhow!("{it}"))?;
    let affinities: Vec<u64> = cpus.iter().map(|it| it.affinity).collect();
    ensure!(
        affinities == [0, 1, 0x100, 0x101, 0x102, 0x103],
        "the CPUs are {affinities:x?}"
    );
    let banks = device_tree::memory(&tree).map_err(|it| anyhow!("{it}"))?;
    let ends: Vec<_> = banks.iter().map(|it| (it.start(), it.end())).collect();
    ensure!(
        ends == [(0x8000_0000, 0xff00_0000), (0x8_8000_0000, 0xa_0000_0000)],
        "memory is {ends:x?}"
    );
    let console = device_tree::console(&tree).context("there is no console")?;
    ensure!(
        console == (ConsoleKind::Pl011, 0x7ff8_0000),
        "the console is {console:x?}"
    );
    for profile in [DmaProfile::Strict, DmaProfile::Open] {
        let found = devices::find(&tree, &banks, profile, &Nothing);
        let found = found.map_err(|it| anyhow!("{it}"))?;
        let allowed = found.allowed.iter();
        let allowed: Vec<_> = allowed.map(|it| (it.start, it.end - 1)).collect();
        let expected = DEVICES.into_iter();
        let expected: Vec<_> = expected
            .filter(|it| profile == DmaProfile::Open || *it != WATCHDOG)
            .collect();
        ensure!(allowed == expected, "Linux may map {allowed:x?}");
        ensure!(
            found.readable.is_empty() && found.mailbox.is_none(),
            "the inner domain drives a device"
        );
    }
    Ok(())
}
