// SPDX-License-Identifier: MIT OR Apache-2.0
//! libFuzzer chooses a log, which is replayed.
#![no_main]

use donjon_fuzz::flow;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|case: &[u8]| flow::log(case));
