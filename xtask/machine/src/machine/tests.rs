// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

#[test]
fn sizes_are_read_as_qemu_reads_them() {
    assert_eq!(bytes("512M").ok(), Some(512 << 20));
    assert_eq!(bytes("2G").ok(), Some(2 << 30));
    assert_eq!(bytes("256").ok(), Some(256 << 20));
    for wrong in ["", "G", "1T5", "lots", "99999999999999999G"] {
        assert!(bytes(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_clock_that_counts_may_jump() {
    let mut machine = Machine::new(&MachineArguments {
        icount: true,
        ..MachineArguments::virt(Switch::Asid)
    })
    .expect("allowed");
    let has = |machine: &Machine, it: &str| machine.qemu_arguments().iter().any(|a| a == it);
    assert!(has(&machine, "shift=0"));
    machine.icount_sleep = false;
    assert!(has(&machine, "shift=0,sleep=off"));
}

#[test]
fn every_recipe_is_well_formed() {
    for name in ["virt", "raspi3b", "raspi4b"] {
        let recipe = recipe(name).expect(name);
        assert!(recipe.cpus.contains(&recipe.default_cpu));
        assert!(bytes(&recipe.minimum_memory).is_ok());
        let by_frames = matches!(recipe.channel, Channel::Serial(_));
        assert_eq!(recipe.serial.contains(&Serial::Channel), by_frames);
        assert!(recipe.serial.contains(&Serial::Console));
    }
}

#[test]
fn virtio_is_behind_the_smmu_or_not_there() {
    let machine = |name: &str, dma| {
        Machine::new(&MachineArguments {
            machine: name.into(),
            dma,
            ..MachineArguments::virt(Switch::Asid)
        })
        .expect("allowed")
    };
    for (name, dma, has_smmu) in [
        ("virt", None, true),
        ("virt", Some(Dma::Open), false),
        ("virt-gicv3", None, true),
        ("raspi3b", None, false),
        ("raspi3b", Some(Dma::Open), false),
    ] {
        let machine = machine(name, dma);
        assert!(machine.can_have("it").is_ok(), "{name}");
        let is_between = machine.virtio("blk").contains("iommu_platform=on");
        assert_eq!(
            (machine.has_smmu(), is_between),
            (has_smmu, has_smmu),
            "{name}"
        );
    }
    let mut without = machine("virt", Some(Dma::Strict));
    without.recipe.smmu = None;
    assert!(without.can_have("it").is_err());
    let native = MachineArguments::virt(Switch::None);
    let machine = Machine::new(&native).expect("allowed");
    assert!(machine.can_have("it").is_ok());
    // The same functions as with an inner domain.
    assert!(machine.virtio("blk").contains("pci") && !machine.has_smmu());
    let with_profile = MachineArguments {
        dma: Some(Dma::Strict),
        ..native
    };
    assert!(Machine::new(&with_profile).is_err());
}

#[test]
fn a_board_has_what_it_has() {
    let board = |cpus, memory: Option<&str>| {
        Machine::new(&MachineArguments {
            machine: "raspi3b".into(),
            cpus,
            memory: memory.map(Into::into),
            ..MachineArguments::virt(Switch::Asid)
        })
    };
    assert!(board(None, None).is_ok());
    assert!(board(Some(4), Some("1G")).is_ok());
    assert_eq!(board(None, None).map(|it| it.dma).ok(), Some(Dma::Strict));
    for (cpus, memory) in [(Some(2), None), (None, Some("512M"))] {
        let error = board(cpus, memory).expect_err("fixed").to_string();
        assert!(error.contains("leave --cpus and --memory out"), "{error}");
    }
}
