// SPDX-License-Identifier: MIT OR Apache-2.0
//! libFuzzer chooses a message of a transcript.
#![no_main]

use donjon_fuzz::signed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|case: &[u8]| signed::message(case));
