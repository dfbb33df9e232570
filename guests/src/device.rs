// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/dev/donjon/compartment`: a compartment for each file that is open
//! (include/uapi/linux/donjon.h).

use std::fs::{File, OpenOptions};
use std::io::{Error, Result};
use std::os::fd::AsRawFd;

pub use donjon_compartment_image::Access;

/// How a compartment was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Its call is over.
    Returned(u64),
    /// A signal came.
    Interrupted,
    /// It asks for something.
    CalledOut(u64),
    /// It runs no more.
    Ended(u64),
    /// It made an exception: its `ESR_EL1`.
    Faulted(u64),
    /// A number that this program does not know.
    Unknown(u64),
}

/// What the inner domain says about a compartment.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Information {
    /// Frames that it has.
    pub frames: u64,
    /// Frames that it may have.
    pub limit: u64,
    /// Where it is in its life.
    pub phase: u64,
    /// SHA-256 of what it began with.
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

/// A compartment.
pub struct Compartment(File);

impl Compartment {
    fn open() -> Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(DEVICE)?;
        Ok(Self(file))
    }

    /// Makes one that may have so many frames, its tables included.
    ///
    /// # Errors
    ///
    /// What the system call left; so for all of these.
    pub fn create(frames: u64) -> Result<Self> {
        let this = Self::open()?;
        let mut frames = frames;
        this.ask(request::<u64>(WRITE, 0), &mut frames)?;
        Ok(this)
    }

    /// Makes one from this one, which is sealed and has not run: with the same code and copies of
    /// its data.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn another(&self) -> Result<Self> {
        let this = Self::open()?;
        let mut template = self.0.as_raw_fd();
        this.ask(request::<i32>(WRITE, 7), &mut template)?;
        Ok(this)
    }

    /// Adds whole pages.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn add(&self, va: u64, pages: &[u8], access: Access) -> Result<()> {
        let mut add = Add {
            va,
            source: pages.as_ptr() as u64,
            bytes: pages.len() as u64,
            access: access as u64,
        };
        self.ask(request::<Add>(WRITE, 1), &mut add)
    }

    /// Shares whole pages of this process, which it goes on to use.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn share(&self, va: u64, address: u64, bytes: u64) -> Result<()> {
        self.ask(
            request::<Share>(WRITE, 2),
            &mut Share { va, address, bytes },
        )
    }

    /// Ends the building.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn seal(&self, entry: u64, stack: u64) -> Result<()> {
        self.ask(request::<Seal>(WRITE, 3), &mut Seal { entry, stack })
    }

    /// Runs it. The first argument answers a call to the host.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn run(&self, arguments: [u64; 4]) -> Result<Exit> {
        let mut run = Run {
            arguments,
            ..Run::default()
        };
        self.ask(request::<Run>(READ | WRITE, 4), &mut run)?;
        Ok(match run.exit {
            1 => Exit::Returned(run.value),
            2 => Exit::Interrupted,
            3 => Exit::CalledOut(run.value),
            4 => Exit::Ended(run.value),
            5 => Exit::Faulted(run.value),
            other => Exit::Unknown(other),
        })
    }

    /// What the inner domain says about it.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn information(&self) -> Result<Information> {
        let mut information = Information::default();
        self.ask(request::<Information>(READ, 5), &mut information)?;
        Ok(information)
    }

    /// Joins it with another one by a channel: the numbers of the ends, here and there.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn connect(&self, other: &Self) -> Result<(u32, u32)> {
        let mut connect = Connect {
            other: other.0.as_raw_fd(),
            end: 0,
            other_end: 0,
        };
        self.ask(request::<Connect>(READ | WRITE, 8), &mut connect)?;
        Ok((connect.end, connect.other_end))
    }

    /// Takes memory for compartments from Linux.
    ///
    /// # Errors
    ///
    /// [`create`](Self::create).
    pub fn reserve(&self, bytes: u64) -> Result<()> {
        let mut bytes = bytes;
        self.ask(request::<u64>(WRITE, 6), &mut bytes)
    }

    /// Any request, to measure it.
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

    fn ask<T>(&self, request: u64, argument: &mut T) -> Result<()> {
        // SAFETY: the device reads and writes a `T`, whose size the request names.
        let result = unsafe {
            libc::ioctl(
                self.0.as_raw_fd(),
                request as _,
                std::ptr::from_mut(argument),
            )
        };
        if result < 0 {
            return Err(Error::last_os_error());
        }
        Ok(())
    }
}
