// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many processes, nested processes, and the limit of processes.

use std::env;
use std::io::Error;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, Uid, fork, getpid, setuid};

use crate::child::Child;
use crate::memory::Mapping;

/// First word of the command line of a process that has nothing to do.
pub const REEXECUTED: &str = "return-success";

/// Chains and rows of children over pages that are copied on write, and exec.
pub fn fork_and_exec() -> Result<()> {
    let memory = Mapping::anonymous(1 << 20)?;
    memory.stamp(0);
    for round in 0..100 {
        fork_over(&memory, round)?;
    }
    chain(&memory, 24)?;
    memory.check(0)?;
    for _ in 0..20 {
        exec()?;
    }
    Ok(())
}

/// A child that finds the parent's pages, changes them, and leaves the parent's as they were.
pub fn fork_over(memory: &Mapping, round: u64) -> Result<()> {
    let page = usize::try_from(round)? % memory.pages();
    Child::start(|| {
        memory.check_page(page, 0)?;
        memory.stamp_page(page, round + 1);
        memory.check_page(page, round + 1)
    })?
    .join()
    .with_context(|| format!("child {round}"))?;
    memory.check_page(page, 0)
}

/// Starts this program again.
pub fn exec() -> Result<()> {
    let status = Command::new(env::current_exe()?).arg(REEXECUTED).status()?;
    ensure!(status.success(), "exec: {status}");
    Ok(())
}

/// Changes all pages and has a child that does so too, so that copies are made at every depth.
fn chain(memory: &Mapping, depth: u64) -> Result<()> {
    if depth == 0 {
        return Ok(());
    }
    memory.stamp(depth);
    Child::start(|| {
        memory.check(depth)?;
        chain(memory, depth - 1)
    })?
    .join()?;
    memory.check(depth)?;
    memory.stamp(0);
    Ok(())
}

const BOMB_USER: u32 = 4711;
const BOMB_LIMIT: u64 = 200;

/// What the processes of a bomb share.
struct Shared<'a> {
    alive: &'a AtomicU64,
    wrong: &'a AtomicU64,
    over: &'a AtomicU64,
}

/// Every process forks until the limit of its user refuses; then all of them end. Twice, so that
/// the first one must have given everything back.
pub fn bomb() -> Result<()> {
    for round in 0..2 {
        let page = Mapping::shared(4096)?;
        let counter = |word: usize| {
            let place = page.pointer().cast::<u64>().wrapping_add(word);
            // SAFETY: an aligned word of a mapping that outlives the reference.
            unsafe { AtomicU64::from_ptr(place) }
        };
        let shared = Shared {
            alive: counter(0),
            wrong: counter(1),
            over: counter(2),
        };
        let first = Child::start(|| {
            setrlimit(Resource::RLIMIT_NPROC, BOMB_LIMIT, BOMB_LIMIT)?;
            setuid(Uid::from_raw(BOMB_USER))?;
            multiply(&shared)
        })?;
        let deadline = Instant::now() + Duration::from_secs(90);
        while shared.alive.load(Ordering::SeqCst) < BOMB_LIMIT && Instant::now() < deadline {
            sleep(Duration::from_millis(10));
        }
        // A process that is still forking must be refused.
        sleep(Duration::from_millis(200));
        let reached = shared.alive.load(Ordering::SeqCst);
        shared.over.store(1, Ordering::SeqCst);
        first.join()?;
        ensure!(
            reached == BOMB_LIMIT,
            "round {round}: {reached} processes, not {BOMB_LIMIT}"
        );
        let wrong = shared.wrong.load(Ordering::SeqCst);
        ensure!(wrong == 0, "{wrong} processes found wrong memory");
    }
    Ok(())
}

fn multiply(shared: &Shared<'_>) -> Result<()> {
    let memory = Mapping::anonymous(64 << 10)?;
    let mut children: Vec<Pid> = Vec::new();
    memory.stamp(identity());
    shared.alive.fetch_add(1, Ordering::SeqCst);
    while shared.over.load(Ordering::SeqCst) == 0 {
        // SAFETY: this process has one thread.
        match unsafe { fork() } {
            Ok(ForkResult::Parent { child }) => children.push(child),
            Ok(ForkResult::Child) => {
                children.clear();
                memory.stamp(identity());
                shared.alive.fetch_add(1, Ordering::SeqCst);
            }
            Err(Errno::EAGAIN) => sleep(Duration::from_millis(20)),
            Err(error) => return Err(error).context("fork of a bomb"),
        }
    }
    if memory.check(identity()).is_err() {
        shared.wrong.fetch_add(1, Ordering::SeqCst);
    }
    for child in children {
        waitpid(child, None)?;
    }
    Ok(())
}

fn identity() -> u64 {
    getpid().as_raw().cast_unsigned().into()
}

/// A process at the limit of its address space forks on; what it has stays.
pub fn memory_limit() -> Result<()> {
    const LIMIT: u64 = 96 << 20;
    const CHUNK: usize = 4 << 20;
    setrlimit(Resource::RLIMIT_AS, LIMIT, LIMIT)?;
    let mut chunks = Vec::new();
    let refused = loop {
        match Mapping::anonymous(CHUNK) {
            Ok(chunk) => {
                chunk.stamp(chunks.len() as u64);
                chunks.push(chunk);
            }
            Err(error) => break error,
        }
        ensure!(chunks.len() < 100, "the limit was not applied");
    };
    let cause = refused
        .downcast_ref::<Error>()
        .and_then(Error::raw_os_error);
    ensure!(cause == Some(libc::ENOMEM), "refused with {refused:#}");
    for round in 0..10 {
        Child::start(|| {
            for (number, chunk) in chunks.iter().enumerate() {
                chunk.check_page(round, number as u64)?;
                chunk.stamp_page(round, 99);
            }
            Ok(())
        })?
        .join()?;
    }
    for (number, chunk) in chunks.iter().enumerate() {
        chunk.check(number as u64)?;
    }
    Ok(())
}
