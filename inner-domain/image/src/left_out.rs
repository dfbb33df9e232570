// SPDX-License-Identifier: MIT OR Apache-2.0
//! The word that says which protections a test build leaves out. No other build has this file.

use donjon_core::weaken;

/// Bits of the protections to leave out, as in [`weaken::mask`]: the builder writes them into the
/// finished program.
#[used]
#[unsafe(no_mangle)]
static DONJON_LEFT_OUT: u64 = 0;

/// Leaves out what the builder chose.
pub fn choose() {
    // SAFETY: a static of this file. The read is volatile because the compiler knows another value.
    weaken::choose(unsafe { (&raw const DONJON_LEFT_OUT).read_volatile() });
}
