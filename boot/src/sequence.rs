// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of the boot stage, in order.

extern crate alloc;

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::arch::asm;

use aarch64_cpu::registers::{ID_AA64MMFR0_EL1, Readable};
use donjon_abi::boot_info::{
    Bank, BootInfo, Conduit, ConsoleKind, MAX_MEDIATED, MAX_REACHED, Mediated, Reached,
    UsbController,
};
use donjon_abi::layout::{BLOCK_SIZE, PAGE_SIZE, ROOT_PAGE, TABLE_BLOCK_SIZE};
use donjon_abi::tcr;
use donjon_core::checks::{Checks, Configured};
use donjon_core::cpu::cpus::CpuSet;
use donjon_core::cpu::requirements;
use donjon_core::dma::reserve;
use donjon_core::dma::window::{Access, DeviceWindow};
use donjon_core::memory::placement;
use donjon_core::range::Range;
use donjon_hal::console::Console;
use donjon_hal::cpu;
use donjon_hal::watchdog::Watchdog;
use dtoolkit::fdt::Fdt;

use crate::assembly::boot_secondary;
use crate::device_tree::{Cpu, Memory};
use crate::devices::{self, Devices};
use crate::facts::{bank, banks, mpidrs};
use crate::failure::Failure;
use crate::hardware::{Physical, PinRegisters};
use crate::image::Image;
use crate::inner::{self, Builder};
use crate::report::{self, Line};
use crate::reserved::{self, Reserved};
use crate::secrets::{self, Secrets};
use crate::{board, device_tree, heap, identity, measure, parked, pins};

/// For `start.S`: in x0 and x1.
#[repr(C)]
pub struct Handover {
    /// Physical address of the device tree for Linux.
    pub device_tree: u64,
    /// Physical address of Linux.
    pub entry: u64,
}

/// Everything that the boot stage does in Rust.
pub fn run(device_tree: u64, image: u64, level: u64) -> Result<Handover, Failure> {
    // SAFETY: called once, first.
    unsafe { heap::HEAP.init() };
    // SAFETY: the boot protocol puts the device tree there; RAM near the image is mapped.
    let (mut secrets, tree) =
        unsafe { (Secrets::take(device_tree)?, device_tree::read(device_tree)?) };
    let console = device_tree::console(&tree);
    let power = board::power(&tree);
    let conduit = device_tree::conduit(&tree, level, power.is_some());
    let power = power.filter(|_| conduit == Conduit::Emulated);
    // SAFETY: called once, before anything asks for the address of a device.
    unsafe { identity::map_devices() };
    let mapped = |registers| identity::device(registers).unwrap_or(0);
    // SAFETY: the device tree names a UART and a controller of these kinds there, and this is where
    // they are mapped as devices.
    unsafe {
        report::open(
            console
                .and_then(|(kind, registers)| Console::new(kind, mapped(registers)))
                .map(Line::Console),
            conduit,
            power.and_then(|it| Watchdog::new(mapped(it))),
        );
    }
    report::line(&format_args!(
        "boot image {} at {image:#x}, entered at EL{level}",
        env!("CARGO_PKG_VERSION")
    ));
    check_cpu()?;

    let image = Image::at(image)?;
    let machine = describe(&tree, device_tree, &image, conduit)?;
    // SAFETY: these are the banks of RAM that the device tree lists.
    unsafe { identity::cover(&machine.banks) }?;
    set_pins(&tree, &machine.devices);

    let digest = measure::digest(image.linux_bytes());
    let [a, b, c, d] = digest;
    report::line(&format_args!(
        "Linux at {:#x}, {} KiB, SHA-256 {a:016x}{b:016x}{c:016x}{d:016x}",
        image.linux(),
        image.linux_bytes().len() >> 10
    ));

    let command_line = device_tree::command_line(&tree);
    secrets.take_identity(command_line, &machine.banks, image.whole()?)?;
    let (identity, randomness) = secrets.sources();
    let started = secrets::started(&image, &digest, command_line);

    let boot = BootInfo {
        region: bank(machine.region),
        banks: banks(&machine.banks),
        cpu_count: machine.cpu_nodes.len() as u64,
        mpidrs: mpidrs(&machine.cpu_nodes),
        switch_mode: image.switch_mode as u64,
        dma_profile: image.dma_profile as u64,
        conduit: conduit as u64,
        digest,
        started,
        identity: identity as u64,
        randomness: randomness as u64,
        secrets: 0,
        console_kind: console.map_or(ConsoleKind::None, |it| it.0) as u64,
        console: 0,
        watchdog: 0,
        mailbox: 0,
        messages: 0,
        parked_cpus: 0,
        secondary_entry: (&raw const boot_secondary) as u64,
        stays: bank(image.stays()?),
        table_block: Bank {
            start: image.table_block()?,
            end: image.table_block()? + TABLE_BLOCK_SIZE,
        },
        tlbi_pages: 0,
        reserve: machine.reserve.map(bank).unwrap_or_default(),
        root: image.table_block()? + ROOT_PAGE * PAGE_SIZE,
        reserved_root: image.table_block()? + (ROOT_PAGE - 1) * PAGE_SIZE,
        frame_table: Bank::default(),
        pool_table: Bank::default(),
        user_arena: Bank::default(),
        user_cells: Bank::default(),
        user_trees: Bank::default(),
        private_words: Bank::default(),
        private_blocks: Bank::default(),
        compartments: Bank::default(),
        compartment_roots: Bank::default(),
        devices: machine.devices.allowed.banks(),
        readable: banks(&machine.devices.readable),
        mediated: [Mediated::default(); MAX_MEDIATED],
        usb: UsbController::default(),
        reached: [Reached::default(); MAX_REACHED],
        reserved: machine.reserved.pages,
    };
    let console = console.map(|(_, registers)| registers);
    start_inner(&image, &machine, console, power, &secrets, boot)?;
    drop(secrets);

    let mut withheld = vec![machine.region, image.stays()?];
    withheld.extend(machine.reserved.ranges());
    let (devices, reserved) = (&machine.devices, &machine.reserved);
    let memory = Memory {
        withheld: &withheld,
        reserve: machine.reserve,
        unused: &machine.unused(&image)?,
        reserved,
    };
    let amended = device_tree::amend(&tree, &memory, devices, conduit)?;
    let linux_tree = clean_for_linux(&image, &machine, &amended)?;
    report::line(&format_args!(
        "starting Linux, switch {}",
        image.switch_mode.name()
    ));
    Ok(Handover {
        device_tree: linux_tree,
        entry: image.linux(),
    })
}

