// SPDX-License-Identifier: MIT OR Apache-2.0
//! A CPU that was switched on: `arrival.S` and what it asks Rust.

use core::arch::global_asm;

use donjon_abi::layout;
use donjon_hal::{cpu, registers};

use crate::gate::INNER;
use crate::{domain, epitaph, state};

global_asm!(
    include_str!("arrival.S"),
    INNER = const INNER,
    CPU_INDEX_SHIFT = const layout::CPU_INDEX_SHIFT,
    CPU_INDEX_MASK = const layout::MAX_CPUS - 1,
    STACK_STRIDE_SHIFT = const layout::STACK_STRIDE_SHIFT,
);

unsafe extern "C" {
    fn donjon_arrive();
}

/// Where the page that stays sends a CPU, a virtual address.
pub fn entry() -> u64 {
    donjon_arrive as *const () as u64
}

/// Loads the registers of a CPU that arrives and tells where it goes on. A CPU that nobody
/// asked for stops here.
#[unsafe(no_mangle)]
extern "C" fn donjon_arrived() -> u64 {
    epitaph::join_if_stopping();
    let (Some(machine), Ok(mut domain)) = (state::machine(), domain::lock()) else {
        cpu::halt();
    };
    let arrival = machine
        .cpus
        .index(registers::mpidr())
        .and_then(|index| domain.arrivals[index].take());
    drop(domain);
    let Some((entry, controlled)) = arrival else {
        log::error!("a CPU arrived that nobody asked for");
        cpu::halt();
    };
    registers::close_extensions();
    registers::set_ttbr0(machine.boot.reserved_root);
    // SAFETY: read on the CPU that asked, or at the hand-over.
    unsafe { controlled.load() };
    entry
}
