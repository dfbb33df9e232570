// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules with an instruction that may not be there: `insmod` fails, Linux says which and where,
//! and goes on.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::guest;
use donjon_builder::kernel::Variant;
use donjon_builder::run::Parts;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;
use object::{Object, ObjectSection};

use super::boots::built;
use super::runner::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
/// An ordinary module with a page of text and more.
const MODULE: &str = "loop";
const WORDS: [(&str, u32); 4] = [
    ("msr tcr_el1, x0", 0xd518_2040),
    ("msr vbar_el1, x0", 0xd518_c000),
    ("hvc #0", 0xd400_0002),
    ("hlt #0xf000", 0xd45e_0000),
];

/// Refused, and over a build that does not look, accepted.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let [sound, weakened] = [host.clone(), host.clone()];
    vec![
        Test::beside("modules:refused", move || refused(&sound)),
        Test::beside("modules:control:weaken-scan", move || {
            let said = inserted(&weakened, &["weaken-scan"])?;
            for index in 0..WORDS.len() {
                ensure!(said.contains(&format!("bad{index}: in")), "{said}");
            }
            Ok(())
        }),
    ]
}

fn refused(host: &HostArguments) -> Result<()> {
    let said = inserted(host, &[])?;
    for (index, (name, word)) in WORDS.iter().enumerate() {
        let message = format!("{MODULE}: instruction {word:#010x} at offset 0x");
        ensure!(
            said.contains(&format!("bad{index}: refused")) && said.contains(&message),
            "{name} was not refused by name:\n{said}"
        );
    }
    ensure!(said.contains("sound: in"), "{said}");
    Ok(())
}

/// Inserts a module with each of the words, then the sound one; what the guest says.
fn inserted(host: &HostArguments, weakened: &[&str]) -> Result<String> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant {
        switch: Switch::Asid,
        weakened: weakened.iter().map(|it| (*it).to_owned()).collect(),
    };
    let mut parts = built(host, machine, &inner, Variant::Donjon)?;
    let mut script = String::new();
    for (index, (_, word)) in WORDS.iter().enumerate() {
        add_module(&mut parts, index, *word)?;
        script.push_str(&format!(
            "if insmod /lib/modules/bad{index}.ko; then echo bad{index}: in; rmmod {MODULE}\n\
             else echo bad{index}: refused; fi\n"
        ));
    }
    script.push_str(&format!(
        "insmod /lib/modules/{MODULE}.ko && echo sound: in && rmmod {MODULE} || exit 1\n\
         dmesg | grep '{MODULE}: instruction'\nexit 0\n"
    ));
    let said = says(&parts.boot, &script, TIMEOUT)?;
    said.expect_success()?;
    Ok(said.text)
}

/// Puts the module into the guest, with `word` in place of an instruction of its text.
fn add_module(parts: &mut Parts, index: usize, word: u32) -> Result<()> {
    let path = parts.kernel.modules.join(format!("{MODULE}.ko"));
    let mut bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let place = unrelocated_place(&bytes)?;
    bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
    let name = format!("lib/modules/bad{index}.ko");
    parts.boot.initramfs = guest::with_file(&parts.boot.initramfs, &name, &bytes)?;
    Ok(())
}

/// Offset in the file of the last instruction of `.text` that no relocation changes.
fn unrelocated_place(bytes: &[u8]) -> Result<usize> {
    let file = object::File::parse(bytes)?;
    let text = file.section_by_name(".text").context("no text")?;
    let (start, size) = text.file_range().context("text without a place")?;
    let changed: Vec<u64> = text.relocations().map(|(offset, _)| offset).collect();
    let mut offsets = (0..size / 4).rev().map(|word| word * 4);
    let unrelocated = offsets.find(|offset| !changed.contains(offset));
    Ok((start + unrelocated.context("every word of the text is relocated")?) as usize)
}
