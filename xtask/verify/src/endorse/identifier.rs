// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identifiers that follow from what they name, so that equal values have equal ones.

use sha2::{Digest, Sha256};

/// Returns a UUID of version 8 and variant 10 (RFC 9562, 5.8), made from SHA-256 of a purpose and
/// of what it names.
pub fn uuid(purpose: &str, parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in [purpose.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut uuid: [u8; 16] = std::array::from_fn(|it| digest[it]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// Returns a UUID as a URI (RFC 9562, 4).
pub fn uri(uuid: &[u8; 16]) -> String {
    let mut text = "urn:uuid:".to_owned();
    for (at, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_depends_on_each_part_and_on_where_it_ends() {
        let one = uuid("a", &[b"bc", b"d"]);
        assert_eq!(one, uuid("a", &[b"bc", b"d"]));
        let all: [(&str, &[&[u8]]); 4] = [
            ("b", &[b"bc", b"d"]),
            ("a", &[b"b", b"cd"]),
            ("a", &[b"bc"]),
            ("a", &[b"bc", b"d", b""]),
        ];
        for (purpose, parts) in all {
            assert_ne!(one, uuid(purpose, parts));
        }
        assert_eq!((one[6] >> 4, one[8] >> 6), (8, 2));
    }

    #[test]
    fn a_uri_has_its_groups() {
        let bytes = std::array::from_fn(|it| it as u8);
        let text = "urn:uuid:00010203-0405-0607-0809-0a0b0c0d0e0f";
        assert_eq!(uri(&bytes), text);
    }
}
