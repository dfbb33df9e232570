// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages: through pipes between processes and within one, through a channel between
//! compartments, and through pipes for compartments whose hosts have them.

use std::io::{PipeReader, PipeWriter, pipe};

use anyhow::{Result, bail, ensure};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

use crate::ways::{Channel, Host, Plain, Way};
use donjon_guests::meter::Meter;

/// Messages that nothing is said about: what comes first finds nothing in its place.
const WARM_UP: u64 = 4;

/// Sends `trials` messages in each way. `NAME: TRIAL WRITE READ TOTAL`; between two processes
/// writing and reading are not told apart, and 0.
pub fn run(trials: u64) -> Result<()> {
    let mut meter = Meter::start()?;
    within("channel", &mut meter, trials, &mut Channel::new()?)?;
    let (reader, writer) = pipe()?;
    let mut plain = Plain { reader, writer };
    within("pipe-in-one-process", &mut meter, trials, &mut plain)?;
    let mut host = Host::new(plain.reader, plain.writer)?;
    within("call-out-in-one-process", &mut meter, trials, &mut host)?;
    drop(host);
    between("pipe", &mut meter, trials, |reader, writer| {
        Ok(Plain { reader, writer })
    })?;
    between("call-out", &mut meter, trials, Host::new)
}

/// Measures each half of a message by itself.
fn within(name: &str, meter: &mut Meter, trials: u64, way: &mut impl Way) -> Result<()> {
    for number in 0..trials + WARM_UP {
        let ((), write) = meter.measure(|| way.send(number))?;
        let (came, read) = meter.measure(|| way.receive())?;
        ensure!(came == number, "{name}: {number} came as {came:#x}");
        if number >= WARM_UP {
            let trial = number - WARM_UP + 1;
            println!("{name}: {trial} {write} {read} {}", write + read);
        }
    }
    Ok(())
}

/// Measures between this process and a child that sends back what it gets: half of there and back.
fn between<W: Way>(
    name: &str,
    meter: &mut Meter,
    trials: u64,
    way: impl FnOnce(PipeReader, PipeWriter) -> Result<W>,
) -> Result<()> {
    let (to_child, from_parent) = (pipe()?, pipe()?);
    let all = trials + WARM_UP;
    // SAFETY: this program has one thread, so the child may do what it likes.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop((to_child.1, from_parent.0));
            let echo = || -> Result<()> {
                let mut way = way(to_child.0, from_parent.1)?;
                for _ in 0..all {
                    let number = way.receive()?;
                    way.send(number)?;
                }
                Ok(())
            };
            let status = match echo() {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("donjon-compare: {name}, the child: {error:#}");
                    1
                }
            };
            // SAFETY: ends the child; its compartment is ended by the kernel.
            unsafe { libc::_exit(status) }
        }
        ForkResult::Parent { child } => {
            drop((to_child.0, from_parent.1));
            let mut way = way(from_parent.0, to_child.1)?;
            for number in 0..all {
                let (came, round) = meter.measure(|| {
                    way.send(number)?;
                    way.receive()
                })?;
                ensure!(came == number, "{name}: {number} came as {came:#x}");
                if number >= WARM_UP {
                    println!("{name}: {} 0 0 {}", number - WARM_UP + 1, round / 2);
                }
            }
            match waitpid(child, None)? {
                WaitStatus::Exited(_, 0) => Ok(()),
                other => bail!("{name}: the child ended with {other:?}"),
            }
        }
    }
}
