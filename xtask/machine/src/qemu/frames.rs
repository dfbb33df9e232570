// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several streams through one serial port. A frame is a byte that names the stream, the number of
//! bytes in two (little-endian), and the bytes (`guests/src/channel/main.rs`).

/// Bytes before those of the stream.
const HEADER: usize = 3;

/// Takes frames apart.
#[derive(Default)]
pub struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Takes what came, and gives `sink` the name and the bytes of each whole frame.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(u8, &[u8])) {
        self.bytes.extend(bytes);
        let mut taken = 0;
        while let Some(length) = length(&self.bytes[taken..]) {
            let start = taken + HEADER;
            let Some(content) = self.bytes.get(start..start + length) else {
                break;
            };
            sink(self.bytes[taken], content);
            taken = start + length;
        }
        self.bytes.drain(..taken);
    }
}

fn length(frame: &[u8]) -> Option<usize> {
    let length = frame.get(1..HEADER)?;
    Some(usize::from(u16::from_le_bytes([length[0], length[1]])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_whole_however_they_are_cut() {
        let sent = b"1\x03\x00abc2\x00\x000\x02\x007\n";
        for cut in 1..sent.len() {
            let mut frames = Frames::default();
            let mut got = Vec::new();
            for piece in sent.chunks(cut) {
                frames.push(piece, |name, content| got.push((name, content.to_vec())));
            }
            let wanted = [
                (b'1', b"abc".to_vec()),
                (b'2', Vec::new()),
                (b'0', b"7\n".to_vec()),
            ];
            assert_eq!(got, wanted, "in pieces of {cut}");
        }
    }
}
