// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hand-over: a clean machine is taken over, and everything that must be refused is planted
//! one at a time and refused by name.

mod clean;
mod description;
mod kernel_leaves;
mod planted;
mod tables;
mod vectors;
