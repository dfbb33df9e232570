// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every forged table geometry over the tables of a running guest.
//!
//! The host tests do the same over a model; this looks at what boot stage and Linux really built.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::layout::{
    GATE, GATE_ENTRY, GATE_ENTRY_WRITE, GATE_REPAIR, PAGE_SIZE, ROOT_PAGE, TABLE_BLOCK_SIZE,
};
use donjon_abi::manifest::{MANIFEST_OFFSET, Manifest};
use donjon_core::placement::Range;
use donjon_tests::geometry::{Report, check};
use object::{Object, ObjectSymbol};

use super::runner::Test;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::kernel::Variant;
use crate::machine::Machine;
use crate::qemu::{self, monitor, scratch::Scratch};
use crate::run;

/// RAM of QEMU's `virt`, and where it loads a boot image.
const RAM: u64 = 0x4000_0000;
const RAM_SIZE: u64 = 256 << 20;
const LOADED: u64 = 0x4020_0000;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The rule holds, and the enumeration notices when it does not.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let sound = host.clone();
    let weakened = host.clone();
    vec![
        Test::beside("geometry", move || {
            let report = enumerate(&sound, Variant::Donjon)?;
            ensure!(report.combinations() > 0, "nothing was enumerated");
            ensure!(report.escapes().count() == 0, "{report}");
            Ok(())
        }),
        Test::beside("geometry:control", move || {
            let report = enumerate(&weakened, Variant::Weakened("table-block"))?;
            ensure!(
                report.escapes().count() > 0,
                "no escape without the block: {report}"
            );
            Ok(())
        }),
    ]
}

fn enumerate(host: &HostArguments, linux: Variant) -> Result<Report> {
    let machine = Machine::new(&MachineArguments {
        machine: "virt".into(),
        cpu: None,
        cpus: Some(1),
        memory: Some("256M".into()),
        switch: Switch::Asid,
        icount: false,
        el2: false,
        append: None,
    })?;
    let parts = run::prepare_over(host, machine, &InnerVariant::sound(Switch::Asid), linux)?;
    let scratch = Scratch::new()?;
    let dump = scratch.join("memory");
    let mut saved = None;
    qemu::exec_watched(
        &parts.boot,
        "echo ready; sleep 3",
        TIMEOUT,
        |socket, _, _| {
            saved.get_or_insert_with(|| monitor::save_memory(socket, RAM, RAM_SIZE, &dump));
        },
    )?;
    saved.unwrap_or_else(|| bail!("the guest said nothing"))?;
    let memory = fs::read(&dump)?;
    let reader = |address: u64| {
        let at = usize::try_from(address.checked_sub(RAM)?).ok()?;
        let word = memory.get(at..at + 8)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    };

    let image = fs::read(&parts.boot.image)?;
    let field = |offset: usize| {
        let at = MANIFEST_OFFSET + offset;
        let word = image.get(at..at + 8).context("no manifest")?;
        anyhow::Ok(u64::from_le_bytes(word.try_into()?))
    };
    let block = LOADED
        + field(std::mem::offset_of!(Manifest, linux_offset))?
        + field(std::mem::offset_of!(Manifest, linux_table_block))?;
    let range = Range::with_size(block, TABLE_BLOCK_SIZE).context("the block's address")?;
    let root = block + ROOT_PAGE * PAGE_SIZE;
    Ok(check(
        &reader,
        root,
        range,
        &addresses(&parts.kernel.vmlinux)?,
    )?)
}

/// What the outer view executes of ours: the gate, and the eight vectors that compare.
fn addresses(vmlinux: &Path) -> Result<Vec<u64>> {
    let bytes = fs::read(vmlinux)?;
    let file = object::File::parse(&*bytes)?;
    let vectors = file
        .symbols()
        .find(|it| it.name() == Ok("vectors"))
        .context("Linux has no symbol vectors")?
        .address();
    let mut addresses = vec![GATE, GATE_ENTRY, GATE_ENTRY_WRITE + 4, GATE_REPAIR];
    addresses.extend((0..8).map(|slot| vectors + slot * 0x80));
    Ok(addresses)
}
