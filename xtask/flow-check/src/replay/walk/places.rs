// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a log ends, if there is more than one place on the path for it.

use super::Walk;
use crate::graph::Number;
use crate::replay::log::Mark;
use crate::replay::stop::Stop;
use crate::replay::{Failure, Fault, Totals};

/// Blocks behind the first place at which a log may end that are looked at for others.
const BLOCKS: u64 = 1 << 16;

/// Places that are counted.
const PLACES: u64 = 1000;

impl Walk<'_> {
    /// Ends the path on a part of a region's path, if its words are those of the log. The walk can
    /// go on behind it in any case: the log may have ended later.
    pub fn ends_on(&mut self, path: &[Number], base: u64, stop: Stop) -> Result<(), Fault> {
        let before = (self.log.mark(), self.link, self.at);
        let begun = self.begun;
        let is_first = !std::mem::replace(&mut self.quiet, true);
        let tried = self.part(path, base, stop);
        if let (Err(fault), true) = (tried, is_first) {
            let failure = self.failure(fault);
            self.wrong.get_or_insert(failure);
        }
        self.put_back(before);
        self.begun = begun;
        if tried.is_err() {
            self.quiet = !is_first;
            return Ok(());
        }
        if is_first {
            self.quiet = false;
            self.part(path, base, stop)?;
            self.put_back(before);
            self.quiet = true;
            // What follows is tried only.
            self.limits.blocks = self.limits.blocks.min(self.begun.saturating_add(BLOCKS));
        }
        self.totals.places += 1;
        if self.totals.places >= PLACES {
            return Err(Fault::End);
        }
        Ok(())
    }

    fn put_back(&mut self, (mark, link, at): (Mark, u64, usize)) {
        self.log.back_to(mark);
        (self.link, self.at) = (link, at);
    }

    /// Ends a walk that cannot go on: the log has ended before, or is no path.
    pub fn past(mut self, fault: Fault) -> Result<Totals, Failure> {
        if self.totals.places == 0 {
            return Err(match self.wrong.take() {
                Some(failure) => failure,
                None => self.failure(fault),
            });
        }
        // Where nothing more was looked at, there may be another place.
        self.totals.places += u64::from(matches!(fault, Fault::Long | Fault::Deep));
        Ok(self.totals)
    }
}
