// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of the instructions that templates consist of.

/// Returns `eor xD, xN, xM, ror #S`.
pub const fn eor_ror(d: u32, n: u32, m: u32, s: u32) -> u32 {
    0xcac0_0000 | m << 16 | s << 10 | n << 5 | d
}

/// Returns `eor xD, xN, xM`.
pub const fn eor(d: u32, n: u32, m: u32) -> u32 {
    0xca00_0000 | m << 16 | n << 5 | d
}

/// Returns `ror xD, xD, #32`.
pub const fn ror_half(d: u32) -> u32 {
    0x93c0_8000 | d << 16 | d << 5 | d
}

/// Returns `add xD, xN, xM`.
pub const fn add(d: u32, n: u32, m: u32) -> u32 {
    0x8b00_0000 | m << 16 | n << 5 | d
}

/// Returns `sub xD, xN, xM`, or the instruction for the lower 32 bits.
pub const fn sub(wide: bool, d: u32, n: u32, m: u32) -> u32 {
    (if wide { 0xcb00_0000 } else { 0x4b00_0000 }) | m << 16 | n << 5 | d
}

/// Returns `lsl xD, xN, #S`, S from 1 to 63.
pub const fn lsl(d: u32, n: u32, s: u32) -> u32 {
    0xd340_0000 | (64 - s) << 16 | (63 - s) << 10 | n << 5 | d
}

/// Returns `lsr xD, xN, #S`.
pub const fn lsr(d: u32, n: u32, s: u32) -> u32 {
    0xd340_fc00 | s << 16 | n << 5 | d
}

/// Returns `eor xD, xN, #0x8000000000000000`.
pub const fn eor_top(d: u32, n: u32) -> u32 {
    0xd241_0000 | n << 5 | d
}

/// Returns `orr xD, xD, #0x8000000000000000`.
pub const fn orr_top(d: u32) -> u32 {
    0xb241_0000 | d << 5 | d
}

/// Returns `mov wD, wM`.
pub const fn mov_half(d: u32, m: u32) -> u32 {
    0x2a00_03e0 | m << 16 | d
}

/// Returns `mov xD, #1`.
pub const fn one(d: u32) -> u32 {
    0xd280_0020 | d
}
