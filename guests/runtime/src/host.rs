// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a compartment asks its host for. The host is Linux: it sees what is written, and every
//! answer is its choice.

use core::fmt;

use donjon_abi::call::{Word, requests};
use donjon_compartment_protocol::Request;

use crate::request::ask;
use crate::shared;

/// Asks the host, and gives its answer.
pub fn call_out(word: u64) -> u64 {
    // SAFETY: the host changes shared pages at most, which nothing refers to.
    unsafe { ask::<requests::CallOut>(&Word { word }) }.word
}

/// Ends the compartment for good, with a last word.
pub fn exit(word: u64) -> ! {
    // A compartment that has ended does not run, so the first request does not come back.
    loop {
        // SAFETY: the request changes no memory.
        unsafe { ask::<requests::Exit>(&Word { word }) };
    }
}

/// The standard output of `donjon-run`, or its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The output.
    Output,
    /// The error.
    Error,
}

impl Stream {
    /// Writes all bytes; false if the host did not say so.
    pub fn write(self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let count = shared::write(bytes);
            let request = match self {
                Self::Output => Request::Output(count as u64),
                Self::Error => Request::Error(count as u64),
            };
            if count == 0 || call_out(request.word()) != count as u64 {
                return false;
            }
            bytes = &bytes[count..];
        }
        true
    }
}

impl fmt::Write for Stream {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.write(text.as_bytes()) {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

/// Reads from the standard input: how many bytes, 0 at its end. None if the host has none.
pub fn read(to: &mut [u8]) -> Option<usize> {
    let asked = to.len().min(shared::size());
    let answer = call_out(Request::Input(asked as u64).word());
    let count = usize::try_from(answer).ok().filter(|&it| it <= asked)?;
    Some(shared::read(&mut to[..count]))
}

/// The words behind the image in the command line of `donjon-run`: what a call begins with, and a
/// place for them. To be asked for before anything is written or read. None if they do not fit.
pub fn arguments<'a>(call: &[u64; 4], to: &'a mut [u8]) -> Option<impl Iterator<Item = &'a [u8]>> {
    let &[count, bytes, ..] = call;
    let bytes = usize::try_from(bytes).ok()?;
    let count = usize::try_from(count).ok()?;
    let to = to.get_mut(..bytes).filter(|_| bytes <= shared::size())?;
    shared::read(to);
    Some(to.split(|&it| it == 0).take(count))
}

/// Writes to the standard output of `donjon-run`.
#[macro_export]
macro_rules! print {
    ($($it:tt)*) => {{
        use ::core::fmt::Write;
        let _ = ::core::write!($crate::host::Stream::Output, $($it)*);
    }};
}

/// Prints to the host's standard output, and ends the line.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($it:tt)*) => {{
        use ::core::fmt::Write;
        let _ = ::core::writeln!($crate::host::Stream::Output, $($it)*);
    }};
}

/// A line for the standard error of `donjon-run`.
#[macro_export]
macro_rules! eprintln {
    ($($it:tt)*) => {{
        use ::core::fmt::Write;
        let _ = ::core::writeln!($crate::host::Stream::Error, $($it)*);
    }};
}
