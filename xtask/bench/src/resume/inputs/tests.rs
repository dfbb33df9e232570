// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a digest depends on.

use std::fs;
use std::path::Path;

use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::qemu::{Boot, DiskImage};

use super::Inputs;

/// A boot of these files.
fn boot(image: &Path, disk: &Path) -> Boot {
    let arguments = MachineArguments {
        icount: true,
        ..MachineArguments::virt(Switch::Asid)
    };
    Boot {
        machine: Machine::new(&arguments).expect("a machine"),
        image: image.to_owned(),
        initramfs: b"programs".to_vec(),
        grub: None,
        disk: Some(DiskImage::unchanged(disk.to_owned())),
        usb_disk: None,
        disk_is_root: true,
        packages: None,
        network: None,
        devices: Vec::new(),
        device_tree: None,
        trace: None,
    }
}

#[test]
fn the_key_changes_with_each_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let [image, other, disk] = ["image", "other", "disk"].map(|it| folder.path().join(it));
    fs::write(&image, "kernel, inner domain, boot stage").expect("written");
    fs::write(&other, "kernel, inner domain, boot stagf").expect("written");
    fs::write(&disk, "disk").expect("written");
    let key = |boot: &Boot, script: &str| {
        let inputs = Inputs::of_boot(boot, script).expect("inputs");
        inputs.key()
    };
    let usual = boot(&image, &disk);
    let first = key(&usual, "script");
    assert_eq!(first, key(&usual, "script"));
    let changes: [&dyn Fn(&mut Boot); 9] = [
        &|it| it.image.clone_from(&other),
        &|it| it.initramfs.push(0),
        &|it| it.machine.append = Some("ssbd=force-on".into()),
        &|it| it.machine.icount = false,
        &|it| it.machine.cpus = 2,
        &|it| it.machine.memory *= 2,
        &|it| it.disk_is_root = false,
        &|it| it.disk = None,
        &|it| it.device_tree = Some(other.clone()),
    ];
    let mut keys = vec![first.clone(), key(&usual, "script with another row")];
    for change in changes {
        let mut changed = usual.clone();
        change(&mut changed);
        keys.push(key(&changed, "script"));
    }
    // The same place with another content.
    fs::write(&disk, "dosk").expect("written");
    keys.push(key(&usual, "script"));
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    // The same content in another place.
    fs::write(&disk, "disk").expect("written");
    let copy = folder.path().join("copy");
    fs::copy(&image, &copy).expect("copied");
    let [one, two] = [&image, &copy].map(|it| key(&boot(it, &disk), "script"));
    assert_eq!(one, two);
}

#[test]
fn inputs_do_not_run_into_each_other() {
    let of = |one: &str, two: &str| Inputs::default().with("a", one).with("b", two).key();
    assert_ne!(of("xy", "z"), of("x", "yz"));
    assert_ne!(of("", "x"), of("x", ""));
}