fn check_cpu() -> Result<(), Failure> {
    match requirements::unmet(ID_AA64MMFR0_EL1.get()).next() {
        Some(unmet) => Err(Failure::Cpu(unmet)),
        None => Ok(()),
    }
}

/// What there is and where the inner domain goes.
struct MachineDescription {
    banks: Vec<Range>,
    cpu_nodes: Vec<Cpu>,
    cpus: CpuSet,
    region: Range,
    /// What no device reaches, for pools and private memory, if the machine keeps devices from
    /// anything.
    reserve: Option<Range>,
    devices: Devices,
    reserved: Reserved,
}

impl MachineDescription {
    /// What devices with DMA reach: all of RAM but the inner domain's, the reserve, what
    /// Linux does not get, and the page that stays. They read Linux's text and constants.
    fn window(&self, image: &Image) -> Result<DeviceWindow, Failure> {
        if !Configured::WINDOW.is_in_code() {
            return Ok(DeviceWindow::new(&self.banks, &[], None)?);
        }
        let block = image.table_block()?;
        let mut hidden = vec![self.region, image.stays()?];
        hidden.extend(Range::with_size(block, TABLE_BLOCK_SIZE));
        hidden.extend(self.reserve);
        hidden.extend(self.reserved.ranges());
        let read_only = image.linux_read_only().ok_or(Failure::NotPacked)?;
        Ok(DeviceWindow::new(&self.banks, &hidden, Some(read_only))?)
    }

    /// The last page of each range that devices write. A transfer by USB keeps a distance from the
    /// end, which Linux's allocator knows nothing of. Linux's own image is not the allocator's;
    /// what the boot stage leaves of itself is.
    fn unused(&self, image: &Image) -> Result<Vec<Range>, Failure> {
        if self.devices.usb.is_none() {
            return Ok(Vec::new());
        }
        let (window, linux) = (self.window(image)?, image.linux());
        let end_of_linux = image.whole()?.end();
        let written = window
            .pieces()
            .filter(|it| it.access == Access::ReadWrite)
            .map(|it| it.range.end())
            .filter(|end| *end <= linux || end_of_linux <= *end);
        let last = written.filter_map(|end| Range::new(end - PAGE_SIZE, end));
        Ok(last.collect())
    }
}

const _: () = assert!(donjon_core::dma::usb::SLACK <= PAGE_SIZE);
const _: () = assert!(MAX_REACHED == donjon_core::dma::window::MAX_PIECES);

