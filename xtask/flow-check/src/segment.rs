// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chain over a segment of a log.

use donjon_flow_chain::State;

/// Returns the tag of a segment: the state that its words lead to, closed with the path bits in x28
/// and the number of words. All 256 bits of it have to be equal to the tag that was reported.
pub fn tag(first: State, words: &[u64], path: u64) -> State {
    let state = words.iter().fold(first, |state, &word| state.absorb(word));
    state.absorb(path).absorb(words.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_depends_on_state_order_path_and_length() {
        let first = State([1, 2, 3, 4]);
        let words = [0x40_0000, 1 << 52, 1 << 63 | 8];
        let absorbed = [words[0], words[1], words[2], 5, 3];
        let expected = absorbed.iter().fold(first, |it, &word| it.absorb(word));
        assert_eq!(tag(first, &words, 5), expected);
        let others = [
            tag(State([1, 2, 3, 5]), &words, 5),
            tag(first, &words, 4),
            tag(first, &words[..2], 5),
            tag(first, &[words[1], words[0], words[2]], 5),
            tag(first, &[words[0], words[1], words[2], 0], 5),
        ];
        assert!(others.iter().all(|&it| it != expected));
    }
}
