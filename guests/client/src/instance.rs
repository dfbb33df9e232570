// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment that was made from an image, with the pages that it shares.

use donjon_compartment_image::{Image, PAGE, SHARED};

use crate::{Compartment, Error, Exit, Shared};

/// A compartment and its shared pages, which it has at [`SHARED`].
pub struct Instance {
    compartment: Compartment,
    shared: Shared,
}

impl Instance {
    /// Makes a compartment of an image: its pages are added by address, those that it shares are
    /// zero, and it is sealed.
    ///
    /// # Errors
    ///
    /// Those of [`Compartment::create`] and [`Compartment::add`], if the image's limit is too
    /// small, and if there is no memory for pages to share.
    pub fn new(image: &Image<'_>) -> Result<Self, Error> {
        let compartment = Compartment::create(image.limit)?;
        for page in image.pages() {
            compartment.add(page.va, &page.bytes, page.access)?;
        }
        // An image shares 512 pages at most.
        let shared = Shared::new((image.shared_pages * PAGE) as usize)?;
        if shared.size() > 0 {
            // SAFETY: `shared` and `serve` borrow all of this object, and it gives no other slice.
            unsafe { compartment.share(SHARED, &shared) }?;
        }
        compartment.seal(image.entry, image.stack)?;
        Ok(Self {
            compartment,
            shared,
        })
    }

    /// The compartment alone.
    pub fn compartment(&self) -> &Compartment {
        &self.compartment
    }

    /// The bytes of the pages that it shares.
    pub fn shared(&mut self) -> &mut [u8] {
        self.shared.bytes()
    }

    /// Makes a call and serves what it asks for, until it is over: how it ended, which is neither
    /// [`Exit::Interrupted`] nor [`Exit::CalledOut`]. `answer` gets the word and the shared pages,
    /// in which the program may have put anything; a [`Request`](crate::Request) is a word that
    /// programs of this repository's runtimes use, and [`FAILED`](crate::FAILED) the answer to any
    /// other.
    ///
    /// # Errors
    ///
    /// If the device refuses to run it, which it does once it has ended.
    pub fn serve(
        &mut self,
        mut arguments: [u64; 4],
        mut answer: impl FnMut(u64, &mut [u8]) -> u64,
    ) -> Result<Exit, Error> {
        loop {
            match self.compartment.go_on(arguments)? {
                Exit::CalledOut(word) => {
                    arguments = [answer(word, self.shared.bytes()), 0, 0, 0];
                }
                end => return Ok(end),
            }
        }
    }
}
