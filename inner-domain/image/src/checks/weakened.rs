// SPDX-License-Identifier: MIT OR Apache-2.0
//! The word that says which checks a test build leaves out.

/// Bits of the checks to leave out, as in [`donjon_core::checks::left_out`]: the builder writes
/// them into the finished program.
#[used]
#[unsafe(no_mangle)]
static DONJON_LEFT_OUT: u64 = 0;

/// Leaves out the checks that the builder chose.
pub fn choose() {
    // SAFETY: a static of this file. The read is volatile because the compiler knows its value at
    // compile time, which the builder changes.
    donjon_core::checks::choose(unsafe { (&raw const DONJON_LEFT_OUT).read_volatile() });
}
