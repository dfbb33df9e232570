// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does inside of a compartment what `donjon-compare` does outside of one.

#![no_std]
#![no_main]

mod heap;
mod messages;

use donjon_loops::{Task, array, float, integer, math};
use donjon_runtime::entry;

fn call([task, first, second, _]: [u64; 4]) -> u64 {
    match Task::of(task) {
        Some(Task::Add) => first.wrapping_add(second),
        Some(Task::Math) => math(first),
        Some(Task::Integer) => integer(first),
        Some(Task::Float) => float(first),
        Some(Task::Array) => array(first),
        Some(Task::Grow) => heap::grow(first),
        Some(Task::Write) => heap::write(first),
        Some(Task::Read) => heap::read(),
        Some(Task::Shrink) => heap::shrink(),
        Some(Task::Send) => messages::send(first, second),
        Some(Task::Receive) => messages::receive(first),
        Some(Task::Output) => messages::output(first),
        Some(Task::Input) => messages::input(),
        None => u64::MAX,
    }
}

// 1000 MiB of heap and its tables.
entry!(call, limit: 257_024);
