// SPDX-License-Identifier: MIT OR Apache-2.0
//! A user at the console: waits for words, and answers.

use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use donjon_machine::process::{self, Running};

use super::rootfs::ourselves;
use super::test::Test;

const CPUS: [&str; 2] = ["1", "4"];
/// Making the image takes most of it.
const BOOT: Duration = Duration::from_secs(3600);
const ANSWER: Duration = Duration::from_secs(120);
/// Longer than the waits together.
const SECONDS: &str = "4200";

/// Debian without `--exec`. It may have to be made first.
pub fn test() -> Test {
    Test::alone("rootfs:login", || {
        CPUS.into_iter().try_for_each(at_the_console)
    })
    .long()
}

/// Checks that the console has a login, that root gets in, and can switch the machine off.
fn at_the_console(cpus: &str) -> Result<()> {
    let mut console = Console::of(ourselves(SECONDS, Path::new("debian"), &["--cpus", cpus]))?;
    console.wait("login: ", BOOT)?;
    console.write("root\n")?;
    console.wait("# ", ANSWER)?;
    // The console shows what is typed, so the answer must not be a part of it.
    console.write("echo online: $(nproc), $((6 * 7)); systemctl poweroff\n")?;
    console.wait(&format!("online: {cpus}, 42"), ANSWER)?;
    console.end(ANSWER)
}

/// A command whose output is read while it runs.
struct Console {
    running: Running,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    /// What the command has said.
    said: String,
    /// Bytes of it that came before what is waited for.
    seen: usize,
}

impl Console {
    fn of(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::start(&mut command)?;
        let child = running.child();
        let input = child.stdin.take().context("no standard input")?;
        let output = process::pieces(child.stdout.take().context("no standard output")?);
        Ok(Self {
            running,
            input,
            output,
            said: String::new(),
            seen: 0,
        })
    }

    fn write(&mut self, words: &str) -> Result<()> {
        self.input.write_all(words.as_bytes())?;
        Ok(self.input.flush()?)
    }

    /// Until it says these words, which nothing before counts as.
    fn wait(&mut self, words: &str, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        loop {
            if let Some(at) = self.said[self.seen..].find(words) {
                self.seen += at + words.len();
                return Ok(());
            }
            let more = self
                .read(end)
                .with_context(|| format!("waiting for `{words}`"))?;
            ensure!(more, "it ended before it said `{words}`:\n{}", self.said);
        }
    }

    /// Until it ends by itself.
    fn end(mut self, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        while self.read(end).context("waiting for its end")? {}
        let status = self.running.wait()?;
        ensure!(status.success(), "{status}:\n{}", self.said);
        Ok(())
    }

    /// What it says next; false at its end. An error if that does not come in time.
    fn read(&mut self, end: Instant) -> Result<bool> {
        let left = end.saturating_duration_since(Instant::now());
        match self.output.recv_timeout(left) {
            Ok(bytes) => self.said += &String::from_utf8_lossy(&bytes),
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
            Err(RecvTimeoutError::Timeout) => bail!("it took too long, and said:\n{}", self.said),
        }
        Ok(true)
    }
}
