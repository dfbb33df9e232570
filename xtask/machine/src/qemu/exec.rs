// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs one command in an unattended guest.
//!
//! Console, standard output, standard error and status each have a socket. Nothing but the
//! command writes to its own, so its output arrives byte for byte.

use std::cell::RefCell;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::answer::{self, Answers};
use super::console::Console;
use super::frames::Frames;
use super::scratch::Scratch;
use super::{Boot, DiskImage, monitor};
use crate::initramfs::{self, PORTS};
use crate::machine::Channel;
use crate::paths;
use crate::process::Running;

/// How long a guest may take to power off after its command, and a panic to print all it has.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a guest may take to power off where what is on its disk is kept: it unmounts it first.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(300);

/// How long what was written last may be on its way to us on a busy host.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// How long a guest may take to its status.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// Whole time, without what a sink takes.
    pub total: Duration,
    /// A mark of the console's, and how long it may take at most from there on.
    pub mark: Option<(&'static str, Duration)>,
}

impl From<Duration> for Timeout {
    fn from(total: Duration) -> Self {
        Self { total, mark: None }
    }
}

/// An output stream of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

#[derive(Clone, Copy, PartialEq)]
enum Source {
    Console,
    Status,
    Command(Stream),
}

/// Boots, runs `command`, passes its output to `sink` as it comes; returns its status. A guest that
/// hangs, panics or stops without a status is an error with the end of its console.
///
/// # Errors
///
/// If QEMU cannot be started, or the guest hangs, panics or stops without a status.
pub fn exec(
    boot: &Boot,
    command: &str,
    timeout: impl Into<Timeout>,
    mut sink: impl FnMut(Stream, &[u8]),
) -> Result<u8> {
    exec_watched(boot, command, timeout, |_, stream, bytes| {
        sink(stream, bytes);
    })
}

/// Runs `command` for a sink that looks into the running machine: it also gets the monitor's
/// socket.
///
/// # Errors
///
/// Those of [`exec`].
pub fn exec_watched(
    boot: &Boot,
    command: &str,
    timeout: impl Into<Timeout>,
    mut sink: impl FnMut(&Path, Stream, &[u8]),
) -> Result<u8> {
    exec_live(boot, command, timeout, |live, stream, bytes| {
        sink(live.monitor, stream, bytes);
    })
}

/// Ways to look into a machine that runs.
pub struct Live<'a> {
    /// Socket of its monitor.
    pub monitor: &'a Path,
    /// Socket of its gdb stub.
    pub gdb: &'a Path,
}

