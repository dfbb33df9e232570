// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copying and comparing, with the place of a failure.

use std::io::{self, Read, Write};

use thiserror::Error;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Pages that are moved at a time: 1 MiB.
const PAGES: usize = 256;

/// A page that lies as reads past the cache need it.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// What happened to a card. Positions are in bytes from its beginning.
#[derive(Debug, Error)]
pub enum Failure {
    /// The image cannot be read.
    #[error("reading the image at byte {at}: {source}; the card is not complete, write it again")]
    Image {
        /// Offset of the failure.
        at: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The image is shorter than it was.
    #[error("the image ends at byte {at}, too early; the card is not complete, write it again")]
    ImageEnds {
        /// Offset of the failure.
        at: u64,
    },
    /// The card does not take what is written.
    #[error("writing to the card at byte {at}: {source}; {}", advice(source))]
    Write {
        /// Offset of the failure.
        at: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The card cannot be read.
    #[error("reading the card back at byte {at}: {source}; {}", advice(source))]
    Read {
        /// Offset of the failure.
        at: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The card ends too early.
    #[error(
        "the card ends at byte {at}, though it claims to be larger: it is a false one; use another"
    )]
    CardEnds {
        /// Offset of the failure.
        at: u64,
    },
    /// The card has something else.
    #[error(
        "the card has something else than the image at byte {at}: write it again, and if it \
         happens once more, use another card or reader"
    )]
    Differs {
        /// Offset of the failure.
        at: u64,
    },
}

fn advice(error: &io::Error) -> &'static str {
    // What a driver says when its device has gone (errno(3)).
    const GONE: [i32; 4] = [
        nix::libc::ENODEV,
        nix::libc::ENXIO,
        nix::libc::ENOMEDIUM,
        nix::libc::EIO,
    ];
    match error.raw_os_error() {
        Some(number) if GONE.contains(&number) => {
            "the card was removed or does not work: it is not complete and will not start; put it \
             in again and run the same command again, and if that fails at the same place, use \
             another card or reader"
        }
        _ => "the card is not complete and will not start: run the same command again",
    }
}

/// Copies `bytes` from the image to the card, and calls `progress` with how many more are done.
///
/// # Errors
///
/// At the first byte that cannot be copied.
pub fn copy(
    image: &mut impl Read,
    card: &mut impl Write,
    bytes: u64,
    mut progress: impl FnMut(u64),
) -> Result<(), Failure> {
    let mut buffer = [Page::new_zeroed()].repeat(PAGES);
    let mut at = 0;
    while at < bytes {
        let piece = piece(&mut buffer, bytes - at);
        read_image(image, piece, at)?;
        card.write_all(piece)
            .map_err(|source| Failure::Write { at, source })?;
        at += piece.len() as u64;
        progress(piece.len() as u64);
    }
    card.flush().map_err(|source| Failure::Write { at, source })
}

/// Compares `bytes` of the card with the image.
///
/// # Errors
///
/// At the first byte that differs or cannot be read.
pub fn compare(
    image: &mut impl Read,
    card: &mut impl Read,
    bytes: u64,
    mut progress: impl FnMut(u64),
) -> Result<(), Failure> {
    let mut expected = [Page::new_zeroed()].repeat(PAGES);
    let mut found = expected.clone();
    let mut at = 0;
    while at < bytes {
        let expected = piece(&mut expected, bytes - at);
        let found = piece(&mut found, bytes - at);
        read_image(image, expected, at)?;
        if let Err(source) = card.read_exact(found) {
            return Err(match source.kind() {
                io::ErrorKind::UnexpectedEof => Failure::CardEnds { at },
                _ => Failure::Read { at, source },
            });
        }
        if let Some(place) = expected.iter().zip(&*found).position(|(a, b)| a != b) {
            let at = at + place as u64;
            return Err(Failure::Differs { at });
        }
        at += found.len() as u64;
        progress(found.len() as u64);
    }
    Ok(())
}

/// The beginning of a buffer, at most `bytes` of it.
fn piece(buffer: &mut [Page], bytes: u64) -> &mut [u8] {
    let all = buffer.as_mut_bytes();
    let length = usize::try_from(bytes).map_or(all.len(), |bytes| bytes.min(all.len()));
    &mut all[..length]
}

fn read_image(image: &mut impl Read, piece: &mut [u8], at: u64) -> Result<(), Failure> {
    image
        .read_exact(piece)
        .map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => Failure::ImageEnds { at },
            _ => Failure::Image { at, source },
        })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const MIB: usize = 1 << 20;

    /// A card that takes `left` bytes, and then is gone.
    struct Fragile {
        left: usize,
        errno: i32,
    }

    impl Fragile {
        fn touch(&mut self, bytes: usize) -> io::Result<usize> {
            if self.left == 0 {
                return Err(io::Error::from_raw_os_error(self.errno));
            }
            let bytes = bytes.min(self.left);
            self.left -= bytes;
            Ok(bytes)
        }
    }

    impl Write for Fragile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.touch(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Fragile {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let length = self.touch(bytes.len())?;
            bytes[..length].fill(0);
            Ok(length)
        }
    }

    fn image(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|it| (it / 7) as u8).collect()
    }

    #[test]
    fn a_copy_is_equal_and_all_of_it_is_counted() {
        let image = image(2 * MIB + 512);
        let mut card = Vec::new();
        let (mut written, mut compared) = (0, 0);
        let bytes = image.len() as u64;
        copy(&mut &image[..], &mut card, bytes, |it| written += it).expect("copy");
        compare(&mut &image[..], &mut &card[..], bytes, |it| compared += it).expect("equal");
        assert_eq!((written, compared), (bytes, bytes));
        assert_eq!(card, image);
    }

    #[test]
    fn a_card_that_is_removed_half_way_is_named() {
        for errno in [nix::libc::EIO, nix::libc::ENODEV, nix::libc::ENOMEDIUM] {
            let zeros = vec![0; 3 * MIB];
            let fragile = || Fragile {
                left: MIB + 1,
                errno,
            };
            let bytes = zeros.len() as u64;
            let writing = copy(&mut &zeros[..], &mut fragile(), bytes, |_| ());
            let reading = compare(&mut &zeros[..], &mut fragile(), bytes, |_| ());
            for failure in [writing, reading] {
                let said = failure.expect_err("it must fail").to_string();
                for word in ["byte 1048576", "removed", "not complete", "again"] {
                    assert!(said.contains(word), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_byte_is_found_where_it_is() {
        let image = image(2 * MIB);
        let mut card = image.clone();
        card[MIB + 77] ^= 1;
        let bytes = image.len() as u64;
        let result = compare(&mut &image[..], &mut Cursor::new(card), bytes, |_| ());
        let at = MIB as u64 + 77;
        assert!(matches!(result, Err(Failure::Differs { at: found }) if found == at));
    }

    #[test]
    fn short_images_and_short_cards_are_told_apart() {
        let image = image(MIB);
        let bytes = 2 * MIB as u64;
        let result = copy(&mut &image[..], &mut Vec::new(), bytes, |_| ());
        assert!(matches!(result, Err(Failure::ImageEnds { at: 0x100000 })));
        let longer = [&image[..], &image[..]].concat();
        let result = compare(&mut &longer[..], &mut &image[..], bytes, |_| ());
        assert!(matches!(result, Err(Failure::CardEnds { at: 0x100000 })));
    }

    #[test]
    fn buffers_lie_as_reads_past_the_cache_need_them() {
        let mut buffer = [Page::new_zeroed()].repeat(2);
        assert_eq!(piece(&mut buffer, u64::MAX).as_ptr() as usize % 4096, 0);
    }
}
