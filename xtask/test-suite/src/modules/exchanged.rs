// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules of a kernel with the protection in one without it, and the other way round: structures
//! differ, so each kernel refuses them by their version magic.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::guest;
use donjon_builder::run::{Parts, prepare};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::{Said, says};

use crate::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
/// A module that both kernels have.
const MODULE: &str = "loop";
/// The word at the end of the version magic of the protected kernel's modules.
const MARK: &[u8] = b"aarch64 donjon\0";
/// The end of that version magic without the word, in as many bytes.
const WITHOUT: &[u8] = b"aarch64\0\0\0\0\0\0\0\0";
/// Inserts the module of the other kernel, then that of this one.
const SCRIPT: &str = "\
if insmod /lib/modules/other.ko; then echo other: in; else echo other: refused; fi
insmod /lib/modules/loop.ko && echo own: in
dmesg | grep 'loop: version magic'
exit 0
";

/// The protected kernel and a module whose version magic is the native kernel's.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("modules:other-magic", move || {
        let parts = parts(&host, Switch::Asid)?;
        let mut other = module(&parts)?;
        let found = other.windows(MARK.len()).position(|it| it == MARK);
        let place = found.context("the version magic does not end with the word donjon")?;
        other[place..place + WITHOUT.len()].copy_from_slice(WITHOUT);
        refuses(&parts, &other)
    })
}

/// The two kernels with each other's module; by name, because it needs the native kernel.
pub fn with_native(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("modules:exchanged", move || {
        let [protected, native] = [parts(&host, Switch::Asid)?, parts(&host, Switch::None)?];
        refuses(&protected, &module(&native)?)?;
        refuses(&native, &module(&protected)?)
    })
    .long()
}

fn parts(host: &HostArguments, switch: Switch) -> Result<Parts> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(1),
        memory: Some("256M".into()),
        ..MachineArguments::virt(switch)
    })?;
    prepare(host, machine, &InnerVariant::sound(switch))
}

fn module(parts: &Parts) -> Result<Vec<u8>> {
    let path = parts.kernel.modules.join(format!("{MODULE}.ko"));
    fs::read(&path).with_context(|| format!("reading {}", path.display()))
}

/// A guest refuses `other` by its version magic, goes on, and takes its own module.
fn refuses(parts: &Parts, other: &[u8]) -> Result<()> {
    let mut boot = parts.boot.clone();
    boot.initramfs = guest::with_file(&boot.initramfs, "lib/modules/other.ko", other)?;
    let said: Said = says(&boot, SCRIPT, TIMEOUT)?;
    said.expect_success()?;
    said.expect_line("other: refused")?;
    said.expect_line("own: in")?;
    let magic = "loop: version magic '";
    ensure!(
        said.text.contains(magic),
        "no word of the version magic:\n{}",
        said.text
    );
    Ok(())
}
