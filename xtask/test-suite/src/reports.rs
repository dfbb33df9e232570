// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports, keys and random bytes of compartments: of which boot they are, and where their secrets
//! are not.

pub mod left;
mod token;
mod weakened;

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::Identity;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::{Parts, prepare};
use donjon_core::compartment::attestation::{Boot, Derived, Secrets};
use donjon_machine::arguments::{Firmware, MachineArguments, Switch};
use donjon_machine::finding::{Finding, none_succeeded};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{self, monitor};
use donjon_machine::said::{Said, says};
use hkdf::Hkdf;
use sha2::{Sha256, compress256};
use tempfile::TempDir;

use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(300);
/// RAM of the machine, and where QEMU's `virt` has it.
const START: u64 = 0x4000_0000;
const SIZE: u64 = 512 << 20;
/// The comparison that a build leaves out.
const FEATURE: &str = "weaken-report";
/// What the loader gives in these tests.
pub const IDENTITY: &[u8; 32] = b"identity of a test: 32 bytes !!!";
/// Tries them, among other things.
const FORGE: &str = "donjon-compartment check";
/// Three bits of each of 17 words.
const FORGED: u32 = 51;
/// The first state of SHA-256 (FIPS 180-4, 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
/// What compartments say. Then the test looks at the memory.
const SAY: &str = "\
donjon-compartment check || exit 1
donjon-compartment report || exit 1
donjon-compartment key || exit 1
grep ^memory: /sys/kernel/security/donjon/status
echo look
donjon-wait
exit 0
";

/// What is of one boot is not another's, and without the comparison it would be.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let (of_boots, of_token, of_none) = (host.clone(), host.clone(), host.clone());
    let (of_weak, control) = (host.clone(), host.clone());
    let name = "compartments:control:weaken-report";
    let weak = "compartments:reports:weakened";
    let (of_left, unwiped) = (host.clone(), host.clone());
    vec![
        Test::beside("compartments:reports:left", move || left::nothing(&of_left)).holds(&["P5"]),
        Test::beside("compartments:reports:left:control", move || {
            left::unwiped(&unwiped)
        })
        .holds(&["P5"]),
        Test::beside(weak, move || weakened::refused(&of_weak)).holds(&["P6"]),
        Test::beside("compartments:reports", move || boots(&of_boots)).holds(&["P6"]),
        Test::beside("compartments:token", move || token::signed(&of_token)),
        Test::beside("compartments:no-secret", move || nothing(&of_none)),
        Test::beside(name, move || forged(&control)).holds(&["P5", "P6"]),
    ]
}

fn parts(host: &HostArguments, identity: Option<&Path>, variant: &InnerVariant) -> Result<Parts> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(2),
        memory: Some("512M".into()),
        identity: identity.map(Path::to_owned),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    prepare(host, machine, variant)
}

/// Checks that each forged report was refused: the guest changes each word of a report in several
/// ways.
fn all_refused(text: &str) -> Result<()> {
    none_succeeded(text)?;
    let line = format!("compartment: {FORGED} forged reports: all refused");
    ensure!(text.lines().any(|it| it == line), "no `{line}` in:\n{text}");
    Ok(())
}

/// What follows a word of the guest's.
fn said<'a>(text: &'a str, what: &str) -> Result<&'a str> {
    let line = format!("compartment: {what} ");
    let found = text.lines().find_map(|it| it.strip_prefix(&line));
    found.with_context(|| format!("no line `{line}` in:\n{text}"))
}

fn words(text: &str) -> Result<Vec<u64>> {
    let (digits, rest) = text.as_bytes().as_chunks::<16>();
    ensure!(rest.is_empty(), "not whole words: {text}");
    digits
        .iter()
        .map(|it| Ok(u64::from_str_radix(std::str::from_utf8(it)?, 16)?))
        .collect()
}

