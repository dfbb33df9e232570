// SPDX-License-Identifier: MIT OR Apache-2.0
//! Null system call.
fn main() {}
