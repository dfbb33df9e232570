// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of the kernel's constants that devices read: one of the vDSO, which is mapped in every
//! process.

use std::fs::File;
use std::io::{Error, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::slice;

use anyhow::{Context, Result, ensure};
use donjon_guests::memory::PAGE;

/// A user without privileges.
const USER: libc::uid_t = 1000;

/// Writes pages to the disk, and to the peer if there is one, and reads them back.
pub fn transfer(disk: &File, peer: Option<&str>) -> Result<()> {
    // SAFETY: the calls take no pointer.
    let is_user = unsafe { libc::setgid(USER) == 0 && libc::setuid(USER) == 0 };
    ensure!(is_user, "becoming a user: {}", Error::last_os_error());
    let text = (transfer as *const () as usize) & !(PAGE - 1);
    for (what, page) in [("vdso", vdso()?), ("text", page_at(text))] {
        ensure!(page.iter().any(|it| *it != 0), "{what} is empty");
        by_disk(disk, page).with_context(|| format!("{what} by the disk"))?;
        if let Some(peer) = peer {
            by_network(peer, page).with_context(|| format!("{what} by the network"))?;
        }
        println!("{what}: arrived");
    }
    Ok(())
}

fn page_at(address: usize) -> &'static [u8] {
    let start = std::ptr::with_exposed_provenance(address);
    // SAFETY: the callers name pages that are mapped as long as the process lives, and that nothing
    // writes.
    unsafe { slice::from_raw_parts(start, PAGE) }
}

fn vdso() -> Result<&'static [u8]> {
    // SAFETY: the call takes no pointer.
    let address = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
    ensure!(address != 0, "there is no vDSO");
    Ok(page_at(address as usize))
}

/// One page in one request, and twice the page in another one.
fn by_disk(disk: &File, page: &[u8]) -> Result<()> {
    disk.write_all_at(page, 0)?;
    let piece = libc::iovec {
        iov_base: page.as_ptr().cast_mut().cast(),
        iov_len: PAGE,
    };
    let pieces = [piece; 2];
    // SAFETY: both pieces are the page, which is read alone.
    let written = unsafe { libc::pwritev(disk.as_raw_fd(), pieces.as_ptr(), 2, PAGE as i64) };
    ensure!(
        written == 2 * PAGE as isize,
        "two pieces: {written}, {}",
        Error::last_os_error()
    );
    // O_DIRECT wants a buffer that begins at a page.
    let mut buffer = vec![0; 4 * PAGE];
    let start = buffer.as_ptr().align_offset(PAGE);
    let back = &mut buffer[start..start + 3 * PAGE];
    disk.read_exact_at(back, 0)?;
    for (index, it) in back.chunks(PAGE).enumerate() {
        ensure!(it == page, "page {index} on the disk is another one");
    }
    Ok(())
}

/// The page itself is what is sent: nothing copies it.
fn by_network(peer: &str, page: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(peer)?;
    stream.write_all(b"e")?;
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors.
    let made = unsafe { libc::pipe(ends.as_mut_ptr()) };
    ensure!(made == 0, "pipe: {}", Error::last_os_error());
    // SAFETY: both are new, and have no other owner.
    let [from, to] = ends.map(|it| unsafe { OwnedFd::from_raw_fd(it) });
    let piece = libc::iovec {
        iov_base: page.as_ptr().cast_mut().cast(),
        iov_len: PAGE,
    };
    // SAFETY: the piece is the page, which is read alone.
    let given = unsafe { libc::vmsplice(to.as_raw_fd(), &raw const piece, 1, 0) };
    ensure!(
        given == PAGE as isize,
        "vmsplice: {given}, {}",
        Error::last_os_error()
    );
    let (none, socket) = (std::ptr::null_mut(), stream.as_raw_fd());
    // SAFETY: there are no offsets.
    let sent = unsafe { libc::splice(from.as_raw_fd(), none, socket, none, PAGE, 0) };
    ensure!(
        sent == PAGE as isize,
        "splice: {sent}, {}",
        Error::last_os_error()
    );
    stream.shutdown(Shutdown::Write)?;
    let mut back = Vec::new();
    stream.read_to_end(&mut back)?;
    ensure!(back == page, "{} other bytes came back", back.len());
    Ok(())
}
