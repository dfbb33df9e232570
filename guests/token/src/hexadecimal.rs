// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes as hexadecimal digits: nonces, measurements and keys on command lines.

use alloc::format;
use alloc::string::String;

/// Two digits for each byte.
pub fn to_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// The bytes that digits stand for. None for another number of digits, or other characters.
pub fn from_hexadecimal<const BYTES: usize>(digits: &[u8]) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != BYTES || !rest.is_empty() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let digit = |it: &u8| char::from(*it).to_digit(16);
        *byte = (digit(high)? << 4 | digit(low)?) as u8;
    }
    Some(bytes)
}
