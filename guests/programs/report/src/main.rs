// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asks for a report about itself, with a verifier's nonce (64 hexadecimal digits), and writes it
//! for the program that signs it. A program of use would do this with a key of its own in the other
//! half.

#![no_std]
#![no_main]

use donjon_runtime::host::{self, Stream};
use donjon_runtime::{entry, eprintln, report};
use donjon_token::{Record, from_hexadecimal};

fn call(call: [u64; 4]) -> u64 {
    let mut place = [0; 256];
    let nonce: Option<[u8; 32]> = host::arguments(&call, &mut place)
        .and_then(|mut it| it.next())
        .and_then(from_hexadecimal);
    let Some(nonce) = nonce else {
        eprintln!("a nonce of 64 hexadecimal digits is missing");
        return 1;
    };
    let mut data = [0; 64];
    data[..32].copy_from_slice(&nonce);
    let Some(report) = report(&data) else {
        eprintln!("this boot has no secret that a report could come from");
        return 2;
    };
    let record = Record {
        code: report.code,
        measurement: report.measurement,
        data: report.data,
        started: report.started,
        words: [
            report.limit,
            report.version,
            report.weakened,
            report.identity,
        ],
    };
    u64::from(!Stream::Output.write(&record.to_bytes()))
}

entry!(call);
