// SPDX-License-Identifier: MIT OR Apache-2.0
//! User tables against a naive model, under a randomized outer domain.

#[path = "user_tables/bits.rs"]
mod bits;
#[path = "user_tables/bounds.rs"]
mod bounds;
#[path = "user_tables/protect.rs"]
mod protect;
#[path = "user_tables/race.rs"]
mod race;
#[path = "user_tables/random.rs"]
mod random;
#[path = "user_tables/refresh.rs"]
mod refresh;
#[path = "user_tables/room.rs"]
mod room;
#[path = "user_tables/source.rs"]
mod source;
#[path = "user_tables/threads.rs"]
mod threads;
#[path = "user_tables/weakened.rs"]
mod weakened;
