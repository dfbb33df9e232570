// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shell on a console, and commands that it runs.
//!
//! A command is a file of the board, sent in pieces that the board reads back. It runs with its
//! output in files, so the console carries nothing of it; then the files are fetched in pieces.
//! Each step can be made again without harm, and is, when its answer is damaged or missing.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::frame::{self, DEFINITION, Found, PROGRAMS};
use super::{Finished, Line};

/// Bytes of Base64 in one line: with the rest of the line below what every shell's editor takes.
const SENT: usize = 512;
/// Bytes that one answer has of a file.
const FETCHED: usize = 384;
/// How often a request is made.
const ATTEMPTS: u32 = 6;
/// What a kernel prints before it stops.
const PANIC: &[u8] = b"Kernel panic - not syncing";
/// Discards what is typed already.
const KILL_LINE: &str = "\x15";

/// How long to wait for a board.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Time to the first output.
    pub first: Duration,
    /// Time in which a board that is not booting prints nothing.
    pub silence: Duration,
    /// Time to an answer of the shell.
    pub answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5),
            silence: Duration::from_millis(700),
            answer: Duration::from_secs(10),
        }
    }
}

/// A shell that answers.
pub struct Session<L: Line> {
    line: L,
    timeouts: Timeouts,
    name: String,
    requests: u32,
}

impl<L: Line> Session<L> {
    /// Finds a shell on `line`.
    ///
    /// # Errors
    ///
    /// If there is no output, or no shell; the error says what to do.
    pub fn open(line: L, timeouts: Timeouts) -> Result<Self> {
        let name = format!("{:08x}", RandomState::new().build_hasher().finish() as u32);
        let mut session = Self {
            line,
            timeouts,
            name,
            requests: 0,
        };
        session.find_shell()?;
        Ok(session)
    }

    /// Runs `command` with `sh`, for at most `timeout`.
    ///
    /// # Errors
    ///
    /// If the board falls silent or cannot keep the files, answers stay damaged, or `timeout`
    /// passes.
    pub fn run(&mut self, command: &str, timeout: Duration) -> Result<Finished> {
        self.run_between(command, timeout, |_| Ok(()))
    }

    /// Runs a command, and calls `around` with true before it starts, and with false when it has
    /// ended.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run), or what `around` returns.
    pub fn run_between(
        &mut self,
        command: &str,
        timeout: Duration,
        around: impl Fn(bool) -> Result<()>,
    ) -> Result<Finished> {
        let directory = format!("/tmp/donjon-{}-{}", self.name, self.requests);
        self.upload(command, &directory)?;
        around(true)?;
        let state = self.start(&directory, timeout)?;
        around(false)?;
        let mut words = state.split_whitespace().map(str::parse::<usize>);
        let mut next = || words.next()?.ok();
        let (Some(status), Some(output), Some(errors)) = (next(), next(), next()) else {
            bail!("the board could not run the command: it left the state `{state}`");
        };
        let finished = Finished {
            status: u8::try_from(status).context("the exit status")?,
            output: self.fetch(&format!("{directory}/o"), output)?,
            errors: self.fetch(&format!("{directory}/e"), errors)?,
        };
        self.request(&format!("rm -r {directory}"), ":")?;
        Ok(finished)
    }

    fn upload(&mut self, command: &str, directory: &str) -> Result<()> {
        self.request(&format!("mkdir -p {directory}"), ":")?;
        let text = STANDARD.encode(format!("{command}\n"));
        for (number, piece) in text.as_bytes().chunks(SENT).enumerate() {
            let piece = String::from_utf8_lossy(piece);
            let file = format!("{directory}/p{number:04}");
            let mut arrived = false;
            for _ in 0..ATTEMPTS {
                let said = self.request(
                    &format!("printf %s {piece} >{file}"),
                    &format!("cat {file}"),
                )?;
                arrived = said == piece.as_bytes();
                if arrived {
                    break;
                }
            }
            ensure!(
                arrived,
                "the board does not keep what it is sent: is its /tmp writable and not full?"
            );
        }
        let join = format!("cat {directory}/p* | base64 -d >{directory}/c");
        let checksum = self.request(&join, &format!("sha256sum <{directory}/c"))?;
        let checksum = String::from_utf8_lossy(&checksum);
        let expected = frame::checksum(format!("{command}\n").as_bytes());
        ensure!(
            checksum.starts_with(&expected),
            "the command did not arrive as it was sent"
        );
        Ok(())
    }

