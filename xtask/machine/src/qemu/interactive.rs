// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a guest on the terminal.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use anyhow::{Result, bail};

use super::Boot;
use super::scratch::Scratch;
use crate::paths;
use crate::process::Running;

/// Where debug information says that our sources are, wherever they were built.
pub const SOURCES: &str = "donjon";

/// Files that gdb takes symbols from.
pub struct Symbols<'a> {
    /// Linux.
    pub vmlinux: &'a Path,
    /// The inner domain and the boot stage, if there are any.
    pub bare: Option<(&'a Path, &'a Path)>,
}

/// Boots to a shell; with `gdb` waits for a debugger first.
///
/// # Errors
///
/// If QEMU cannot be started or fails.
pub fn interactive(boot: &Boot, gdb: Option<&Symbols<'_>>) -> Result<()> {
    let scratch = Scratch::new()?;
    let initrd = scratch.join("initrd");
    fs::write(&initrd, &boot.initramfs)?;
    // Warnings and worse: the first screen belongs to the inner domain.
    let mut command = boot.command(&initrd, "loglevel=4")?;
    command.args(["-chardev", "stdio,id=console,mux=on,signal=off"]);
    boot.add_serial_ports(&mut command, false);
    command.args(["-mon", "chardev=console"]);
    if let Some(symbols) = gdb {
        let port = free_port()?;
        command.args(["-S", "-gdb", &format!("tcp:127.0.0.1:{port}")]);
        print_gdb_line(port, symbols);
    }
    let status = Running::start_in_foreground(&mut command)?.wait()?;
    if !status.success() {
        bail!("QEMU failed ({status}); its message stands above");
    }
    Ok(())
}

fn print_gdb_line(port: u16, symbols: &Symbols<'_>) {
    eprintln!("QEMU waits for gdb. In another terminal:\n");
    eprint!(
        "  gdb-multiarch -ex 'set confirm off' {}",
        symbols.vmlinux.display()
    );
    if let Some((inner, _)) = symbols.bare {
        let root = paths::root();
        eprint!(" -ex 'set substitute-path {SOURCES} {}'", root.display());
        eprint!(" -ex 'add-symbol-file {}'", inner.display());
    }
    eprintln!(" -ex 'target remote 127.0.0.1:{port}'\n");
    eprintln!("To end it: `kill` in gdb, or Ctrl-A X here.\n");
    if let Some((_, boot)) = symbols.bare {
        eprintln!(
            "The boot stage runs where the machine loads it; once pc shows where that is:\n  \
             add-symbol-file {} -o ADDRESS-OF-ITS-FIRST-BYTE\n",
            boot.display()
        );
    }
}

/// gdb's usual port, or any other that is free.
fn free_port() -> Result<u16> {
    let listener =
        TcpListener::bind(("127.0.0.1", 1234)).or_else(|_| TcpListener::bind(("127.0.0.1", 0)))?;
    Ok(listener.local_addr()?.port())
}