fn bytes(words: &[u64]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

/// What a guest says, and its memory when it has said `look`. Nothing that it tries may succeed.
fn said_and_left(parts: &Parts, script: &str, place: &Path) -> Result<(String, Vec<u8>)> {
    let memory = place.join("memory");
    let (mut text, mut saved) = (Vec::new(), None);
    let status = qemu::exec_live(&parts.boot, script, TIMEOUT, |live, _, bytes| {
        text.extend(bytes);
        if saved.is_none() && memchr::memmem::find(&text, b"look\n").is_some() {
            saved = Some(monitor::save_memory(live.monitor, START, SIZE, &memory));
        }
    });
    let text = String::from_utf8_lossy(&text).into_owned();
    none_succeeded(&text)?;
    let status = status?;
    ensure!(status == 0, "{text}");
    saved.context("the guest did not say when to look")??;
    Ok((text, fs::read(&memory)?))
}

/// Two boots with one identity, and one without.
fn boots(host: &HostArguments) -> Result<()> {
    let place = TempDir::new()?;
    let identity = place.path().join("identity");
    fs::write(&identity, IDENTITY)?;
    let sound = InnerVariant::sound(Switch::Asid);
    let given = parts(host, Some(&identity), &sound)?;

    let (text, memory) = said_and_left(&given, SAY, place.path())?;
    all_refused(&text)?;
    let report = said(&text, "report")?;
    let key = said(&text, "key")?;
    is_derived(&text, report, key, &memory)?;

    let script = format!("{FORGE} && donjon-compartment verify {report} && donjon-compartment key");
    let later = Said::of_sound(says(&given.boot, &script, TIMEOUT))?.text;
    all_refused(&later)?;
    if said(&later, "the report is")? != "refused" {
        let text = format!("a report of another boot was accepted:\n{later}");
        return Err(Finding::Attack.error(text));
    }
    ensure!(said(&later, "key")? == key, "the next boot has another key");

    let none = parts(host, None, &sound)?;
    let script = format!("{FORGE} && donjon-compartment key");
    let other = Said::of_sound(says(&none.boot, &script, TIMEOUT))?.text;
    all_refused(&other)?;
    if said(&other, "key")? == key {
        return Err(Finding::Attack.error("a key without the identity"));
    }
    Ok(())
}

/// The key is the one that comes from the identity; neither that nor what keys come from is in
/// memory but the inner domain's, where the latter is once.
fn is_derived(text: &str, report: &str, key: &str, memory: &[u8]) -> Result<()> {
    let boot = words_of_boot(text)?;
    let [digest @ .., version, weakened, identity] = &*boot else {
        anyhow::bail!("too few words: {boot:x?}");
    };
    ensure!(
        (*weakened, *identity) == (0, Identity::Given as u64),
        "{boot:x?}"
    );
    let started = bytes(digest);
    let derived = Derived::new(Some(IDENTITY), None, &started).context("a secret")?;
    let keys = derived.keys;
    let secrets = Secrets::new(
        derived,
        Boot {
            started,
            version: *version,
            left_out: *weakened,
            identity: Identity::Given,
        },
    );
    let measurement = bytes(&words(report)?[4..8]);
    ensure!(
        bytes(&words(key)?) == secrets.key(&measurement, 0),
        "the key is not what the identity gives"
    );
    let identity = [("the identity", *IDENTITY)];
    for (what, bytes) in identity.into_iter().chain(between(&started)) {
        let places = found(memory, &bytes);
        if !places.is_empty() {
            let text = format!("{what} is in memory at {places:x?}");
            return Err(Finding::Violation.error(text));
        }
    }
    let inner = inner_memory(text)?;
    let places = found(memory, &keys);
    ensure!(!places.is_empty(), "what keys come from is nowhere");
    if !places.iter().all(|it| inner.contains(it)) {
        return Err(Finding::Violation.error(format!(
            "what keys come from is at {places:x?}; the inner domain has {inner:x?}"
        )));
    }
    Ok(())
}

/// What a guest says that is in all reports of its boot: the digest's words and three others.
fn words_of_boot(text: &str) -> Result<Vec<u64>> {
    let boot = said(text, "boot")?.trim_matches(['[', ']']);
    let words = boot.split(", ").map(|it| u64::from_str_radix(it, 16));
    Ok(words.collect::<Result<_, _>>()?)
}

/// The inner domain's memory, as `status` has it.
fn inner_memory(text: &str) -> Result<RangeInclusive<u64>> {
    let region = text.lines().find_map(|it| it.strip_prefix("memory: "));
    let region = region.context("no `memory:` line")?;
    let (start, end) = region.split_once('-').context("a range")?;
    let parse = |it: &str| u64::from_str_radix(it.trim_start_matches("0x"), 16);
    Ok(parse(start)?..=parse(end)?)
}

/// What is computed between the identity and what the inner domain gets: with any of it Linux would
/// have the keys. The states are SHA-256's after the key's block (RFC 2104, 4).
fn between(started: &[u8; 32]) -> Vec<(&'static str, [u8; 32])> {
    let (extracted, _) = Hkdf::<Sha256>::extract(Some(started), IDENTITY);
    let state = |pad| {
        let mut bytes = [0; 32];
        for (to, word) in bytes.chunks_exact_mut(4).zip(keyed(&extracted.into(), pad)) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    };
    vec![
        ("what was extracted from the identity", extracted.into()),
        ("the inner state of its HMAC", state(0x36)),
        ("the outer state of its HMAC", state(0x5c)),
    ]
}

/// The state of SHA-256 after a key, as HMAC begins with it.
fn keyed(key: &[u8; 32], pad: u8) -> [u32; 8] {
    let mut state = INITIAL;
    let block: [u8; 64] = std::array::from_fn(|it| key.get(it).unwrap_or(&0) ^ pad);
    compress256(&mut state, &[block.into()]);
    state
}

/// Addresses at which memory has these bytes.
fn found(memory: &[u8], bytes: &[u8; 32]) -> Vec<u64> {
    memchr::memmem::find_iter(memory, bytes)
        .map(|at| START + at as u64)
        .collect()
}

/// Where Linux can find the seed, as under UEFI, nothing is made of it.
fn nothing(host: &HostArguments) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(1),
        ..MachineArguments::virt(Switch::Asid)
    })?
    .with_firmware(Firmware::Uefi)?;
    let boot = prepare(host, machine, &InnerVariant::sound(Switch::Asid))?.boot;
    let said = says(&boot, "donjon-compartment check 2>&1", TIMEOUT);
    let text = Said::of_sound(said)?.text;
    ensure!(text.contains("this boot has no secret"), "{text}");
    Ok(())
}

