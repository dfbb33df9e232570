// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules that every instruction of a run must obey.

use std::fmt;

use donjon_abi::call::REASON_MISMATCH;
use donjon_abi::layout::{GATE, STACK_WINDOW};
use donjon_abi::tcr::OUTER;

use super::map::{FetchPlace, Map, SLOT, SLOTS};

/// D, A, I and F in PSTATE.
pub const DAIF: u64 = 0xf << 6;

/// A CPU before it executes an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// x0 to x30.
    pub general: Vec<u64>,
    /// The stack pointer in use.
    pub sp: u64,
    /// Where it is.
    pub pc: u64,
    /// PSTATE.
    pub pstate: u64,
    /// `TCR_EL1`.
    pub tcr: u64,
    /// The word at `pc` as the CPU translates it now; none if it cannot.
    pub word: Option<u32>,
    /// The physical address of it; none where it was not looked up.
    pub frame: Option<u64>,
}

/// What was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breach {
    /// Something else was fetched while `TCR_EL1` was not the outer value.
    Fetched,
    /// Inner text ran, and not under the inner value.
    InnerUnderOther,
    /// Inner text ran with exceptions open.
    InnerUnmasked,
    /// Inner text ran on a stack that is not the inner domain's.
    Stack,
    /// A call is made although a forged value stood before.
    Unnoticed,
    /// The inner domain left something in this register.
    Left(usize),
    /// A register that belongs to the caller was not put back.
    Lost(usize),
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetched => write!(f, "fetched with a TCR_EL1 that is not the outer one"),
            Self::InnerUnderOther => write!(f, "inner text under another TCR_EL1"),
            Self::InnerUnmasked => write!(f, "inner text with exceptions open"),
            Self::Stack => write!(f, "inner text on a stack of the caller's"),
            Self::Unnoticed => write!(f, "a call behind a forged TCR_EL1 that was not noticed"),
            Self::Left(number) => write!(f, "x{number} tells something"),
            Self::Lost(number) => write!(f, "x{number} is not the caller's any more"),
        }
    }
}

/// What is wrong with executing the next instruction of `seen`, if it can be fetched at all.
pub fn judge(map: &Map, seen: &Seen) -> Option<Breach> {
    let (place, word, frame) = map.expected(seen.pc);
    if matches!(place, FetchPlace::Inner | FetchPlace::InnerGate) {
        if seen.tcr != map.inner {
            return Some(Breach::InnerUnderOther);
        }
        if seen.pstate & DAIF != DAIF {
            return Some(Breach::InnerUnmasked);
        }
        if place == FetchPlace::Inner && !(STACK_WINDOW..GATE).contains(&seen.sp) {
            return Some(Breach::Stack);
        }
    }
    if seen.tcr == OUTER {
        return None;
    }
    let other = seen.word != Some(word) || seen.frame.is_some_and(|it| it != frame);
    (place == FetchPlace::Outside || other).then_some(Breach::Fetched)
}

/// Whether a call begins although a value stood in `TCR_EL1` that is neither domain's. Walks may
/// have left anything in the TLB by then, so the only call that may follow is the stop.
pub fn unnoticed(map: &Map, forged: Option<u64>, seen: &Seen) -> Option<Breach> {
    let begins = seen.pc == map.symbol("inner") && seen.tcr == map.inner;
    let stops = seen.general.first() == Some(&REASON_MISMATCH);
    (forged.is_some() && begins && !stops).then_some(Breach::Unnoticed)
}

/// Whether the exception that led to the vector slot `pc` was taken in place of the instruction
/// at its return address, which was not executed then: an asynchronous one, or a synchronous one
/// of a class that comes before execution (DDI 0487, D1.3, ESR_EL1: instruction abort, PC
/// alignment, breakpoint, software step).
pub fn instead(map: &Map, pc: u64, esr: u64) -> bool {
    const CLASSES: [u64; 4] = [0x21, 0x22, 0x31, 0x33];
    let offset = pc.wrapping_sub(map.vectors);
    let synchronous = offset.is_multiple_of(4 * SLOT);
    offset < SLOT * SLOTS
        && offset.is_multiple_of(SLOT)
        && (!synchronous || CLASSES.contains(&(esr >> 26 & 0x3f)))
}

/// What a call that came back left behind; `before` is how it entered. x0 and x1 are the result;
/// x9 and x10 are the caller's own DAIF and SP, or a constant; x18 is a constant.
pub fn left(before: &Seen, after: &Seen) -> Option<Breach> {
    let value = |seen: &Seen, number: usize| seen.general.get(number).copied().unwrap_or(0);
    let cleared = (2..=8).chain(11..=17);
    let mut left = cleared.filter(|it| value(after, *it) != 0);
    if let Some(number) = left.next() {
        return Some(Breach::Left(number));
    }
    let own = [before.sp, OUTER, 0];
    let tenth = value(after, 10);
    // In mode `tlbi` it is where the list of operands was read last. A caller whose x30 leads into
    // that loop makes it run to the end of the page, and to a fault there.
    let of_gate = (GATE..=GATE + 4096).contains(&tenth);
    if !own.contains(&tenth) && !of_gate {
        return Some(Breach::Left(10));
    }
    let mut kept = (19..=30).filter(|it| value(before, *it) != value(after, *it));
    kept.next().map(Breach::Lost)
}

