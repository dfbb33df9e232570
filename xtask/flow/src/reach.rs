// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far branches reach.

use std::collections::HashMap;

use crate::emit::Out;

/// Length of a function within which all branches reach: `tbz` reaches 32 KiB.
pub const NEAR: usize = 30 << 10;

/// Length of a function within which all branches but `tbz` and `tbnz` reach.
pub const FAR: usize = 1000 << 10;

/// Finds how many bytes a function has at most.
pub fn size(out: &[Out]) -> usize {
    out.iter().map(length).sum()
}

fn length(it: &Out) -> usize {
    match it {
        Out::Code(_) => 4,
        Out::Label(_) => 0,
        Out::Mark(it) if it.contains("align") => 12,
        Out::Mark(_) => 0,
    }
}

/// Turns each `tbz` and `tbnz` round that does not reach its target: it skips a jump there.
pub fn turn_round(out: &mut Vec<Out>, new_label: &mut dyn FnMut() -> String) {
    let mut places = HashMap::new();
    let mut at = 0;
    for it in out.iter() {
        if let Out::Label(name) = it {
            places.insert(name.clone(), at);
        }
        at += length(it);
    }
    let mut new = Vec::new();
    let mut at = 0;
    for it in std::mem::take(out) {
        let length = length(&it);
        match turned(&it, at, &places, new_label) {
            Some(lines) => new.extend(lines),
            None => new.push(it),
        }
        at += length;
    }
    *out = new;
}

fn turned(
    it: &Out,
    at: usize,
    places: &HashMap<String, usize>,
    new_label: &mut dyn FnMut() -> String,
) -> Option<[Out; 3]> {
    let Out::Code(text) = it else {
        return None;
    };
    let (name, operands) = text.split_once('\t')?;
    let other = match name {
        "tbz" => "tbnz",
        "tbnz" => "tbz",
        _ => return None,
    };
    let (tested, target) = operands.rsplit_once(',')?;
    let target = target.trim();
    // Each branch that is turned round moves what is behind it.
    let reach = NEAR - NEAR / 4;
    if places.get(target)?.abs_diff(at) < reach {
        return None;
    }
    let label = new_label();
    Some([
        Out::Code(format!("{other}\t{tested}, {label}")),
        Out::Code(format!("b {target}")),
        Out::Label(label),
    ])
}
