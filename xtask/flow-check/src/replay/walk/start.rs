// SPDX-License-Identifier: MIT OR Apache-2.0
//! The start of a region, and the flush of path bits there.

use super::Walk;
use crate::graph::Number;
use crate::replay::Fault;
use crate::replay::stop::template;
use crate::template::LENGTH;

/// Highest number that the sentinel in x28 may have as a bit.
const TOP: u32 = 62;

impl Walk<'_> {
    /// Walks through the template at the start of a region. `true`: the log ends in it.
    pub fn start(&mut self, number: Number) -> Result<bool, Fault> {
        let node = self.graph().node(number);
        let (words, bits) = (node.start..node.start + template(node), node.bits);
        let (flush, back) = (node.flush, words.end - 1);
        if self.batch.used + bits > TOP {
            if self.is_over() && self.stopped_in(node.start..back) {
                return Ok(true);
            }
            if self.flush(flush)? {
                return Ok(true);
            }
            if self.is_over() && (self.stopped_in(back..words.end)) {
                return Ok(true);
            }
        } else if self.is_over() && self.stopped_in(words) {
            return Ok(true);
        }
        if self.batch.used + bits > self.batch.all {
            return Err(if self.batch.last {
                Fault::Missing
            } else {
                Fault::Flush
            });
        }
        Ok(false)
    }

    /// Walks through a flush. `true`: the log ends in it.
    fn flush(&mut self, flush: usize) -> Result<bool, Fault> {
        if self.batch.used != self.batch.all {
            return Err(Fault::Flush);
        }
        if self.batch.last {
            let stopped = self.log.left == 0 && self.stopped_in(flush..flush + 1);
            return if stopped {
                Ok(true)
            } else {
                Err(Fault::Missing)
            };
        }
        let full = self.batch.word;
        if self.take(flush, full)? != full {
            return Err(Fault::Flush);
        }
        let unchanged = self.end == full && self.stopped_in(flush + 1..flush + LENGTH + 1);
        if self.log.left == 0 && unchanged {
            return Ok(true);
        }
        self.refill()?;
        let back = flush + LENGTH + 1;
        Ok(self.is_over() && self.stopped_in(back..back + 1))
    }
}