/// Runs `command` for a sink that wants monitor and gdb stub.
///
/// # Errors
///
/// Those of [`exec`].
pub fn exec_live(
    boot: &Boot,
    command: &str,
    timeout: impl Into<Timeout>,
    mut sink: impl FnMut(&Live<'_>, Stream, &[u8]),
) -> Result<u8> {
    boot.machine.can_have("--exec")?;
    let scratch = Scratch::new()?;
    let initrd = scratch.join("initrd");
    let mut archive = initramfs::with_command(&boot.initramfs, command)?;
    let waits = command.contains(answer::PROGRAM);
    if waits {
        let program = (answer::PLACE.to_owned(), answer::SCRIPT.to_vec());
        archive = initramfs::with_programs(&archive, &[program])?;
    }
    fs::write(&initrd, archive)?;
    let mut qemu = boot.command(&initrd, "")?;
    let (sender, receiver) = mpsc::channel();
    connect(&mut qemu, &scratch, boot, &sender)?;
    // The readers have theirs: when the last socket is closed, there is nothing more to come.
    drop(sender);
    // A machine without virtio has no such port, and its guests wait for a fixed time.
    let has_ports = boot.machine.recipe.channel == Channel::Ports;
    let mut answers = match waits && has_ports {
        true => Some(Answers::new(&mut qemu, &scratch.join("answer"))?),
        false => None,
    };
    let mut unanswered = None;
    let monitor = scratch.join("monitor");
    qemu.arg("-qmp")
        .arg(format!("unix:{},server=on,wait=off", monitor.display()));
    let gdb = scratch.join("gdb");
    qemu.arg("-gdb")
        .arg(format!("unix:{},server=on,wait=off", gdb.display()));
    let errors = scratch.join("qemu.err");
    let output = match &boot.trace {
        Some(trace) => fs::File::create(trace)?.into(),
        None => Stdio::null(),
    };
    qemu.stdin(Stdio::null())
        .stdout(output)
        .stderr(fs::File::create(&errors)?);
    let mut running = Running::start(&mut qemu)?;

    let mut console = Console::default();
    let mut status = Vec::new();
    let timeout: Timeout = timeout.into();
    let keeps = boot.disk.as_ref().is_some_and(|it| it.keep);
    let limits = Limits {
        status: Instant::now() + timeout.total,
        mark: timeout.mark,
        end: if keeps { UNMOUNT_TIMEOUT } else { END_TIMEOUT },
    };
    let end = watch(
        &receiver,
        &mut running,
        limits,
        &mut console,
        |from, bytes| {
            let live = Live {
                monitor: &monitor,
                gdb: &gdb,
            };
            match from {
                Source::Command(stream) => {
                    sink(&live, stream, bytes);
                    if let (Stream::Output, Some(answers)) = (stream, &mut answers) {
                        // A guest that ends meanwhile is its end's business.
                        unanswered = unanswered.take().or(answers.take(bytes).err());
                    }
                }
                Source::Status => status.extend(bytes),
                Source::Console => (),
            }
            status.ends_with(b"\n")
        },
    )?;
    let is_off = running.ended()?.is_some_and(|it| it.success()) && console.fatal().is_none();
    let log = keep(&console)?;
    let disk = boot.disk.as_ref();
    let disk = disk.filter(|_| console.tells_of_a_failed_write());
    let advice = disk.map(advice).unwrap_or_default();
    let failed = |what: String| {
        anyhow::anyhow!(
            "{advice}{what}\nend of its console ({}):\n{}",
            log.display(),
            console.tail()
        )
    };
    match end {
        // What is kept must be whole, whatever the command's status is.
        GuestEnd::Status if keeps && !advice.is_empty() => bail!(failed(
            "the command ended, but its changes are not all on the disk".into()
        )),
        GuestEnd::Status if keeps && !is_off => bail!(failed(format!(
            "the command ended, but the guest did not power off as it should within {} s: its \
             changes may not all be on the disk",
            UNMOUNT_TIMEOUT.as_secs()
        ))),
        GuestEnd::Status => {
            // The command may have gone on as if nothing had happened.
            eprint!("{advice}");
            let text = String::from_utf8_lossy(&status);
            let status = text.trim().parse().ok();
            status.with_context(|| format!("the guest sent the status {text:?}"))
        }
        GuestEnd::Panic => bail!(failed(format!(
            "the guest panicked: {}",
            console.fatal().unwrap_or_default()
        ))),
        GuestEnd::Quit => {
            let said = fs::read_to_string(&errors).unwrap_or_default();
            let colon = if said.trim().is_empty() { "" } else { ": " };
            if said.lines().any(is_locked) {
                bail!(
                    "another QEMU uses the disk, and one of the two has --keep: end the other one \
                     first, or leave out --keep{colon}{}",
                    said.trim()
                );
            }
            bail!(failed(format!(
                "QEMU ended before the command did{colon}{}",
                said.trim()
            )))
        }
        GuestEnd::Timeout => {
            let unanswered = unanswered.map(|it| format!("{it:#}\n")).unwrap_or_default();
            let registers = monitor::registers(&monitor).unwrap_or_else(|it| format!("{it:#}"));
            let what = format!(
                "no status within {} s: the guest hung, or needs longer (`run` and others have \
                 --timeout SECONDS)",
                timeout.total.as_secs()
            );
            bail!(
                "{unanswered}{}\nregisters:\n{}",
                failed(what),
                registers.trim()
            )
        }
    }
}

/// Whether QEMU says that a file is open in another QEMU, and one of the two writes it.
fn is_locked(line: &str) -> bool {
    line.contains("Failed to get \"") && line.ends_with(" lock")
}

/// What to do where the guest could not write to its disk.
fn advice(disk: &DiskImage) -> String {
    let place = match disk.keep {
        true => format!("where {} is", disk.file.display()),
        // QEMU makes the file of changes that it drops there.
        false => "in TMPDIR (/var/tmp if it is not set), or set it to another directory".into(),
    };
    format!(
        "the guest could not write to its disk: is the host's disk full? Make room {place}, then \
         run the same command again\n"
    )
}

enum GuestEnd {
    Status,
    Panic,
    Quit,
    Timeout,
}

/// How long a guest may take.
struct Limits {
    /// Deadline of the guest's status.
    status: Instant,
    /// A mark of the console, and the time from there to the guest's status.
    mark: Option<(&'static str, Duration)>,
    /// Time from the guest's status to its end.
    end: Duration,
}

/// Waits for the first of: a status, a panic, the end of QEMU, the deadline.
fn watch(
    receiver: &Receiver<(Source, Vec<u8>)>,
    running: &mut Running,
    mut limits: Limits,
    console: &mut Console,
    mut take: impl FnMut(Source, &[u8]) -> bool,
) -> Result<GuestEnd> {
    let mut end = None;
    let mut deadline = limits.status;
    loop {
        match receiver.recv_timeout(Duration::from_millis(20)) {
            Ok((from, bytes)) => {
                if from == Source::Console {
                    console.push(&bytes);
                    let seen = limits.mark.take_if(|(mark, _)| console.says(mark));
                    if let Some((_, most)) = seen {
                        deadline = deadline.min(Instant::now() + most);
                    }
                }
                let start = Instant::now();
                let is_status = take(from, &bytes);
                if is_status && end.is_none() {
                    end = Some(GuestEnd::Status);
                    deadline = Instant::now() + limits.end;
                } else if end.is_none() {
                    // The guest may have stood still meanwhile.
                    deadline += start.elapsed();
                }
                if console.fatal().is_some() && end.is_none() {
                    end = Some(GuestEnd::Panic);
                    deadline = Instant::now() + END_TIMEOUT;
                }
                continue;
            }
            // All sockets are closed.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(20)),
            Err(RecvTimeoutError::Timeout) => (),
        }
        if running.ended()?.is_some() {
            // What it wrote last may still be on its way to us.
            while let Ok((from, bytes)) = receiver.recv_timeout(DRAIN_TIME) {
                if from == Source::Console {
                    console.push(&bytes);
                }
                if take(from, &bytes) {
                    end = end.or(Some(GuestEnd::Status));
                }
            }
            if console.fatal().is_some() {
                end = end.or(Some(GuestEnd::Panic));
            }
            return Ok(end.unwrap_or(GuestEnd::Quit));
        }
        if Instant::now() >= deadline {
            return Ok(end.unwrap_or(GuestEnd::Timeout));
        }
    }
}

/// Gives QEMU a socket for the console and for each port.
fn connect(
    qemu: &mut Command,
    scratch: &Scratch,
    boot: &Boot,
    sender: &Sender<(Source, Vec<u8>)>,
) -> Result<()> {
    let plain = |source| move |bytes: &[u8], sink: &mut Sink<'_>| sink(source, bytes);
    let path = scratch.join("console");
    listen(qemu, &path, "console", sender, plain(Source::Console))?;
    boot.add_serial_ports(qemu, true);
    let sources = [
        Source::Command(Stream::Output),
        Source::Command(Stream::Error),
        Source::Status,
    ];
    match &boot.machine.recipe.channel {
        Channel::Ports => {
            qemu.args(["-device", &boot.machine.virtio("serial")]);
            for (name, source) in PORTS.iter().zip(sources) {
                let id = name.replace('.', "-");
                listen(qemu, &scratch.join(&id), &id, sender, plain(source))?;
                qemu.args([
                    "-device",
                    &format!("virtserialport,chardev={id},name={name}"),
                ]);
            }
        }
        Channel::Serial(_) => {
            let mut frames = Frames::default();
            let path = scratch.join("channel");
            listen(qemu, &path, "channel", sender, move |bytes, sink| {
                frames.push(bytes, |name, content| {
                    let index = FRAMES.iter().position(|it| *it == name);
                    if let Some(index) = index {
                        sink(sources[index], content);
                    }
                });
            })?;
        }
    }
    Ok(())
}

/// Names of the frames of each stream, in the order of [`PORTS`].
const FRAMES: [u8; 3] = *b"120";

/// Takes bytes of a source.
type Sink<'a> = dyn FnMut(Source, &[u8]) + 'a;

fn listen(
    qemu: &mut Command,
    path: &Path,
    id: &str,
    sender: &Sender<(Source, Vec<u8>)>,
    mut split: impl FnMut(&[u8], &mut Sink<'_>) + Send + 'static,
) -> Result<()> {
    let listener = UnixListener::bind(path)?;
    qemu.args([
        "-chardev",
        &format!("socket,id={id},path={}", path.display()),
    ]);
    let sender = sender.clone();
    thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else {
            return;
        };
        let mut buffer = vec![0; 1 << 16];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(bytes) => {
                    let mut is_gone = false;
                    split(&buffer[..bytes], &mut |source, bytes: &[u8]| {
                        is_gone |= sender.send((source, bytes.to_vec())).is_err();
                    });
                    if is_gone {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(_) => return,
            }
        }
    });
    Ok(())
}

thread_local! {
    /// Consoles of this thread's guests that were kept.
    static KEPT: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// The files with the consoles of the guests that this thread ran since the last call.
#[must_use]
pub fn kept_consoles() -> Vec<PathBuf> {
    KEPT.take()
}

/// Keeps the console's text where the user can read it.
fn keep(console: &Console) -> Result<PathBuf> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let directory = paths::in_root("target/consoles");
    fs::create_dir_all(&directory)?;
    // The last few runs are enough.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("{}-{number}.log", std::process::id() % 16));
    fs::write(&path, console.bytes())?;
    KEPT.with_borrow_mut(|it| it.push(path.clone()));
    Ok(path)
}
