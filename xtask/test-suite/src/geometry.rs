// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every forged table geometry over the tables of a running guest.
//!
//! The host tests do the same over a model; this looks at what boot stage and Linux really built.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::layout::{
    GATE, GATE_ENTRY, GATE_ENTRY_WRITE, GATE_REPAIR, INNER_SLOT, PAGE_SIZE, PHYSMAP_SLOT,
    ROOT_HALF, ROOT_PAGE, TABLE_BLOCK_SIZE,
};
use donjon_abi::manifest::{MANIFEST_OFFSET, Manifest};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_builder::run;
use donjon_core::range::Range;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::finding::Finding;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::scratch::Scratch;
use donjon_machine::qemu::{self, monitor};
use donjon_models::geometry::{Report, check};
use object::{Object, ObjectSymbol};

use super::test::Test;

/// RAM of QEMU's `virt`, and where it loads a boot image.
const RAM: u64 = 0x4000_0000;
const RAM_SIZE: u64 = 256 << 20;
const LOADED: u64 = 0x4020_0000;

const TIMEOUT: Duration = Duration::from_secs(300);

/// The rule holds, and the enumeration notices when it does not.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let sound = host.clone();
    let weakened = host.clone();
    vec![
        Test::beside("geometry", move || {
            let guest = Guest::stopped_in(&sound, Variant::Donjon)?;
            let report = guest.enumerate()?;
            if report.escapes().count() > 0 {
                return Err(Finding::Escape.error(report));
            }
            ensure!(report.combinations() > 0, "nothing was enumerated");
            guest.root_follows_the_rules()
        })
        .holds(&["I9", "I14"]),
        Test::beside("geometry:control", move || {
            let report =
                Guest::stopped_in(&weakened, Variant::Weakened("table-block"))?.enumerate()?;
            ensure!(
                report.escapes().count() > 0,
                "no escape without the block: {report}"
            );
            Ok(())
        })
        .holds(&["I14"]),
    ]
}

/// The memory of a guest that has booted, and where its tables are.
struct Guest {
    memory: Vec<u8>,
    block: u64,
    addresses: Vec<u64>,
}

impl Guest {
    fn stopped_in(host: &HostArguments, linux: Variant) -> Result<Self> {
        let machine = Machine::new(&MachineArguments {
            cpus: Some(1),
            memory: Some("256M".into()),
            ..MachineArguments::virt(Switch::Asid)
        })?;
        let parts = run::prepare_over(host, machine, &InnerVariant::sound(Switch::Asid), linux)?;
        let scratch = Scratch::new()?;
        let dump = scratch.join("memory");
        let mut saved = None;
        qemu::exec_watched(
            &parts.boot,
            "echo ready; donjon-wait",
            TIMEOUT,
            |socket, _, _| {
                saved.get_or_insert_with(|| monitor::save_memory(socket, RAM, RAM_SIZE, &dump));
            },
        )?;
        saved.unwrap_or_else(|| bail!("the guest said nothing"))?;

        let image = fs::read(&parts.boot.image)?;
        let field = |offset: usize| {
            let at = MANIFEST_OFFSET + offset;
            let word = image.get(at..at + 8).context("no manifest")?;
            anyhow::Ok(u64::from_le_bytes(word.try_into()?))
        };
        Ok(Self {
            memory: fs::read(&dump)?,
            block: LOADED
                + field(std::mem::offset_of!(Manifest, linux_offset))?
                + field(std::mem::offset_of!(Manifest, linux_table_block))?,
            addresses: addresses(&parts.kernel.vmlinux)?,
        })
    }

    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(RAM)?).ok()?;
        let word = self.memory.get(at..at + 8)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    }

    fn root(&self) -> u64 {
        self.block + ROOT_PAGE * PAGE_SIZE
    }

    fn enumerate(&self) -> Result<Report> {
        let block =
            Range::with_size(self.block, TABLE_BLOCK_SIZE).context("the block's address")?;
        let reader = |address| self.word(address);
        Ok(check(&reader, self.root(), block, &self.addresses)?)
    }

    /// Fails unless the halves of the root agree on every shared slot, whose leaves are global, and
    /// inner-only slots have no outer entry, and non-global leaves.
    fn root_follows_the_rules(&self) -> Result<()> {
        let mut leaves = 0;
        for slot in 0..ROOT_HALF {
            let entry = |index: usize| self.word(self.root() + 8 * index as u64).unwrap_or(0);
            let (outer, inner) = (entry(slot), entry(ROOT_HALF + slot));
            let only_inner = [PHYSMAP_SLOT, INNER_SLOT].contains(&slot);
            if only_inner {
                ensure!(
                    outer == 0 && inner & 1 == 1,
                    "slot {slot} is not inner-only: {outer:#x}, {inner:#x}"
                );
            } else {
                ensure!(outer == inner, "slot {slot}: {outer:#x} is not {inner:#x}");
            }
            if inner & 1 == 1 {
                leaves += self.leaves_are(only_inner, inner, 1)?;
            }
        }
        ensure!(leaves > 100, "only {leaves} leaves were looked at");
        Ok(())
    }

    /// Looks at the table that `descriptor` names, of `level`; returns how many leaves it leads to.
    fn leaves_are(&self, non_global: bool, descriptor: u64, level: u32) -> Result<usize> {
        const ADDRESS: u64 = 0xffff_ffff_f000;
        const NON_GLOBAL: u64 = 1 << 11;
        let mut leaves = 0;
        for index in 0..512 {
            let at = (descriptor & ADDRESS) + 8 * index;
            let below = self.word(at).unwrap_or(0);
            match below & 0b11 {
                0b11 if level < 3 => leaves += self.leaves_are(non_global, below, level + 1)?,
                0b01 | 0b11 => {
                    leaves += 1;
                    ensure!(
                        (below & NON_GLOBAL != 0) == non_global,
                        "leaf {below:#x} at {at:#x} is not as its slot wants it"
                    );
                }
                _ => (),
            }
        }
        Ok(leaves)
    }
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
