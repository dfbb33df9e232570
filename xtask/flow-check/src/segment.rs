// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain over a segment of a log.

use donjon_flow_chain::State;

/// Returns the tag of a segment: the state that its words lead to. All 256 bits of it have to be
/// equal to the tag that was reported. How many words there are, and the path bits and the PC at
/// the segment's end, are bound by the transcript.
pub fn tag(first: State, words: &[u64]) -> State {
    words.iter().fold(first, |state, &word| state.absorb(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_depends_on_state_order_and_each_word() {
        let first = State([1, 2, 3, 4]);
        let words = [0x40_0000, 1 << 52, 1 << 63 | 8];
        let expected = first.absorb(words[0]).absorb(words[1]).absorb(words[2]);
        assert_eq!(tag(first, &words), expected);
        assert_eq!(tag(first, &[]), first);
        let others = [
            tag(State([1, 2, 3, 5]), &words),
            tag(first, &words[..2]),
            tag(first, &[words[1], words[0], words[2]]),
            tag(first, &[words[0], words[1], words[2], 0]),
        ];
        assert!(others.iter().all(|&it| it != expected));
    }
}
