// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program in a compartment can ask for, by way of the shared pages.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Result, Write, stderr, stdin, stdout};
use std::os::unix::ffi::OsStrExt;

use crate::signals;
use anyhow::{Context, ensure};
use donjon_client::{FAILED, Request};

/// Puts the arguments there, with a zero between two: what a call begins with.
pub fn hand_over(arguments: &[OsString], shared: &mut [u8]) -> anyhow::Result<[u64; 4]> {
    let words: Vec<_> = arguments.iter().map(|it| it.as_bytes()).collect();
    let bytes = words.join(&0);
    let size = shared.len();
    ensure!(
        bytes.len() <= size,
        "the arguments are longer than the {size} bytes that the program shares"
    );
    let place = shared.get_mut(..bytes.len()).context("no shared pages")?;
    place.copy_from_slice(&bytes);
    Ok([words.len() as u64, bytes.len() as u64, 0, 0])
}

/// Does what the word says; the answer.
pub fn answer(word: u64, shared: &mut [u8]) -> u64 {
    let part = |bytes: u64| usize::try_from(bytes).ok().filter(|&it| it <= shared.len());
    let done = match Request::from_word(word) {
        Some(Request::Output(bytes)) => part(bytes).map(|it| write(stdout(), &shared[..it])),
        Some(Request::Error(bytes)) => part(bytes).map(|it| write(stderr(), &shared[..it])),
        Some(Request::Input(bytes)) => part(bytes).map(|it| read(&mut shared[..it])),
        None => None,
    };
    match done {
        Some(Ok(count)) => count as u64,
        Some(Err(_)) | None => FAILED,
    }
}

fn write(mut stream: impl Write, bytes: &[u8]) -> Result<usize> {
    stream.write_all(bytes)?;
    stream.flush()?;
    Ok(bytes.len())
}

fn read(to: &mut [u8]) -> Result<usize> {
    loop {
        match stdin().read(to) {
            Err(error) if error.kind() == ErrorKind::Interrupted && !signals::is_cut() => {}
            other => return other,
        }
    }
}
