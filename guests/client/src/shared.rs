// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of this process that a compartment shares.

use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use donjon_compartment_image::PAGE;

use crate::Error;

/// Whole pages, zero at the beginning. A child of this process would have the same pages and not
/// copies of them: the compartment goes on to use them.
pub struct Shared {
    start: NonNull<u8>,
    size: usize,
}

impl Shared {
    /// Allocates `size` bytes, up to the next multiple of 4096; 0 for none.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    pub fn new(size: usize) -> Result<Self, Error> {
        let failed = |cause| Error::new("making pages to share", cause);
        let size = size
            .checked_next_multiple_of(PAGE as usize)
            .ok_or_else(|| failed(io::ErrorKind::OutOfMemory.into()))?;
        if size == 0 {
            let start = NonNull::dangling();
            return Ok(Self { start, size });
        }
        // SAFETY: a new mapping, where there was none.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        match NonNull::new(start.cast()) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { start, size }),
            _ => Err(failed(io::Error::last_os_error())),
        }
    }

    /// Where they are in this process, an address.
    pub fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// How many bytes they are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What is in them.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is this object's, and borrowed as the slice is. A compartment changes
        // it only while it runs, and the host that shares the pages promises to use no slice then.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.size > 0 {
            // SAFETY: the mapping is this object's, and nothing refers to it any more. Pages that
            // a compartment uses stay pinned.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
        }
    }
}
