// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports and tokens of a build that leaves out a check, with the identity that the sound build
//! has.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, ensure};
use donjon_abi::manifest::Identity;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_core::checks;
use donjon_core::compartment::attestation::{Boot, Derived, Secrets, Subject};
use donjon_machine::arguments::Switch;
use donjon_machine::gdb;
use donjon_machine::said::says;
use donjon_token::{Token, from_hexadecimal, to_hexadecimal};
use donjon_verify::{Expected, Verdict};
use tempfile::TempDir;

use super::token::{NONCE, measurement};
use super::{FEATURE, IDENTITY, TIMEOUT, parts, said};

/// What the weakened build says; `OLD` is a report of another boot.
const WEAKENED: &str = "\
donjon-compartment report || exit 1
donjon-compartment verify OLD || exit 1
cd /usr/lib/donjon
donjon-run report $(printf '5a%.0s' $(seq 32)) > /tmp/report || exit 1
donjon-run quote < /tmp/report > /tmp/token || exit 1
for it in report token; do echo $it $(od -An -tx1 -v /tmp/$it | tr -d ' \\n'); done
exit 0
";
/// What a sound one says of `REPORT`, of `OLD` and of the bytes `RECORD`.
const SOUND: &str = "\
donjon-compartment verify REPORT || exit 1
donjon-compartment verify OLD || exit 1
cd /usr/lib/donjon
echo key $(donjon-run quote key)
printf 'RECORD' | donjon-run quote > /tmp/token; echo signed $? $(wc -c < /tmp/token)
exit 0
";

/// A sound build refuses what a weakened one reports, and the verifier what it signs. A report of
/// another boot is refused as well; the weakened build, which compares no codes, accepts it.
pub fn refused(host: &HostArguments) -> Result<()> {
    let place = TempDir::new()?;
    let identity = place.path().join("identity");
    fs::write(&identity, IDENTITY)?;
    let old = of_another_boot()?;

    let mut variant = InnerVariant::sound(Switch::Asid);
    variant.weakened.push(FEATURE.into());
    let boot = parts(host, Some(&identity), &variant)?.boot;
    let weak = says(&boot, &WEAKENED.replace("OLD", &old), TIMEOUT)?;
    ensure!(weak.status == 0, "{}", weak.text);
    let text = weak.text;
    ensure!(
        said(&text, "the report is")? == "genuine",
        "without the comparison a report of another boot was refused:\n{text}"
    );
    let token = Token::parse(&gdb::bytes(line(&text, "token ")?).context("digits")?)?;
    let record = gdb::bytes(line(&text, "report ")?).context("digits")?;
    let escaped = record.iter().fold(String::new(), |mut all, byte| {
        let _ = write!(all, "\\{byte:03o}");
        all
    });

    let script = SOUND
        .replace("REPORT", said(&text, "report")?)
        .replace("OLD", &old)
        .replace("RECORD", &escaped);
    let boot = parts(host, Some(&identity), &InnerVariant::sound(Switch::Asid))?.boot;
    let sound = says(&boot, &script, TIMEOUT)?;
    ensure!(sound.status == 0, "{}", sound.text);
    let text = sound.text;
    let refused = text
        .lines()
        .filter(|it| *it == "compartment: the report is refused");
    ensure!(
        refused.count() == 2,
        "a report of a weakened build or of another boot was accepted:\n{text}"
    );
    ensure!(
        text.contains("signed 3 0"),
        "a weakened build's report was signed:\n{text}"
    );
    let key = from_hexadecimal(line(&text, "key ")?.as_bytes()).context("a key")?;
    is_refused(&token, key)
}

/// Checks that the token is refused with the key of the sound build, and with its own, as if a
/// verifier had recorded its own in a boot that was trusted.
fn is_refused(token: &Token, key: [u8; 32]) -> Result<()> {
    let bits = 1 << checks::bit(FEATURE).context("no such protection")?;
    ensure!(token.claims.weakened == bits, "{:x?}", token.claims);
    for (key, most) in [(key, 2), (token.claims.key, 1)] {
        let expected = Expected {
            nonce: Some(NONCE),
            key: Some(key),
            measurement: Some(measurement("report")?),
            started: None,
        };
        let verdict = Verdict::of(token, &expected);
        let tells = format!("leaves out checks ({bits:#x})");
        ensure!(
            verdict.wrong.len() == most && verdict.wrong.iter().any(|it| it.contains(&tells)),
            "{verdict}"
        );
    }
    Ok(())
}

fn line<'a>(text: &'a str, what: &str) -> Result<&'a str> {
    let found = text.lines().find_map(|it| it.strip_prefix(what));
    found.with_context(|| format!("no `{what}` in:\n{text}"))
}

/// A report that the inner domain would make with the same identity in a boot with another secret,
/// as `donjon-compartment verify` takes it.
fn of_another_boot() -> Result<String> {
    let started = [0x11; 32];
    let derived = Derived::new(Some(IDENTITY), Some(&[0x22; 32]), &started).context("a secret")?;
    let boot = Boot {
        started,
        version: 0,
        left_out: 0,
        identity: Identity::Given,
    };
    let subject = Subject {
        measurement: measurement("report")?,
        limit: 64,
        data: [0x33; 64],
    };
    let code = Secrets::new(derived, boot).code(&subject);
    Ok(format!(
        "{}{}{:016x}{}",
        to_hexadecimal(&code),
        to_hexadecimal(&subject.measurement),
        subject.limit,
        to_hexadecimal(&subject.data)
    ))
}
