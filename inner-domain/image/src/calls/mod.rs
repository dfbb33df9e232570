// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's own calls, one file each. Each takes arguments as the caller left them.

pub mod compartment;
pub mod compartment_run;
pub mod cpu_on;
pub mod device;
pub mod echo;
pub mod firmware;
pub mod flow;
pub mod handover;
pub mod information;
pub mod log;
pub mod pool;
pub mod properties;
pub mod refusals;
pub mod register;
mod reply;
pub mod statistics;
pub mod table;
pub mod text;
pub mod text_wait;
pub mod user_tables;
pub mod version;
