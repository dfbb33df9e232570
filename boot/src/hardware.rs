// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers at physical addresses, and an SMMU that the boot stage starts.

extern crate alloc;

use alloc::format;
use alloc::string::{String, ToString};

use core::arch::asm;

use donjon_abi::layout::PAGE_SIZE;
use donjon_core::devices::pins;
use donjon_core::dma::pci::{self, Space};
use donjon_core::dma::smmu::{self, QUEUE_SIZE, Registers, Structures};
use donjon_core::dma::streams;
use donjon_core::dma::translation;
use donjon_core::dma::usb as usb_controller;
use donjon_core::dma::window::DeviceWindow;
use donjon_core::translation::address::PhysicalAddress;
use donjon_hal::cpu;

use crate::bridge::Behind;
use crate::devices::Hardware;
use crate::failure::Failure;
use crate::region::Region;
use crate::usb::Usb;
use crate::{identity, power};

/// Registers of devices, by their physical addresses.
pub struct Physical;

impl Space for Physical {
    fn read(&self, address: u64) -> u32 {
        match identity::device(address) {
            // SAFETY: a register by the device tree, mapped as a device. Reading has no effect on
            // those that are asked for.
            Some(address) => unsafe { (address as *const u32).read_volatile() },
            None => u32::MAX,
        }
    }

    fn write(&mut self, address: u64, value: u32) {
        if let Some(address) = identity::device(address) {
            // SAFETY: a register of a PCI function, mapped as a device, which ends its accesses to
            // memory, or says where its registers are, away from memory.
            unsafe { (address as *mut u32).write_volatile(value) };
        }
    }

    fn write_byte(&mut self, address: u64, value: u8) {
        if let Some(address) = identity::device(address) {
            // SAFETY: the status of a virtio device, mapped as a device, which resets it.
            unsafe { (address as *mut u8).write_volatile(value) };
        }
    }
}

impl Hardware for Physical {
    fn read(&self, register: u64) -> u32 {
        Space::read(self, register)
    }

    fn take_over(&self, behind: &Behind) -> Result<(), String> {
        pci::take_over(&mut Self, &behind.bridge).map_err(|it| it.to_string())?;
        let registers = SmmuRegisters(behind.smmu.start());
        smmu::check(&registers).map_err(|it| format!("what stands between is no use: {it}"))
    }

    fn take_over_usb(&self, usb: &Usb, mailbox: Option<u64>) -> Result<bool, String> {
        if let Some(mailbox) = mailbox.and_then(identity::device) {
            power::switch_on_usb(mailbox, usb.bus);
        }
        let mut registers = UsbRegisters(usb.registers.start());
        usb_controller::start::take_over(&mut registers).map_err(|it| it.to_string())
    }
}

/// The registers of a controller of pins, from this address on.
pub struct PinRegisters(pub u64);

impl pins::Registers for PinRegisters {
    fn read(&self, offset: u64) -> u32 {
        // SAFETY: registers of the controller, mapped as a device.
        unsafe { ((self.0 + offset) as *const u32).read_volatile() }
    }

    fn write(&mut self, offset: u64, value: u32) {
        // SAFETY: registers of the controller, mapped as a device. They concern pins alone.
        unsafe { ((self.0 + offset) as *mut u32).write_volatile(value) };
    }

    fn wait(&mut self) {
        // At 2.5 GHz more than twice as long as is asked for, if each takes one cycle.
        for _ in 0..4000 {
            core::hint::spin_loop();
        }
    }
}

/// The registers of a USB controller, from this physical address on.
struct UsbRegisters(u64);

impl usb_controller::Registers for UsbRegisters {
    fn read(&self, offset: u64) -> u32 {
        Space::read(&Physical, self.0 + offset)
    }

    fn write(&mut self, offset: u64, value: u32) {
        if let Some(base) = identity::device(self.0) {
            // SAFETY: a register of the controller, mapped as a device, which ends its accesses to
            // memory.
            unsafe { ((base + offset) as *mut u32).write_volatile(value) };
        }
    }
}

/// The registers of an SMMU, from this physical address on.
struct SmmuRegisters(u64);

impl Registers for SmmuRegisters {
    fn read(&self, offset: u64) -> u32 {
        Space::read(&Physical, self.0 + offset)
    }

    fn write(&mut self, offset: u64, value: u32) {
        if let Some(base) = identity::device(self.0) {
            // SAFETY: a register of the SMMU, mapped as a device. Its tables are complete.
            unsafe { ((base + offset) as *mut u32).write_volatile(value) };
        }
    }

    fn write_long(&mut self, offset: u64, value: u64) {
        if let Some(base) = identity::device(self.0) {
            // SAFETY: a register of the SMMU, mapped as a device.
            unsafe { ((base + offset) as *mut u64).write_volatile(value) };
        }
    }

    fn write_memory(&mut self, address: u64, value: u64) {
        // SAFETY: a word of the command queue, which is a page of the inner memory that nothing
        // else uses and the identity map covers.
        unsafe {
            (address as *mut u64).write_volatile(value);
            cpu::clean_to_coherency(address, size_of::<u64>() as u64);
        }
    }
}

/// Bytes that [`start`] takes of a region at most, for RAM that ends at `end`.
pub const fn size(end: u64) -> u64 {
    // The first level is aligned to its size.
    2 * streams::FIRST_SIZE + (3 + translation::most_tables(end)) * PAGE_SIZE
}

/// Fills the tables of an SMMU in memory of `region`, and starts it: from here on devices reach
/// `window`, and the page by which they raise interrupts.
pub fn start(region: &mut Region, window: &DeviceWindow, behind: &Behind) -> Result<(), Failure> {
    let first = region.free();
    let streams = region.take(streams::FIRST_SIZE, streams::FIRST_SIZE)?;
    let second = region.take(PAGE_SIZE, PAGE_SIZE)?;
    let context = region.take(PAGE_SIZE, PAGE_SIZE)?;
    let commands = region.take(QUEUE_SIZE, PAGE_SIZE)?;
    let root = region.take(PAGE_SIZE, PAGE_SIZE)?;
    for index in 0..streams::FIRST_ENTRIES {
        store(streams, index, streams::first_entry(second));
    }
    for index in 0..streams::SECOND_ENTRIES {
        store_all(second, index, streams::stream_entry(context));
    }
    store_all(context, 0, streams::context(root));
    translation::build(region, root, window, behind.doorbell)?;
    // SAFETY: memory of the region, covered by the identity map. The SMMU may not look into caches.
    unsafe { cpu::clean_to_coherency(first, region.free() - first) };
    // SAFETY: a barrier: what was written is there before the SMMU is told of it.
    unsafe { asm!("dsb sy", options(nostack)) };
    let structures = Structures { streams, commands };
    Ok(smmu::start(
        &mut SmmuRegisters(behind.smmu.start()),
        &structures,
    )?)
}

/// Writes an entry of several words.
fn store_all(table: PhysicalAddress, index: usize, words: [u64; streams::WORDS]) {
    for (word, value) in words.into_iter().enumerate() {
        store(table, index * streams::WORDS + word, value);
    }
}

fn store(table: PhysicalAddress, index: usize, value: u64) {
    // SAFETY: the table was taken from the region for this, is large enough, and nothing reads it
    // yet.
    unsafe {
        (table.as_u64() as *mut u64)
            .add(index)
            .write_volatile(value)
    };
}
