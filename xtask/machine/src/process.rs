// SPDX-License-Identifier: MIT OR Apache-2.0
//! Child processes that end with this process.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getppid};

use crate::{terminal, tools};

/// Process groups to end when we are told to stop.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> std::sync::MutexGuard<'static, Vec<Pid>> {
    GROUPS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Makes Ctrl-C, SIGTERM and SIGHUP end the children first, then us.
///
/// # Errors
///
/// If the handler cannot be installed, or there is one already.
pub fn end_children_when_told_to_stop() -> Result<()> {
    ctrlc::set_handler(|| {
        for group in groups().iter() {
            let _ = killpg(*group, Signal::SIGTERM);
        }
        terminal::restore();
        eprintln!("\ninterrupted; the next run continues from what is complete");
        std::process::exit(130);
    })
    .context("installing the handler of Ctrl-C")
}

/// Returns where the running program is. A build meanwhile may have replaced the file that it was
/// started from, so this is not the path of that file.
#[must_use]
pub fn this_program() -> PathBuf {
    PathBuf::from(format!("/proc/{}/exe", std::process::id()))
}

/// A running child. Dropping it kills it.
pub struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Running {
    /// Starts `command` in a process group of its own.
    ///
    /// # Errors
    ///
    /// If the program is not installed, or cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        command.process_group(0);
        let child = spawn(command)?;
        let group = Pid::from_raw(child.id().cast_signed());
        groups().push(group);
        Ok(Self {
            child,
            group: Some(group),
        })
    }

    /// Starts `command` in our own group, so that it can read the terminal.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_in_foreground(command: &mut Command) -> Result<Self> {
        Ok(Self {
            child: spawn(command)?,
            group: None,
        })
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// If the system refuses to wait for it.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// The status if it has ended.
    ///
    /// # Errors
    ///
    /// If the system refuses to say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// The child itself, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            if !matches!(self.child.try_wait(), Ok(Some(_))) {
                let _ = killpg(group, Signal::SIGKILL);
            }
            groups().retain(|it| *it != group);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    let parent = nix::unistd::getpid();
    // SAFETY: between fork and exec only prctl, getppid and raise run, which are
    // async-signal-safe, and nothing allocates.
    unsafe {
        command.pre_exec(move || {
            prctl::set_pdeathsig(Signal::SIGTERM)?;
            if getppid() != parent {
                // This process died before the line above, and nothing would end the child.
                nix::sys::signal::raise(Signal::SIGKILL)?;
            }
            Ok(())
        });
    }
    command.spawn().map_err(|error| {
        let name = command.get_program().to_string_lossy().into_owned();
        if error.kind() == std::io::ErrorKind::NotFound {
            anyhow!("`{name}` is not installed{}", tools::hint(&name))
        } else {
            anyhow!("starting `{name}`: {error}")
        }
    })
}

/// What `from` gives, in pieces as they come, so that a reader may wait for a limited time. A
/// thread reads it, until its end or until the receiver is gone.
pub fn pieces(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}

/// The standard output of a short command.
///
/// # Errors
///
/// If it cannot be started or fails; the error has what it wrote to standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = both(command)?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({}): {}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Status and output of a short command, whatever its status.
///
/// # Errors
///
/// If it cannot be started.
pub fn both(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(spawn(command)?.wait_with_output()?)
}

/// Runs a long command. Its output goes to `log` and line by line to `on_line`; a failure shows
/// the end of it.
///
/// # Errors
///
/// If it cannot be started, its output cannot be read, or it fails.
pub fn logged(command: &mut Command, log: &Path, mut on_line: impl FnMut(&str)) -> Result<()> {
    if let Some(parent) = log.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let (reader, writer) = std::io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut running = Running::start(command)?;
    // The command keeps its copies of the write end; the pipe must end with the child.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut last = Vec::new();
    for text in BufReader::new(reader).split(b'\n') {
        let text = String::from_utf8_lossy(&text?).into_owned();
        // A full disk must not hide the error that the command itself reports.
        let _ = writeln!(file, "{text}");
        on_line(&text);
        last.push(text);
        if last.len() > 400 {
            last.drain(..200);
        }
    }
    let status = running.wait()?;
    if status.success() {
        return Ok(());
    }
    let tail = last[last.len().saturating_sub(25)..].join("\n");
    bail!(
        "{tail}\n`{}` failed ({status}); all of its output: {}",
        line(command),
        log.display()
    )
}

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|it| it.to_string_lossy().into_owned()),
    );
    words.join(" ")
}
