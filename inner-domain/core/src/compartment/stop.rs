// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine stops or begins again. RAM may keep its contents, and what starts next may be a Linux
//! that reads all of it before there is an inner domain.

use core::sync::atomic::Ordering;

use donjon_abi::call::Reason;

use super::{Compartments, Phase, end};
use crate::private::Private;
use crate::rules::{Hardware, Step};

impl Compartments<'_> {
    /// Wipes everything that compartments have, down to memory, behind all caches: a reset may drop
    /// what stands in them alone. None of them is of any use afterwards, and none is entered.
    ///
    /// The flag is set before the slots are looked at, each with its lock held. So whoever enters one
    /// either has the lock first and is found here, or sees the flag.
    ///
    /// # Errors
    ///
    /// [`Reason::InUse`] while one runs: it could copy what it knows to what is wiped already. Then
    /// nothing has changed.
    pub fn stop<H: Hardware>(&self, hw: &mut H, private: &Private<'_>) -> Result<(), Reason> {
        self.stopping.store(true, Ordering::Relaxed);
        let mut phases = self.slots.iter().map(|it| it.0.lock().phase);
        if phases.any(|it| matches!(it, Phase::Running(_))) {
            self.stopping.store(false, Ordering::Relaxed);
            return Err(Reason::InUse);
        }
        private.for_each(|frame, has_owner| {
            if has_owner {
                end::zero(hw, frame);
            }
            hw.perform(Step::CleanFrame(frame));
        });
        hw.perform(Step::Barrier);
        Ok(())
    }
}