fn describe(
    tree: &Fdt<'static>,
    tree_address: u64,
    image: &Image,
    conduit: Conduit,
) -> Result<MachineDescription, Failure> {
    let banks = device_tree::memory(tree)?;
    let cpu_nodes = device_tree::cpus(tree, conduit)?;
    let cpus = CpuSet::new(cpu_nodes.iter().map(|it| it.affinity))?;

    let whole = image.whole()?;
    let devices = devices::find(tree, &banks, image.dma_profile, &Physical)?;
    let tree_range = Range::with_size(tree_address, tree.data().len() as u64);
    let kept: Vec<Range> = device_tree::initial_ramdisk(tree)
        .into_iter()
        .chain(tree_range)
        .collect();
    let reserved = reserved::find(tree, &banks, &kept, &devices)?;
    let mut taken = device_tree::taken(tree)?;
    taken.extend(tree_range);
    if let Some(overlap) = taken.iter().find(|range| range.overlaps(whole)) {
        return Err(Failure::Overlap(overlap.start()));
    }
    if !banks.iter().any(|bank| bank.encloses(whole)) {
        return Err(Failure::NoRoom(whole.size() >> 10));
    }
    taken.push(whole);
    let size = inner::size(image, cpus.count(), &banks, devices.behind.is_some());
    let mut place = |size| {
        let range = placement::place(&banks, &taken, size, BLOCK_SIZE);
        taken.extend(range);
        range
    };
    let region = place(size).ok_or(Failure::NoRoom(size >> 10))?;
    let reserve = if devices.have_window() {
        let ram = banks.iter().map(|it| it.size()).sum();
        let size = reserve::size(ram, image.protected());
        Some(place(size).ok_or(Failure::NoReserve(size >> 20))?)
    } else {
        None
    };
    report_devices(image, &devices, reserve);
    reserved.report(report::line);
    Ok(MachineDescription {
        banks,
        cpu_nodes,
        cpus,
        region,
        reserve,
        devices,
        reserved,
    })
}

/// Says which devices Linux gets, and what they reach.
fn report_devices(image: &Image, devices: &Devices, reserve: Option<Range>) {
    let profile = image.dma_profile.name();
    let mut kept = Vec::new();
    if let Some((path, behind)) = &devices.behind {
        let smmu = behind.smmu.start();
        kept.push(format!("{path} behind arm,smmu-v3 at {smmu:#x}"));
    }
    if let Some(usb) = &devices.usb {
        kept.push(format!("{} by checked registers", usb.path));
    }
    match reserve {
        Some(reserve) => report::line(&format_args!(
            "dma: {profile}, {}; protected {} MiB",
            kept.join(", "),
            reserve.size() >> 20
        )),
        None => report::line(&format_args!("dma: {profile}")),
    }
    devices.report(report::line);
}

/// Keeps devices with DMA to their window: starts the SMMU, and tells the inner domain what the USB
/// controller may reach.
fn keep_to_window(
    builder: &mut Builder,
    image: &Image,
    machine: &MachineDescription,
    boot: &mut BootInfo,
) -> Result<(), Failure> {
    let devices = &machine.devices;
    if !devices.have_window() {
        return Ok(());
    }
    let window = machine.window(image)?;
    if let Some((_, behind)) = &devices.behind {
        builder.start_smmu(&window, behind)?;
    }
    if let Some(usb) = &devices.usb {
        boot.usb = UsbController {
            registers: bank(usb.registers),
            mapped: builder.map_device(usb.registers.start())?,
            on_bus: usb.bus.child,
            memory: Bank {
                start: usb.bus.parent,
                end: usb.bus.parent + usb.bus.size,
            },
            had_channels_on: u64::from(usb.had_channels_on),
        };
    }
    for (to, piece) in boot.reached.iter_mut().zip(window.pieces()) {
        *to = Reached {
            pages: bank(piece.range),
            is_written: u64::from(piece.access == Access::ReadWrite),
        };
        let (start, last) = (piece.range.start(), piece.range.end() - 1);
        let verb = match piece.access {
            Access::Read => "read",
            Access::ReadWrite => "read and write",
        };
        report::line(&format_args!("devices {verb} {start:#x}-{last:#x}"));
    }
    Ok(())
}

/// Gives the pins of Linux's devices their functions, if Linux cannot do it itself.
fn set_pins(tree: &Fdt, devices: &Devices) {
    let Some(controller) = &devices.pins else {
        return;
    };
    if let Some(registers) = identity::device(controller.registers) {
        let pins = pins::find(tree, controller, &devices.pin_states);
        pins.apply(controller.chip, &mut PinRegisters(registers), report::line);
    }
}

