// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many filters of users without a capability, held until their processes are killed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

use anyhow::{Context, Result, ensure};
use nix::unistd::{ForkResult, Gid, Uid, fork, pause, setresgid, setresuid};

use crate::areas::seccomp;

/// Who owns nothing and may nothing.
const NOBODY: u32 = 65534;

/// Starts processes of a user without a capability, each of which installs filters of one
/// instruction, and prints how many were installed and who holds them.
pub fn run(processes: u64, times: u64) -> Result<()> {
    let mut holders = Vec::new();
    for _ in 0..processes {
        let (reader, writer) = std::io::pipe()?;
        // SAFETY: there is one thread, so the child has every lock of the parent.
        match unsafe { fork() }.context("fork")? {
            ForkResult::Parent { child } => {
                drop(writer);
                // SAFETY: a descriptor that has no other owner any more.
                let words = unsafe { File::from_raw_fd(reader.into_raw_fd()) };
                holders.push((child, words));
            }
            ForkResult::Child => {
                drop(reader);
                let status = hold(times, writer);
                eprintln!("donjon-load: {status:?}");
                // SAFETY: ends the process; nothing of the parent's is run or flushed.
                unsafe { libc::_exit(1) }
            }
        }
    }
    let mut installed = 0;
    let mut names = String::new();
    for (holder, mut words) in holders {
        let mut count = [0; 8];
        words.read_exact(&mut count).context("a holder ended")?;
        installed += u64::from_le_bytes(count);
        names.push_str(&format!(" {holder}"));
    }
    ensure!(installed > 0, "no filter was installed");
    println!("filters: {installed} installed");
    println!("holders:{names}");
    Ok(())
}

/// Installs filters, says how many to the parent, and stays.
fn hold(times: u64, mut writer: std::io::PipeWriter) -> Result<()> {
    let nothing = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    for stream in 0..3 {
        // SAFETY: two descriptors that are open; whoever waits for the end of the streams need not
        // wait for this process.
        unsafe { libc::dup2(nothing.as_raw_fd(), stream) };
    }
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    setresgid(group, group, group)?;
    setresuid(user, user, user)?;
    let installed = (0..times)
        .take_while(|_| seccomp::install_shortest().is_ok())
        .count() as u64;
    writer.write_all(&installed.to_le_bytes())?;
    drop(writer);
    loop {
        pause();
    }
}
