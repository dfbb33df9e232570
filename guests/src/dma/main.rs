// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures what transfers of a disk and of a network card cost the CPU.
//!
//! `donjon-dma DISK [ADDRESS:PORT]` prints `sample: KIND INSTRUCTIONS` for each time that a kind of
//! transfer was measured: 64 MiB of the disk past the page cache, in pieces of 1 MiB or in pages in
//! an order without a pattern, and, with a peer, 64 MiB by TCP to it and from it.
//! `donjon-dma --constants DISK [ADDRESS:PORT]` has the devices read a page of the kernel's
//! constants, as a user may, and fails unless what they read stands there.
//!
//! The first byte of a connection says what the peer has to do: `r` receives, `s` sends, and `e`
//! sends back what it has received.

mod constants;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use anyhow::{Context, Result, bail, ensure};
use donjon_guests::memory::PAGE;
use donjon_guests::meter::Meter;

/// Bytes of each transfer.
const BYTES: usize = 64 << 20;
/// Bytes of a piece, where pieces follow each other.
const PIECE: usize = 1 << 20;
/// Times that each kind is measured.
const TIMES: usize = 5;
/// A number without a factor in common with the number of pages: its multiples visit all.
const STRIDE: usize = 6_151;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (is_about_constants, rest) = match arguments.split_first() {
        Some((option, rest)) if option == "--constants" => (true, rest),
        _ => (false, &arguments[..]),
    };
    let (name, peer) = match rest {
        [disk] => (disk, None),
        [disk, peer] => (disk, Some(peer.as_str())),
        _ => bail!("usage: donjon-dma [--constants] DISK [ADDRESS:PORT]"),
    };
    // Past the page cache.
    let disk = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(name)
        .with_context(|| format!("opening {name}"))?;
    if is_about_constants {
        constants::transfer(&disk, peer)
    } else {
        measure(&disk, peer)
    }
}

fn measure(disk: &File, peer: Option<&str>) -> Result<()> {
    // O_DIRECT wants a buffer that begins at a page.
    let mut buffer = vec![0; PIECE + PAGE];
    let start = buffer.as_ptr().align_offset(PAGE);
    let piece = &mut buffer[start..start + PIECE];
    let mut meter = Meter::start()?;
    for _ in 0..TIMES {
        sample(&mut meter, "read-sequential", || {
            in_order(|at| disk.read_exact_at(piece, at))
        })?;
        sample(&mut meter, "read-random", || {
            scattered(|at| disk.read_exact_at(&mut piece[..PAGE], at))
        })?;
        sample(&mut meter, "write-sequential", || {
            in_order(|at| disk.write_all_at(piece, at))
        })?;
        sample(&mut meter, "write-random", || {
            scattered(|at| disk.write_all_at(&piece[..PAGE], at))
        })?;
        if let Some(peer) = peer {
            sample(&mut meter, "tcp-send", || send(peer, piece))?;
            sample(&mut meter, "tcp-receive", || receive(peer, piece))?;
        }
    }
    Ok(())
}

fn sample(meter: &mut Meter, kind: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let ((), instructions) = meter.measure(work).with_context(|| kind.to_owned())?;
    println!("sample: {kind} {instructions}");
    Ok(())
}

fn in_order(mut transfer: impl FnMut(u64) -> io::Result<()>) -> Result<()> {
    for at in (0..BYTES).step_by(PIECE) {
        transfer(at as u64)?;
    }
    Ok(())
}

fn scattered(mut transfer: impl FnMut(u64) -> io::Result<()>) -> Result<()> {
    let pages = BYTES / PAGE;
    for page in 0..pages {
        transfer((page * STRIDE % pages * PAGE) as u64)?;
    }
    Ok(())
}

fn send(peer: &str, piece: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(peer)?;
    stream.write_all(b"r")?;
    for _ in 0..BYTES / PIECE {
        stream.write_all(piece)?;
    }
    stream.shutdown(Shutdown::Write)?;
    // The peer closes when it has everything.
    ensure!(stream.read(&mut [0])? == 0, "the peer said something");
    Ok(())
}

fn receive(peer: &str, piece: &mut [u8]) -> Result<()> {
    let mut stream = TcpStream::connect(peer)?;
    stream.write_all(b"s")?;
    let mut received = 0;
    loop {
        match stream.read(piece)? {
            0 => break,
            bytes => received += bytes,
        }
    }
    ensure!(received == BYTES, "{received} bytes came");
    Ok(())
}
