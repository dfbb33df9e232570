// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes down every step that was carried out; only in builds for tests (`trace-steps`).
//!
//! Records leave the machine by semihosting, a buffer at a time, so the emulator must offer it: on
//! anything else the first full buffer ends in an undefined instruction. They go to the
//! emulator's standard output, and the emulator's options say where that leads.
//!
//! A step is recorded behind it, by the CPU that carried it out, which holds the lock of what the
//! step is about: that of the protected state, or of a tree. So whatever another CPU does because
//! of it is recorded later. Of steps about different trees the order means nothing.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use donjon_abi::layout::{MAX_CPUS, cpu_index};
use donjon_abi::trace::{BUFFERED, BYTES, CPU_SHIFT, RecordKind, WORDS};
use donjon_core::translation::Step;
use spin::Mutex;

use crate::cpu_id;

/// What was recorded. It is read from outside when the machine is stopped, so its layout is fixed.
#[repr(C)]
struct Recorder {
    /// Records in all.
    count: AtomicU64,
    /// Records that wait in `words`.
    waiting: AtomicU64,
    words: [AtomicU64; BUFFERED * WORDS],
}

#[unsafe(no_mangle)]
static DONJON_TRACE: Recorder = Recorder {
    count: AtomicU64::new(0),
    waiting: AtomicU64::new(0),
    words: [const { AtomicU64::new(0) }; BUFFERED * WORDS],
};

/// Whether a CPU has recorded something in this call.
static BUSY: [AtomicBool; MAX_CPUS] = [const { AtomicBool::new(false) }; MAX_CPUS];

/// Handle of the emulator's output; none before it is open.
static OUTPUT: Mutex<Option<u64>> = Mutex::new(None);

/// Records a step of the rules. `replaced` is what a store found in its entry.
pub fn step(step: Step, replaced: u64) {
    let (kind, operands) = match step {
        Step::Write { entry, value } => (RecordKind::Store, [entry, replaced, value]),
        Step::ZeroFrame(frame) | Step::ZeroGroups { frame, .. } => {
            (RecordKind::Zero, [frame, 0, 0])
        }
        Step::CleanFrame(frame) => (RecordKind::Clean, [frame, 0, 0]),
        Step::BarrierStore => (RecordKind::StoreBarrier, [0; 3]),
        Step::Barrier => (RecordKind::Barrier, [0; 3]),
        Step::InvalidateLeaf { va } => (RecordKind::InvalidateLeaf, [va, 0, 0]),
        Step::InvalidatePage { asid, va } => (RecordKind::InvalidatePage, [va, u64::from(asid), 0]),
        Step::InvalidateTable { va } => (RecordKind::InvalidateTable, [va, 0, 0]),
        Step::InvalidateAsid(asid) => (RecordKind::InvalidateAsid, [u64::from(asid), 0, 0]),
        Step::InvalidateAll => (RecordKind::InvalidateAll, [0; 3]),
        // The function that writes TTBR0_EL1 records it (`registers`).
        Step::LoadRoot { .. } => return,
    };
    record(kind, operands);
}

/// Records that a call is over, if this CPU has recorded something since the last one was.
pub fn end() {
    let busy = BUSY.get(cpu_index(cpu_id::mpidr()));
    if busy.is_some_and(|it| it.swap(false, Ordering::Relaxed)) {
        write_down(RecordKind::End, [0; 3]);
    }
}

/// Records anything else.
pub fn record(kind: RecordKind, operands: [u64; WORDS - 1]) {
    if let Some(busy) = BUSY.get(cpu_index(cpu_id::mpidr())) {
        busy.store(true, Ordering::Relaxed);
    }
    write_down(kind, operands);
}

fn write_down(kind: RecordKind, operands: [u64; WORDS - 1]) {
    let mut output = OUTPUT.lock();
    let first = kind as u64 | (cpu_index(cpu_id::mpidr()) as u64) << CPU_SHIFT;
    let waiting = DONJON_TRACE.waiting.load(Ordering::Relaxed);
    let room = DONJON_TRACE.words.iter().skip(waiting as usize * WORDS);
    for (cell, word) in room.zip([first].iter().chain(&operands)) {
        cell.store(*word, Ordering::Relaxed);
    }
    add_one(&DONJON_TRACE.count);
    add_one(&DONJON_TRACE.waiting);
    if waiting as usize + 1 == BUFFERED {
        let handle = *output.get_or_insert_with(open);
        write(handle, &DONJON_TRACE.words);
        DONJON_TRACE.waiting.store(0, Ordering::Relaxed);
    }
}

fn add_one(cell: &AtomicU64) {
    cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn open() -> u64 {
    const OPEN: u64 = 1;
    const TO_WRITE: u64 = 4;
    const NAME: &[u8] = b":tt\0";
    let block = [NAME.as_ptr() as u64, TO_WRITE, NAME.len() as u64 - 1];
    // SAFETY: the name is a constant that ends with 0.
    let handle = unsafe { semihosting(OPEN, &block) };
    assert!(handle as i32 >= 0, "there is no semihosting");
    handle
}

fn write(handle: u64, words: &[AtomicU64; BUFFERED * WORDS]) {
    const WRITE: u64 = 5;
    let block = [handle, words.as_ptr() as u64, (BUFFERED * BYTES) as u64];
    // SAFETY: the range is the array, which is written under the lock alone.
    let left = unsafe { semihosting(WRITE, &block) };
    assert!(left == 0, "the trace has no room for {left} bytes");
}

/// Asks the emulator for something.
///
/// # Safety
///
/// The words of `block` are what the operation wants.
unsafe fn semihosting(operation: u64, block: &[u64; 3]) -> u64 {
    let result;
    // SAFETY: the words of `block` are what the operation wants. The instruction reads memory and
    // writes x0.
    unsafe {
        asm!(
            "hlt #0xf000",
            inout("x0") operation => result,
            in("x1") block.as_ptr(),
            options(nostack)
        );
    }
    result
}
