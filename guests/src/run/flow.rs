// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run under flow attestation: what a verifier needs is kept in a folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::flow::EndReason;
use donjon_client::{Evidence, Exit, FAILED, FlowRun, Image, Instance, PAGE, Request};

use crate::options::Flow;
use crate::{serve, signals};

/// The quoting compartment.
const QUOTE: &str = "/usr/lib/donjon/quote";

/// Runs the program, keeps its log, its transcript and the signed report; returns 0 if the program
/// ended the run by itself.
pub fn run(mut instance: Instance, arguments: [u64; 4], flow: &Flow) -> Result<u8> {
    let folder = &flow.folder;
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let mut files =
        fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    ensure!(
        files.next().is_none(),
        "{} is not empty; a run needs a folder of its own",
        folder.display()
    );
    signals::cut_the_run()?;
    let mut kept = Kept::new(folder)?;
    let run = FlowRun {
        nonce: flow.nonce,
        arguments,
        log_bytes: flow.pages * PAGE as usize,
    };
    let attested = instance.serve_attested(&run, &mut kept, serve::answer)?;
    kept.flush().context("keeping the log")?;
    let token = quote(&attested.report)?;
    write(folder, "token", &token)?;
    let end = attested.end;
    let reason = EndReason::from_number(end.reason);
    if reason == Some(EndReason::Finished) {
        return Ok(0);
    }
    let words = reason.map_or("the run ended in a way that is not known", EndReason::words);
    eprintln!(
        "donjon-run: {words} (ESR_EL1 {:#x}, word {:#x})",
        end.esr, end.word
    );
    Ok(1)
}

/// The files of the log and the transcript.
struct Kept {
    log: BufWriter<File>,
    transcript: BufWriter<File>,
}

impl Kept {
    fn new(folder: &Path) -> Result<Self> {
        let file = |name| {
            let path = folder.join(name);
            let file = File::create(&path).with_context(|| format!("making {}", path.display()))?;
            Ok::<_, anyhow::Error>(BufWriter::new(file))
        };
        Ok(Self {
            log: file("log")?,
            transcript: file("transcript")?,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log.flush()?;
        self.transcript.flush()
    }
}

impl Evidence for Kept {
    fn words(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.log.write_all(bytes)
    }

    fn message(&mut self, bytes: &[u8; 128]) -> io::Result<()> {
        self.transcript.write_all(bytes)
    }

    fn is_cut(&self) -> bool {
        signals::is_cut()
    }
}

/// Has the quoting compartment sign a report.
fn quote(report: &[u8]) -> Result<Vec<u8>> {
    let bytes = fs::read(QUOTE).with_context(|| format!("reading {QUOTE}"))?;
    let mut quote = Instance::new(&Image::parse(&bytes).context(QUOTE)?)?;
    let (mut input, mut token) = (report, Vec::new());
    let exit = quote.serve([0; 4], |word, shared| match Request::from_word(word) {
        Some(Request::Output(bytes)) if bytes <= shared.len() as u64 => {
            token.extend_from_slice(&shared[..bytes as usize]);
            bytes
        }
        Some(Request::Input(room)) => {
            let count = input.len().min(room as usize).min(shared.len());
            let (now, rest) = input.split_at(count);
            shared[..count].copy_from_slice(now);
            input = rest;
            count as u64
        }
        Some(Request::Error(_)) => serve::answer(word, shared),
        _ => FAILED,
    })?;
    match exit {
        Exit::Returned(0) => {}
        other => bail!("the quoting compartment signed nothing: {other:x?}"),
    }
    ensure!(!token.is_empty(), "the quoting compartment wrote nothing");
    Ok(token)
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))
}
