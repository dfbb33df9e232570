// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a compartment is called for.

/// The first argument of a call. The second and the third are named behind each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Task {
    /// Two numbers: their sum.
    Add,
    /// Rounds of [`math`](crate::math).
    Math,
    /// Rounds of [`integer`](crate::integer).
    Integer,
    /// Rounds of [`float`](crate::float).
    Float,
    /// Rounds of [`array`](crate::array).
    Array,
    /// Pages that the heap is to have: grow and [`touch`](crate::touch); how many it has.
    Grow,
    /// A seed: [`write`](crate::write) to all of the heap.
    Write,
    /// [`read`](crate::read) all of the heap.
    Read,
    /// Give all of the heap back; how many pages are left.
    Shrink,
    /// An end of a channel and a number: send a message; how many bytes went.
    Send,
    /// An end of a channel: receive a message; its number.
    Receive,
    /// A number: have the host write a message; whether it did.
    Output,
    /// Have the host read a message; its number.
    Input,
}

impl Task {
    const ALL: [Self; 13] = [
        Self::Add,
        Self::Math,
        Self::Integer,
        Self::Float,
        Self::Array,
        Self::Grow,
        Self::Write,
        Self::Read,
        Self::Shrink,
        Self::Send,
        Self::Receive,
        Self::Output,
        Self::Input,
    ];

    /// The task that a word stands for.
    pub fn of(word: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(word).ok()?).copied()
    }

    /// The word that stands for the task.
    pub const fn word(self) -> u64 {
        self as u64
    }
}
