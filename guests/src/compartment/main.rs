// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes compartments and looks whether they do what they should.

#[cfg(target_arch = "aarch64")]
mod account;
#[cfg(target_arch = "aarch64")]
mod attest;
#[cfg(target_arch = "aarch64")]
mod channel;
#[cfg(target_arch = "aarch64")]
mod code;
#[cfg(target_arch = "aarch64")]
mod generic_key;
#[cfg(target_arch = "aarch64")]
mod hostile;
#[cfg(target_arch = "aarch64")]
mod sign;
#[cfg(target_arch = "aarch64")]
mod vector;

#[cfg(target_arch = "aarch64")]
mod program {
    use std::time::Instant;

    use anyhow::{Context, Result, bail, ensure};
    use donjon_client::{Access, Compartment, Exit, Shared};
    use donjon_guests::meter::Meter;

    use crate::{account, attest, channel, code, generic_key, hostile, vector};

    pub const CODE: u64 = 0x40_0000;
    pub const DATA: u64 = 0x60_0000;
    pub const SHARED: u64 = 0x70_0000;

    pub fn make(limit: u64) -> Result<Compartment> {
        make_with(limit, 0x5a)
    }

    /// Makes a compartment with other data, so that it has another measurement.
    pub fn make_with(limit: u64, byte: u8) -> Result<Compartment> {
        let it = Compartment::create(limit).context("creating")?;
        it.add(CODE, code::page(), Access::Execute)
            .context("adding code")?;
        it.add(DATA, &[byte; 4096], Access::Write)
            .context("adding data")?;
        it.seal(CODE, DATA + 4096).context("sealing")?;
        Ok(it)
    }

    pub fn expect(what: &str, found: Exit, expected: Exit) -> Result<()> {
        ensure!(
            found == expected,
            "{what}: {found:x?}, expected {expected:x?}"
        );
        println!("compartment: {what}: ok");
        Ok(())
    }

    fn check() -> Result<()> {
        let it = make(64)?;
        let information = it.information()?;
        println!("compartment: {information:x?}");
        expect("sum", it.run([0, 3, 4, 5])?, Exit::Returned(12))?;
        expect("call out", it.run([1, 40, 0, 0])?, Exit::CalledOut(40))?;
        expect("answer", it.run([2, 0, 0, 0])?, Exit::Returned(42))?;
        expect(
            "interrupts",
            it.run([2, 100_000_000, 0, 0])?,
            Exit::Returned(0),
        )?;
        expect(
            "own data",
            it.run([3, DATA + 64, 0, 0])?,
            Exit::Returned(0x5a5a_5a5a_5a5a_5a5a),
        )?;
        expect("heap", it.run([4, 20, 0, 0])?, Exit::Returned(20))?;
        expect(
            "limit",
            it.run([4, 1000, 0, 0])?,
            Exit::Returned(64 - 7 - 3),
        )?;
        expect("store", it.run([5, DATA, 7, 0])?, Exit::Returned(0))?;
        expect(
            "what was stored",
            it.run([3, DATA, 0, 0])?,
            Exit::Returned(7),
        )?;
        for (what, arguments) in [
            ("store to code", [5, CODE, 7, 0]),
            ("kernel address", [3, 0xffff_8000_0000_0000, 0, 0]),
            ("inner address", [3, 0xffff_9800_0000_0000, 0, 0]),
            ("nothing mapped", [3, 0x1234_5000, 0, 0]),
            ("execute data", [7, DATA, 0, 0]),
        ] {
            let it = make(64)?;
            let Exit::Faulted(esr) = it.run(arguments)? else {
                bail!("{what}: no fault");
            };
            println!("compartment: {what}: fault {esr:#x}");
            ensure!(it.run([0; 4]).is_err(), "{what}: it runs again");
        }
        let mut page = Shared::new(4096)?;
        // SAFETY: its bytes are read below, when the compartment does not run.
        unsafe { it.share(SHARED, &page) }?;
        expect(
            "shared page",
            it.run([5, SHARED, 99, 0])?,
            Exit::Returned(0),
        )?;
        let seen = page.bytes().first_chunk().copied().map(u64::from_ne_bytes);
        ensure!(seen == Some(99), "the shared page has {seen:?}");
        let template = make(64)?;
        let one = template.another()?;
        let other = template.another()?;
        expect(
            "store in a clone",
            one.run([5, DATA, 7, 0])?,
            Exit::Returned(0),
        )?;
        expect(
            "the same clone",
            one.run([3, DATA, 0, 0])?,
            Exit::Returned(7),
        )?;
        let untouched = Exit::Returned(0x5a5a_5a5a_5a5a_5a5a);
        expect("another clone", other.run([3, DATA, 0, 0])?, untouched)?;
        ensure!(
            other.information()?.measurement == template.information()?.measurement,
            "a clone has another measurement"
        );
        drop((template, one, other));
        channel::check()?;
        attest::check()?;
        hostile::wrong_time()?;
        hostile::pairs()?;
        println!("compartment: all as expected");
        Ok(())
    }

