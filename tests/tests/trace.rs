// SPDX-License-Identifier: MIT OR Apache-2.0
//! The oracle over traces made by hand: it says nothing about good ones, and names what is wrong
//! with each bad one.

#[path = "trace/bad.rs"]
mod bad;
#[path = "trace/good.rs"]
mod good;
#[path = "trace/writer.rs"]
mod writer;
