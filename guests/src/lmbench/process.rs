// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lat_proc`: a child that ends, executes a program, or executes a shell that does.

use std::ffi::CStr;
use std::ptr;

use anyhow::{Result, bail};

use crate::kernel;
use crate::timing::{Plan, print};

/// What is executed.
const PROGRAM: &CStr = c"/tmp/hello";

/// Times children of the kind `what`.
pub fn run(plan: &Plan, what: &str) -> Result<()> {
    let (title, child): (_, fn()) = match what {
        "fork" => ("exit", || ()),
        "exec" => ("execve", execute),
        "shell" => ("/bin/sh -c", shell),
        _ => bail!("no process is called {what}"),
    };
    let figure = plan.measure(
        || Ok(()),
        |(), times| {
            for _ in 0..times {
                let pid = kernel::fork()?;
                if pid == 0 {
                    child();
                    kernel::exit(1);
                }
                kernel::wait_for(pid)?;
            }
            Ok(())
        },
    )?;
    print(&format!("Process fork+{title}"), figure);
    Ok(())
}

fn execute() {
    let arguments = [PROGRAM.as_ptr(), ptr::null()];
    let environment = [ptr::null()];
    kernel::close(1);
    // SAFETY: all are terminated.
    unsafe { libc::execve(PROGRAM.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
}

fn shell() {
    let words = [c"sh", c"-c", PROGRAM].map(CStr::as_ptr);
    let arguments = [words[0], words[1], words[2], ptr::null()];
    kernel::close(1);
    // SAFETY: all are terminated.
    unsafe { libc::execv(c"/bin/sh".as_ptr(), arguments.as_ptr()) };
}
