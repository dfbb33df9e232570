// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that can be left out, one at a time, to show what each of them stops.

/// A check of a run. No command leaves one out; attacks need it for their controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The nonce is the one that was sent.
    Nonce,
    /// The program is the one that was named.
    Program,
    /// Digests and tags fit the words of the log.
    Words,
    /// The words are a path of the program.
    Path,
}
