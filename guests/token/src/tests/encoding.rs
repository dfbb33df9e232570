// SPDX-License-Identifier: MIT OR Apache-2.0
//! A token written in another way is refused, although its meaning and its signature stay.

use std::vec;

use super::*;

/// A token before and behind its payload: array of four, protected header, unprotected header.
const ARRAY: u8 = 0x84;
const PROTECTED: [u8; 4] = [0x43, 0xa1, 0x01, 0x27];
const UNPROTECTED: u8 = 0xa0;
/// A signature of 64 bytes, all 7.
const SIGNATURE: [u8; 2] = [0x58, 64];

fn payload() -> Vec<u8> {
    claims().to_map().to_vec().expect("a map")
}

/// A byte string whose length has two bytes.
fn string(bytes: &[u8]) -> Vec<u8> {
    let [high, low] = (bytes.len() as u16).to_be_bytes();
    [&[0x59, high, low], bytes].concat()
}

fn outer(parts: [&[u8]; 5]) -> Vec<u8> {
    parts.concat()
}

/// The token of [`token`], with a payload in place of its own.
fn with_payload(payload: &[u8]) -> Vec<u8> {
    outer([
        &[ARRAY],
        &PROTECTED,
        &[UNPROTECTED],
        &string(payload),
        &[&SIGNATURE[..], &[7; 64]].concat(),
    ])
}

/// Other ways to write the structure around the payload.
fn structures() -> Vec<(&'static str, Vec<u8>)> {
    let payload = string(&payload());
    let signature = [&SIGNATURE[..], &[7; 64]].concat();
    let with = |array: &[u8], protected: &[u8], unprotected: &[u8]| {
        outer([array, protected, unprotected, &payload, &signature])
    };
    let (array, protected, none) = (&[ARRAY][..], &PROTECTED[..], &[UNPROTECTED][..]);
    let large = [&[0xa1, 0x04, 0x59, 0x0b, 0xb8][..], &[9; 3000]].concat();
    let long_payload = [&[0x5a, 0, 0][..], &payload[1..]].concat();
    let chunks = [&[0x5f][..], &payload, &[0xff]].concat();
    let long_signature = [&[0x59, 0, 64][..], &[7; 64]].concat();
    let signature_chunks = [&[0x5f][..], &signature, &[0xff]].concat();
    vec![
        (
            "a key in the unprotected header",
            with(array, protected, &[0xa1, 0x04, 0x41, 1]),
        ),
        (
            "3,000 bytes in the unprotected header",
            with(array, protected, &large),
        ),
        (
            "the algorithm in both headers",
            with(array, protected, &[0xa1, 0x01, 0x27]),
        ),
        (
            "an unprotected header with a length byte",
            with(array, protected, &[0xb8, 0]),
        ),
        (
            "an unprotected header without a length",
            with(array, protected, &[0xbf, 0xff]),
        ),
        (
            "an array with a length byte",
            with(&[0x98, 4], protected, none),
        ),
        (
            "an array with a length of two bytes",
            with(&[0x99, 0, 4], protected, none),
        ),
        (
            "an array with a length of eight bytes",
            with(&[0x9b, 0, 0, 0, 0, 0, 0, 0, 4], protected, none),
        ),
        (
            "an array without a length",
            [with(&[0x9f], protected, none), vec![0xff]].concat(),
        ),
        ("a tag", with(&[0xd2, ARRAY], protected, none)),
        (
            "a tag for CBOR",
            with(&[0xd9, 0xd9, 0xf7, ARRAY], protected, none),
        ),
        (
            "a protected header with a length byte",
            with(array, &[0x58, 3, 0xa1, 1, 0x27], none),
        ),
        (
            "a longer key in the protected header",
            with(array, &[0x44, 0xa1, 0x18, 1, 0x27], none),
        ),
        (
            "a longer algorithm",
            with(array, &[0x44, 0xa1, 1, 0x38, 7], none),
        ),
        (
            "a protected header without a length",
            with(array, &[0x44, 0xbf, 1, 0x27, 0xff], none),
        ),
        (
            "more in the protected header",
            with(array, &[0x46, 0xa2, 1, 0x27, 4, 0x41, 1], none),
        ),
        (
            "a longer length of the payload",
            outer([array, protected, none, &long_payload, &signature]),
        ),
        (
            "a payload in chunks",
            outer([array, protected, none, &chunks, &signature]),
        ),
        (
            "a longer length of the signature",
            outer([array, protected, none, &payload, &long_signature]),
        ),
        (
            "a signature in chunks",
            outer([array, protected, none, &payload, &signature_chunks]),
        ),
        ("a byte behind it", [token(), vec![0]].concat()),
        ("a second token behind it", [token(), token()].concat()),
    ]
}

