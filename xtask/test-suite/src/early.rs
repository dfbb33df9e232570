// SPDX-License-Identifier: MIT OR Apache-2.0
//! No program of the initramfs runs before the hand-over: it could load a module, which would be
//! code at EL1 while nothing is protected. Without the inner domain one does.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::initramfs;
use donjon_machine::machine::Machine;
use donjon_machine::qemu;

use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
/// Kernel parameters without an init, so that Linux looks for a root file system, of a type that it
/// asks modprobe for. It does so before the hand-over.
const WITHOUT_INIT: &str = "rdinit=/none root=/dev/vda rootfstype=unheard-of";
/// Shell command with which a guest with an init asks modprobe for a file system.
const MOUNT: &str = "mount -t unheard-of none /mnt";
/// Where Linux has modprobe.
const MODPROBE: &str = "/sbin/modprobe";
const SAYS: &str = "modprobe runs";
/// What Linux ends with where modprobe did not run.
const NO_ROOT: &str = "Unable to mount root fs";

/// Over the inner domain, and the control without it.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let (over, without) = (host.clone(), host.clone());
    vec![
        Test::beside("early-program", move || {
            let early = console(&over, Switch::Asid, WITHOUT_INIT)?;
            if early.contains(SAYS) {
                return Err(Finding::Attack.error(format!("it runs:\n{early}")));
            }
            ensure!(early.contains(NO_ROOT), "Linux ended early:\n{early}");
            // The same program, asked for by the same kernel behind the hand-over.
            let late = console(&over, Switch::Asid, "")?;
            ensure!(late.contains(SAYS), "it never runs:\n{late}");
            Ok(())
        })
        .holds(&["P6"]),
        Test::beside("early-program:control", move || {
            let console = console(&without, Switch::None, WITHOUT_INIT)?;
            ensure!(console.contains(SAYS), "it does not run:\n{console}");
            Ok(())
        })
        .holds(&["P6"])
        .long(),
    ]
}

/// The end of the console of a Linux that asks for the module of a file system, before there is an
/// init or in a command.
fn console(host: &HostArguments, switch: Switch, words: &str) -> Result<String> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(1),
        memory: Some("256M".into()),
        append: Some(words.into()),
        ..MachineArguments::virt(switch)
    })?;
    let mut boot = prepare(host, machine, &InnerVariant::sound(switch))?.boot;
    let script = format!(
        "#!/bin/busybox sh\n/bin/busybox mount -t devtmpfs devtmpfs /dev\n\
         echo {SAYS} >/dev/kmsg\n/bin/busybox sleep 1\n/bin/busybox poweroff -f\n"
    );
    let program = [(MODPROBE.to_owned(), script.into_bytes())];
    boot.initramfs = initramfs::with_programs(&boot.initramfs, &program)?;
    match qemu::exec(&boot, MOUNT, TIMEOUT, |_, _| ()) {
        Ok(status) => bail!("modprobe did not run: the command ended with {status}"),
        Err(error) => Ok(format!("{error:#}")),
    }
}
