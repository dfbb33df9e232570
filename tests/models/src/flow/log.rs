// SPDX-License-Identifier: MIT OR Apache-2.0
//! A log as bytes, and a verifier that knows the lawful returns of a program.

use donjon_flow_chain::State;

/// How a chain absorbs a word.
pub type Absorb = fn(State, u64) -> State;

/// Encodes words as a log: 8 bytes each, the lowest first.
pub fn encode(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Decodes a log. `None`: its end is within a word.
pub fn decode(log: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = log.as_chunks::<8>();
    let words = words.iter().copied().map(u64::from_le_bytes).collect();
    rest.is_empty().then_some(words)
}

/// Computes the tag of words: the state behind the last one.
pub fn tag(absorb: Absorb, start: State, words: &[u64]) -> State {
    words.iter().copied().fold(start, absorb)
}

/// Accepts a log whose words `lawful` accepts, and whose tag is the one that was shown.
pub fn verify(
    absorb: Absorb,
    start: State,
    log: &[u8],
    shown: State,
    lawful: impl Fn(&[u64]) -> bool,
) -> bool {
    decode(log).is_some_and(|words| lawful(&words) && tag(absorb, start, &words) == shown)
}
