// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain of a flow log under an attacker who runs pieces of records in any order.

mod bijection;
mod chain_new_holds;
mod chain_old_forged;
mod chain_suffix_orders;
mod kinds;
mod random;
mod reference;
