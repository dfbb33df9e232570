// SPDX-License-Identifier: MIT OR Apache-2.0
//! I23 and I24: what devices reach through an SMMUv3 (Arm IHI 0070), read as the SMMU reads it.
//!
//! I23: every stream leads to one context, which translates by tables in inner memory, and the SMMU
//! is on. I24: what these tables let a device write is ordinary memory outside of the reserve, and
//! the page by which interrupts are raised; what they let it read besides is the kernel's text and
//! constants.

use std::collections::BTreeSet;

use super::World;
use crate::descriptor::{self, Attributes, ENTRIES, Entry, PAGE};
use crate::frames::Class;
use crate::report::Violation;
use crate::snapshot::Smmu;

/// Words of a stream table entry and of a context.
const ENTRY_SIZE: u64 = 64;
/// Bits of an address in them.
const ADDRESS: u64 = 0x000f_ffff_ffff_ffc0;

/// Checks the SMMU, if the machine keeps devices from memory.
pub fn check(world: &World<'_>) -> Vec<Violation> {
    let Some(smmu) = &world.snapshot.smmu else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for text in wrong_registers(smmu) {
        found.push(Violation::plain("I23", "SMMU", text));
    }
    let mut contexts = BTreeSet::new();
    if let Err(text) = all_contexts(world, smmu, &mut contexts) {
        // All others are likely to be the same.
        found.push(Violation::plain("I23", "SMMU", text));
    }
    if contexts.len() > 1 {
        let text = format!("streams lead to {} contexts", contexts.len());
        found.push(Violation::plain("I23", "SMMU", text));
    }
    for context in contexts {
        walk_context(world, smmu, context, &mut found);
    }
    found
}

/// What is wrong with the registers.
fn wrong_registers(smmu: &Smmu) -> Vec<String> {
    let mut wrong = Vec::new();
    if smmu.control & smmu.acknowledged & 1 == 0 {
        wrong.push(format!(
            "the SMMU is off: CR0 {:#x}, CR0ACK {:#x}",
            smmu.control, smmu.acknowledged
        ));
    }
    if smmu.control & 0b1110 != 0 {
        wrong.push(format!("the SMMU has a queue: CR0 {:#x}", smmu.control));
    }
    if smmu.messages != 0 {
        wrong.push(format!(
            "the SMMU writes messages: IRQ_CTRL {:#x}",
            smmu.messages
        ));
    }
    // Two levels, the second of which decides up to 10 bits, of 16 bits in all.
    let (form, bits) = (smmu.streams_form >> 16 & 3, smmu.streams_form & 0x3f);
    let has_known_split = [6, 8, 10].contains(&(smmu.streams_form >> 6 & 0x1f));
    if form != 1 || bits != 16 || !has_known_split {
        let form = smmu.streams_form;
        wrong.push(format!("STRTAB_BASE_CFG is {form:#x}"));
    }
    wrong
}

/// The contexts that all streams lead to. A table of the second level is read once, however many
/// entries of the first lead to it.
fn all_contexts(
    world: &World<'_>,
    smmu: &Smmu,
    contexts: &mut BTreeSet<u64>,
) -> Result<(), String> {
    let split = u64::from(smmu.streams_form >> 6 & 0x1f);
    let mut known = BTreeSet::new();
    for first in 0..(1_u64 << 16) >> split {
        let at = |text: String| format!("stream {:#x} and above: {text}", first << split);
        let descriptor = inner_word(world, (smmu.streams & ADDRESS) + first * 8).map_err(at)?;
        if known.insert(descriptor) {
            let table = second_level(world, descriptor, 1 << split, contexts);
            table.map_err(at)?;
        }
    }
    Ok(())
}

/// The contexts of a table of the second level, all of whose `entries` have to be there.
fn second_level(
    world: &World<'_>,
    descriptor: u64,
    entries: u64,
    contexts: &mut BTreeSet<u64>,
) -> Result<(), String> {
    let span = descriptor & 0x1f;
    for index in 0..entries {
        if span == 0 || index >> (span - 1) != 0 {
            return Err("no entry of the second level".to_owned());
        }
        contexts.insert(context_of(
            world,
            (descriptor & ADDRESS) + index * ENTRY_SIZE,
        )?);
    }
    Ok(())
}

