// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attacks, one file each.

mod a1;
mod b1;
mod b3;
mod d1;
mod f10;
mod f14;
mod f16;
mod f17;
mod f18;

use super::attempt::{Attack, Attempt, Control, Without};

/// All of them.
pub const ALL: &[&Attack] = &[
    &a1::ATTACK,
    &b1::ATTACK,
    &b3::ATTACK,
    &d1::ATTACK,
    &f10::ATTACK,
    &f14::ATTACK,
    &f16::ATTACK,
    &f17::ATTACK,
    &f18::ATTACK,
];
