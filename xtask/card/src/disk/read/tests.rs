// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disks of a host that is files.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::disk::Refusal;

const GIB: u64 = 1 << 30;
const IMAGE: u64 = 256 << 20;
const USB: &str = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/block/sdb";
const SATA: &str = "sys/devices/pci0000:00/0000:00:17.0/ata1/block/sda";
const SLOT: &str = "sys/devices/platform/mmc0/mmc0:aaaa/block/mmcblk0";

/// A host with one disk, that has one partition.
struct Host {
    root: TempDir,
    disk: &'static str,
    name: String,
    partition: String,
}

impl Host {
    fn new(disk: &'static str, partition: &str, removable: bool) -> Self {
        let host = Self {
            root: tempfile::tempdir().expect("directory"),
            disk,
            name: file_name(Path::new(disk)),
            partition: partition.to_owned(),
        };
        host.file("proc/self/mountinfo", "");
        host.file("proc/swaps", "Filename\t\tType\t\tSize\n");
        host.set("removable", if removable { "1" } else { "0" });
        host.set("ro", "0");
        host.set("size", &(8 * GIB / 512).to_string());
        host.set("dev", "8:16");
        host.set(&format!("{partition}/dev"), "8:17");
        host.set(&format!("{partition}/partition"), "1");
        host.set(&format!("{partition}/ro"), "0");
        host.set(&format!("{partition}/size"), "2048");
        let class = host.root.path().join("sys/class/block");
        fs::create_dir_all(&class).expect("directory");
        for (name, place) in [
            (host.name.clone(), disk.to_owned()),
            (partition.to_owned(), format!("{disk}/{partition}")),
        ] {
            symlink(host.root.path().join(place), class.join(name)).expect("link");
        }
        host
    }

    fn stick() -> Self {
        Self::new(USB, "sdb1", true)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, text).expect("file");
    }

    fn set(&self, attribute: &str, text: &str) {
        self.file(&format!("{}/{attribute}", self.disk), &format!("{text}\n"));
    }

    fn check(&self) -> Result<(), Refusal> {
        Disk::read(self.root.path(), &self.name)
            .expect("disk")
            .check(IMAGE)
    }
}

#[test]
fn a_card_in_a_reader_is_accepted() {
    assert_eq!(Host::stick().check(), Ok(()));
}

#[test]
fn an_sd_slot_is_accepted_and_soldered_flash_is_not() {
    let host = Host::new(SLOT, "mmcblk0p1", false);
    host.set("device/type", "SD");
    assert_eq!(host.check(), Ok(()));
    host.set("device/type", "MMC");
    assert!(matches!(host.check(), Err(Refusal::NotRemovable { .. })));
}

#[test]
fn a_reader_that_claims_to_be_fixed_is_accepted_at_usb_alone() {
    assert_eq!(Host::new(USB, "sdb1", false).check(), Ok(()));
    let fixed = Host::new(SATA, "sda1", false).check();
    assert!(matches!(fixed, Err(Refusal::NotRemovable { .. })));
}

#[test]
fn a_partition_is_refused_and_its_disk_named() {
    let host = Host::stick();
    let disk = Disk::read(host.root.path(), &host.partition).expect("disk");
    let refusal = disk.check(IMAGE).expect_err("it must be refused");
    assert_eq!(
        refusal,
        Refusal::Partition {
            name: "sdb1".into(),
            whole: "sdb".into()
        }
    );
}

#[test]
fn a_mounted_disk_or_partition_is_refused() {
    for (number, node) in [("8:16", "sdb"), ("8:17", "sdb1")] {
        let host = Host::stick();
        let line = format!("36 35 {number} / /media/my\\040card rw shared:1 - vfat /dev/x rw\n");
        host.file("proc/self/mountinfo", &line);
        let said = host.check().expect_err("it must be refused").to_string();
        assert!(
            said.contains(&format!("/dev/{node} is mounted at /media/my card")),
            "{said}"
        );
        assert!(said.contains("umount"), "{said}");
    }
}

#[test]
fn a_mount_whose_number_is_not_the_disks_is_found_by_its_source() {
    let host = Host::stick();
    let line = "36 35 0:31 /root /mnt rw - btrfs /dev/sdb1 rw\n";
    host.file("proc/self/mountinfo", line);
    assert!(matches!(host.check(), Err(Refusal::InUse { .. })));
}

#[test]
fn mounts_of_other_disks_do_not_count() {
    let host = Host::stick();
    let line = "36 35 8:160 / / rw - ext4 /dev/sdb11 rw\n";
    host.file("proc/self/mountinfo", line);
    assert_eq!(host.check(), Ok(()));
}

#[test]
fn swap_space_is_refused() {
    let host = Host::stick();
    host.file("proc/swaps", "Filename Type Size\n/dev/sdb1 partition 1\n");
    let said = host.check().expect_err("it must be refused").to_string();
    assert!(said.contains("/dev/sdb1 is swap space"), "{said}");
}

#[test]
fn a_disk_below_another_device_is_refused() {
    for holder in ["holders/dm-0", "sdb1/holders/md127"] {
        let host = Host::stick();
        host.set(holder, "");
        assert!(
            matches!(host.check(), Err(Refusal::InUse { .. })),
            "{holder}"
        );
    }
}

#[test]
fn an_empty_reader_is_refused() {
    let host = Host::stick();
    host.set("size", "0");
    assert!(matches!(host.check(), Err(Refusal::NoCard { .. })));
}

#[test]
fn a_locked_card_is_refused() {
    let host = Host::stick();
    host.set("ro", "1");
    assert!(matches!(host.check(), Err(Refusal::ReadOnly { .. })));
}

#[test]
fn a_card_of_the_images_size_is_enough_and_a_sector_less_is_not() {
    let host = Host::stick();
    host.set("size", &(IMAGE / 512).to_string());
    assert_eq!(host.check(), Ok(()));
    host.set("size", &(IMAGE / 512 - 1).to_string());
    let said = host.check().expect_err("it must be refused").to_string();
    assert!(said.contains("at least 269 MB"), "{said}");
}

#[test]
fn what_is_no_block_device_is_refused() {
    for (path, word) in [
        ("/dev/null", "not a block device"),
        ("/tmp", "not a block device"),
        ("/dev/no-such-card", "no device"),
    ] {
        let error = Disk::of_node(Path::new(path)).expect_err("it must be refused");
        let said = format!("{error:#}");
        assert!(said.contains(word) && said.contains("lsblk"), "{said}");
    }
}

#[test]
fn a_disk_without_a_description_is_an_error() {
    let host = Host::stick();
    assert!(Disk::read(host.root.path(), "sdz").is_err());
    host.set("size", "many");
    assert!(Disk::read(host.root.path(), "sdb").is_err());
}
