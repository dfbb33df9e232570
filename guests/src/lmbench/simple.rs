// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lat_syscall`: simple system calls.

use std::ffi::CString;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result, bail, ensure};

use crate::kernel;
use crate::timing::{Plan, print};

/// Times the call `what`, which has to do with `file` if it has to do with one.
pub fn run(plan: &Plan, what: &str, file: &str) -> Result<()> {
    let path = CString::new(file)?;
    let open = |file: &str| File::open(file).with_context(|| file.to_owned());
    let (title, figure) = match what {
        "null" => ("syscall", each(plan, || kernel::parent() >= 0)?),
        "read" => {
            let zero = open("/dev/zero")?;
            let mut byte = [0];
            let read = || kernel::read(zero.as_raw_fd(), &mut byte) == 1;
            ("read", each(plan, read)?)
        }
        "write" => {
            let null = File::create("/dev/null").context("/dev/null")?;
            let write = || kernel::write(null.as_raw_fd(), &[0]) == 1;
            ("write", each(plan, write)?)
        }
        "stat" => {
            let mut status = zeroed();
            let stat = || kernel::stat(&path, &mut status) == 0;
            ("stat", each(plan, stat)?)
        }
        "fstat" => {
            let file = open(file)?;
            let mut status = zeroed();
            let fstat = || kernel::fstat(file.as_raw_fd(), &mut status) == 0;
            ("fstat", each(plan, fstat)?)
        }
        "open" => {
            let open_close = || kernel::close(kernel::open(&path) as i32) == 0;
            ("open/close", each(plan, open_close)?)
        }
        _ => bail!("no system call is called {what}"),
    };
    print(&format!("Simple {title}"), figure);
    Ok(())
}

fn zeroed() -> libc::stat {
    // SAFETY: any bit pattern is a status.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[inline(always)]
fn each(plan: &Plan, mut call: impl FnMut() -> bool) -> Result<f64> {
    plan.measure(
        || Ok(()),
        |(), times| {
            for _ in 0..times {
                ensure!(call(), "the call fails");
            }
            Ok(())
        },
    )
}
