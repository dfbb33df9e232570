// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report that the quoting compartment signs, and that the host checks.

use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::Identity;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::compartment;
use donjon_core::compartment::attestation::{Boot, Derived, Secrets};
use donjon_machine::arguments::Switch;
use donjon_machine::finding::Finding;
use donjon_machine::gdb;
use donjon_machine::said::says;
use donjon_token::{Token, from_hexadecimal};
use donjon_verify::endorse::started;
use donjon_verify::{Expected, Verdict};
use ed25519_dalek::SigningKey;
use tempfile::TempDir;

use super::{IDENTITY, TIMEOUT, parts};

/// What the quoting compartment's key is for.
const PURPOSE: u64 = u64::from_be_bytes(*b"\0\0\0quote");
/// What the scripts ask for.
pub const NONCE: [u8; 32] = [0x5a; 32];
/// A report is signed; one with any of its fields changed is not, nor one that ends early.
const SCRIPT: &str = "\
cd /usr/lib/donjon
donjon-run report $(printf '5a%.0s' $(seq 32)) > /tmp/report || exit 1
donjon-run quote < /tmp/report > /tmp/token || exit 1
echo token $(od -An -tx1 -v /tmp/token | tr -d ' \\n')
echo key $(donjon-run quote key)
echo \"line $(cat /proc/cmdline)\"
for at in 0 32 64 127 128 160 168 176 184 191; do
    (head -c $at /tmp/report; printf '\\377'; tail -c +$((at + 2)) /tmp/report) > /tmp/changed
    donjon-run quote < /tmp/changed > /tmp/out; echo changed $? $(wc -c < /tmp/out)
done
head -c 191 /tmp/report | donjon-run quote; echo short $?
exit 0
";
/// Fields that the script changes.
const CHANGES: usize = 10;

/// In a sound build; the key, the digest of what is started and the measurements are what the host
/// computes.
pub fn signed(host: &HostArguments) -> Result<()> {
    let place = TempDir::new()?;
    let identity = place.path().join("identity");
    fs::write(&identity, IDENTITY)?;
    let boot = parts(host, Some(&identity), &InnerVariant::sound(Switch::Asid))?.boot;
    let said = says(&boot, SCRIPT, TIMEOUT)?;
    let text = said.text;
    ensure!(said.status == 0, "{text}");
    let line = |what: &str| {
        let found = text.lines().find_map(|it| it.strip_prefix(what));
        found.with_context(|| format!("no `{what}` in:\n{text}"))
    };
    let token = Token::parse(&gdb::bytes(line("token ")?).context("digits")?)?;
    let key = from_hexadecimal(line("key ")?.as_bytes()).context("a key")?;
    let expected = Expected {
        nonce: Some(NONCE),
        key: Some(key),
        measurement: Some(measurement("report")?),
        started: Some(started(&boot.image, line("line ")?)?),
    };
    let verdict = Verdict::of(&token, &expected);
    ensure!(verdict.wrong.is_empty(), "{verdict}");
    ensure!(token.claims.identity == Identity::Given as u64, "{verdict}");
    let quoter = measurement("quote")?;
    ensure!(token.claims.quoter == quoter, "{verdict}");
    ensure!(
        key == public_key(&token, &quoter)?,
        "the key is not what the identity gives"
    );
    let refused = text.lines().filter(|it| *it == "changed 3 0").count();
    if refused != CHANGES {
        let text = format!("changed reports were signed:\n{text}");
        return Err(Finding::Attack.error(text));
    }
    ensure!(text.contains("short 1"), "{text}");
    Ok(())
}

/// The public key of the quoting compartment, from the identity.
fn public_key(token: &Token, quoter: &[u8; 32]) -> Result<[u8; 32]> {
    let claims = &token.claims;
    let derived = Derived::new(Some(IDENTITY), None, &claims.started).context("a secret")?;
    let boot = Boot {
        started: claims.started,
        version: claims.version,
        left_out: claims.weakened,
        identity: Identity::Given,
    };
    let seed = Secrets::new(derived, boot).key(quoter, PURPOSE);
    Ok(SigningKey::from_bytes(&seed).verifying_key().to_bytes())
}

/// What the host computes for an example.
pub fn measurement(program: &str) -> Result<[u8; 32]> {
    let path = format!("/usr/lib/donjon/{program}");
    let examples = compartment::examples()?;
    let image = examples.iter().find(|it| it.0 == path);
    let image = &image.with_context(|| format!("no {path}"))?.1;
    let digits = compartment::measurement(image)?;
    from_hexadecimal(digits.as_bytes()).context("32 bytes")
}
