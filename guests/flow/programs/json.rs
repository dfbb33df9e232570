// SPDX-License-Identifier: MIT OR Apache-2.0
//! JSON (RFC 8259): documents are drawn, written, parsed and compared; what is no document is
//! refused at the byte where it ends to be one.
//!
//! A call takes the number of repetitions, 0 for one, and returns a sum below 2^63 that depends on
//! all of the work, or `0xdead000000000000` and the number of the check that failed.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

use donjon_runtime::entry;

#[path = "json/document.rs"]
mod document;
#[path = "json/parse.rs"]
mod parse;

use document::{Document, Value, mix};
use parse::{DEPTH, parse};

/// Most members of a drawn array or object.
const MEMBERS: u32 = 8;

/// Draws pseudo-random numbers (a xorshift of 64 bits, its upper half).
struct Draw(u64);

impl Draw {
    fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }
}

/// Draws a value, whose members are in the document.
fn drawn(draw: &mut Draw, document: &mut Document, depth: u32) -> Value {
    let kind = draw.below(if depth == 0 { 5 } else { 8 });
    match kind {
        0 => Value::Null,
        1 => Value::Truth(draw.below(2) == 1),
        2 => Value::Whole(i64::from(draw.word().cast_signed()) << draw.below(20)),
        3 => Value::Real(f64::from(draw.word()) / f64::from(1 + draw.below(1000))),
        4 => drawn_text(draw, document),
        _ => {
            let mut members = Vec::new();
            for _ in 0..draw.below(MEMBERS) {
                if kind == 5 {
                    let name = drawn_text(draw, document);
                    members.push(name);
                }
                members.push(drawn(draw, document, depth - 1));
            }
            let place = document.put(&mut members, 0);
            if kind == 5 {
                Value::Object(place)
            } else {
                Value::Array(place)
            }
        }
    }
}

fn drawn_text(draw: &mut Draw, document: &mut Document) -> Value {
    const PARTS: [&str; 8] = [
        "name",
        "of",
        " ",
        "a \"word\"",
        "line\n",
        "\u{e9}t\u{e9}",
        "\u{1f511}",
        "\u{1}\\",
    ];
    let mut text = String::new();
    for _ in 0..draw.below(5) {
        text.push_str(PARTS[draw.below(8) as usize]);
    }
    document.put_text(&text)
}

/// Documents that are none, and how many bytes stand before the first one that cannot be.
const BAD: [(&[u8], usize); 20] = [
    (b"", 0),
    (b" nul", 4),
    (b"tree", 2),
    (b"[1, 2", 5),
    (b"[1,]", 3),
    (b"[1 2]", 3),
    (b"{\"a\" 1}", 5),
    (b"{a: 1}", 1),
    (b"{\"a\": }", 6),
    (b"01", 1),
    (b"-", 1),
    (b"1.", 2),
    (b"1e+", 3),
    (b"+1", 0),
    (b"\"a", 2),
    (b"\"\n\"", 1),
    (b"\"\\x\"", 2),
    (b"\"\\ud800\"", 7),
    (b"\"\\udc00\"", 7),
    (b"\"a\xff\"", 2),
];

/// Documents and how they are written.
const GOOD: [(&str, &str); 6] = [
    ("\r\n[ ] ", "[]"),
    ("{}", "{}"),
    (
        "[-0.5, 1E3,-9223372036854775808]",
        "[-5e-1, 1e3, -9223372036854775808]",
    ),
    ("9223372036854775808", "9.223372036854776e18"),
    (
        r#""\u00e9\/\ud83d\uDD11\t""#,
        "\"\u{e9}/\\uD83D\\uDD11\\u0009\"",
    ),
    (
        r#"{"a":[true,null],"b":{}}"#,
        "{\n\"a\":\t[true, null],\n\"b\":\t{}}",
    ),
];

fn written(document: &Document, value: Value) -> String {
    let mut text = String::new();
    // A string takes all that is written to it.
    let _ = document.write(value, &mut text);
    text
}

/// Does the work one time and adds it to the sum; the number of the check that failed.
fn once(sum: u64) -> Result<u64, u64> {
    for (text, expected) in GOOD {
        let (document, value) = parse(text.as_bytes()).map_err(|_| 1_u64)?;
        if written(&document, value) != expected {
            return Err(2);
        }
    }
    let mut sum = sum;
    for (text, place) in BAD {
        match parse(text) {
            Err(found) if found == place => sum = mix(sum, place as u64),
            _ => return Err(3),
        }
    }
    // One more than may be within each other.
    let deep = [b'['; DEPTH + 1];
    if parse(&deep).err() != Some(DEPTH) {
        return Err(4);
    }
    let mut draw = Draw(mix(sum, 0x5eed) | 1);
    let mut original = Document::default();
    let mut members: Vec<_> = (0..24)
        .map(|_| drawn(&mut draw, &mut original, 4))
        .collect();
    let whole = Value::Array(original.put(&mut members, 0));
    let text = written(&original, whole);
    let (copy, value) = parse(text.as_bytes()).map_err(|_| 5_u64)?;
    if written(&copy, value) != text || copy.sum(value, sum) != original.sum(whole, sum) {
        return Err(6);
    }
    // What is cut is no document.
    let cut = draw.below(text.len() as u32) as usize;
    if parse(&text.as_bytes()[..cut]).is_ok() {
        return Err(7);
    }
    Ok(mix(copy.sum(value, sum), text.len() as u64))
}

fn call([repetitions, ..]: [u64; 4]) -> u64 {
    let mut sum = 0;
    for _ in 0..repetitions.max(1) {
        match once(sum) {
            Ok(it) => sum = it,
            Err(check) => return 0xdead_0000_0000_0000 | check,
        }
    }
    sum
}

entry!(call, limit: 256, stack_pages: 16);
