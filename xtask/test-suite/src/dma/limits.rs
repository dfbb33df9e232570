// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the reserve ends, and where the part of the kernel ends that devices only read.

use std::fs;
use std::mem::offset_of;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::{MANIFEST_OFFSET, Manifest};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::Boot;
use donjon_machine::said::{says, whatever_became};

use super::{TIMEOUT, boot};
use crate::boots::{built, is_not_taken_over};
use crate::scratch::Scratch;
use crate::test::Test;

/// More compartments than the reserve of a machine with 256 MiB holds. They are refused by a line
/// that names the option, and neither take the part of the kernel's tables nor keep anything.
const FILL: &str = "\
free() { grep \"^protected_$1_free_kib\" /sys/kernel/security/donjon/status; }
tables=$(free tables)
compartments=$(free compartments)
donjon-compare number 4000 && exit 5
dmesg | grep 'no block for compartments: cargo xtask run --protected SIZE' || exit 6
[ \"$(free tables)\" = \"$tables\" ] || exit 7
[ \"$(free compartments)\" = \"$compartments\" ] || exit 8
for round in $(seq 50); do sh -c true || exit 9; done";
/// What the inner domain says of a frame that it finds in the text.
const WRITTEN: &str = "devices write its frame";
/// Bytes of Linux's image that devices only read: a part of the text.
const TOO_FEW: u64 = 0x2_0000;

/// The tests.
pub fn tests(host: &HostArguments) -> [Test; 2] {
    let (full, fewer) = (host.clone(), host.clone());
    [
        Test::beside("dma:reserve-full", move || {
            let said = says(&counted(&full)?, FILL, TIMEOUT)?;
            said.expect_success()
        }),
        Test::beside("dma:written-text", move || written_text(&fewer)).holds(&["I24"]),
    ]
}

/// A machine that counts instructions, as the program wants that makes the compartments.
fn counted(host: &HostArguments) -> Result<Boot> {
    let machine = Machine::new(&MachineArguments {
        cpu: Some("cortex-a57".into()),
        cpus: Some(1),
        memory: Some("256M".into()),
        icount: true,
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant::sound(Switch::Asid);
    Ok(built(host, machine, &inner, Variant::Donjon)?.boot)
}

/// The boot stage is told of less text than there is, and lets devices write the rest.
fn written_text(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let mut boot = boot(host, "virt")?;
    let mut image = fs::read(&boot.image)?;
    let at = MANIFEST_OFFSET + offset_of!(Manifest, linux_read_only);
    let word = image.get_mut(at..at + 8).context("no manifest")?;
    word.copy_from_slice(&TOO_FEW.to_le_bytes());
    boot.image = scratch.path().join("image");
    fs::write(&boot.image, image)?;
    let text = whatever_became(&says(&boot, "true", TIMEOUT));
    is_not_taken_over(&text)?;
    ensure!(text.contains(WRITTEN), "nothing said `{WRITTEN}`:\n{text}");
    Ok(())
}
