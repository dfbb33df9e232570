// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules that may not be loaded: `insmod` fails, Linux says why, and goes on.

mod exchanged;
mod own;
mod prebuilt;

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::guest;
use donjon_builder::kernel::Variant;
use donjon_builder::run::Parts;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::said::{Said, says, whatever_became};
use object::{Object, ObjectSection, ObjectSymbol};

use super::boots::built;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
/// An ordinary module with a page of text and more.
const MODULE: &str = "loop";
/// Instructions that are refused, and one of the round constants of SHA-256 that looks like one.
const WORDS: [(&str, u32); 5] = [
    ("msr tcr_el1, x0", 0xd518_2040),
    ("msr vbar_el1, x0", 0xd518_c000),
    ("hvc #0", 0xd400_0002),
    ("hlt #0xf000", 0xd45e_0000),
    ("a constant", CONSTANT),
];

/// Bytes of a symbol in a file for a machine of 64 bits: it begins with the offset of its name.
const SYMBOL_SIZE: usize = 24;
const CONSTANT: u32 = 0xd5a7_9147;

/// What the kernel says of a refused word that the assembler put into the text as data.
const IS_CONSTANT: &str =
    "loop: it is a constant between instructions; a constant belongs into .rodata";

/// Modules that are refused, and accepted over a build that does not look at their instructions.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let [sound, weakened] = [host.clone(), host.clone()];
    vec![
        exchanged::test(host),
        exchanged::with_native(host),
        own::test(host),
        own::in_debian(),
        prebuilt::test(),
        Test::beside("modules:refused", move || refused(&sound)).holds(&["I8", "P3"]),
        Test::beside("modules:control:weaken-scan", move || {
            let said = inserted(&weakened, &["weaken-scan"])?;
            said.expect_success()?;
            let said = said.text;
            for index in 0..WORDS.len() {
                ensure!(said.contains(&format!("bad{index}: in")), "{said}");
            }
            Ok(())
        })
        .holds(&["I8"]),
    ]
}

fn refused(host: &HostArguments) -> Result<()> {
    let said = inserted(host, &[]);
    // First, whatever became of the guest then.
    let text = whatever_became(&said);
    for (index, (name, _)) in WORDS.iter().enumerate() {
        if text.contains(&format!("bad{index}: in")) {
            return Err(Finding::Attack.error(format!("{name} is in:\n{text}")));
        }
    }
    let said = said?;
    said.expect_success()?;
    let said = said.text;
    for (index, (name, word)) in WORDS.iter().enumerate() {
        let message = format!("{MODULE}: instruction {word:#010x} at offset 0x");
        ensure!(
            said.contains(&format!("bad{index}: refused")) && said.contains(&message),
            "{name} was not refused by name:\n{said}"
        );
    }
    let place = format!("{MODULE}: it is in section .text, loop_");
    let places = said.matches(&place).count();
    ensure!(places >= WORDS.len(), "{places} places are named:\n{said}");
    // BusyBox tries each module by two system calls.
    let constants = said.matches(IS_CONSTANT).count();
    ensure!(
        constants * WORDS.len() == places,
        "{constants} of {places} words are called constants:\n{said}"
    );
    ensure!(said.contains("sound: in"), "{said}");
    Ok(())
}

/// Inserts a module with each of the words, then the sound one; what the guest says.
fn inserted(host: &HostArguments, weakened: &[&str]) -> Result<Said> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant::without(Switch::Asid, weakened);
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
         dmesg | grep '{MODULE}: i'\nexit 0\n"
    ));
    says(&parts.boot, &script, TIMEOUT)
}

/// Puts the module into the guest, with `word` in place of an instruction of its text.
pub fn add_module(parts: &mut Parts, index: usize, word: u32) -> Result<()> {
    let path = parts.kernel.modules.join(format!("{MODULE}.ko"));
    let mut bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let place = unrelocated_place(&bytes)?;
    bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
    if word == CONSTANT {
        call_text_data(&mut bytes)?;
    }
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

/// Renames the mapping symbols of `.text` from `$x` to `$d`, as if the assembler had put data
/// there.
fn call_text_data(bytes: &mut [u8]) -> Result<()> {
    let file = object::File::parse(&*bytes)?;
    let text = file.section_by_name(".text").context("no text")?.index();
    let range = |name: &str| {
        let section = file.section_by_name(name)?;
        section
            .file_range()
            .map(|(start, size)| (start as usize, size as usize))
    };
    let (symbols, size) = range(".symtab").context("no symbols")?;
    let (names, length) = range(".strtab").context("no names")?;
    let strings = &bytes[names..names + length];
    let data = strings.windows(3).position(|it| it == b"$d\0");
    let data = u32::try_from(data.context("no mapping symbol $d")?)?;
    let renamed: Vec<usize> = file
        .symbols()
        .filter(|it| it.section_index() == Some(text) && it.name() == Ok("$x"))
        .map(|it| symbols + it.index().0 * SYMBOL_SIZE)
        .collect();
    ensure!(!renamed.is_empty(), "no mapping symbol $x");
    for place in renamed {
        ensure!(
            place + SYMBOL_SIZE <= symbols + size,
            "a symbol beyond the table"
        );
        bytes[place..place + 4].copy_from_slice(&data.to_le_bytes());
    }
    Ok(())
}