    /// Stays in a compartment nearly all the time.
    fn spin(seconds: u64) -> Result<()> {
        let it = make(64)?;
        let begin = Instant::now();
        while begin.elapsed().as_secs() < seconds {
            let counted = it.run([2, 2_000_000, 0, 0])?;
            ensure!(counted == Exit::Returned(0), "{counted:x?}");
        }
        Ok(())
    }

    fn bench() -> Result<()> {
        let it = make(64)?;
        let mut meter = Meter::start()?;
        let call = meter.least(100, || it.run([0, 1, 2, 3]).map(drop).map_err(Into::into))?;
        println!("compartment: call from user space {call} instructions");
        for (what, request) in [
            ("unknown request", 0xd0ff_u64),
            ("information", 0x8038_d005),
        ] {
            let least = meter.least(100, || {
                it.raw(request);
                Ok(())
            })?;
            println!("compartment: {what} {least} instructions");
        }
        channel::bench(&mut meter)?;
        attest::bench(&mut meter)?;
        let template = make(16)?;
        let begin = Instant::now();
        let count = std::env::args()
            .nth(2)
            .map_or(Ok(100), |it| it.parse::<usize>())?;
        let mut all = Vec::new();
        for index in 0..count {
            let (one, cost) = meter.measure(|| Ok(template.another()?))?;
            all.push(one);
            if index < 2 || index % 1000 == 0 || index == count - 1 {
                println!("compartment: {index} made, the last in {cost} instructions");
            }
        }
        for (index, it) in all.iter().enumerate() {
            let sum = it.run([0, index as u64, 1, 0])?;
            ensure!(sum == Exit::Returned(index as u64 + 1), "{index}: {sum:?}");
        }
        let frames = all
            .last()
            .map_or(Ok(0), |it| it.information().map(|it| it.frames))?;
        println!("compartment: {frames} frames each");
        let ((), ended) = meter.measure(|| {
            drop(all);
            Ok(())
        })?;
        let each = ended / count.max(1) as u64;
        println!("compartment: ended in {each} instructions each");
        println!("compartment: {count} in {:?}", begin.elapsed());
        Ok(())
    }

    const USAGE: &str = "usage: donjon-compartment COMMAND\n\
        \x20 check          makes compartments and looks whether they do what they should\n\
        \x20 bench [COUNT]  instructions of calls, and of making and ending COUNT clones [100]\n\
        \x20 pairs          makes compartments that reach for each other's memory\n\
        \x20 vector         looks whether instructions of SVE and SME trap in a compartment\n\
        \x20 generic-key    looks whether PACGA computes something else in a compartment\n\
        \x20 account        looks whether a user without capabilities is charged for memory\n\
        \x20 report         prints a report of a compartment, to be verified in this boot\n\
        \x20 verify REPORT  says whether such a report is genuine\n\
        \x20 key            prints a key that a compartment has for itself\n\
        \x20 spin SECONDS   stays in a compartment, for an audit meanwhile";

    pub fn run() -> Result<()> {
        match std::env::args().nth(1).as_deref() {
            Some("check") => check(),
            Some("bench") => bench(),
            Some("pairs") => hostile::pairs(),
            Some("vector") => vector::check(),
            Some("account") => account::check(),
            Some("generic-key") => generic_key::check(),
            Some("report") => attest::report(),
            Some("verify") => attest::verify(&std::env::args().nth(2).context("REPORT")?),
            Some("key") => attest::key(),
            Some("spin") => spin(std::env::args().nth(2).context("SECONDS")?.parse()?),
            _ => bail!("{USAGE}"),
        }
    }
}

#[cfg(target_arch = "aarch64")]
fn main() -> anyhow::Result<()> {
    program::run()
}

#[cfg(not(target_arch = "aarch64"))]
fn main() {}
