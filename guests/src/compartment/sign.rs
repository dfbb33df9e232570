// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a signature takes, and that interrupts come meanwhile.

use std::{fs, ptr};

use anyhow::{Context, Result, bail, ensure};
use donjon_client::{Exit, FAILED, Image, Instance, Request};
use donjon_guests::meter::Meter;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

const REPORT: &str = "/usr/lib/donjon/report";
const QUOTE: &str = "/usr/lib/donjon/quote";
/// Hexadecimal digits of a nonce.
const NONCE: [u8; 64] = [b'5'; 64];
const TIMES: usize = 5;
/// How often a signal comes, in microseconds.
const INTERVAL: i64 = 100;

/// A program, what it gets and what it has said.
struct Program {
    it: Instance,
    input: Vec<u8>,
    output: Vec<u8>,
    /// How often it was left by an interrupt that brought a signal.
    left: u64,
}

impl Program {
    fn new(path: &str) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("reading {path}"))?;
        Ok(Self {
            it: Instance::new(&Image::parse(&bytes).context(path.to_owned())?)?,
            input: Vec::new(),
            output: Vec::new(),
            left: 0,
        })
    }

    /// Calls the program with an argument, or none; returns what it says.
    fn call(&mut self, argument: &[u8], input: &[u8]) -> Result<Vec<u8>> {
        self.input = input.to_vec();
        self.output.clear();
        let place = self.it.shared().get_mut(..argument.len());
        place.context("no shared page")?.copy_from_slice(argument);
        let count = u64::from(!argument.is_empty());
        let mut arguments = [count, argument.len() as u64, 0, 0];
        loop {
            match self.it.compartment().run(arguments)? {
                Exit::Interrupted => self.left += 1,
                Exit::CalledOut(word) => arguments = [self.answer(word), 0, 0, 0],
                Exit::Returned(0) => return Ok(std::mem::take(&mut self.output)),
                other => bail!("a program of the quoting compartment: {other:x?}"),
            }
        }
    }

    fn answer(&mut self, word: u64) -> u64 {
        let shared = self.it.shared();
        match Request::from_word(word) {
            Some(Request::Output(bytes)) if bytes <= shared.len() as u64 => {
                self.output.extend_from_slice(&shared[..bytes as usize]);
                bytes
            }
            Some(Request::Input(room)) => {
                let count = self.input.len().min(room as usize).min(shared.len());
                let rest = self.input.split_off(count);
                shared[..count].copy_from_slice(&self.input);
                self.input = rest;
                count as u64
            }
            _ => FAILED,
        }
    }
}

/// Instructions of a signature with all around it, and of the public key, which is without one.
/// Then a signature is made while a signal comes each 100 microseconds: it is the same.
pub fn bench(meter: &mut Meter) -> Result<()> {
    let report = Program::new(REPORT)?.call(&NONCE, &[])?;
    let mut quote = Program::new(QUOTE)?;
    let key = meter.least(TIMES, || quote.call(b"key", &[]).map(drop))?;
    println!("compartment: public key {key} instructions");
    let signed = meter.least(TIMES, || quote.call(&[], &report).map(drop))?;
    println!("compartment: signed report {signed} instructions");
    let undisturbed = quote.call(&[], &report)?;
    quote.left = 0;
    let disturbed = {
        let _signals = Signals::start()?;
        quote.call(&[], &report)?
    };
    ensure!(disturbed == undisturbed, "an interrupt changed a signature");
    let left = quote.left;
    println!("compartment: signed report left {left} times, a signal each {INTERVAL} us");
    Ok(())
}

/// A signal each [`INTERVAL`], until this is dropped.
struct Signals;

impl Signals {
    fn start() -> Result<Self> {
        extern "C" fn nothing(_: i32) {}
        let action = SigAction::new(
            SigHandler::Handler(nothing),
            SaFlags::SA_RESTART,
            SigSet::empty(),
        );
        // SAFETY: the handler does nothing.
        unsafe { sigaction(Signal::SIGALRM, &action) }?;
        each(INTERVAL)?;
        Ok(Self)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Err(error) = each(0) {
            eprintln!("donjon-compartment: stopping a timer: {error:#}");
        }
    }
}

/// Starts the timer, or stops it.
fn each(microseconds: i64) -> Result<()> {
    let time = libc::timeval {
        tv_sec: 0,
        tv_usec: microseconds,
    };
    let timer = libc::itimerval {
        it_interval: time,
        it_value: time,
    };
    // SAFETY: the timer is read, and nothing is written.
    let failed = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
    ensure!(
        failed == 0,
        "setitimer: {}",
        std::io::Error::last_os_error()
    );
    Ok(())
}
