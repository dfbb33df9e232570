// SPDX-License-Identifier: MIT OR Apache-2.0
use proptest::prelude::*;

use super::*;

mod encoding;

fn claims() -> Claims {
    Claims {
        nonce: [1; 32],
        data: [2; 32],
        measurement: [3; 32],
        limit: 64,
        started: [4; 32],
        version: 1 << 16,
        weakened: 0,
        identity: 1,
        quoter: [5; 32],
        key: [6; 32],
    }
}

fn token() -> Vec<u8> {
    sign(&claims(), |_| [7; 64]).expect("a token")
}

#[test]
fn a_token_says_what_was_signed() {
    let mut signed = Vec::new();
    let bytes = sign(&claims(), |bytes| {
        signed.extend(bytes);
        [7; 64]
    });
    let token = Token::parse(&bytes.expect("a token")).expect("one");
    assert_eq!(token.claims, claims());
    assert_eq!(token.signed, signed);
    assert_eq!(token.signature, [7; 64]);
}

#[test]
fn it_is_cose_with_eddsa() {
    // An array of four: the protected header {1: -8} in a string, no other header, the payload, the
    // signature (RFC 9052, 4.2; -8 is EdDSA, RFC 9053, 2.2).
    let bytes = token();
    assert_eq!(bytes[..6], [0x84, 0x43, 0xa1, 0x01, 0x27, 0xa0]);
    assert_eq!(bytes[bytes.len() - 66..][..2], [0x58, 64]);
}

#[test]
fn a_claim_that_is_missing_twice_or_of_another_type_is_refused() {
    let Value::Map(entries) = claims().to_map() else {
        panic!("a map");
    };
    let refused = |entries: Vec<(Value, Value)>| {
        let map = Value::Map(entries);
        assert!(Claims::from_map(&map).is_none(), "{map:?}");
    };
    for at in 0..COUNT {
        let mut missing = entries.clone();
        missing.remove(at);
        refused(missing);
        let mut twice = entries.clone();
        twice[at] = entries[(at + 1) % COUNT].clone();
        refused(twice);
        let mut more = entries.clone();
        more.push(entries[at].clone());
        refused(more);
        let mut other = entries.clone();
        other[at].1 = Value::Text("no".into());
        refused(other);
    }
}

#[test]
fn a_record_keeps_each_byte() {
    let bytes: [u8; Record::BYTES] = core::array::from_fn(|it| it as u8);
    let record = Record::from_bytes(&bytes);
    assert_eq!(record.to_bytes(), bytes);
    assert_eq!(record.words[0], 0xa0a1_a2a3_a4a5_a6a7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Token::parse(&bytes);
    }

    #[test]
    fn no_change_is_a_panic(at in 0..500_usize, byte in any::<u8>(), end in 0..600_usize) {
        let mut bytes = token();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(end);
        let _ = Token::parse(&bytes);
    }
}

#[test]
fn digits_are_bytes_and_nothing_else_is() {
    assert_eq!(to_hexadecimal(&[0x00, 0x5a, 0xff]), "005aff");
    assert_eq!(from_hexadecimal(b"005aFF"), Some([0x00, 0x5a, 0xff]));
    for wrong in [
        &b"005af"[..],
        b"005aff0",
        b"005aff00",
        b"005ag0",
        b"+05aff",
        b"",
    ] {
        assert_eq!(from_hexadecimal::<3>(wrong), None, "{wrong:?}");
    }
}