/// Builds the inner domain and runs its initialisation.
fn start_inner(
    image: &Image,
    machine: &MachineDescription,
    console: Option<u64>,
    power: Option<u64>,
    secrets: &Secrets,
    mut boot: BootInfo,
) -> Result<(), Failure> {
    let block = image.table_block()?;
    let mut builder = Builder::new(machine.region, block, image.switch_mode)?;
    builder.load(image, block)?;
    builder.map_stacks(&machine.cpus)?;
    if let Some(registers) = console {
        boot.console = builder.map_device(registers)?;
    }
    if let Some(registers) = power {
        boot.watchdog = builder.map_device(registers)?;
        boot.parked_cpus = builder.take_parked_cpus()?;
    }
    if let Some(registers) = machine.devices.mailbox {
        boot.mailbox = builder.map_device(registers)?;
        boot.messages = builder.take_messages()?;
    }
    for (to, (registers, bits)) in boot.mediated.iter_mut().zip(&machine.devices.mediated) {
        to.registers = bank(*registers);
        to.mapped = builder.map_device(registers.start())?;
        to.bits = u64::from(*bits);
    }
    builder.map_memory(&machine.banks)?;
    boot.tlbi_pages = builder.finish_gate()? as u64;
    let metadata = builder.take_metadata(&machine.banks)?;
    boot.frame_table = metadata.frames;
    boot.pool_table = metadata.pool;
    boot.user_arena = metadata.user_arena;
    boot.user_cells = metadata.user_cells;
    boot.user_trees = metadata.user_trees;
    boot.private_words = metadata.private_words;
    boot.private_blocks = metadata.private_blocks;
    boot.compartments = metadata.compartments;
    boot.compartment_roots = metadata.compartment_roots;
    keep_to_window(&mut builder, image, machine, &mut boot)?;
    if let Some(derived) = secrets.derive(&boot.started) {
        boot.secrets = builder.store_secrets(derived)?;
    }
    let (conduit, parked_page) = (boot.conduit, boot.parked_cpus);
    let boot = builder.store(&boot)?;
    let region = machine.region;
    // SAFETY: the identity map covers the region. The root is complete: the inner half and the
    // gate are mapped, the rest is zero.
    unsafe {
        cpu::sync_icache_this_cpu(region.start(), region.size());
        enter_inner_view(builder.root())
    }?;
    // SAFETY: the manifest's address is the inner image's function of this type, now mapped,
    // and the boot information is in the physical view.
    let arrive = unsafe {
        let init: unsafe extern "C" fn(*const BootInfo) -> u64 =
            core::mem::transmute(image.inner_init() as *const ());
        init(boot as *const BootInfo)
    };
    builder.prepare_arrivals(image.stays()?, arrive)?;
    if conduit != Conduit::Emulated as u64 {
        return Ok(());
    }
    let (cpus, stays) = (&machine.cpu_nodes, image.stays()?);
    // SAFETY: the inner domain has just been initialised, and arrivals are prepared.
    unsafe { parked::release(cpus, cpu::mpidr(), parked_page, stays) }
}

/// Makes the upper range what the inner domain will have, beside the identity map.
///
/// # Safety
///
/// `root` is a root table whose upper half is complete.
unsafe fn enter_inner_view(root: u64) -> Result<(), Failure> {
    let ttbr1 = root | u64::from(tcr::RESERVED_ASID) << 48;
    let back: u64;
    // SAFETY: the code and its data are in the lower range, which stays as it is; the upper one
    // was off, so nothing stale is cached for it.
    unsafe {
        asm!(
            "dsb ish",
            "msr ttbr1_el1, {ttbr1}",
            "isb",
            "msr tcr_el1, {tcr}",
            "isb",
            "tlbi vmalle1",
            "dsb nsh",
            "isb",
            "mrs {back}, tcr_el1",
            ttbr1 = in(reg) ttbr1,
            tcr = in(reg) tcr::BOOT,
            back = out(reg) back,
            options(nostack)
        );
    }
    if back == tcr::BOOT {
        Ok(())
    } else {
        Err(Failure::Tcr(back, tcr::BOOT))
    }
}

/// Linux starts with its caches off: whatever it or a new CPU will read goes to memory.
fn clean_for_linux(
    image: &Image,
    machine: &MachineDescription,
    tree: &[u8],
) -> Result<u64, Failure> {
    // The tree must begin at a multiple of 8; it lies in the boot stage's heap, which Linux
    // keeps until it has read it.
    let words = tree.len().div_ceil(8);
    let mut aligned: Vec<u64> = Vec::with_capacity(words);
    for chunk in tree.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        aligned.push(u64::from_ne_bytes(word));
    }
    let tree: &'static [u64] = aligned.leak();
    let whole = image.whole()?;
    for range in [whole, machine.region] {
        // SAFETY: RAM, covered by the identity map.
        unsafe { cpu::clean_to_coherency(range.start(), range.size()) };
    }
    Ok(tree.as_ptr() as u64)
}
