// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-over: a clean machine is taken over, and everything that must be refused is injected
//! one at a time and refused by name.

mod clean;
mod description;
mod injected;
mod kernel_leaves;
mod tables;
mod vectors;
