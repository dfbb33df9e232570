// SPDX-License-Identifier: MIT OR Apache-2.0
//! A GICv3 with as many CPUs as there may be, machines with EL2 and EL3, and registers by which
//! redistributors are told of tables in memory.

use anyhow::Result;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_machine::arguments::{Dma, MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::Said;

use super::super::boots::{CHECK, guest_says};
use super::super::test::Test;
use super::{Case, DEVICES, Edit, TIMEOUT, said_by};

/// The redistributors of QEMU's `virt`, 128 KiB each.
const FIRST: u64 = 0x80a_0000;
const SECOND: u64 = 0x80c_0000;
const BEHIND: u64 = 0x80e_0000;
/// The controller of interrupts by messages.
const ITS: u64 = 0x808_0000;
/// GICR_CTLR, GICR_WAKER, GICR_PROPBASER, GICR_PENDBASER.
const WAKER: u64 = 0x14;
const PROPBASER: u64 = 0x70;
const PENDBASER: u64 = 0x78;
/// A frame of a redistributor.
const FRAME: u64 = 0x1_0000;

/// The first frames, their last page, what is behind the last redistributor, and the ITS.
const FRAMES: Case = Case {
    name: "gicv3:devices",
    machine,
    values: &[
        FIRST,
        SECOND,
        SECOND + FRAME - 0x1000,
        BEHIND,
        BEHIND + FRAME,
        ITS,
        ITS + FRAME,
    ],
    ..DEVICES
};
/// Registers that the inner domain does not write for Linux.
const REGISTERS: Case = Case {
    name: "gicv3:registers",
    machine,
    attempt: "write-register/device",
    values: &[
        FIRST,
        FIRST + PROPBASER,
        FIRST + PROPBASER + 4,
        SECOND + PENDBASER,
        BEHIND + WAKER,
        FIRST + WAKER + 2,
    ],
    outcome: "stopped, refused: the address is not Linux's to name",
    ..DEVICES
};
/// What the hostile module tries.
pub const CASES: &[Case] = &[
    FRAMES,
    Case {
        name: "gicv3:devices:control",
        weakened: &["weaken-devices"],
        outcome: "SUCCEEDED, its registers are mapped",
        ..FRAMES
    },
    Case {
        name: "gicv3:devices:allowed",
        values: &[FIRST + FRAME, SECOND + FRAME],
        outcome: "SUCCEEDED, its registers are mapped",
        ..FRAMES
    },
    REGISTERS,
    Case {
        name: "gicv3:registers:allowed",
        values: &[FIRST + WAKER, SECOND + WAKER],
        outcome: "SUCCEEDED, the register is written",
        ..REGISTERS
    },
];

fn arguments() -> MachineArguments {
    MachineArguments {
        machine: "virt-gicv3".into(),
        cpus: Some(2),
        memory: Some("256M".into()),
        ..MachineArguments::virt(Switch::Asid)
    }
}

fn machine() -> Result<Machine> {
    Machine::new(&arguments())
}

/// Tests of machines with a GICv3.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let small = arguments();
    let large = MachineArguments {
        cpus: Some(16),
        memory: Some("8G".into()),
        ..small.clone()
    };
    let el2 = MachineArguments {
        el2: true,
        ..small.clone()
    };
    let cases = [
        ("gicv3", small.clone(), ""),
        ("gicv3:16-cpus", large, ""),
        ("gicv3:el2", el2.clone(), ""),
        ("gicv3:secure", small, ",secure=on"),
        ("gicv3:secure:el2", el2, ",secure=on"),
    ];
    let mut tests: Vec<Test> = cases
        .into_iter()
        .map(|(name, arguments, more)| {
            let host = host.clone();
            Test::beside(&format!("machine:{name}"), move || {
                works(&host, Machine::new(&arguments)?, more)
            })
        })
        .collect();
    let two = host.clone();
    tests.push(Test::beside("machine:gicv3:clusters", move || {
        two_clusters(&two)
    }));
    let host = host.clone();
    tests.push(Test::beside("machine:gicv3:no-lpis", move || {
        // The newest whose redistributors have none. `its=off` takes away the ITS alone.
        let mut machine = machine()?;
        machine.recipe.machine = "virt-6.1,gic-version=3".into();
        works(&host, machine, "")
    }));
    tests
}

/// Two clusters of four CPUs. QEMU's oldest machine numbers its CPUs in clusters of eight; newer
/// ones have 16 in each, and no second one. The tree names four of the first cluster.
fn two_clusters(host: &HostArguments) -> Result<()> {
    let mut machine = Machine::new(&MachineArguments {
        cpus: Some(12),
        // On that machine virtio functions are legacy ones.
        dma: Some(Dma::Open),
        ..arguments()
    })?;
    machine.recipe.machine = "virt-2.6,gic-version=3".into();
    let edit: Edit = |tree| {
        if let Some(cpus) = tree.find_node_mut("/cpus") {
            for name in ["cpu-map", "cpu@4", "cpu@5", "cpu@6", "cpu@7"] {
                cpus.remove_child(name);
            }
        }
    };
    // The tree's names have numbers of CPUs; affinity is in the register.
    let script = format!(
        "od -An -tx1 /proc/device-tree/cpus/cpu@8/reg | grep '01 00$' >/dev/null || exit 9\n{CHECK}"
    );
    let said = said_by(host, &machine, &[], Some(edit), &script, TIMEOUT)?;
    all_work(&said, 8)
}

/// Checks that the machine boots on all its CPUs and passes the self-test on each.
fn works(host: &HostArguments, mut machine: Machine, more: &str) -> Result<()> {
    machine.recipe.machine.push_str(more);
    let cpus = machine.cpus;
    let sound = InnerVariant::sound(machine.switch);
    let said = guest_says(host, machine, &sound, CHECK)?;
    all_work(&said, cpus)
}

fn all_work(said: &Said, cpus: u32) -> Result<()> {
    said.expect_success()?;
    said.expect_line(&format!("online: {cpus}"))?;
    said.expect_self_test().map(|_| ())
}
