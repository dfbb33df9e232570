// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shadows against a naive model, under a randomized outer domain.

#[path = "shadow/bits.rs"]
mod bits;
#[path = "shadow/bounds.rs"]
mod bounds;
#[path = "shadow/race.rs"]
mod race;
#[path = "shadow/random.rs"]
mod random;
#[path = "shadow/refresh.rs"]
mod refresh;
#[path = "shadow/room.rs"]
mod room;
#[path = "shadow/source.rs"]
mod source;
#[path = "shadow/threads.rs"]
mod threads;
#[path = "shadow/weakened.rs"]
mod weakened;
