// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end: what, where, registers, and then the whole machine stops.
//!
//! Every line begins with `donjon: PANIC`, which host tools look for. The first CPU to arrive
//! writes; the machine is then switched off, which stops the others, too. Where the firmware
//! cannot, a CPU stops at its next call.

use core::fmt::Write;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use donjon_abi::tcr;
use donjon_hal::cpu::{self, ExceptionRegisters};
use donjon_hal::firmware;

use crate::{journal, state};

static STOPPING: AtomicBool = AtomicBool::new(false);

macro_rules! line {
    ($console:expr, $($text:tt)*) => {
        // The console cannot fail, and there would be nobody to tell.
        let _ = writeln!($console, "donjon: PANIC {}", format_args!($($text)*));
    };
}

/// Waits for the end if another CPU has begun it.
pub fn join_if_stopping() {
    if STOPPING.load(Ordering::Relaxed) {
        cpu::halt();
    }
}

/// Ends here if another CPU is already writing.
fn begin() {
    if STOPPING.swap(true, Ordering::AcqRel) {
        cpu::halt();
    }
}

fn end() -> ! {
    if let Some(machine) = state::machine() {
        firmware::system_off(machine.conduit);
    }
    cpu::halt()
}

/// A vector or the gate found a `TCR_EL1` that is not the outer constant.
pub fn mismatch() -> ! {
    begin();
    let registers = cpu::exception_registers();
    if let Some(mut console) = journal::console() {
        let what = match registers.tcr {
            tcr::INNER | tcr::INNER_TLBI => "exception inside the inner domain",
            _ => "TCR_EL1 is not the outer domain's",
        };
        line!(console, "on CPU {:#x}: {what}", cpu::mpidr() & 0xffff);
        line!(
            console,
            "TCR_EL1 {:#018x}, expected {:#018x}, x0 {:#018x}",
            registers.tcr,
            tcr::OUTER,
            registers.x0
        );
        exception(&mut console, &registers);
    }
    end()
}

fn exception(console: &mut impl Write, registers: &ExceptionRegisters) {
    let ExceptionRegisters {
        elr,
        esr,
        far,
        spsr,
        ..
    } = registers;
    line!(
        console,
        "ELR_EL1 {elr:#018x} ESR_EL1 {esr:#018x} (class {:#x})",
        esr >> 26
    );
    line!(console, "FAR_EL1 {far:#018x} SPSR_EL1 {spsr:#018x}");
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    begin();
    let registers = cpu::exception_registers();
    if let Some(mut console) = journal::console() {
        line!(
            console,
            "on CPU {:#x}: {}",
            cpu::mpidr() & 0xffff,
            info.message()
        );
        if let Some(location) = info.location() {
            line!(console, "at {location}");
        }
        exception(&mut console, &registers);
    }
    end()
}
