// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gate as steps of the model, in every mode and in every broken form.

use donjon_abi::tcr;

use super::model::{Invalidation, Tcr};

/// One instruction of the gate that matters to the TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// MSR TCR_EL1 with this constant, or with anything when jumped to.
    Write(Tcr),
    /// ISB.
    Synchronize,
    /// MRS TCR_EL1 and a branch to the mismatch path if it is anything else.
    Compare(Tcr),
    /// TLBI.
    Invalidate(Invalidation),
    /// DSB.
    Complete,
    /// The inner domain runs.
    RunInner,
    /// Back in the outer domain.
    Return,
}

/// What happens after a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Write the right value, invalidate, let the inner domain stop the machine.
    InvalidateAndStop,
    /// Write the right value, invalidate, go on with the call.
    InvalidateAndContinue,
    /// Write the right value and go on with the call.
    Continue,
}

/// A gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Steps from the entry to the return.
    pub steps: Vec<Step>,
    /// What a failed comparison does.
    pub mismatch: Mismatch,
}

const OUTER: Tcr = Tcr::of_register(tcr::OUTER);
const INNER: Tcr = Tcr::of_register(tcr::INNER);
const INNER_TLBI: Tcr = Tcr::of_register(tcr::INNER_TLBI);
const MIDDLE: Tcr = Tcr::of_register(tcr::STRICT_MIDDLE);

use Step::{Compare, Complete, Invalidate, Return, RunInner, Synchronize, Write};

impl Gate {
    fn new(steps: &[Step]) -> Self {
        Self {
            steps: steps.to_vec(),
            mismatch: Mismatch::InvalidateAndStop,
        }
    }

    /// Mode `asid`.
    pub fn asid() -> Self {
        Self::new(&[
            Write(INNER),
            Synchronize,
            Compare(INNER),
            RunInner,
            Write(OUTER),
            Synchronize,
            Return,
        ])
    }

    /// Mode `tlbi`: after the narrowing and its ISB, `invalidation` drops what the wide view
    /// left under the user's ASID.
    pub fn tlbi(invalidation: Invalidation) -> Self {
        Self::new(&[
            Write(INNER_TLBI),
            Synchronize,
            Compare(INNER_TLBI),
            RunInner,
            Write(OUTER),
            Synchronize,
            Invalidate(invalidation),
            Complete,
            Synchronize,
            Return,
        ])
    }

    /// Mode `strict`, compared once on the way in, after both steps.
    pub fn strict_compared_once() -> Self {
        Self::new(&[
            Write(MIDDLE),
            Synchronize,
            Write(INNER),
            Synchronize,
            Compare(INNER),
            RunInner,
            Write(MIDDLE),
            Synchronize,
            Write(OUTER),
            Synchronize,
            Compare(OUTER),
            Return,
        ])
    }

    /// Mode `strict`, compared after each step.
    pub fn strict() -> Self {
        let mut gate = Self::strict_compared_once();
        gate.steps.insert(2, Compare(MIDDLE));
        gate
    }

    /// Mode `strict` with the invalidation of mode `tlbi` on the way out.
    pub fn strict_and_tlbi(invalidation: Invalidation) -> Self {
        let mut gate = Self::strict();
        let end = gate.steps.len() - 1;
        let invalidate = [Invalidate(invalidation), Complete, Synchronize];
        gate.steps.splice(end..end, invalidate);
        gate
    }

    /// A gate that forgets to narrow: it flips the ASID alone.
    #[must_use]
    pub fn without_narrowing(mut self) -> Self {
        for step in self.after_inner() {
            if let Write(value) | Compare(value) = step {
                value.wide = true;
            }
        }
        self
    }

    /// A gate that forgets the ASID: the user's is current throughout.
    #[must_use]
    pub fn without_asid(mut self) -> Self {
        for step in &mut self.steps {
            if let Write(value) | Compare(value) = step {
                value.a1 = false;
            }
        }
        self
    }

    /// A gate that invalidates before it narrows.
    #[must_use]
    pub fn invalidating_first(mut self) -> Self {
        let steps = self.after_inner();
        let is_early = |step: &Step| matches!(step, Invalidate(_) | Complete);
        // A stable sort: the invalidation moves to the front, all else keeps its order.
        steps.sort_by_key(|step| !is_early(step));
        self
    }

    /// A gate without the DSB after its invalidation.
    #[must_use]
    pub fn without_completion(mut self) -> Self {
        self.steps.retain(|step| *step != Complete);
        self
    }

    /// A gate that treats a mismatch differently.
    #[must_use]
    pub fn with_mismatch(mut self, mismatch: Mismatch) -> Self {
        self.mismatch = mismatch;
        self
    }

    /// A gate that compares nothing.
    #[must_use]
    pub fn without_comparison(mut self) -> Self {
        self.steps.retain(|step| !matches!(step, Compare(_)));
        self
    }

    /// The steps that the outer view can fetch, hence jump to: all but the inner domain and what
    /// follows it up to the exit write, which stand in inner-only pages.
    pub(super) fn entrances(&self) -> impl Iterator<Item = usize> + '_ {
        let inner = self.inner();
        let rest = self.steps[inner..].iter();
        let exit = rest.take_while(|step| !matches!(step, Write(_))).count();
        (0..self.steps.len()).filter(move |index| !(inner..=inner + exit).contains(index))
    }

    /// What the mismatch path does before the call goes on or the machine stops.
    pub(super) fn repair(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = self.steps[..self.inner()].to_vec();
        if self.mismatch != Mismatch::Continue {
            steps.extend([Invalidate(Invalidation::All), Complete, Synchronize]);
        }
        steps.push(RunInner);
        steps
    }

    /// Index of the inner domain's own run.
    pub(super) fn inner(&self) -> usize {
        let inner = self.steps.iter().position(|step| *step == RunInner);
        inner.unwrap_or(self.steps.len())
    }

    fn after_inner(&mut self) -> &mut [Step] {
        let inner = self.inner();
        let end = self.steps.len() - 1;
        &mut self.steps[inner + 1..end]
    }
}
