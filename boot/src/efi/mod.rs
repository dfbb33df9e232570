// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot image as a UEFI program: it turns the machine into what the arm64 boot protocol of
//! Linux describes (Documentation/arch/arm64/booting.rst) and goes on at the entry for it.
//!
//! It copies the image to a 2 MiB boundary, gives the device tree what only the firmware knows,
//! ends boot services and turns the MMU off. The firmware is not called again: no run-time
//! services.

extern crate alloc;

mod failure;
mod firmware;
mod ramdisk;
mod tree;

use alloc::vec::Vec;
use core::convert::Infallible;

use aarch64_cpu::registers::{CurrentEL, Readable};
use donjon_abi::boot_info::{Conduit, MAX_BANKS};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE};
use donjon_core::memory::firmware_memory::{self, Region};
use donjon_core::range::Range;
use donjon_hal::cpu;
use uefi_raw::table::system::SystemTable;
use uefi_raw::{Handle, Status};

use crate::assembly::{boot_entry, efi_leave, efi_leave_end};
use crate::image::Image;
use crate::report::{self, Line};
use crate::{device_tree, heap};
use failure::EfiFailure;
pub use firmware::Firmware;
use tree::Loaded;

/// Called by `entry.S` at the firmware's level, in its address space, with our own addresses
/// relocated. Returns to the firmware if the machine cannot start.
#[unsafe(no_mangle)]
extern "C" fn efi_main(handle: Handle, table: &'static SystemTable, image: u64) -> Status {
    // SAFETY: the firmware has just started us with these.
    let firmware = unsafe { Firmware::new(handle, table) };
    // First, while no static has changed: the copy starts from them.
    let copied = copy(firmware, image);
    report::open(Some(Line::Firmware(firmware)), Conduit::None, None);
    let ended = copied.and_then(|(image, copy)| start(firmware, &image, copy));
    match ended {
        Ok(never) => match never {},
        Err(failure) => {
            report::line(&format_args!("PANIC cannot start: {failure}"));
            failure.status()
        }
    }
}

/// Copies the image to where it can run; returns it, and the memory that the copy has.
fn copy(firmware: Firmware, image: u64) -> Result<(Image, Range), EfiFailure> {
    let image = Image::loaded_at(image)?;
    let from = image.whole()?;
    let to = firmware.allocate(from.size(), BLOCK_SIZE)?;
    // SAFETY: the loader has mapped the whole file, and the memory is ours and elsewhere.
    unsafe {
        core::ptr::copy_nonoverlapping(
            from.start() as *const u8,
            to.start() as *mut u8,
            image.file_size() as usize,
        );
    }
    Ok((image, to))
}

fn start(firmware: Firmware, image: &Image, copy: Range) -> Result<Infallible, EfiFailure> {
    // SAFETY: called once in this image; the copy has a heap of its own.
    unsafe { heap::HEAP.init() };
    let from = image.whole()?.start();
    let (major, minor) = firmware.revision();
    report::line(&format_args!(
        "boot image {} at {from:#x}, started by UEFI {major}.{} at EL{}",
        env!("CARGO_PKG_VERSION"),
        minor / 10,
        CurrentEL.read(CurrentEL::EL),
    ));
    // SAFETY: the firmware's configuration table says that there is a device tree.
    let tree = unsafe { device_tree::read(firmware.device_tree()?) }?;
    let loaded = Loaded::new(tree, firmware.load_options(), ramdisk::load(firmware)?)?;
    if loaded.misses_ramdisk() && device_tree::initial_ramdisk(&tree).is_none() {
        report::line(&"initrd= on the command line does not load a file; use GRUB's `initrd`");
    }
    // Everything that can fail or needs memory comes before the end of boot services.
    let buffer = firmware.map_buffer()?;
    let most: Vec<Range> = (0..MAX_BANKS as u64)
        .filter_map(|it| Range::with_size(it * PAGE_SIZE, PAGE_SIZE))
        .collect();
    let room = loaded.write(&most)?.len() as u64 + PAGE_SIZE;
    let room = firmware.allocate(room, PAGE_SIZE)?;
    let (banks, others) = ram(&firmware.memory_map(buffer)?.0);
    let ramdisk = loaded.ramdisk.or(device_tree::initial_ramdisk(&tree));
    for needed in [copy, room].into_iter().chain(ramdisk) {
        if !banks.iter().any(|bank| bank.encloses(needed)) {
            return Err(EfiFailure::Elsewhere(needed.start()));
        }
    }
    loaded.write(&banks)?;
    if others > 0 {
        report::line(&format_args!(
            "{} KiB of memory stay unused: they are in smaller pieces than the {MAX_BANKS} largest",
            others >> 10
        ));
    }

    let (banks, _) = ram(&firmware.exit(buffer)?);
    report::open(None, Conduit::None, None);
    let tree = match loaded.write(&banks) {
        Ok(tree) if tree.len() as u64 <= room.size() => tree,
        // It was tried with a list as long and with these addresses. Neither the firmware nor a
        // console is left.
        _ => cpu::halt(),
    };
    // SAFETY: the memory is ours, and large enough.
    unsafe {
        core::ptr::copy_nonoverlapping(tree.as_ptr(), room.start() as *mut u8, tree.len());
    }
    let entry = copy.start() + (&raw const boot_entry as u64 - from);
    let first = efi_leave as *const () as u64;
    let size = (&raw const efi_leave_end) as u64 - first;
    // SAFETY: memory that the firmware has mapped: the copy, the tree, the ramdisk and the
    // instructions that turn the MMU off. All of it is read with the MMU off or from Linux.
    unsafe {
        for range in [copy, room].into_iter().chain(ramdisk) {
            cpu::clean_to_coherency(range.start(), range.size());
        }
        cpu::clean_to_coherency(first, size);
        efi_leave(room.start(), entry)
    }
}

/// The largest banks of RAM, and the bytes in the others.
fn ram(map: &[Region]) -> (Vec<Range>, u64) {
    let (banks, others) = firmware_memory::largest::<MAX_BANKS>(firmware_memory::ram(map));
    (banks.collect(), others)
}
