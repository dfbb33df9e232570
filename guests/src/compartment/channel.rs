// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compartments that send each other bytes.

use std::io::{Read, Write};

use anyhow::{Result, ensure};
use donjon_client::Exit;
use donjon_guests::meter::Meter;

use crate::program::{DATA, expect, make};

/// Bytes of a message.
const MESSAGE: u64 = 1024;
/// A compartment says this when the other one is still there.
const OPEN: u64 = 1 << 32;

/// What one sends the other one receives, unless memory or the channel is not its own.
pub fn check() -> Result<()> {
    let (one, other) = (make(64)?, make(64)?);
    let (end, there) = one.connect(&other)?;
    let (end, there) = (u64::from(end), u64::from(there));
    one.run([5, DATA, 0x1234, 0])?;
    expect(
        "send",
        one.run([8, DATA, MESSAGE, end])?,
        Exit::Returned(MESSAGE | OPEN),
    )?;
    expect(
        "receive",
        other.run([9, DATA + 2048, 2048, there])?,
        Exit::Returned(MESSAGE | OPEN),
    )?;
    expect(
        "what was sent",
        other.run([3, DATA + 2048, 0, 0])?,
        Exit::Returned(0x1234),
    )?;
    expect(
        "who is there",
        one.run([10, DATA + 512, 0, end])?,
        Exit::Returned(1),
    )?;
    let measurement = other.information()?.measurement;
    let (words, _) = measurement.as_chunks::<8>();
    for (at, word) in (DATA + 512..).step_by(8).zip(words) {
        let told = one.run([3, at, 0, 0])?;
        let expected = Exit::Returned(u64::from_be_bytes(*word));
        ensure!(told == expected, "{told:x?}, expected {expected:x?}");
    }
    for (what, arguments) in [
        ("send from nowhere", [8, 0x1234_5000, 8, end]),
        (
            "send from the kernel's memory",
            [8, 0xffff_0000_0000_0000, 8, end],
        ),
        ("receive into nowhere", [9, DATA + 4092, 8, end]),
        ("send without a channel", [8, DATA, 8, 3]),
    ] {
        expect(what, one.run(arguments)?, Exit::Returned(u64::MAX))?;
    }
    drop(other);
    expect(
        "send to one that is gone",
        one.run([8, DATA, 8, end])?,
        Exit::Returned(0),
    )
}

/// Prints the least that a message takes, from one compartment to a second and through a pipe that
/// one process writes and reads.
pub fn bench(meter: &mut Meter) -> Result<()> {
    let (one, other) = (make(64)?, make(64)?);
    let (end, there) = one.connect(&other)?;
    let (end, there) = (u64::from(end), u64::from(there));
    let mut least = u64::MAX;
    for _ in 0..100 {
        let ((sent, received), cost) = meter.measure(|| {
            let sent = one.run([8, DATA, MESSAGE, end])?;
            Ok((sent, other.run([9, DATA + 1024, MESSAGE, there])?))
        })?;
        least = least.min(cost);
        ensure!(sent == received && sent == Exit::Returned(MESSAGE | OPEN));
    }
    println!("compartment: message of {MESSAGE} bytes by a channel {least} instructions");
    let (mut reader, mut writer) = std::io::pipe()?;
    let mut message = [0x5a; MESSAGE as usize];
    let least = meter.least(100, || {
        writer.write_all(&message)?;
        Ok(reader.read_exact(&mut message)?)
    })?;
    println!(
        "compartment: message of {MESSAGE} bytes by a pipe in one process {least} instructions"
    );
    Ok(())
}
