// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks between commands. One that has to wait says at once what for, and who has it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::progress::Step;

/// The kernel's list of locks (proc_locks(5)).
const LOCKS: &str = "/proc/locks";
/// How often a command that waits looks again.
const PAUSE: Duration = Duration::from_millis(200);

/// A file that this command alone has, until the value is dropped.
pub struct Lock {
    _file: Flock<File>,
}

/// Waits until no other command has the lock `path`.
///
/// # Errors
///
/// If the file cannot be created or locked.
pub fn take(path: &Path) -> Result<Lock> {
    loop {
        if let Some(lock) = take_unless(path, || false)? {
            return Ok(lock);
        }
    }
}

/// Waits until no other command has the lock `path`, or until what it was wanted for `is_there`:
/// then there is no lock. So a command does not wait for builds that it has no part in.
///
/// # Errors
///
/// If the file cannot be created or locked.
pub fn take_unless(path: &Path, is_there: impl Fn() -> bool) -> Result<Option<Lock>> {
    let mut step: Option<Step> = None;
    let taken = loop {
        if is_there() {
            break None;
        }
        match tried(path).with_context(|| format!("locking {}", path.display()))? {
            // Who had it may have made just that and gone since the question above.
            Some(lock) => break (!is_there()).then_some(lock),
            None => {
                step.get_or_insert_with(|| Step::spinner(waiting_for(path)));
                thread::sleep(PAUSE);
            }
        }
    };
    if let Some(step) = step {
        step.finish();
    }
    Ok(taken)
}

/// The lock, if it is free.
fn tried(path: &Path) -> io::Result<Option<Lock>> {
    // Opened anew each time: another command may have removed the file.
    let mut options = File::options();
    let file = options
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) => Ok(Some(Lock { _file: file })),
        Err((_, Errno::EWOULDBLOCK | Errno::EINTR)) => Ok(None),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// What a command waits for, in words.
fn waiting_for(path: &Path) -> String {
    let holder = match holder(path) {
        Some(process) => format!("process {process}"),
        None => "another command".to_owned(),
    };
    format!("wait for the lock {}, which {holder} has", path.display())
}

/// Number of the process that has the lock, and what it is called. Nothing where the system does
/// not say so, as for a process of another container.
fn holder(path: &Path) -> Option<String> {
    let process = holder_in(&fs::read_to_string(LOCKS).ok()?, &fs::metadata(path).ok()?)?;
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = words
        .split(|it| *it == 0)
        .map(String::from_utf8_lossy)
        .collect();
    let words = words.join(" ");
    Some(format!("{process} ({})", words.trim()))
}

/// A line is `1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234 0 EOF`: device in hexadecimal and inode
/// behind the process. Those that wait have an arrow behind the number.
fn holder_in(locks: &str, file: &fs::Metadata) -> Option<u32> {
    let device = file.dev();
    let (major, minor) = (nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let place = format!("{major:02x}:{minor:02x}:{}", file.ino());
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, at, ..] = words[..] else {
            return None;
        };
        let process: u32 = process.parse().ok()?;
        (at == place && process != 0).then_some(process)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn what_is_waited_for_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let held = take(&path).expect("the lock");
        let said = waiting_for(&path);
        assert!(said.contains(&path.display().to_string()), "{said}");
        let process = format!("which process {} (", std::process::id());
        assert!(said.contains(&process), "{said}");
        assert!(tried(&path).expect("a file").is_none(), "two have it");
        drop(held);
        assert!(tried(&path).expect("a file").is_some());
    }

    #[test]
    fn what_is_there_by_now_needs_no_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let held = take(&path).expect("the lock");
        let is_there = AtomicBool::new(false);
        thread::scope(|scope| {
            let waits = scope.spawn(|| take_unless(&path, || is_there.load(Ordering::Relaxed)));
            thread::sleep(2 * PAUSE);
            assert!(!waits.is_finished(), "it does not wait");
            is_there.store(true, Ordering::Relaxed);
            let taken = waits.join().expect("no panic").expect("no error");
            assert!(taken.is_none(), "the lock is another command's");
        });
        drop(held);
        let taken = take_unless(&path, || false).expect("no error");
        assert!(taken.is_some());
    }

    #[test]
    fn the_holder_is_the_one_of_this_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        fs::write(&path, "").expect("a file");
        let file = fs::metadata(&path).expect("its data");
        let (major, minor) = (
            nix::sys::stat::major(file.dev()),
            nix::sys::stat::minor(file.dev()),
        );
        let inode = file.ino();
        let locks = format!(
            "1: POSIX  ADVISORY  WRITE 7 {major:02x}:{minor:02x}:{inode} 0 EOF\n\
             2: FLOCK  ADVISORY  WRITE 8 {major:02x}:{minor:02x}:{inode}0 0 EOF\n\
             3: -> FLOCK  ADVISORY  WRITE 9 {major:02x}:{minor:02x}:{inode} 0 EOF\n\
             4: FLOCK  ADVISORY  WRITE 4711 {major:02x}:{minor:02x}:{inode} 0 EOF\n"
        );
        assert_eq!(holder_in(&locks, &file), Some(4711));
        assert_eq!(holder_in(&locks.replace("4711", "0"), &file), None);
        assert_eq!(holder_in("", &file), None);
    }
}
