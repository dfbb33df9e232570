// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts calls into the inner domain per operation.

use std::collections::HashMap;
use std::fs;
use std::io::{Error, Result, Write};
use std::process::ExitCode;

use donjon_guests::stats::{Column, counters};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::counter::CpuCounter;

const PAGE: usize = 4096;
const MIB: usize = 1 << 20;
/// Times that each operation is repeated; the figures are means.
const REPETITIONS: u64 = 30;

/// Calls that fill the tables of a process.
const FILLING: [&str; 2] = ["map", "map_block"];
/// Calls that empty them, in part or as a whole.
const EMPTYING: [&str; 4] = ["flush", "refresh", "clear", "free"];
/// Calls that change tables.
const CHANGING: [&str; 10] = [
    "map",
    "map_block",
    "flush",
    "refresh",
    "clear",
    "free",
    "table_write",
    "table_write_list",
    "table_release",
    "switch_root",
];

/// Measures every operation and prints one line for each.
pub fn run() -> ExitCode {
    // While it is open the cycle counter runs, so that the inner domain can count instructions. It
    // runs on one CPU, so everything stays there.
    if let Err(error) = stay_on_cpu_0() {
        eprintln!("donjon-bench: cannot stay on CPU 0: {error}");
        return ExitCode::FAILURE;
    }
    let counter = CpuCounter::start();
    if let Err(error) = &counter {
        eprintln!("donjon-bench: no cycle counter, hence no instructions: {error}");
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("donjon-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn stay_on_cpu_0() -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(0)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

fn measure() -> Result<()> {
    println!("# operation NAME: calls maps flushes switches instructions");
    each("fork+exit", fork_and_exit)?;
    each("fork+exec", fork_and_exec)?;
    each("pipe ping-pong", ping_pong)?;
    let anonymous = || touch_and_unmap(&map(32 * MIB, None)?, true);
    each("mmap 32 MiB anonymous, touch, munmap", anonymous)?;
    let file = fs::File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open("/tmp/bench")?;
    file.set_len(32 * MIB as u64)?;
    let of_file = || touch_and_unmap(&map(32 * MIB, Some(&file))?, false);
    of_file()?;
    each("mmap 32 MiB file, touch, munmap", of_file)?;
    let mapping = map(8 * MIB, None)?.in_small_pages()?;
    // Written each time: otherwise what was emptied once stays empty.
    each("write 8 MiB, mprotect twice", || {
        mapping.touch(true);
        mapping.protect_twice()
    })?;
    each("write 8 MiB, fork+exit", || {
        mapping.touch(true);
        fork_and_exit()
    })?;
    Ok(())
}

fn each(name: &str, operation: impl Fn() -> Result<()>) -> Result<()> {
    operation()?;
    let read = || Ok::<_, Error>([counters(Column::Calls)?, counters(Column::Instructions)?]);
    let before = read()?;
    for _ in 0..REPETITIONS {
        operation()?;
    }
    let after = read()?;
    let mean = |which: usize, function: &str| {
        let of = |table: &HashMap<String, u64>| table.get(function).copied().unwrap_or(0);
        (of(&after[which]) - of(&before[which])) as f64 / REPETITIONS as f64
    };
    let sum = |which: usize, functions: &[&str]| -> f64 {
        functions.iter().map(|it| mean(which, it)).sum()
    };
    println!(
        "operation {name}: {:.1} {:.1} {:.1} {:.1} {:.0}",
        sum(0, &CHANGING),
        sum(0, &FILLING),
        sum(0, &EMPTYING),
        mean(0, "switch_root"),
        sum(1, &CHANGING),
    );
    let mut functions: Vec<_> = after[0].keys().collect();
    functions.sort_unstable();
    for function in functions {
        let (calls, instructions) = (mean(0, function), mean(1, function));
        if calls >= 0.5 {
            let each = instructions / calls;
            println!(
                "#   {function}: {calls:.1} calls, {instructions:.0} instructions, {each:.0} each"
            );
        }
    }
    std::io::stdout().flush()
}

/// What a failed system call left.
fn check(result: i64) -> Result<i64> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn fork_and_exit() -> Result<()> {
    child(|| {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) }
    })
}

fn fork_and_exec() -> Result<()> {
    child(|| {
        let program = c"/bin/busybox".as_ptr();
        let arguments = [c"true".as_ptr(), std::ptr::null()];
        // SAFETY: both are null-terminated; on failure the child ends.
        unsafe {
            libc::execv(program, arguments.as_ptr());
            libc::_exit(1)
        }
    })
}

fn child(run: impl FnOnce()) -> Result<()> {
    // SAFETY: this program has one thread, so the child may go on as it likes.
    let pid = check(unsafe { libc::fork() }.into())?;
    if pid == 0 {
        run();
    }
    let mut status = 0;
    // SAFETY: the child is ours and the status a local variable.
    check(unsafe { libc::waitpid(pid as i32, &raw mut status, 0) }.into())?;
    if status == 0 {
        Ok(())
    } else {
        Err(Error::other(format!(
            "a child ended with status {status:#x}"
        )))
    }
}

fn ping_pong() -> Result<()> {
    const ROUNDS: usize = 100;
    let (mut to, mut from) = ([0; 2], [0; 2]);
    // SAFETY: both arrays have room for two descriptors.
    check(unsafe { libc::pipe(to.as_mut_ptr()) }.into())?;
    // SAFETY: this array has room for two descriptors.
    check(unsafe { libc::pipe(from.as_mut_ptr()) }.into())?;
    let pass = |read: i32, write: i32| {
        let mut byte = 0_u8;
        // SAFETY: one byte into and out of a local variable.
        unsafe {
            libc::read(read, (&raw mut byte).cast(), 1);
            libc::write(write, (&raw const byte).cast(), 1);
        }
    };
    // SAFETY: this program has one thread, so the child may do what it likes.
    let pid = check(unsafe { libc::fork() }.into())?;
    if pid == 0 {
        for _ in 0..ROUNDS {
            pass(to[0], from[1]);
        }
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) }
    }
    // SAFETY: one byte from a constant.
    unsafe { libc::write(to[1], [0_u8].as_ptr().cast(), 1) };
    for _ in 1..ROUNDS {
        pass(from[0], to[1]);
    }
    let mut status = 0;
    // SAFETY: the child is ours; the descriptors are open and closed once.
    unsafe {
        check(libc::waitpid(pid as i32, &raw mut status, 0).into())?;
        for descriptor in to.into_iter().chain(from) {
            libc::close(descriptor);
        }
    }
    Ok(())
}

