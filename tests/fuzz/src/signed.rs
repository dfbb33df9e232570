// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens and messages of transcripts: what a verifier reads of a host that it does not trust.

use donjon_abi::flow::{MESSAGE, Message};
use donjon_token::{Claims, Token, sign};

use crate::accepted;

/// Reads a token: the bytes as they are, or one that was signed and then changed.
///
/// # Panics
///
/// If what was signed is not read as it was, or what is read is not what was signed.
pub fn token(case: &[u8]) {
    let Some((&how, rest)) = case.split_first() else {
        return;
    };
    if how & 1 == 0 {
        if let Ok(token) = Token::parse(rest) {
            written(&token, rest);
        }
        return;
    }
    let mut bytes = rest.iter().copied().chain(std::iter::repeat(0));
    let claims = claims(&mut bytes);
    let Some(mut signed) = sign(&claims, |_| [how; 64]) else {
        panic!("it cannot be written");
    };
    let read = Token::parse(&signed).map(|it| it.claims);
    assert_eq!(read.ok().as_ref(), Some(&claims));
    // One byte changed, left out or doubled.
    let at = usize::from(bytes.next().unwrap_or(0)) << 1 | usize::from(how >> 7);
    let at = at % signed.len();
    match how >> 1 & 3 {
        0 => signed[at] ^= 1 << (how >> 3 & 7),
        1 => drop(signed.drain(at..=at)),
        2 => signed.insert(at, signed[at]),
        _ => signed.truncate(at),
    }
    if let Ok(token) = Token::parse(&signed) {
        written(&token, &signed);
    }
}

/// Panics unless a token's bytes are those that its claims and signature are written as.
fn written(token: &Token, bytes: &[u8]) {
    let again = sign(&token.claims, |_| token.signature);
    assert_eq!(again.as_deref(), Some(bytes));
    accepted();
}

/// Makes claims of bytes.
fn claims(bytes: &mut impl Iterator<Item = u8>) -> Claims {
    let mut some = || core::array::from_fn(|_| bytes.next().unwrap_or(0));
    let (nonce, data, measurement, started, quoter, key) =
        (some(), some(), some(), some(), some(), some());
    let mut word = || u64::from_le_bytes(core::array::from_fn(|_| bytes.next().unwrap_or(0)));
    Claims {
        nonce,
        data,
        measurement,
        limit: word(),
        started,
        version: word(),
        weakened: word(),
        identity: word(),
        quoter,
        key,
    }
}

/// Reads a message of a transcript.
///
/// # Panics
///
/// If it is not written as it was read.
pub fn message(case: &[u8]) {
    let Some(bytes) = case.first_chunk::<MESSAGE>() else {
        return;
    };
    if let Some(message) = Message::from_bytes(bytes) {
        assert_eq!(message.to_bytes(), *bytes);
        accepted();
    }
}
