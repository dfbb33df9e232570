// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text as a terminal wants it.

/// Puts out text, each line end as a terminal wants it.
pub fn put_text(text: &str, mut put: impl FnMut(u8)) {
    for byte in text.bytes() {
        if byte == b'\n' {
            put(b'\r');
        }
        put(byte);
    }
}