/// Other ways to write the claims. Who has the key could sign them.
fn payloads() -> Vec<(&'static str, Vec<u8>)> {
    let whole = payload();
    let (map, entries) = whole.split_first().expect("a map");
    assert_eq!(
        (*map, entries[0]),
        (0xaa, 0x0a),
        "ten claims, the nonce first"
    );
    let Value::Map(mut reordered) = claims().to_map() else {
        panic!("a map");
    };
    reordered.swap(0, 1);
    let reordered = Value::Map(reordered).to_vec().expect("a map");
    // The limit is the byte string's neighbour: -75003, then 64.
    let limit = [0x3a, 0, 1, 0x24, 0xfa, 0x18, 64];
    let at = entries
        .windows(7)
        .position(|it| it == limit)
        .expect("the limit");
    let (before, behind) = (&entries[..at + 5], &entries[at + 7..]);
    let longer = |number: &[u8]| [&[*map], before, number, behind].concat();
    vec![
        ("a map with a length byte", [&[0xb8, 10], entries].concat()),
        (
            "a map without a length",
            [&[0xbf], entries, &[0xff]].concat(),
        ),
        (
            "a tag around the map",
            [&[0xd9, 0xd9, 0xf7], &whole[..]].concat(),
        ),
        ("another order", reordered),
        ("a longer key", [&[*map, 0x18], entries].concat()),
        ("a number of two bytes", longer(&[0x19, 0, 64])),
        (
            "a number of eight bytes",
            longer(&[0x1b, 0, 0, 0, 0, 0, 0, 0, 64]),
        ),
        ("a large number", longer(&[0xc2, 0x41, 64])),
        ("a tag around a number", longer(&[0xd8, 99, 0x18, 64])),
        (
            "a longer length of the nonce",
            [&[*map, 0x0a, 0x59, 0, 32], &entries[3..]].concat(),
        ),
        (
            "a nonce in chunks",
            [
                &[*map, 0x0a, 0x5f, 0x58, 32],
                &entries[3..35],
                &[0xff],
                &entries[35..],
            ]
            .concat(),
        ),
        ("a byte behind the map", [&whole[..], &[0]].concat()),
    ]
}

#[test]
fn the_parts_of_these_tests_are_a_token() {
    assert_eq!(with_payload(&payload()), token());
    assert!(Token::parse(&with_payload(&payload())).is_ok());
}

/// The names of those that are accepted.
fn accepted(all: Vec<(&'static str, Vec<u8>)>) -> Vec<&'static str> {
    all.into_iter()
        .filter(|(_, bytes)| Token::parse(bytes).is_ok())
        .map(|(what, _)| what)
        .collect()
}

#[test]
fn a_token_is_written_in_one_way() {
    assert!(structures().iter().all(|(_, bytes)| *bytes != token()));
    assert_eq!(accepted(structures()), [""; 0]);
}

#[test]
fn claims_are_written_in_one_way() {
    let of = |(what, bytes): (_, Vec<u8>)| (what, with_payload(&bytes));
    let all: Vec<_> = payloads().into_iter().map(of).collect();
    assert!(all.iter().all(|(_, bytes)| *bytes != token()));
    assert_eq!(accepted(all), [""; 0]);
}

#[test]
fn each_number_has_its_shortest_form() {
    for number in [
        0,
        23,
        24,
        255,
        256,
        65_535,
        65_536,
        u64::from(u32::MAX),
        1 << 32,
        u64::MAX,
    ] {
        let claims = Claims {
            limit: number,
            version: number,
            ..claims()
        };
        let bytes = sign(&claims, |_| [7; 64]).expect("a token");
        assert_eq!(Token::parse(&bytes).expect("one").claims, claims);
    }
}