    /// Starts the command that was sent, and waits for its end. Starting it a second time does
    /// nothing but tell the state again.
    fn start(&mut self, directory: &str, timeout: Duration) -> Result<String> {
        let d = directory;
        let deadline = Instant::now() + timeout;
        for _ in 0..ATTEMPTS {
            let (started, ended) = (self.tag(), self.tag());
            self.type_line(&format!(
                "donjon_answer {started} :; [ -e {d}/s ] || {{ \
                 sh {d}/c >{d}/o 2>{d}/e </dev/null; \
                 echo $? $(wc -c <{d}/o) $(wc -c <{d}/e) >{d}/t; mv {d}/t {d}/s; }}; \
                 donjon_answer {ended} 'cat {d}/s'"
            ))?;
            let mut text = Vec::new();
            if self.wait(&started, &mut text, self.timeouts.answer)? == Found::Nothing {
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait(&ended, &mut text, left)? {
                Found::Content(state) => return Ok(String::from_utf8_lossy(&state).into_owned()),
                Found::Damaged => (),
                Found::Nothing => bail!(
                    "the command did not end within {} s; end of what the console printed:\n{}",
                    timeout.as_secs(),
                    tail(&text)
                ),
            }
        }
        bail!(unreliable())
    }

    fn fetch(&mut self, file: &str, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for number in 0..length.div_ceil(FETCHED) {
            let read = format!("dd if={file} bs={FETCHED} skip={number} count=1");
            bytes.extend(self.request(":", &read)?);
        }
        ensure!(
            bytes.len() == length,
            "the board has {} bytes of output, not {length} as it said",
            bytes.len()
        );
        Ok(bytes)
    }

    /// Has the shell run `command`, and gives what `answer` prints then.
    fn request(&mut self, command: &str, answer: &str) -> Result<Vec<u8>> {
        let mut silent = true;
        for _ in 0..ATTEMPTS {
            let tag = self.tag();
            self.type_line(&format!("{command}; donjon_answer {tag} '{answer}'"))?;
            let mut text = Vec::new();
            match self.wait(&tag, &mut text, self.timeouts.answer)? {
                Found::Content(content) => return Ok(content),
                Found::Damaged => silent = false,
                Found::Nothing => silent &= text.is_empty(),
            }
        }
        ensure!(
            !silent,
            "the board fell silent: is it still on, and its cable plugged in?"
        );
        bail!(unreliable())
    }

    /// Waits for an answer. `text` is what has arrived before, and what arrives.
    fn wait(&mut self, tag: &str, text: &mut Vec<u8>, limit: Duration) -> Result<Found> {
        let deadline = Instant::now() + limit;
        loop {
            let found = frame::find(text, tag);
            let left = deadline.saturating_duration_since(Instant::now());
            if found != Found::Nothing || left.is_zero() {
                return Ok(found);
            }
            ensure!(
                frame::position(text, PANIC).is_none(),
                "the kernel panicked:\n{}",
                String::from_utf8_lossy(text)
            );
            text.extend(self.line.receive(left.min(Duration::from_millis(200)))?);
        }
    }

    fn type_line(&mut self, text: &str) -> Result<()> {
        // A space first: some shells keep such a line out of their history.
        self.line.send(format!("{KILL_LINE} {text}\n").as_bytes())
    }

    fn tag(&mut self) -> String {
        self.requests += 1;
        format!("{}.{}", self.name, self.requests)
    }

    /// Waits while the board prints without being asked: it boots, and may lose what is typed.
    fn listen(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let deadline = Instant::now() + self.timeouts.first;
        loop {
            let more = self.line.receive(self.timeouts.silence)?;
            if more.is_empty() || Instant::now() >= deadline {
                return Ok(());
            }
            text.extend(more);
        }
    }

    fn find_shell(&mut self) -> Result<()> {
        let mut text = Vec::new();
        self.listen(&mut text)?;
        refuse_login(&text)?;
        self.line.send(b"\n")?;
        let deadline = Instant::now() + self.timeouts.first;
        while Instant::now() < deadline {
            let more = self.line.receive(Duration::from_millis(300))?;
            if more.is_empty() && !text.is_empty() {
                break;
            }
            text.extend(more);
        }
        // A name typed there would be taken for a user's.
        refuse_login(&text)?;
        for _ in 0..ATTEMPTS / 2 {
            let tag = self.tag();
            self.type_line(&format!(
                "for p in {}; do command -v $p >/dev/null || echo {tag}-lacks-$p; done; \
                 echo {tag}-has-$((40 + 2))",
                PROGRAMS.join(" ")
            ))?;
            let answered = format!("{tag}-has-42");
            let deadline = Instant::now() + self.timeouts.first;
            while Instant::now() < deadline {
                text.extend(self.line.receive(Duration::from_millis(100))?);
                if frame::position(&text, answered.as_bytes()).is_some() {
                    for program in PROGRAMS {
                        let lacks = format!("{tag}-lacks-{program}");
                        ensure!(
                            frame::position(&text, lacks.as_bytes()).is_none(),
                            "the board has no program `{program}`; install BusyBox or the \
                             coreutils there"
                        );
                    }
                    self.type_line(DEFINITION)?;
                    return self.request(":", ":").map(drop);
                }
            }
            refuse_login(&text)?;
        }
        bail!(no_shell(&text))
    }
}

fn refuse_login(text: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(text);
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    ensure!(
        !last.ends_with("login:") && !last.ends_with("assword:"),
        "the board asks for a login (`{}`): log in as root with a terminal program, leave it \
         without logging out, and run this again",
        last.trim()
    );
    Ok(())
}

/// Why there is no shell.
fn no_shell(text: &[u8]) -> String {
    if text.is_empty() {
        return "the board prints nothing: is it on, are its transmit and receive pins crossed, \
                is ground connected, and does the kernel's `console=` name this port? Another \
                speed is set with --baud"
            .into();
    }
    let readable = |it: &&u8| it.is_ascii_graphic() || it.is_ascii_whitespace() || **it == 0x1b;
    if text.iter().filter(readable).count() * 4 < text.len() * 3 {
        return "what the board prints is unreadable: its speed is probably another; try --baud \
                with 9600, 57600, 230400 or 1500000"
            .into();
    }
    let shown = tail(text);
    if shown.trim_end().ends_with("=>") || shown.trim_end().ends_with("Shell>") {
        return format!("the board is in its boot loader; start Linux there first:\n{shown}");
    }
    format!(
        "no shell answers on the board's console: wait until it has booted, end the program that \
         runs there, and run this again. End of what it printed:\n{shown}"
    )
}

fn unreliable() -> &'static str {
    "answers of the board arrive damaged, or not at all, again and again: look at the cable and \
     its length, take a lower --baud, and keep kernel messages off the console with `dmesg -n 1`"
}

fn tail(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace('\r', "");
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

#[cfg(test)]
mod tests;
