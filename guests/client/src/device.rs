// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/dev/donjon/compartment`: a compartment for each file that is open
//! (include/uapi/linux/donjon.h).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

use donjon_abi::flow::{MESSAGE, RECORD};
pub use donjon_compartment_image::Access;

use crate::{Error, Shared, flow};

/// What can fail, fails so.
type Result<T> = std::result::Result<T, Error>;

/// How a compartment was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The call is over, with this result.
    Returned(u64),
    /// A signal came for this process. The call goes on when it is run again.
    Interrupted,
    /// The compartment asks its host for something; this word says what. The call goes on when the
    /// compartment is run again, with the answer as first argument.
    CalledOut(u64),
    /// The compartment has ended itself, with this value. It runs no more.
    Ended(u64),
    /// The compartment made an exception, with this `ESR_EL1`. It runs no more.
    Faulted(u64),
    /// The log of flow attestation has no room. This many words wait for their commit; then the
    /// call goes on when the compartment is run again.
    LogFull(u64),
    /// A number that this library does not know.
    Unknown(u64),
}

/// What the inner domain says about a compartment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Information {
    /// Private frames of 4096 bytes that it has, its tables included.
    pub frames: u64,
    /// Frames that it may have.
    pub limit: u64,
    /// Where it is in its life: 1 being built, 2 between calls, 3 running, 4 in a call and on no
    /// CPU, 5 dead, 6 being wiped.
    pub phase: u64,
    /// SHA-256 of what it began with; zeros before it is sealed.
    pub measurement: [u8; 32],
}

#[repr(C)]
struct Add {
    va: u64,
    source: u64,
    bytes: u64,
    access: u64,
}

#[repr(C)]
struct Share {
    va: u64,
    address: u64,
    bytes: u64,
}

#[repr(C)]
struct Seal {
    entry: u64,
    stack: u64,
}

#[repr(C)]
#[derive(Default)]
struct Run {
    arguments: [u64; 4],
    exit: u64,
    value: u64,
}

#[repr(C)]
struct Flow {
    nonce: [u8; 32],
    arguments: [u64; 4],
    log: u64,
    bytes: u64,
}

#[repr(C)]
struct Connect {
    other: i32,
    end: u32,
    other_end: u32,
}

/// A request without data of this size, as `_IOC` makes it: direction, size, type, number.
const fn request<T>(direction: u64, number: u64) -> u64 {
    direction << 30 | (size_of::<T>() as u64) << 16 | 0xd0 << 8 | number
}

const WRITE: u64 = 1;
const READ: u64 = 2;

const DEVICE: &str = "/dev/donjon/compartment";

/// A compartment. It is ended, and its memory wiped, when this is dropped.
pub struct Compartment(File);

