// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log: lines in a ring that Linux reads out, and on the console until Linux owns that.

extern crate alloc;

use alloc::boxed::Box;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use donjon_abi::boot_info::{BootInfo, ConsoleKind};
use donjon_abi::call::RefusalRecord;
use donjon_core::report::log_ring::{LogRing, Reading};
use donjon_core::report::refusals::RefusalRing;
use donjon_hal::console::Console;
use donjon_hal::cpu;
use log::{LevelFilter, Log, Metadata, Record};
use spin::{Mutex, Once};

/// Bytes of the ring.
const RING_SIZE: usize = 16 << 10;
/// Refusals that are kept.
const REFUSALS: usize = 256;
/// Refusals after which only each power of two is logged: a caller that does nothing else must not
/// wash everything else out of the log.
const LOGGED: u64 = 32;
/// Refusals that are logged beside the first [`LOGGED`] because there was no record of their kind:
/// what comes behind thousands of a different kind shows, and what makes ever new kinds washes out
/// little.
const KINDS_LOGGED: u64 = 64;
/// Refusals of which there was no record of their kind.
static KINDS: AtomicU64 = AtomicU64::new(0);

static REFUSED: Mutex<RefusalRing<REFUSALS>> = Mutex::new(RefusalRing::new());

type Ring = Mutex<Box<LogRing<RING_SIZE>>>;

static RING: Once<Ring> = Once::new();
/// A [`ConsoleKind`] word.
static CONSOLE_KIND: AtomicU64 = AtomicU64::new(0);
/// Where its registers are mapped.
static CONSOLE: AtomicU64 = AtomicU64::new(0);
static CONSOLE_IS_OURS: AtomicBool = AtomicBool::new(false);

struct Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata) -> bool {
        true
    }

    fn log(&self, record: &Record) {
        let level = record.level().as_str();
        let cpu = cpu::mpidr() & 0xffff;
        if let Some(ring) = RING.get() {
            let _ = writeln!(
                Writer(&mut ring.lock()),
                "{level} cpu {cpu:#x}: {}",
                record.args()
            );
        }
        if CONSOLE_IS_OURS.load(Ordering::Relaxed)
            && let Some(mut console) = console()
        {
            let _ = writeln!(console, "donjon: {}", record.args());
        }
    }

    fn flush(&self) {}
}

struct Writer<'a>(&'a mut LogRing<RING_SIZE>);

impl Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push(text);
        Ok(())
    }
}

/// Starts the log. The heap must work.
pub fn init(boot: &BootInfo) {
    CONSOLE_KIND.store(boot.console_kind, Ordering::Relaxed);
    CONSOLE.store(boot.console, Ordering::Relaxed);
    CONSOLE_IS_OURS.store(true, Ordering::Relaxed);
    RING.call_once(|| Mutex::new(Box::new(LogRing::new())));
    // Fails only when there is a logger already, which then is this one.
    let _ = log::set_logger(&Logger);
    log::set_max_level(LevelFilter::Info);
}

/// Leaves the console to Linux; the log goes to the ring alone from here on.
pub fn leave_console() {
    CONSOLE_IS_OURS.store(false, Ordering::Relaxed);
}

/// Records a refusal, and logs it while there are few, or while there are few kinds of them.
pub fn note_refusal(record: RefusalRecord) {
    let (count, is_new) = {
        let mut ring = REFUSED.lock();
        let is_new = ring.push(record);
        (ring.count(), is_new)
    };
    let is_rare = is_new && KINDS.fetch_add(1, Ordering::Relaxed) < KINDS_LOGGED;
    if count <= LOGGED || count.is_power_of_two() || is_rare {
        log::warn!(
            "refusal {count}: function {} error {} value {:#x} caller {:#x} arguments {:#x} {:#x}",
            record.function,
            record.error,
            record.value,
            record.caller,
            record.a1,
            record.a2
        );
    }
}

/// Gives the refusals behind a sequence number, the oldest first, while the reader wants more.
pub fn refusals_after(cursor: u64, reader: impl FnMut(&RefusalRecord) -> bool) {
    let ring = REFUSED.lock();
    // The reader may change nothing but what it was made with.
    let _ = ring.after(cursor).all(reader);
}

/// Logs what ends the start of the machine, and says it on the console as well: Linux, which
/// owns that, is about to stop.
pub fn announce(text: fmt::Arguments) {
    log::error!("{text}");
    if let Some(mut console) = console() {
        let _ = writeln!(console, "donjon: {text}");
    }
}

/// Copies log text from `cursor` on.
pub fn read(cursor: u64, buffer: &mut [u8]) -> Option<Reading> {
    Some(RING.get()?.lock().read(cursor, buffer))
}

/// The console, for early messages and panic reports.
pub fn console() -> Option<Console> {
    let kind = ConsoleKind::from_word(CONSOLE_KIND.load(Ordering::Relaxed));
    // SAFETY: the boot stage mapped the UART that it printed on in the device window, for good.
    unsafe { Console::new(kind, CONSOLE.load(Ordering::Relaxed)) }
}
