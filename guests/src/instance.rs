// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compartment that was made from an image, with the pages that it shares.

use std::io;

use anyhow::{Context, Result, anyhow};
use donjon_compartment_image::{Image, PAGE, SHARED};

use crate::device::{Compartment, Exit};
use crate::shared::Shared;

/// A compartment and its shared pages, which it has at [`SHARED`].
pub struct Instance {
    compartment: Compartment,
    shared: Shared,
}

impl Instance {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// If the device is missing or refuses; the message says what to do.
    pub fn new(image: &Image<'_>) -> Result<Self> {
        let compartment = Compartment::create(image.limit).map_err(explain)?;
        for page in image.pages() {
            compartment
                .add(page.va, &page.bytes, page.access)
                .map_err(explain)
                .with_context(|| format!("adding the page at {:#x}", page.va))?;
        }
        let bytes = image.shared_pages * PAGE;
        let shared = Shared::new(bytes as usize).context("making pages to share")?;
        if bytes > 0 {
            compartment
                .share(SHARED, shared.address(), bytes)
                .map_err(explain)
                .context("sharing pages")?;
        }
        compartment
            .seal(image.entry, image.stack)
            .map_err(explain)
            .context("sealing")?;
        Ok(Self {
            compartment,
            shared,
        })
    }

    /// The compartment alone.
    pub fn compartment(&self) -> &Compartment {
        &self.compartment
    }

    /// The pages that it shares.
    pub fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Makes a call and serves what it asks for, until it is over: how it ended. `answer` gets the
    /// word and the shared pages.
    ///
    /// # Errors
    ///
    /// If the device refuses to run it, which it does once it is dead.
    pub fn serve(
        &mut self,
        mut arguments: [u64; 4],
        mut answer: impl FnMut(u64, &mut [u8]) -> u64,
    ) -> Result<Exit> {
        loop {
            match self.compartment.run(arguments).context("running")? {
                // The call goes on with what it had.
                Exit::Interrupted => {}
                Exit::CalledOut(word) => {
                    arguments = [answer(word, self.shared.bytes()), 0, 0, 0];
                }
                end => return Ok(end),
            }
        }
    }
}

/// What an error of the device means.
fn explain(error: io::Error) -> anyhow::Error {
    let advice = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => "/dev/donjon/compartment is root's: run this as root",
        Some(libc::ENOENT) => {
            "there is no /dev/donjon/compartment: this Linux does not run over Donjon"
        }
        Some(libc::ENODEV) => "the inner domain does not protect this Linux",
        Some(libc::EDQUOT) => "the limit of the image is too small for what it begins with",
        Some(libc::ENOMEM) => "Linux has no memory for a compartment",
        _ => return error.into(),
    };
    anyhow!("{advice} ({error})")
}
