// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers on a console that others write to as well.
//!
//! An answer is `@donjon TAG CHECKSUM CONTENT@`: the tag of the request, the SHA-256 of the
//! content, and the content in Base64. The tag is new for each request,
//! so an old answer is not taken for a new one. The shell's echo of a request has no `@donjon`
//! in it. What the kernel prints in the middle of an answer makes the checksum wrong, and the
//! request is made again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Defines the shell function that answers: `donjon_answer TAG COMMAND` sends what COMMAND prints.
pub const DEFINITION: &str = "donjon_answer() { \
    set -- \"$1\" \"$(eval \"$2\" 2>/dev/null | base64 | tr -d '\\n')\" \
    $(eval \"$2\" 2>/dev/null | sha256sum); \
    printf '\\n@%s %s %s %s@\\n' donjon \"$1\" \"$3\" \"$2\"; }";

/// Programs that the function needs, beside the shell's own.
pub const PROGRAMS: [&str; 6] = ["base64", "tr", "sha256sum", "printf", "dd", "wc"];

/// What a console's text has of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Content of the answer.
    Content(Vec<u8>),
    /// The answer, but not as it was sent.
    Damaged,
    /// No answer, or not yet all of it.
    Nothing,
}

/// Looks for the answer to the request `tag` in `text`.
pub fn find(text: &[u8], tag: &str) -> Found {
    let mark = format!("@donjon {tag} ");
    let mut damaged = false;
    let mut rest = text;
    while let Some(at) = position(rest, mark.as_bytes()) {
        rest = &rest[at + mark.len()..];
        let Some(end) = rest.iter().position(|it| *it == b'@') else {
            break;
        };
        if let Some(content) = content(&rest[..end]) {
            return Found::Content(content);
        }
        damaged = true;
    }
    if damaged {
        Found::Damaged
    } else {
        Found::Nothing
    }
}

fn content(body: &[u8]) -> Option<Vec<u8>> {
    let (checksum, content) = std::str::from_utf8(body).ok()?.split_once(' ')?;
    let content = STANDARD.decode(content).ok()?;
    (checksum == self::checksum(&content)).then_some(content)
}

/// The first place of `part` in `text`.
pub fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|it| it == part)
}

/// The SHA-256 of `bytes` as `sha256sum` prints it.
pub fn checksum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(tag: &str, content: &[u8]) -> Vec<u8> {
        let text = STANDARD.encode(content);
        format!("\r\n@donjon {tag} {} {text}@\r\n", checksum(content)).into_bytes()
    }

    #[test]
    fn the_checksum_is_that_of_sha256sum() {
        // From `printf '' | sha256sum`.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksum(b""), empty);
    }

    #[test]
    fn an_answer_to_another_request_is_none() {
        let text = answer("a1", b"old");
        assert_eq!(find(&text, "a2"), Found::Nothing);
        assert_eq!(find(&text, "a"), Found::Nothing);
    }

    #[test]
    fn the_echo_of_the_request_is_no_answer() {
        let text = format!("{DEFINITION}\r\ndonjon_answer a1 'cat x'\r\n");
        assert_eq!(find(text.as_bytes(), "a1"), Found::Nothing);
    }

    #[test]
    fn a_damaged_answer_does_not_hide_the_second() {
        let mut text = answer("a1", b"content");
        text[20] ^= 1;
        assert_eq!(find(&text, "a1"), Found::Damaged);
        text.extend(answer("a1", b"content"));
        assert_eq!(find(&text, "a1"), Found::Content(b"content".to_vec()));
    }

    proptest! {
        #[test]
        fn content_is_found_between_other_text(
            before in "[ -?A-Z\\r\\n\\[\\]a-z]{0,80}",
            content: Vec<u8>,
            after: Vec<u8>,
        ) {
            let mut text = before.into_bytes();
            text.extend(answer("f00d1", &content));
            text.extend(after);
            prop_assert_eq!(find(&text, "f00d1"), Found::Content(content));
        }

        #[test]
        fn nothing_that_arrives_damaged_is_believed(
            content in prop::collection::vec(any::<u8>(), 0..200),
            place: prop::sample::Index,
            kind in 0..3,
            noise in prop::collection::vec(any::<u8>(), 1..40),
        ) {
            let mut text = answer("f00d1", &content);
            let at = place.index(text.len());
            match kind {
                0 => text[at] ^= noise[0].max(1),
                1 => drop(text.remove(at)),
                _ => drop(text.splice(at..at, noise)),
            }
            // Damage beside the answer, or in what does not count, does no harm.
            if let Found::Content(found) = find(&text, "f00d1") {
                prop_assert_eq!(found, content);
            }
        }

        #[test]
        fn a_part_of_an_answer_is_none(content: Vec<u8>, place: prop::sample::Index) {
            let text = answer("f00d1", &content);
            let end = text.len() - 3;
            prop_assert_eq!(find(&text[..place.index(end)], "f00d1"), Found::Nothing);
        }
    }
}
