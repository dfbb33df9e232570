// SPDX-License-Identifier: MIT OR Apache-2.0
//! The templates of `docs/flow-attestation.md` as assembly text.

use crate::assembly::name;

/// Bit 63 tells counts from path bits.
const COUNT: &str = "#0x8000000000000000";

/// Returns the 17 instructions that write and absorb a register.
pub fn record(register: u8) -> Vec<String> {
    let first = format!("str x{register}, [x27], #8");
    let inject = format!("eor x22, x22, x{register}");
    let rest = [
        "eor x23, x22, x23, ror #51",
        "ror x22, x22, #32",
        "eor x25, x24, x25, ror #48",
        "add x22, x22, x25",
        "eor x25, x22, x25, ror #43",
        "add x24, x24, x23",
        "eor x23, x24, x23, ror #47",
        "ror x24, x24, #32",
        "add x22, x22, x23",
        "eor x23, x22, x23, ror #51",
        "ror x22, x22, #32",
        "add x24, x24, x25",
        "eor x25, x24, x25, ror #48",
        "add x22, x22, x25",
        "add x24, x24, x23",
    ];
    let rest = rest.into_iter().map(str::to_owned);
    [first, inject].into_iter().chain(rest).collect()
}

/// Returns the test whether `bits` more path bits have room in x28: it leads to `flush` if not.
pub fn room(bits: u32, flush: &str) -> Vec<String> {
    if bits == 1 {
        return vec![format!("tbnz x28, #62, {flush}")];
    }
    vec![
        format!("lsr x26, x28, #{}", 63 - bits),
        format!("cbnz x26, {flush}"),
    ]
}

/// Returns the instruction that makes room for path bits.
pub fn shift(bits: u32) -> String {
    format!("lsl x28, x28, #{bits}")
}

/// Returns what stands at `flush`: it writes the path bits, begins anew and goes `back`.
pub fn flush(back: &str) -> Vec<String> {
    let mut lines = record(28);
    lines.push("mov x28, #1".to_owned());
    lines.push(format!("b {back}"));
    lines
}

/// Returns the instruction of an edge with a number.
pub fn edge(number: u64) -> String {
    format!("add x28, x28, #{number}")
}

/// Returns the instruction before a counted loop.
pub fn count_from(register: u8, is_wide: bool) -> String {
    let induction = name(register, is_wide);
    if is_wide {
        format!("eor x26, {induction}, {COUNT}")
    } else {
        format!("mov w26, {induction}")
    }
}

/// Returns what follows a counted loop.
pub fn count(register: u8, is_wide: bool, is_up: bool) -> Vec<String> {
    let (from, to) = (name(26, is_wide), name(register, is_wide));
    let (from, to) = if is_up { (to, from) } else { (from, to) };
    let mut lines = vec![format!("sub {}, {from}, {to}", name(26, is_wide))];
    if !is_wide {
        lines.push(format!("orr x26, x26, {COUNT}"));
    }
    lines.extend(record(26));
    lines
}
