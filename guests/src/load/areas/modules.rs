// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel modules: loading, running and unloading them.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Error;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::child::skip;

const PLACE: &str = "/lib/modules";

fn path(name: &str) -> PathBuf {
    Path::new(PLACE).join(format!("{name}.ko"))
}

/// Inserts a module of the guest.
pub fn insert(name: &str, parameters: &str) -> Result<(), Error> {
    let file = File::open(path(name))?;
    let parameters = CString::new(parameters)?;
    // SAFETY: a descriptor, a string that ends with a zero byte, no flags.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_finit_module,
            file.as_raw_fd(),
            parameters.as_ptr(),
            0,
        )
    };
    (failed == 0).then_some(()).ok_or_else(Error::last_os_error)
}

/// Removes a module, by the name in `/proc/modules`.
pub fn remove(name: &str) -> Result<()> {
    let text = CString::new(name)?;
    // SAFETY: a string that ends with a zero byte.
    let failed = unsafe { libc::syscall(libc::SYS_delete_module, text.as_ptr(), libc::O_NONBLOCK) };
    ensure!(failed == 0, "removing {name}: {}", Error::last_os_error());
    Ok(())
}

fn loaded(name: &str) -> Result<bool> {
    let text = fs::read_to_string("/proc/modules")?;
    Ok(text.lines().any(|it| it.split(' ').next() == Some(name)))
}

/// What the kernel has printed and kept.
fn kernel_log() -> Result<String> {
    let mut bytes = vec![0u8; 1 << 20];
    // 3 reads everything.
    // SAFETY: a buffer and its size.
    let count = unsafe { libc::klogctl(3, bytes.as_mut_ptr().cast(), bytes.len() as i32) };
    ensure!(count >= 0, "klogctl: {}", Error::last_os_error());
    bytes.truncate(count.cast_unsigned() as usize);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Leaves the area out where the kernel was built without one of these modules.
pub fn need(names: &[&str]) -> Result<()> {
    match names.iter().find(|it| !path(it).exists()) {
        Some(name) => Err(skip(&format!("no module {name}"))),
        None => Ok(()),
    }
}

/// A module by itself, one that uses another and flips its branches, a driver; again and again.
pub fn load_and_unload() -> Result<()> {
    const PAIR: [&str; 2] = ["test_static_key_base", "test_static_keys"];
    need(&["test_module", "loop", PAIR[0], PAIR[1]])?;
    for round in 0..6 {
        for name in ["test_module", PAIR[0], PAIR[1], "loop"] {
            insert(name, "").with_context(|| format!("inserting {name}, round {round}"))?;
            ensure!(loaded(name)?, "{name} is not in /proc/modules");
        }
        ensure!(
            Path::new("/dev/loop0").exists(),
            "the driver made no device"
        );
        ensure!(remove(PAIR[0]).is_err(), "a module in use was removed");
        for name in ["loop", PAIR[1], PAIR[0], "test_module"] {
            remove(name)?;
            ensure!(!loaded(name)?, "{name} is still in /proc/modules");
        }
    }
    ensure!(
        kernel_log()?.contains("Hello, world"),
        "test_module said nothing"
    );
    not_a_module()
}

/// Loads and removes one module, by one process at a time.
pub fn load_one(number: u64) -> Result<()> {
    let name = ["test_static_key_base", "loop"][number as usize % 2];
    // The lock goes with the file.
    let file = File::open(path(name)).with_context(|| format!("no module {name}"))?;
    file.lock()?;
    insert(name, "").with_context(|| format!("inserting {name}"))?;
    remove(name)
}

/// Half a module is refused, and nothing stays of it.
fn not_a_module() -> Result<()> {
    let bytes = fs::read(path("test_module"))?;
    let parameters = CString::default();
    // SAFETY: a buffer and its size, and a string that ends with a zero byte.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_init_module,
            bytes.as_ptr(),
            bytes.len() / 2,
            parameters.as_ptr(),
        )
    };
    ensure!(failed != 0, "half a module was loaded");
    ensure!(!loaded("test_module")?, "half a module stayed");
    Ok(())
}

/// The kernel's own test modules: BPF's compiler, and vmalloc from two threads.
pub fn kernel_tests() -> Result<()> {
    need(&["test_bpf", "test_vmalloc"])?;
    insert("test_bpf", "test_suite=test_bpf test_range=0,300").context("test_bpf")?;
    remove("test_bpf")?;
    let log = kernel_log()?;
    let summary = |mark: &str| {
        log.lines()
            .rev()
            .find(|it| it.contains(mark))
            .map(str::to_owned)
    };
    let line = summary("test_bpf: Summary:").context("test_bpf printed no summary")?;
    ensure!(line.contains(", 0 FAILED"), "{line}");

    // All but align_shift_alloc_test (64), which is there to fail, and full_fit_alloc_test (2), of
    // which each thread takes 64 MiB and more for every doubling of CPUs. pcpu_alloc_test (128)
    // takes 18 MiB for each CPU, so it runs in one thread, after the others.
    vmalloc_tests(2, 0x7ff & !64 & !2 & !128)?;
    vmalloc_tests(1, 128)?;
    let log = kernel_log()?;
    let lines: Vec<&str> = log.lines().filter(|it| it.contains("Summary: ")).collect();
    let results: Vec<&&str> = lines.iter().filter(|it| it.contains(" passed: ")).collect();
    ensure!(!results.is_empty(), "test_vmalloc printed no summary");
    for line in results {
        ensure!(line.contains("failed: 0"), "{line}");
    }
    Ok(())
}

/// Runs the tests of `test_vmalloc` whose bits are set. The module refuses to stay, whatever its
/// result.
fn vmalloc_tests(threads: u32, mask: u32) -> Result<()> {
    let parameters = format!("nr_threads={threads} run_test_mask={mask} test_loop_count=100");
    match insert("test_vmalloc", &parameters) {
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(()),
        other => bail!("test_vmalloc ended with {other:?}"),
    }
}
