// SPDX-License-Identifier: MIT OR Apache-2.0
//! R9 and R10: where text lies, and where pointers lead.

use super::*;
use crate::program::Input;

fn refusal(change: impl FnOnce(&mut Input)) -> (u64, Reason) {
    let (words, labels) = program(|code| fork(code, 1)).assemble();
    let mut input = input(&words, &labels);
    change(&mut input);
    let all = Program::check(input).expect_err("refused");
    (all[0].address, all[0].reason)
}

#[test]
fn text_beyond_4_gib_twice_or_not_aligned_is_refused() {
    let high = |it: &mut Input| it.text.push((0xffff_fffc, vec![NOP, NOP]));
    assert_eq!(refusal(high), (0xffff_fffc, Reason::Place));
    for address in [0x1_0000_0000, u64::MAX - 3] {
        let place = |it: &mut Input| it.text.push((address, vec![NOP]));
        assert_eq!(refusal(place), (address, Reason::Place));
    }
    let twice = |it: &mut Input| it.text.push((BASE + 4, vec![NOP]));
    assert_eq!(refusal(twice), (BASE + 4, Reason::Place));
    let within = |it: &mut Input| it.text.push((0x2, vec![NOP]));
    assert_eq!(refusal(within), (2, Reason::Place));
}

#[test]
fn pointers_and_entry_lead_to_places_that_begin_something() {
    // Within the region's template, within its flush, to the flush, and out of the text.
    for target in [BASE + 12, BASE + 0x1c, BASE + 0x24, BASE + 2, 0, u64::MAX] {
        let pointed = |it: &mut Input| it.targets.push(target);
        assert_eq!(refusal(pointed), (target, Reason::Target), "{target:x}");
        let entered = |it: &mut Input| it.entry = target;
        assert_eq!(refusal(entered), (target, Reason::Target), "{target:x}");
    }
}

#[test]
fn what_a_pointer_leads_to_begins_a_region() {
    let (words, labels) = program(|code| fork(code, 1)).assemble();
    let mut input = input(&words, &labels);
    // The branch behind the template: from there two paths, and no bits.
    input.targets.push(BASE + 16);
    let all = Program::check(input).expect_err("refused");
    assert_eq!(
        (all[0].address, all[0].reason),
        (BASE + 16, Reason::LargeSum)
    );
}

#[test]
fn text_in_pieces_is_one_text() {
    let (words, labels) = program(|code| fork(code, 1)).assemble();
    let mut input = input(&words, &labels);
    input.text = words
        .iter()
        .enumerate()
        .rev()
        .map(|(at, &word)| (BASE + 4 * at as u64, vec![word]))
        .collect();
    input.text.push((0x1000, vec![NOP, NOP]));
    assert!(Program::check(input).is_ok());
}

#[test]
fn an_empty_text_is_refused() {
    let all = Program::check(Input::default()).expect_err("refused");
    assert_eq!(all[0].reason, Reason::Target);
}