/// A private mapping of this process.
struct Mapping {
    start: *mut u8,
    size: usize,
}

fn map(size: usize, file: Option<&fs::File>) -> Result<Mapping> {
    use std::os::fd::AsRawFd;
    let (flags, descriptor) = match file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, descriptor, 0) };
    if start == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    Ok(Mapping {
        start: start.cast(),
        size,
    })
}

impl Mapping {
    fn touch(&self, write: bool) {
        for offset in (0..self.size).step_by(PAGE) {
            // SAFETY: within the mapping.
            unsafe {
                let at = self.start.add(offset);
                if write {
                    at.write_volatile(1);
                } else {
                    at.read_volatile();
                }
            }
        }
    }

    /// Never in huge pages.
    fn in_small_pages(self) -> Result<Self> {
        // SAFETY: advice about the whole mapping.
        let result = unsafe { libc::madvise(self.start.cast(), self.size, libc::MADV_NOHUGEPAGE) };
        check(result.into()).map(|_| self)
    }

    fn protect_twice(&self) -> Result<()> {
        for protection in [libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE] {
            // SAFETY: the whole mapping, which nothing refers to meanwhile.
            check(unsafe { libc::mprotect(self.start.cast(), self.size, protection) }.into())?;
        }
        Ok(())
    }
}

fn touch_and_unmap(mapping: &Mapping, write: bool) -> Result<()> {
    mapping.touch(write);
    // SAFETY: the whole mapping, which nothing refers to afterwards.
    check(unsafe { libc::munmap(mapping.start.cast(), mapping.size) }.into()).map(|_| ())
}
