// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quoting compartment: checks a report of this boot and signs what it says, with a key that no
//! other program gets. With the word `key` it writes its public key.
//!
//! A signature takes a million instructions. Here, at EL0, interrupts are open all the time.

#![no_std]
#![no_main]

extern crate alloc;

use donjon_runtime::host::{self, Stream};
use donjon_runtime::{Report, entry, eprintln, key, println, report, verify_any_kind};
use donjon_token::{Claims, Record, sign, to_hexadecimal};
use ed25519_dalek::{Signer, SigningKey};
use zeroize::Zeroize;

/// What the key is for.
const PURPOSE: u64 = u64::from_be_bytes(*b"\0\0\0quote");

fn call(call: [u64; 4]) -> u64 {
    let mut place = [0; 256];
    let word = host::arguments(&call, &mut place).and_then(|mut it| it.next());
    let wants_key = word == Some(b"key");
    let Some(mut seed) = key(PURPOSE) else {
        eprintln!("this boot has no secret that a key could come from");
        return 2;
    };
    let signing = SigningKey::from_bytes(&seed);
    seed.zeroize();
    if wants_key {
        println!("{}", to_hexadecimal(signing.verifying_key().as_bytes()));
        return 0;
    }
    let Some(record) = read() else {
        eprintln!("the input is no report: it has not {} bytes", Record::BYTES);
        return 1;
    };
    let Some(claims) = claims(&record, &signing) else {
        eprintln!("the report is not of this boot, or was changed");
        return 3;
    };
    let token = sign(&claims, |bytes| signing.sign(bytes).to_bytes());
    token.map_or(4, |it| u64::from(!Stream::Output.write(&it)))
}

/// A report from the input, and nothing behind it.
fn read() -> Option<Record> {
    let mut bytes = [0; Record::BYTES];
    let mut done = 0;
    while done < bytes.len() {
        match host::read(&mut bytes[done..])? {
            0 => return None,
            count => done += count,
        }
    }
    match host::read(&mut [0; 1])? {
        0 => Some(Record::from_bytes(&bytes)),
        _ => None,
    }
}

/// What a genuine report says.
fn claims(record: &Record, signing: &SigningKey) -> Option<Claims> {
    let [limit, version, weakened, identity] = record.words;
    let told = Report {
        code: record.code,
        measurement: record.measurement,
        limit,
        data: record.data,
        started: record.started,
        version,
        weakened,
        identity,
    };
    // Who checks the token looks at the kind, which is above the limit.
    if !verify_any_kind(&told) {
        return None;
    }
    let (nonce, data) = record.data.split_at(32);
    Some(Claims {
        nonce: nonce.try_into().ok()?,
        data: data.try_into().ok()?,
        measurement: record.measurement,
        limit,
        started: record.started,
        version,
        weakened,
        identity,
        quoter: report(&[0; 64])?.measurement,
        key: signing.verifying_key().to_bytes(),
    })
}

entry!(call, limit: 256, stack_pages: 16);