/// The context that an entry of the second level leads to.
fn context_of(world: &World<'_>, entry: u64) -> Result<u64, String> {
    let (zero, one) = (inner_word(world, entry)?, inner_word(world, entry + 8)?);
    match (zero & 1, zero >> 1 & 7) {
        (1, 0b101) => {}
        (1, 0b100) => return Err("bypasses the SMMU".to_owned()),
        _ => return Err(format!("its entry is {zero:#x}")),
    }
    if zero >> 59 != 0 || one >> 28 & 3 != 0 {
        return Err("it has substreams or ATS".to_owned());
    }
    Ok(zero & ADDRESS)
}

/// A word of inner memory.
fn inner_word(world: &World<'_>, address: u64) -> Result<u64, String> {
    let class = world.frames.class(address);
    if class != Class::Inner {
        let name = class.name();
        return Err(format!("what leads on is at {address:#x}, which is {name}"));
    }
    let word = world.snapshot.memory.word(address);
    word.ok_or_else(|| format!("{address:#x} cannot be read"))
}

fn walk_context(world: &World<'_>, smmu: &Smmu, context: u64, found: &mut Vec<Violation>) {
    let words: Result<Vec<u64>, String> = (0..4)
        .map(|it| inner_word(world, context + 8 * it))
        .collect();
    let words = match words {
        Ok(words) => words,
        Err(text) => return found.push(Violation::plain("I23", "SMMU", text)),
    };
    // V, AA64, EPD1, a granule of 4 KiB, no stalls, and 39 bits of addresses.
    let is_known = words[0] >> 31 & 1 == 1
        && words[0] >> 41 & 1 == 1
        && words[0] >> 30 & 1 == 1
        && words[0] >> 6 & 3 == 0
        && words[0] >> 44 & 1 == 0
        && words[0] & 0x3f == 25;
    if !is_known {
        let text = format!("the context at {context:#x} begins with {:#x}", words[0]);
        return found.push(Violation::plain("I23", "SMMU", text));
    }
    let mut walk = Walk { world, smmu, found };
    walk.table(words[1] & 0x0000_ffff_ffff_f000, 1, 0);
}

struct Walk<'a, 'w> {
    world: &'a World<'w>,
    smmu: &'a Smmu,
    found: &'a mut Vec<Violation>,
}

impl Walk<'_, '_> {
    fn table(&mut self, table: u64, level: u8, first: u64) {
        for index in 0..ENTRIES {
            let address = first + (index << descriptor::shift(level));
            let raw = match inner_word(self.world, table + 8 * index) {
                Ok(raw) => raw,
                Err(text) => {
                    let text = format!("a table of devices: {text}");
                    return self.found.push(Violation::plain("I23", "SMMU", text));
                }
            };
            match descriptor::read(raw, level) {
                Entry::Invalid => {}
                Entry::Table(next) => self.table(next, level + 1, address),
                Entry::Leaf(output) => self.leaf(raw, level, address, output),
            }
        }
    }

    fn leaf(&mut self, raw: u64, level: u8, address: u64, output: u64) {
        let size = 1 << descriptor::shift(level);
        let writable = Attributes(raw).writable();
        let mut wrong = |pa: u64, text: String| {
            self.found.push(Violation {
                va: Some(address),
                pa: Some(pa),
                level: Some(level),
                descriptor: Some(raw),
                ..Violation::plain("I24", &self.world.owner(pa), text)
            });
        };
        if output != address {
            wrong(
                output,
                "a device's address is not the physical one".to_owned(),
            );
        }
        if size == PAGE && Some(output) == self.smmu.doorbell {
            return;
        }
        for (class, pa) in self.world.frames.classes(output, size) {
            let allowed = match class {
                Class::Ordinary => true,
                Class::ReadOnly | Class::KernelText | Class::Vectors => !writable,
                _ => false,
            };
            if !allowed {
                let verb = if writable { "write" } else { "read" };
                wrong(pa, format!("devices {verb} {}", class.name()));
            }
        }
        let reserve = &self.smmu.reserve;
        if output < reserve.end && reserve.start < output + size {
            wrong(
                output.max(reserve.start),
                "devices reach the reserve".to_owned(),
            );
        }
    }
}
