// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs machines in QEMU, for the host side of Donjon.
//!
//! * [`arguments`]: what a command line says about a machine.
//! * [`board`]: commands on a machine that is reached by its console or by ssh.
//! * [`finding`]: failures that no repetition takes back.
//! * [`fvp`]: Arm's model of a whole machine in place of QEMU.
//! * [`gem5`]: gem5 in place of QEMU, whose TLB is tagged with ASIDs.
//! * [`machine`]: the recipes in `qemu/`, and a machine as asked for.
//! * [`qemu`]: its command line, guests with and without a terminal, its monitor (QMP).
//! * [`gdb`]: a client of its gdb stub.
//! * [`initramfs`]: the archive that a guest starts from, with the command that it runs.
//! * [`process`]: child processes that end with us.
//! * [`said`]: what a command in a guest printed, and its status.
//! * [`terminal`]: the terminal that we run on.
//! * [`tools`]: programs of the host, and the Debian packages that have them.
//! * [`paths`]: where the repository is.
//! * [`port`]: the TCP port of a model's console.

pub mod arguments;
pub mod board;
pub mod finding;
pub mod fvp;
pub mod gdb;
pub mod gem5;
pub mod identity;
pub mod initramfs;
pub mod machine;
pub mod paths;
pub mod port;
pub mod process;
pub mod qemu;
pub mod said;
pub mod terminal;
pub mod tools;
