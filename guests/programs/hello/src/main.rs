// SPDX-License-Identifier: MIT OR Apache-2.0
//! Greets each name in its arguments (`-`: the one in its input), counts its calls, uses its heap
//! and asks for random bytes.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use donjon_runtime::{entry, host, println, random};

static CALLS: AtomicU64 = AtomicU64::new(0);

fn call(call: [u64; 4]) -> u64 {
    let mut place = [0; 1024];
    let Some(names) = host::arguments(&call, &mut place) else {
        return 1;
    };
    let names: Vec<String> = names
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect();
    let count = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    println!("hello from a compartment, call {count}");
    for name in &names {
        match name.as_str() {
            "-" => greet_input(),
            name => println!("hello {name}"),
        }
    }
    let squares: Vec<u64> = (0..2000).map(|it| it * it).collect();
    println!("the heap has {}", squares.iter().sum::<u64>());
    match (random(), random()) {
        (Some(one), Some(other)) if one != other => println!("there are random bytes"),
        (Some(_), Some(_)) => return 2,
        _ => println!("there are no random bytes"),
    }
    0
}

/// Greets the first line of the input.
fn greet_input() {
    let mut bytes = [0; 256];
    let count = host::read(&mut bytes).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..count]);
    println!("hello {}", text.lines().next().unwrap_or("without a name"));
}

entry!(call);
