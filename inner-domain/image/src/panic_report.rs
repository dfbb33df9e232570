// SPDX-License-Identifier: MIT OR Apache-2.0
//! The panic handler: prints what happened, where, and the registers, then stops the machine.
//!
//! Every line begins with `donjon: PANIC`, which host tools look for. The first CPU to arrive
//! writes; the machine is then switched off, which stops the others, too. Where the firmware
//! cannot, a CPU stops at its next call other than the null call.

use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use donjon_abi::tcr;
use donjon_hal::console::Console;
use donjon_hal::cpu::{self, ExceptionRegisters};

use crate::per_cpu::PerCpu;
use crate::{compartments, logger, parked, state, user_tables};

static STOPPING: AtomicBool = AtomicBool::new(false);
/// MPIDR of the CPU that writes.
static WRITER: AtomicU64 = AtomicU64::new(0);

/// Writes a line of the report. The console cannot fail.
fn line(console: &mut Console, text: fmt::Arguments) {
    let _ = writeln!(console, "donjon: PANIC {text}");
}

/// Waits for the end if another CPU has begun it.
pub fn join_if_stopping() {
    if STOPPING.load(Ordering::Relaxed) {
        cpu::halt();
    }
}

/// Ends here if a CPU is already writing: at once if it is not this CPU, and with the machine if
/// this CPU failed while it wrote.
fn begin() {
    user_tables::disable_fast_path();
    if !STOPPING.swap(true, Ordering::AcqRel) {
        WRITER.store(cpu::mpidr(), Ordering::Release);
    } else if WRITER.load(Ordering::Acquire) == cpu::mpidr() {
        end();
    } else {
        cpu::halt();
    }
}

fn end() -> ! {
    compartments::wipe();
    if let Some(machine) = state::machine() {
        parked::system_off(machine);
    }
    cpu::halt()
}

/// A vector or the gate found a `TCR_EL1` that should not be.
pub fn mismatch(block: &PerCpu) -> ! {
    begin();
    let registers = cpu::exception_registers();
    if let Some(mut console) = logger::console() {
        let what = match registers.tcr {
            tcr::INNER | tcr::INNER_TLBI => "exception while the inner view was live",
            tcr::OUTER => "the gate was entered behind its constant, with the outer TCR_EL1",
            _ => "TCR_EL1 is neither domain's",
        };
        line(
            &mut console,
            format_args!("on CPU {:#x}: {what}", cpu::mpidr() & 0xffff),
        );
        line(
            &mut console,
            format_args!(
                "TCR_EL1 {:#018x} (outer {:#018x})",
                registers.tcr,
                tcr::OUTER
            ),
        );
        exception(&mut console, &registers);
        line(&mut console, format_args!("x0 {:#018x}", registers.x0));
        let mut saved = block.saved();
        while let Some((name, value)) = saved.next() {
            match saved.next() {
                Some((next, second)) => {
                    line(
                        &mut console,
                        format_args!("{name} {value:#018x} {next} {second:#018x}"),
                    );
                }
                None => line(&mut console, format_args!("{name} {value:#018x}")),
            }
        }
    }
    end()
}

fn exception(console: &mut Console, registers: &ExceptionRegisters) {
    let ExceptionRegisters {
        elr,
        esr,
        far,
        spsr,
        ..
    } = registers;
    line(
        console,
        format_args!(
            "ELR_EL1 {elr:#018x} ESR_EL1 {esr:#018x} (class {:#x})",
            esr >> 26
        ),
    );
    line(
        console,
        format_args!("FAR_EL1 {far:#018x} SPSR_EL1 {spsr:#018x}"),
    );
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    begin();
    let registers = cpu::exception_registers();
    if let Some(mut console) = logger::console() {
        line(
            &mut console,
            format_args!("on CPU {:#x}: {}", cpu::mpidr() & 0xffff, info.message()),
        );
        if let Some(location) = info.location() {
            line(&mut console, format_args!("at {location}"));
        }
        exception(&mut console, &registers);
    }
    end()
}
