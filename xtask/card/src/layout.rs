// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the partitions of a card are.

use std::io::{Read, Seek, Write};
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use mbrman::{BOOT_ACTIVE, BOOT_INACTIVE, CHS, MBR, MBRPartitionEntry};

/// Bytes of a sector.
const SECTOR: u32 = 512;
/// Type of a partition: FAT32, addressed by sector numbers.
const FAT32_LBA: u8 = 0x0c;
/// Type of a partition: a file system of Linux.
const LINUX: u8 = 0x83;
const MIB: u64 = 1 << 20;

/// Bytes of an image. A power of two: QEMU takes no other size for an SD card.
pub const SIZE: u64 = 256 * MIB;
/// Bytes of the boot partition.
pub const BOOT: Range<u64> = MIB..128 * MIB;
/// Bytes of the root partition.
pub const ROOT: Range<u64> = 128 * MIB..SIZE;

/// Writes the partition table.
pub fn write(disk: &mut (impl Read + Write + Seek), signature: [u8; 4]) -> Result<()> {
    let mut table = MBR::new_from(disk, SECTOR, signature)?;
    table[1] = entry(&BOOT, FAT32_LBA, BOOT_ACTIVE)?;
    table[2] = entry(&ROOT, LINUX, BOOT_INACTIVE)?;
    table
        .write_into(disk)
        .context("writing the partition table")
}

fn entry(bytes: &Range<u64>, sys: u8, boot: u8) -> Result<MBRPartitionEntry> {
    let sectors = |bytes: u64| u32::try_from(bytes / u64::from(SECTOR));
    Ok(MBRPartitionEntry {
        boot,
        // Firmware and Linux go by sector numbers alone.
        first_chs: CHS::empty(),
        sys,
        last_chs: CHS::empty(),
        starting_lba: sectors(bytes.start)?,
        sectors: sectors(bytes.end - bytes.start)?,
    })
}

/// Signature of the disk, and where its boot and root partitions are.
pub struct Table {
    /// Signature of the disk, of which Linux makes the partitions' PARTUUID.
    pub signature: [u8; 4],
    /// Bytes of the boot partition.
    pub boot: Range<u64>,
    /// Bytes of the root partition.
    pub root: Range<u64>,
}

/// Reads the partition table.
pub fn read(disk: &mut (impl Read + Seek)) -> Result<Table> {
    let table = MBR::read_from(disk, SECTOR).context("reading the partition table")?;
    let bytes = |entry: &MBRPartitionEntry, sys: u8| -> Result<Range<u64>> {
        ensure!(
            entry.sys == sys,
            "a partition has the type {:#04x} in place of {sys:#04x}: this is no image of ours",
            entry.sys
        );
        let start = u64::from(entry.starting_lba) * u64::from(SECTOR);
        Ok(start..start + u64::from(entry.sectors) * u64::from(SECTOR))
    };
    Ok(Table {
        signature: table.header.disk_signature,
        boot: bytes(&table[1], FAT32_LBA)?,
        root: bytes(&table[2], LINUX)?,
    })
}

/// How Linux names partition `number` of a disk with this signature.
pub fn partuuid(signature: [u8; 4], number: u32) -> String {
    format!("{:08x}-{number:02x}", u32::from_le_bytes(signature))
}
