// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mappings whose contents are known, so that a wrong page is noticed.

use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use anyhow::{Context, Result, ensure};

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Bytes that one table of the last level maps.
pub const TABLE_SPAN: usize = 512 * PAGE;

/// Words of a page that carry a stamp: its ends and one in between.
const STAMPED: [usize; 3] = [0, 77, 511];

/// A mapping of ours, unmapped when dropped.
pub struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: all accesses are volatile and of single words; threads that share a mapping agree on
// who writes which page.
unsafe impl Send for Mapping {}
// SAFETY: all accesses are volatile and of single words; threads that share a mapping agree on who
// writes which page.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Private anonymous memory.
    pub fn anonymous(bytes: usize) -> Result<Self> {
        Self::map(0, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, None)
    }

    /// Private anonymous memory without a promise that it is there, in pages of 4 KiB.
    pub fn reserved(bytes: usize) -> Result<Self> {
        Self::sparse(0, bytes, 0)
    }

    /// Private anonymous memory without such a promise at `address`, which must be free.
    pub fn at(address: usize, bytes: usize) -> Result<Self> {
        Self::sparse(address, bytes, libc::MAP_FIXED_NOREPLACE)
    }

    fn sparse(address: usize, bytes: usize, flags: i32) -> Result<Self> {
        let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let mapping = Self::map(address, bytes, flags, None)?;
        // One touched page of many is to be one page. A kernel without huge ones refuses.
        let _ = mapping.advise(libc::MADV_NOHUGEPAGE);
        Ok(mapping)
    }

    /// Anonymous memory that children share.
    pub fn shared(bytes: usize) -> Result<Self> {
        Self::map(0, bytes, libc::MAP_SHARED | libc::MAP_ANONYMOUS, None)
    }

    /// The beginning of a file, shared with it.
    pub fn of_file(file: BorrowedFd<'_>, bytes: usize) -> Result<Self> {
        Self::map(0, bytes, libc::MAP_SHARED, Some(file))
    }

    /// The beginning of a file; writes stay here.
    pub fn private_of_file(file: BorrowedFd<'_>, bytes: usize) -> Result<Self> {
        Self::map(0, bytes, libc::MAP_PRIVATE, Some(file))
    }

    /// `count` huge pages of `size` bytes, of those that are reserved.
    pub fn huge(size: usize, count: usize, flags: i32) -> Result<Self> {
        let size_flag = (size.ilog2() as i32) << libc::MAP_HUGE_SHIFT;
        let flags = flags | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB | size_flag;
        Self::map(0, count * size, flags, None)
    }

    fn map(address: usize, bytes: usize, flags: i32, file: Option<BorrowedFd<'_>>) -> Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let file = file.map_or(-1, |it| it.as_raw_fd());
        // SAFETY: a new mapping; MAP_FIXED without NOREPLACE is never among the flags.
        let start = unsafe {
            libc::mmap(
                ptr::without_provenance_mut(address),
                bytes,
                protection,
                flags,
                file,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error()).context("mmap");
        }
        let start = start.cast();
        Ok(Self { start, bytes })
    }

    /// The address of the first byte.
    pub fn address(&self) -> usize {
        self.start.addr()
    }

    /// The first byte, for calls that take a buffer.
    pub fn pointer(&self) -> *mut u8 {
        self.start
    }

    /// Size of the mapping in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Size of the mapping in pages.
    pub fn pages(&self) -> usize {
        self.bytes / PAGE
    }

    /// A word of it.
    pub fn read(&self, word: usize) -> u64 {
        assert!(word < self.bytes / 8);
        // SAFETY: inside the mapping and aligned; a page that may not be read ends the process.
        unsafe { self.start.cast::<u64>().add(word).read_volatile() }
    }

    /// Changes a word of it.
    pub fn write(&self, word: usize, value: u64) {
        assert!(word < self.bytes / 8);
        // SAFETY: inside the mapping and aligned; a page that may not be written ends the process.
        unsafe { self.start.cast::<u64>().add(word).write_volatile(value) };
    }

    /// Writes what [`Mapping::check_page`] expects to find.
    pub fn stamp_page(&self, page: usize, seed: u64) {
        for word in STAMPED {
            self.write(page * 512 + word, stamp(seed, page, word));
        }
    }

    /// Fails unless the page holds its stamps.
    pub fn check_page(&self, page: usize, seed: u64) -> Result<()> {
        for word in STAMPED {
            let found = self.read(page * 512 + word);
            let expected = stamp(seed, page, word);
            ensure!(
                found == expected,
                "word {word} of page {page} is {found:#x}, not {expected:#x}"
            );
        }
        Ok(())
    }

    /// Stamps every page.
    pub fn stamp(&self, seed: u64) {
        (0..self.pages()).for_each(|page| self.stamp_page(page, seed));
    }

    /// Checks every page.
    pub fn check(&self, seed: u64) -> Result<()> {
        (0..self.pages()).try_for_each(|page| self.check_page(page, seed))
    }

    /// Keeps all of it in memory, and puts it there.
    pub fn lock(&self) -> Result<()> {
        // SAFETY: changes where the pages are, not what they hold.
        let failed = unsafe { libc::mlock(self.start.cast(), self.bytes) };
        ensure!(failed == 0, "mlock: {}", Error::last_os_error());
        Ok(())
    }

    /// mprotect of some of its pages.
    pub fn protect(&self, first: usize, pages: usize, protection: i32) -> Result<()> {
        assert!(first + pages <= self.pages());
        // SAFETY: pages of this mapping. An access against the new protection ends in a signal.
        let failed = unsafe {
            libc::mprotect(
                self.start.add(first * PAGE).cast(),
                pages * PAGE,
                protection,
            )
        };
        ensure!(failed == 0, "mprotect: {}", Error::last_os_error());
        Ok(())
    }

    /// madvise of all of it.
    pub fn advise(&self, advice: i32) -> Result<()> {
        // SAFETY: this mapping; advice that drops contents is what the caller tests.
        let failed = unsafe { libc::madvise(self.start.cast(), self.bytes, advice) };
        ensure!(failed == 0, "madvise {advice}: {}", Error::last_os_error());
        Ok(())
    }

    /// Moves the mapping to an address that is free, and gives it another size.
    pub fn move_to(&mut self, address: usize, bytes: usize) -> Result<()> {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let target: *mut libc::c_void = ptr::without_provenance_mut(address);
        // SAFETY: the callers keep the target free. The old place is gone afterwards, and so is
        // the pointer to it.
        let moved = unsafe { libc::mremap(self.start.cast(), self.bytes, bytes, flags, target) };
        ensure!(
            moved != libc::MAP_FAILED,
            "mremap to {address:#x}: {}",
            Error::last_os_error()
        );
        self.start = moved.cast();
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// A value that no other page, seed or word has.
fn stamp(seed: u64, page: usize, word: usize) -> u64 {
    let mixed = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add((page as u64) << 16 | word as u64);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1
}