/// A build that does not compare codes accepts what is forged.
fn forged(host: &HostArguments) -> Result<()> {
    let mut variant = InnerVariant::sound(Switch::Asid);
    variant.weakened.push(FEATURE.into());
    let parts = parts(host, None, &variant)?;
    let said = says(&parts.boot, &format!("{FORGE} 2>&1"), TIMEOUT)?;
    let all = format!("forged reports: SUCCEEDED, {FORGED} of {FORGED} accepted");
    ensure!(
        said.status != 0 && said.text.contains(&all),
        "without the comparison a forged report was refused:\n{}",
        said.text
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a hash that began with a block: of a message that fits into the next one.
    fn end(mut state: [u32; 8], message: &[u8]) -> Vec<u8> {
        let mut block = [0; 64];
        block[..message.len()].copy_from_slice(message);
        block[message.len()] = 0x80;
        let bits = (64 + message.len() as u64) * 8;
        block[56..].copy_from_slice(&bits.to_be_bytes());
        compress256(&mut state, &[block.into()]);
        state.iter().flat_map(|it| it.to_be_bytes()).collect()
    }

    #[test]
    fn the_states_that_are_looked_for_lead_to_the_keys() {
        let started = [3; 32];
        let (extracted, _) = Hkdf::<Sha256>::extract(Some(&started), IDENTITY);
        let inner = end(keyed(&extracted.into(), 0x36), b"donjon keys\x01");
        let keys = end(keyed(&extracted.into(), 0x5c), &inner);
        let derived = Derived::new(Some(IDENTITY), None, &started).expect("a secret");
        assert_eq!(keys, derived.keys);
    }
}
