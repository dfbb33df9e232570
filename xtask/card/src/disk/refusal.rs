// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a disk is not written, with what to do.

use thiserror::Error;

use super::Use;

/// Why a disk is not written. Names are the kernel's, without /dev.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// The name is that of a part of a disk.
    #[error(
        "/dev/{name} is a partition, and an image needs the whole card: say /dev/{whole} if that \
         is the card"
    )]
    Partition {
        /// What was asked for.
        name: String,
        /// The disk that it is on.
        whole: String,
    },
    /// The disk is in use.
    #[error(
        "/dev/{name} is in use: {}; if it is the right card, unmount it (`umount`, `swapoff`) and \
         run the same command again",
        list(uses)
    )]
    InUse {
        /// What was asked for.
        name: String,
        /// What uses it.
        uses: Vec<Use>,
    },
    /// The disk is built in.
    #[error(
        "/dev/{name} cannot be taken out of this computer, so it is no SD card; `lsblk -o \
         NAME,SIZE,RM,TRAN,MODEL` shows which device is the card"
    )]
    NotRemovable {
        /// What was asked for.
        name: String,
    },
    /// A reader without a card.
    #[error("there is no card in /dev/{name}; put one in and run the same command again")]
    NoCard {
        /// What was asked for.
        name: String,
    },
    /// The disk cannot be written.
    #[error(
        "/dev/{name} cannot be written: move the small switch at the side of the card or of its \
         adapter away from LOCK, and put it in again"
    )]
    ReadOnly {
        /// What was asked for.
        name: String,
    },
    /// The image is larger.
    #[error(
        "the card /dev/{name} has {card} bytes and the image {image}: take a card of at least {} \
         MB", image.div_ceil(1_000_000)
    )]
    TooSmall {
        /// What was asked for.
        name: String,
        /// Bytes of the card.
        card: u64,
        /// Bytes of the image.
        image: u64,
    },
}

fn list(uses: &[Use]) -> String {
    let all: Vec<_> = uses.iter().map(ToString::to_string).collect();
    all.join(", ")
}
