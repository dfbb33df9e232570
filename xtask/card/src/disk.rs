// SPDX-License-Identifier: MIT OR Apache-2.0
//! A disk of the host as the kernel describes it below /sys and /proc, and when it is refused.

mod read;
mod refusal;

pub use refusal::Refusal;

use std::fmt;

/// How a disk is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    /// A reader or a stick at USB.
    Usb,
    /// An SD card in a reader of the host's own.
    SdSlot,
    /// Anything else: SATA, NVMe, soldered flash, a loop device.
    Other,
}

/// Something that uses a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A file system.
    Mounted {
        /// The disk or a partition of it.
        node: String,
        /// Where it is mounted.
        at: String,
    },
    /// Swap space.
    Swap {
        /// The disk or a partition of it.
        node: String,
    },
    /// A block device that is made of it: LVM, encryption, RAID.
    Held {
        /// The disk or a partition of it.
        node: String,
        /// The device that is made of it.
        by: String,
    },
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { node, at } => write!(f, "/dev/{node} is mounted at {at}"),
            Self::Swap { node } => write!(f, "/dev/{node} is swap space"),
            Self::Held { node, by } => write!(f, "/dev/{node} is part of /dev/{by}"),
        }
    }
}

/// A disk or a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The kernel's name of it, as in /sys/class/block.
    pub name: String,
    /// The disk that it is a partition of.
    pub partition_of: Option<String>,
    /// Whether its driver says that it can be taken out.
    pub removable: bool,
    /// How it is attached.
    pub bus: Bus,
    /// Whether it refuses to be written.
    pub read_only: bool,
    /// Size of the disk; 0 for a reader without a card.
    pub bytes: u64,
    /// Vendor and model, or nothing.
    pub model: String,
    /// What uses it or a partition of it.
    pub uses: Vec<Use>,
}

impl Disk {
    /// Whether an image of `image` bytes may be written over it.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn check(&self, image: u64) -> Result<(), Refusal> {
        let name = || self.name.clone();
        if let Some(whole) = &self.partition_of {
            return Err(Refusal::Partition {
                name: name(),
                whole: whole.clone(),
            });
        }
        if !self.uses.is_empty() {
            return Err(Refusal::InUse {
                name: name(),
                uses: self.uses.clone(),
            });
        }
        if !self.removable && self.bus == Bus::Other {
            return Err(Refusal::NotRemovable { name: name() });
        }
        if self.bytes == 0 {
            return Err(Refusal::NoCard { name: name() });
        }
        if self.read_only {
            return Err(Refusal::ReadOnly { name: name() });
        }
        if self.bytes < image {
            return Err(Refusal::TooSmall {
                name: name(),
                card: self.bytes,
                image,
            });
        }
        Ok(())
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.bytes / 1_000_000;
        write!(f, "/dev/{}, {megabytes} MB", self.name)?;
        if !self.model.is_empty() {
            write!(f, ", {}", self.model)?;
        }
        match self.bus {
            Bus::Usb => write!(f, ", at USB"),
            Bus::SdSlot => write!(f, ", in an SD slot"),
            Bus::Other => Ok(()),
        }
    }
}
