// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random bytes, reports and keys, as compartments get them.

use anyhow::{Context, Result, bail, ensure};
use donjon_client::{Compartment, Exit, PAGE, Shared};
use donjon_guests::meter::Meter;

use crate::program::{SHARED, expect, make, make_with};
use crate::sign;

/// Words of a report as one compartment hands it to a second: code, measurement, limit, and the 64
/// bytes that were reported.
const REPORT: usize = 17;
const DATA: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
/// Where in the shared page what a compartment stores begins.
const OUT: usize = 32;

/// A compartment and a page that it shares with this process.
struct WithPage {
    it: Compartment,
    page: Shared,
}

impl WithPage {
    fn new(it: Compartment) -> Result<Self> {
        let page = Shared::new(PAGE as usize)?;
        // SAFETY: `put` and `stored` give no slice to others, and `run` does not meet them: they
        // borrow this object to change it.
        unsafe { it.share(SHARED, &page) }?;
        Ok(Self { it, page })
    }

    fn put(&mut self, words: &[u64]) {
        let (places, _) = self.page.bytes().as_chunks_mut::<8>();
        for (place, word) in places.iter_mut().zip(words) {
            *place = word.to_ne_bytes();
        }
    }

    fn stored<const N: usize>(&mut self) -> [u64; N] {
        let (places, _) = self.page.bytes().as_chunks::<8>();
        std::array::from_fn(|index| u64::from_ne_bytes(places[OUT + index]))
    }

    fn run(&self, arguments: [u64; 4]) -> Result<u64> {
        match self.it.run(arguments)? {
            Exit::Returned(value) => Ok(value),
            other => bail!("{arguments:x?}: {other:x?}"),
        }
    }

    const fn out() -> u64 {
        SHARED + OUT as u64 * 8
    }

    fn random(&mut self) -> Result<Option<[u64; 4]>> {
        let given = self.run([11, Self::out(), 0, 0])?;
        Ok((given == 1).then(|| self.stored()))
    }

    /// A report, and what else it says: digest, version, weakened, identity.
    fn report(&mut self) -> Result<Option<([u64; REPORT], [u64; 7])>> {
        self.put(&DATA);
        if self.run([12, SHARED, Self::out(), 0])? != 1 {
            return Ok(None);
        }
        let words: [u64; 16] = self.stored();
        let mut report = [0; REPORT];
        report[..9].copy_from_slice(&words[..9]);
        report[9..].copy_from_slice(&DATA);
        let mut boot = [0; 7];
        boot.copy_from_slice(&words[9..]);
        Ok(Some((report, boot)))
    }

    fn is_genuine(&mut self, report: &[u64; REPORT]) -> Result<bool> {
        self.put(report);
        Ok(self.run([13, SHARED, 0, 0])? == 1)
    }

    fn key(&mut self, purpose: u64) -> Result<Option<[u64; 4]>> {
        let given = self.run([14, purpose, Self::out(), 0])?;
        Ok((given == 1).then(|| self.stored()))
    }
}

fn line(words: &[u64]) -> String {
    words.iter().map(|it| format!("{it:016x}")).collect()
}

/// What compartments get is theirs, and what is forged is refused.
pub fn check() -> Result<()> {
    let template = make(64)?;
    let mut clone = WithPage::new(template.another()?)?;
    let mut one = WithPage::new(make(64)?)?;
    let mut other = WithPage::new(make_with(64, 0xa5)?)?;
    let Some((report, boot)) = one.report()? else {
        ensure!(one.random()?.is_none() && one.key(0)?.is_none());
        println!("compartment: this boot has no secret");
        return Ok(());
    };
    println!("compartment: boot {boot:x?}");
    let measurement = one.it.information()?.measurement;
    let (words, _) = measurement.as_chunks::<8>();
    let told = words.iter().map(|word| u64::from_be_bytes(*word));
    ensure!(
        told.eq(report[4..8].iter().copied()),
        "the report has another measurement"
    );
    for it in [&mut one, &mut other, &mut clone] {
        ensure!(it.is_genuine(&report)?, "a report was refused");
    }
    println!("compartment: report: ok");
    let (mut all, mut accepted) = (0, 0);
    for word in 0..REPORT {
        for bit in [0, 17, 63] {
            let mut forged = report;
            forged[word] ^= 1 << bit;
            accepted += u32::from(other.is_genuine(&forged)?);
            all += 1;
        }
    }
    ensure!(
        accepted == 0,
        "forged reports: SUCCEEDED, {accepted} of {all} accepted"
    );
    println!("compartment: {all} forged reports: all refused");
    let key = one.key(0)?.context("a key")?;
    ensure!(one.key(0)? == Some(key), "another key for the same purpose");
    ensure!(one.key(1)? != Some(key), "one key for two purposes");
    ensure!(clone.key(0)? == Some(key), "a clone has another key");
    ensure!(other.key(0)? != Some(key), "two programs have one key");
    println!("compartment: keys: ok");
    let mut all = Vec::new();
    for _ in 0..2 {
        for it in [&mut one, &mut other, &mut clone] {
            all.push(it.random()?.context("random bytes")?);
        }
    }
    all.sort_unstable();
    all.dedup();
    ensure!(all.len() == 6, "random bytes came twice");
    println!("compartment: random bytes: ok");
    expect("still there", one.it.run([0, 1, 2, 3])?, Exit::Returned(6))
}

/// Prints a report, for a later boot to look at.
pub fn report() -> Result<()> {
    let mut it = WithPage::new(make(64)?)?;
    let (report, _) = it.report()?.context("this boot has no secret")?;
    ensure!(it.is_genuine(&report)?, "a report was refused");
    println!("compartment: report {}", line(&report));
    Ok(())
}

/// Looks at one that was printed.
pub fn verify(text: &str) -> Result<()> {
    let mut report = [0; REPORT];
    ensure!(
        text.is_ascii() && text.len() == REPORT * 16,
        "a report has {} digits",
        REPORT * 16
    );
    for (index, word) in report.iter_mut().enumerate() {
        *word = u64::from_str_radix(&text[index * 16..(index + 1) * 16], 16)?;
    }
    let genuine = WithPage::new(make(64)?)?.is_genuine(&report)?;
    let verdict = if genuine { "genuine" } else { "refused" };
    println!("compartment: the report is {verdict}");
    Ok(())
}

/// Prints a key.
pub fn key() -> Result<()> {
    let mut it = WithPage::new(make(64)?)?;
    let key = it.key(0)?.context("this boot has no secret")?;
    println!("compartment: key {}", line(&key));
    Ok(())
}

/// The least that each of it takes.
pub fn bench(meter: &mut Meter) -> Result<()> {
    let mut it = WithPage::new(make(64)?)?;
    let Some((report, _)) = it.report()? else {
        return Ok(());
    };
    it.put(&report);
    for (what, arguments) in [
        ("random bytes", [11, WithPage::out(), 0, 0]),
        ("report", [12, SHARED, WithPage::out(), 0]),
        ("look at a report", [13, SHARED, 0, 0]),
        ("key", [14, 0, WithPage::out(), 0]),
    ] {
        let least = meter.least(20, || it.run(arguments).map(drop))?;
        println!("compartment: {what} {least} instructions");
    }
    sign::bench(meter)
}
