// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs programs that were built for a process, and reads what their host says.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use donjon_flow_chain::{Kind, State};
use donjon_flow_check::{End, Ending, Program, Segment, tag};
use donjon_machine::process::{self, Running};
use object::{Object, ObjectSymbol};

const EMULATOR: &str = "qemu-aarch64";
const MAGIC: &[u8] = b"DONJFLOW";
/// Words before the log, the magic not counted.
const HEAD: usize = 12;

/// What a program is given.
#[derive(Clone, Debug)]
pub struct Input {
    /// The chain's state at the start.
    pub state: State,
    /// First argument of the program's call.
    pub argument: u64,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of the request that ended it.
    pub request: u64,
    /// x0 to x4.
    pub result: [u64; 5],
    /// x28: path bits that are in no word yet.
    pub bits: u64,
    /// The chain's state at the end.
    pub state: State,
    /// The words of its log.
    pub log: Vec<u64>,
}

impl Outcome {
    /// Reads what a program's host wrote.
    ///
    /// # Errors
    ///
    /// If it is something else, or cut.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).context("it says no outcome")?;
        let (words, tail) = rest.as_chunks::<8>();
        let words: Vec<_> = words.iter().copied().map(u64::from_le_bytes).collect();
        ensure!(tail.is_empty() && words.len() >= HEAD, "its outcome is cut");
        let (head, log) = words.split_at(HEAD);
        ensure!(head[11] == log.len() as u64, "its log is cut");
        Ok(Self {
            request: head[0],
            result: [head[1], head[2], head[3], head[4], head[5]],
            bits: head[6],
            state: State([head[7], head[8], head[9], head[10]]),
            log: log.to_vec(),
        })
    }

    /// Returns what the program's host wrote.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ends = [self.bits].into_iter().chain(self.state.0);
        let head = [self.request].into_iter().chain(self.result).chain(ends);
        let log = [self.log.len() as u64]
            .into_iter()
            .chain(self.log.iter().copied());
        let words = head.chain(log).flat_map(u64::to_le_bytes);
        MAGIC.iter().copied().chain(words).collect()
    }

    /// Returns the log as the one segment of a run that ended by itself.
    ///
    /// # Errors
    ///
    /// If the program does not end in one place.
    pub fn segment(&self, program: &Program) -> Result<Segment<'_>> {
        let pc = program.finish();
        Ok(Segment {
            words: &self.log,
            end: End {
                how: Ending::Finished,
                pc: pc.context("the program does not end in one place")?,
                path: self.bits,
            },
        })
    }

    /// Checks the log: each word has a kind, and the chain over all of them ends in the state.
    ///
    /// # Errors
    ///
    /// If one of the two is wrong.
    pub fn check(&self, start: State) -> Result<()> {
        for (index, &word) in self.log.iter().enumerate() {
            ensure!(
                Kind::of(word).is_some(),
                "word {index} of the log, {word:#x}, has no kind"
            );
        }
        ensure!(
            tag(start, &self.log) == self.state,
            "the chain over the log of {} words does not end in the program's state",
            self.log.len()
        );
        Ok(())
    }
}

fn command(program: &Path, input: &Input, options: &[String]) -> Command {
    let mut command = Command::new(EMULATOR);
    command.args(options).arg(program);
    command.args(input.state.0.map(|it| format!("{it:x}")));
    command.arg(format!("{:x}", input.argument));
    command
}

/// Runs a program.
///
/// # Errors
///
/// If the emulator is not installed, the program fails, or its log is full.
pub fn execute(program: &Path, input: &Input) -> Result<Outcome> {
    let output = process::both(&mut command(program, input, &[]))?;
    if !output.status.success() {
        bail!(
            "{} failed ({}): {}; a log of 256 MiB may be full",
            program.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Outcome::parse(&output.stdout).with_context(|| program.display().to_string())
}

/// Draws a state of the chain at random, as the inner domain does.
///
/// # Errors
///
/// If the host has no random bytes.
pub fn random_state() -> Result<State> {
    let mut bytes = [[0; 8]; 4];
    File::open("/dev/urandom")
        .and_then(|mut it| it.read_exact(bytes.as_flattened_mut()))
        .context("reading /dev/urandom")?;
    Ok(State(bytes.map(u64::from_le_bytes)))
}

/// Runs a program one instruction at a time and hands the address of each instruction of its text
/// to `each`, its host's instructions left out; returns how many there were.
///
/// # Errors
///
/// If the emulator is not installed, says nothing, or writes another form of trace.
pub fn trace(program: &Path, input: &Input, mut each: impl FnMut(u64)) -> Result<u64> {
    let (start, end) = text(program)?;
    let single = if is_new()? {
        "-one-insn-per-tb"
    } else {
        "-singlestep"
    };
    let options = [
        single.to_owned(),
        "-d".to_owned(),
        "exec,nochain".to_owned(),
        "-dfilter".to_owned(),
        format!("{start:#x}..{:#x}", end - 1),
    ];
    let mut command = command(program, input, &options);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut running = Running::start(&mut command)?;
    let trace = running.child().stderr.take().context("it has no trace")?;
    let mut reader = BufReader::with_capacity(1 << 20, trace);
    let mut line = Vec::new();
    let mut count = 0;
    while reader.read_until(b'\n', &mut line)? > 0 {
        if let Some(entry) = entry(&line) {
            each(address(entry).context("the emulator's trace has another form")?);
            count += 1;
        }
        line.clear();
    }
    let status = running.wait()?;
    ensure!(status.success(), "{} failed ({status})", program.display());
    ensure!(count > 0, "{EMULATOR} has traced no instruction");
    Ok(count)
}

/// The emulator's part of a line: what the program printed may stand before it.
fn entry(line: &[u8]) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"Trace ";
    if line.starts_with(BEGIN) {
        return Some(line);
    }
    let place = line.windows(BEGIN.len()).rposition(|it| it == BEGIN)?;
    Some(&line[place..])
}

/// The address in a line `Trace 0: HOST [BASE/ADDRESS/FLAGS/FLAGS]`.
fn address(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?;
    let (_, fields) = line.split_once('[')?;
    u64::from_str_radix(fields.split('/').nth(1)?, 16).ok()
}

/// Whether the emulator has the newer name of its option for single steps.
fn is_new() -> Result<bool> {
    let help = process::output(Command::new(EMULATOR).arg("-h"))?;
    Ok(help.contains("-one-insn-per-tb"))
}

/// Where a program's text begins and ends.
fn text(program: &Path) -> Result<(u64, u64)> {
    let bytes = std::fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let file = object::File::parse(&*bytes).with_context(|| program.display().to_string())?;
    let address = |name: &str| {
        let symbol = file.symbol_by_name(name);
        let address = symbol.map(|it| it.address());
        address.with_context(|| format!("{} has no symbol {name}", program.display()))
    };
    Ok((address("flow_text_start")?, address("flow_text_end")?))
}
