// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine stops or begins again. RAM may keep its contents, and what starts next may be a
//! Linux that reads all of it before there is an inner domain.

use core::sync::atomic::Ordering;

use donjon_abi::call::Reason;
use donjon_abi::layout::MAX_CPUS;

use super::{Compartments, end};
use crate::memory::private::PrivateFrames;
use crate::translation::{Hardware, Step};

/// Wipes everything that compartments have, down to memory, behind all caches: a reset may drop
/// what stands in them alone. None of them is of any use afterwards.
pub fn wipe_all<H: Hardware>(hw: &mut H, private: &PrivateFrames<'_>) {
    private.for_each(|frame, has_owner| {
        if has_owner {
            end::zero(hw, frame);
        }
        hw.perform(Step::CleanFrame(frame.as_u64()));
    });
    hw.perform(Step::Barrier);
}

impl Compartments<'_> {
    /// Wipes everything that compartments have. None is entered from then on.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] while one runs: it could copy what it knows to what is wiped already. Then
    /// nothing has changed.
    pub fn stop<H: Hardware>(&self, hw: &mut H, private: &PrivateFrames<'_>) -> Result<(), Reason> {
        self.stopping.store(true, Ordering::SeqCst);
        if self.running.iter().any(|it| it.load(Ordering::SeqCst)) {
            self.stopping.store(false, Ordering::SeqCst);
            return Err(Reason::InUse);
        }
        wipe_all(hw, private);
        Ok(())
    }

    /// Notes that a CPU is about to enter one, unless the machine stops. This stores and then
    /// loads, as [`stop`](Self::stop) does with the two flags exchanged, so one of the two sees the
    /// other.
    #[inline]
    pub(super) fn note_running(&self, cpu: usize) -> Result<(), Reason> {
        let running = &self.running[cpu % MAX_CPUS];
        running.store(true, Ordering::SeqCst);
        if self.stopping.load(Ordering::SeqCst) {
            running.store(false, Ordering::Relaxed);
            return Err(Reason::InUse);
        }
        Ok(())
    }

    /// Notes that a CPU has left. What it stored in private memory comes before.
    #[inline]
    pub(super) fn note_left(&self, cpu: usize) {
        self.running[cpu % MAX_CPUS].store(false, Ordering::Release);
    }
}
