// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attacks, one file each.

mod a1;
mod a10;
mod a7;
mod a8;
mod a9;
mod b1;
mod b11;
mod b12;
mod b2;
mod b3;
mod b5;
mod b6;
mod b9;
mod d1;
mod d3;
mod d5;
mod d6;
mod d7;
mod f10;
mod f14;
mod f16;
mod f17;
mod f19;
mod f20;
mod u1;
mod u2;
mod u3;
mod u4;
mod u5;

use super::attempt::{Attack, Attempt, Control, Without};

/// All of them.
pub const ALL: &[&Attack] = &[
    &a1::ATTACK,
    &a7::ATTACK,
    &a8::ATTACK,
    &a9::ATTACK,
    &a10::ATTACK,
    &b1::ATTACK,
    &b2::ATTACK,
    &b3::ATTACK,
    &b5::ATTACK,
    &b6::ATTACK,
    &b9::ATTACK,
    &b11::ATTACK,
    &b12::ATTACK,
    &d1::ATTACK,
    &d3::ATTACK,
    &d5::ATTACK,
    &d6::ATTACK,
    &d7::ATTACK,
    &f10::ATTACK,
    &f14::ATTACK,
    &f16::ATTACK,
    &f17::ATTACK,
    &f19::ATTACK,
    &f20::ATTACK,
    &u1::ATTACK,
    &u2::ATTACK,
    &u3::ATTACK,
    &u4::ATTACK,
    &u5::ATTACK,
];