#[cfg(test)]
mod tests {
    use donjon_abi::layout::{GATE_ENTRY, PAGE_SIZE, TEXT_WINDOW};
    use donjon_abi::tcr::{INNER, STRICT_MIDDLE};

    use super::super::map::WRITE;
    use super::super::map::tests::{GATE_FRAME, VECTORS, map};
    use super::*;

    fn at(pc: u64, tcr: u64) -> Seen {
        let (_, word, _) = map().expected(pc);
        Seen {
            general: vec![0; 31],
            sp: STACK_WINDOW + 0x4000,
            pc,
            pstate: DAIF | 5,
            tcr,
            word: Some(word),
            frame: None,
        }
    }

    #[test]
    fn the_outer_domain_does_what_it_likes_under_its_own_value() {
        assert_eq!(judge(&map(), &at(0x1234, OUTER)), None);
        assert_eq!(judge(&map(), &at(GATE, OUTER)), None);
        let breach = Some(Breach::InnerUnderOther);
        assert_eq!(judge(&map(), &at(TEXT_WINDOW, OUTER)), breach);
    }

    #[test]
    fn under_another_value_only_gate_and_vectors_run() {
        for tcr in [0, INNER | 1 << 38, OUTER ^ 1 << 63, STRICT_MIDDLE] {
            let map = map();
            assert_eq!(judge(&map, &at(GATE + 0x94, tcr)), None);
            assert_eq!(judge(&map, &at(VECTORS + 0x200, tcr)), None);
            for outside in [VECTORS + 0x21c, VECTORS + 0x1000, 0] {
                let breach = Some(Breach::Fetched);
                assert_eq!(judge(&map, &at(outside, tcr)), breach, "{outside:#x}");
            }
            let breach = Some(Breach::InnerUnderOther);
            assert_eq!(judge(&map, &at(GATE - PAGE_SIZE, tcr)), breach);
        }
    }

    #[test]
    fn the_word_and_its_frame_count() {
        let mut seen = at(GATE + 0x94, 0);
        assert_eq!(seen.word, Some(WRITE));
        seen.frame = Some(GATE_FRAME + 0x94);
        assert_eq!(judge(&map(), &seen), None);
        seen.frame = Some(0x4a00_0094);
        assert_eq!(judge(&map(), &seen), Some(Breach::Fetched));
        seen.frame = None;
        seen.word = Some(0x4a00_0483);
        assert_eq!(judge(&map(), &seen), Some(Breach::Fetched));
    }

    #[test]
    fn inner_text_runs_masked_and_on_its_own_stack() {
        let inner = at(TEXT_WINDOW, INNER);
        assert_eq!(judge(&map(), &inner), None);
        let open = Seen {
            pstate: inner.pstate & !(1 << 7),
            ..inner.clone()
        };
        assert_eq!(judge(&map(), &open), Some(Breach::InnerUnmasked));
        let stack = Seen { sp: 0, ..inner };
        assert_eq!(judge(&map(), &stack), Some(Breach::Stack));
        // Before the stack is chosen it is the caller's.
        let gate = Seen {
            sp: 0,
            ..at(GATE - 0x9c, INNER)
        };
        assert_eq!(judge(&map(), &gate), None);
    }

    #[test]
    fn behind_a_forged_value_there_is_only_the_stop() {
        let map = map();
        let mut seen = at(map.symbol("inner"), INNER);
        assert_eq!(unnoticed(&map, None, &seen), None);
        assert_eq!(unnoticed(&map, Some(0), &seen), Some(Breach::Unnoticed));
        seen.general[0] = REASON_MISMATCH;
        assert_eq!(unnoticed(&map, Some(0), &seen), None);
    }

    #[test]
    fn an_exception_before_execution_is_none_after_it() {
        let class = |class: u64| class << 26;
        assert!(instead(&map(), VECTORS + 0x200, class(0x21)));
        assert!(instead(&map(), VECTORS, class(0x33)));
        assert!(instead(&map(), VECTORS + 0x280, class(0)));
        for executed in [0, 0x25, 0x26, 0x3c] {
            assert!(!instead(&map(), VECTORS + 0x200, class(executed)));
        }
        assert!(!instead(&map(), VECTORS + 0x204, class(0x21)));
        assert!(!instead(&map(), VECTORS + 0x600, class(0x21)));
    }

    #[test]
    fn what_is_left_behind_is_noticed() {
        let before = Seen {
            general: (100..131).collect(),
            ..at(GATE_ENTRY, OUTER)
        };
        let mut after = before.clone();
        for number in (2..=8).chain(10..=17) {
            after.general[number] = 0;
        }
        assert_eq!(left(&before, &after), None);
        after.general[10] = before.sp;
        assert_eq!(left(&before, &after), None);
        after.general[10] = 7;
        assert_eq!(left(&before, &after), Some(Breach::Left(10)));
        after.general[10] = GATE + 4104;
        assert_eq!(left(&before, &after), Some(Breach::Left(10)));
        after.general[10] = GATE + 4096;
        assert_eq!(left(&before, &after), None);
        after.general[10] = OUTER;
        after.general[12] = 1;
        assert_eq!(left(&before, &after), Some(Breach::Left(12)));
        after.general[12] = 0;
        after.general[29] ^= 1;
        assert_eq!(left(&before, &after), Some(Breach::Lost(29)));
    }
}