impl Compartment {
    fn open() -> Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(DEVICE);
        file.map(Self).map_err(Error::opening)
    }

    /// Makes a compartment that may have `frames` frames of 4096 bytes, its tables included: at
    /// least 1. One with code, data and a stack that are close together needs 7.
    ///
    /// # Errors
    ///
    /// If there is no device, this is not root, or there is no memory; if the user would have more
    /// than RLIMIT_MEMLOCK of frames that compartments may have and of shared pages, without
    /// CAP_IPC_LOCK; if `frames` is 0 or more than the inner domain counts.
    pub fn create(frames: u64) -> Result<Self> {
        let this = Self::open()?;
        let mut frames = frames;
        this.ask("making it", request::<u64>(WRITE, 0), &mut frames)?;
        Ok(this)
    }

    /// Makes a clone of this compartment, which is sealed and has not run: with the same code and
    /// constants, and copies of its data. It shares no pages.
    ///
    /// # Errors
    ///
    /// If this one is not sealed, or has run; those of [`create`](Self::create).
    pub fn another(&self) -> Result<Self> {
        let this = Self::open()?;
        let mut template = self.0.as_raw_fd();
        this.ask("cloning one", request::<i32>(WRITE, 7), &mut template)?;
        Ok(this)
    }

    /// Adds copies of whole pages, at least one, at an address that is a multiple of 4096 and below
    /// the heap (`0x40_0000_0000`). They are measured in the order in which they come.
    ///
    /// # Errors
    ///
    /// If address or length are not so, or a page is there; if it is sealed; if they are more than
    /// its limit allows; if there is no memory.
    pub fn add(&self, va: u64, pages: &[u8], access: Access) -> Result<()> {
        let mut add = Add {
            va,
            source: pages.as_ptr() as u64,
            bytes: pages.len() as u64,
            access: access as u64,
        };
        self.ask("adding pages", request::<Add>(WRITE, 1), &mut add)
    }

    /// Shares pages of this process, all of them, from an address in the compartment that is a
    /// multiple of 4096 and below the heap. They stay pinned as long as it lives. The compartment
    /// may change them whenever it runs.
    ///
    /// # Errors
    ///
    /// If a page is at that address, or there are no pages to share; if its limit does not allow
    /// the tables that they need; if there is no memory, or the user would have more than
    /// RLIMIT_MEMLOCK.
    ///
    /// # Safety
    ///
    /// While the compartment runs, no slice of the pages may be in use ([`Shared::bytes`]).
    /// [`Instance`](crate::Instance) sees to that.
    pub unsafe fn share(&self, va: u64, pages: &Shared) -> Result<()> {
        let mut share = Share {
            va,
            address: pages.address(),
            bytes: pages.size() as u64,
        };
        self.ask("sharing pages", request::<Share>(WRITE, 2), &mut share)
    }

    /// Ends the building: its measurement is final, and it can run, from the address `entry` in its
    /// code and with a stack below the address `stack`.
    ///
    /// # Errors
    ///
    /// If it is sealed.
    pub fn seal(&self, entry: u64, stack: u64) -> Result<()> {
        let mut seal = Seal { entry, stack };
        self.ask("sealing it", request::<Seal>(WRITE, 3), &mut seal)
    }

    /// Runs the compartment: begins a call with these arguments, or goes on with one. Then the
    /// first argument answers a call to the host, and the others are nothing. Interrupts that bring
    /// no signal do not end it.
    ///
    /// # Errors
    ///
    /// If it is not sealed, has ended or runs elsewhere.
    pub fn run(&self, arguments: [u64; 4]) -> Result<Exit> {
        let mut run = Run {
            arguments,
            ..Run::default()
        };
        self.ask("running it", request::<Run>(READ | WRITE, 4), &mut run)?;
        Ok(match run.exit {
            1 => Exit::Returned(run.value),
            2 => Exit::Interrupted,
            3 => Exit::CalledOut(run.value),
            4 => Exit::Ended(run.value),
            5 => Exit::Faulted(run.value),
            6 => Exit::LogFull(run.value),
            other => Exit::Unknown(other),
        })
    }

    /// Runs the compartment, again after each signal: never [`Exit::Interrupted`].
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn go_on(&self, arguments: [u64; 4]) -> Result<Exit> {
        loop {
            match self.run(arguments)? {
                // The call goes on with what it had.
                Exit::Interrupted => {}
                exit => return Ok(exit),
            }
        }
    }

    /// Puts the compartment under flow attestation: it is sealed, has not run, is no clone and has
    /// none. `log` is all of its log, from 1 to 2048 pages; they stay pinned as long as it lives.
    ///
    /// # Errors
    ///
    /// If it is not so; if its limit does not allow the tables for the log; if the boot has no
    /// source of random bytes.
    ///
    /// # Safety
    ///
    /// While the compartment runs, no slice of the pages may be in use ([`Shared::bytes`]).
    pub unsafe fn attest(
        &self,
        nonce: &[u8; 32],
        arguments: &[u64; 4],
        log: &Shared,
    ) -> Result<()> {
        let mut flow = Flow {
            nonce: *nonce,
            arguments: *arguments,
            log: log.address(),
            bytes: log.size() as u64,
        };
        let request = request::<Flow>(WRITE, 9);
        self.ask("attesting its flow", request, &mut flow)
    }

    /// Commits to the words of the log since the last commit, by their SHA-256: the message of the
    /// segment, for the transcript.
    ///
    /// # Errors
    ///
    /// If no segment waits for a commit.
    pub fn commit(&self, digest: [u8; 32]) -> Result<[u8; MESSAGE]> {
        let mut message = flow::with_digest(digest);
        let request = request::<[u8; MESSAGE]>(READ | WRITE, 10);
        self.ask("committing to its log", request, &mut message)?;
        Ok(message)
    }

    /// Ends the transcript: its last message. A compartment that has not ended is cut with this.
    ///
    /// # Errors
    ///
    /// If a segment waits for a commit, or the transcript has ended.
    pub fn end_transcript(&self) -> Result<[u8; MESSAGE]> {
        let mut message = [0; MESSAGE];
        let request = request::<[u8; MESSAGE]>(READ, 11);
        self.ask("ending its transcript", request, &mut message)?;
        Ok(message)
    }

    /// The report about the transcript, for the quoting compartment.
    ///
    /// # Errors
    ///
    /// If the transcript has not ended, or the boot has no secret.
    pub fn flow_report(&self) -> Result<[u8; RECORD]> {
        let mut record = [0; RECORD];
        let request = request::<[u8; RECORD]>(READ, 12);
        self.ask("reporting its flow", request, &mut record)?;
        Ok(record)
    }

    /// What the inner domain says about it.
    ///
    /// # Errors
    ///
    /// If Linux has no compartment there.
    pub fn information(&self) -> Result<Information> {
        let mut information = Information::default();
        let request = request::<Information>(READ, 5);
        self.ask("asking about it", request, &mut information)?;
        Ok(information)
    }

    /// Joins this compartment with `other` by a channel: the numbers of the ends, here and there,
    /// from 0 to 3.
    ///
    /// # Errors
    ///
    /// If one of them is not sealed, has ended or has four channels; if both are the same; if there
    /// is no memory, or the limit of one does not allow it.
    pub fn connect(&self, other: &Self) -> Result<(u32, u32)> {
        let mut connect = Connect {
            other: other.0.as_raw_fd(),
            end: 0,
            other_end: 0,
        };
        let request = request::<Connect>(READ | WRITE, 8);
        self.ask("connecting two", request, &mut connect)?;
        Ok((connect.end, connect.other_end))
    }

    /// Keeps `bytes` free for compartments, so that growing does not end where there is none: what
    /// is missing is taken from Linux, in blocks of 2 MiB. Any compartment may take of them. They
    /// go back when no compartment is left.
    ///
    /// # Errors
    ///
    /// If this compartment could not take `bytes`, by its limit and what it has already; if Linux
    /// does not have them.
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        let mut bytes = bytes;
        self.ask("reserving memory", request::<u64>(WRITE, 6), &mut bytes)
    }

    /// Makes a request without data of its own and drops the answer, for measurements of the way
    /// there: one that the device does not know, or the one behind
    /// [`information`](Self::information).
    pub fn raw(&self, request: u64) {
        let mut information = Information::default();
        // SAFETY: no request writes more than an `Information`.
        unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                request as _,
                std::ptr::from_mut(&mut information),
            )
        };
    }

    fn ask<T>(&self, doing: &'static str, request: u64, argument: &mut T) -> Result<()> {
        // SAFETY: the device reads and writes a `T`, whose size the request names.
        let result = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                request as _,
                std::ptr::from_mut(argument),
            )
        };
        if result < 0 {
            return Err(Error::new(doing, io::Error::last_os_error()));
        }
        Ok(())
    }
}
