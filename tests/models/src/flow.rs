// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain of a flow log and an attacker who runs pieces of records in any order.
//!
//! * [`forgery`]: an illegal return is turned into a legal one, where records can be forged.
//! * [`log`]: a log as bytes, and a verifier that knows the lawful returns of a program.
//! * [`old`]: the record that was planned first, and that is forged.
//! * [`random`]: states and addresses that follow from a seed.

pub mod forgery;
pub mod log;
pub mod old;
pub mod random;
