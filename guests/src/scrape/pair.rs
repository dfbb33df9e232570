// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two libraries that exchange messages all the time, in other processes than this one.

use std::fs;
use std::io::pipe;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use donjon_client::{Image, SHARED};
use donjon_guests::memory::{Mapping, PAGE};
use donjon_loops::{Library, complement};
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};

use crate::inside::{Compartments, HEAP, image};
use crate::outside::Plain;
use crate::place::Place;
use crate::target::Target;
use crate::wanted::Wanted;

/// Messages that are exchanged before the search begins.
const BEFORE: u64 = 16;
/// How long the next message may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The two. They end with this.
pub struct Pair {
    /// Messages that they have exchanged, which they write here.
    said: Mapping,
    /// What is searched.
    pub target: Target,
}

impl Pair {
    /// Starts the pair.
    pub fn start(place: Place, seed: u64) -> Result<Self> {
        let said = Mapping::shared(PAGE)?;
        let target = Target {
            pids: Vec::new(),
            messages: 0..0,
            others: Vec::new(),
            wanted: Wanted(complement(seed)),
        };
        let mut pair = Self { said, target };
        match place {
            Place::Inside => pair.start_inside(seed)?,
            Place::Outside => pair.start_outside(seed)?,
        }
        pair.wait_until(BEFORE)?;
        Ok(pair)
    }

    fn start_inside(&mut self, seed: u64) -> Result<()> {
        let bytes = image()?;
        let image = Image::parse(&bytes)?;
        let page = |start| start..start + PAGE as u64;
        self.target.messages = page(HEAP);
        self.target.others = image.pages().map(|it| page(it.va)).collect();
        self.target.others.push(page(SHARED));
        self.add(|said| {
            let pair = Compartments::new(&image)?;
            loop {
                said.write(0, pair.turn(seed)?);
            }
        })
    }

    fn start_outside(&mut self, seed: u64) -> Result<()> {
        // Each process gets a copy when it writes there.
        let memory = Mapping::anonymous(PAGE)?;
        let start = memory.address() as u64;
        self.target.messages = start..start + PAGE as u64;
        let (first, second) = (pipe()?, pipe()?);
        let ends = [(first.0, second.1, false), (second.0, first.1, true)];
        for (reader, writer, begins) in ends {
            let mut link = Plain { reader, writer };
            // SAFETY: a page of zeros, which are a library, and nothing else refers to it.
            let library = unsafe { &mut *memory.pointer().cast::<Library>() };
            self.add(|said| {
                loop {
                    let count = library.turn(seed, begins, &mut link);
                    let count = count.context("a message did not come as it was said")?;
                    if begins {
                        said.write(0, count);
                    }
                }
            })?;
        }
        Ok(())
    }

    /// Does this in a new process.
    fn add(&mut self, work: impl FnOnce(&Mapping) -> Result<()>) -> Result<()> {
        // SAFETY: this program has one thread, so the child may do what it likes.
        match unsafe { fork() }? {
            ForkResult::Child => {
                let end = prepare().and_then(|()| work(&self.said));
                if let Err(error) = end {
                    eprintln!("donjon-scrape: a library: {error:#}");
                }
                // SAFETY: ends the child; its compartments are ended by the kernel.
                unsafe { libc::_exit(1) }
            }
            ForkResult::Parent { child } => {
                self.target.pids.push(child);
                Ok(())
            }
        }
    }

    /// Messages that they have exchanged.
    pub fn said(&self) -> u64 {
        self.said.read(0)
    }

    /// Fails unless they exchange some more.
    pub fn goes_on(&self) -> Result<()> {
        self.wait_until(self.said() + 1)
    }

    fn wait_until(&self, count: u64) -> Result<()> {
        let begin = Instant::now();
        while self.said() < count {
            ensure!(
                begin.elapsed() < TIMEOUT,
                "the libraries have stopped after {} messages",
                self.said()
            );
            sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Ends the processes by a signal, all at once.
    pub fn end(&mut self, signal: Signal) -> Result<Vec<Pid>> {
        let pids = std::mem::take(&mut self.target.pids);
        for signal in [Signal::SIGSTOP, signal, Signal::SIGCONT] {
            for pid in &pids {
                kill(*pid, signal)?;
            }
        }
        for pid in &pids {
            waitpid(*pid, None)?;
        }
        Ok(pids)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if let Err(error) = self.end(Signal::SIGKILL) {
            eprintln!("donjon-scrape: ending the libraries: {error:#}");
        }
    }
}

/// Prepares a child: it ends with its parent, and all of its memory may be dumped.
fn prepare() -> Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    setrlimit(
        Resource::RLIMIT_CORE,
        libc::RLIM_INFINITY,
        libc::RLIM_INFINITY,
    )?;
    fs::write("/proc/self/coredump_filter", "0x1ff").context("what core dumps have")
}
