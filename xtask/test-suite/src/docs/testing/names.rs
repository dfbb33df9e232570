// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of tests, made short: a star for all that begin alike.

/// The names in `some`, in the order of `all`. Where every test of `all` that begins with some
/// parts of a name is in `some`, and there are several, these parts with a star stand for them.
pub fn short(some: &[&str], all: &[&str]) -> Vec<String> {
    let mut short: Vec<String> = Vec::new();
    for name in all.iter().filter(|it| some.contains(it)) {
        let begin = beginnings(name).find(|begin| stands_for_several(begin, some, all));
        let word = begin.map_or_else(|| (*name).to_owned(), |it| format!("{it}*"));
        if !short.contains(&word) {
            short.push(word);
        }
    }
    short
}

/// Each beginning of a name that ends in a colon, the shortest first.
fn beginnings(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices(':').map(|(at, _)| &name[..=at])
}

fn stands_for_several(begin: &str, some: &[&str], all: &[&str]) -> bool {
    let mut alike = all.iter().filter(|it| it.starts_with(begin)).peekable();
    let several = alike.clone().count() > 1;
    several && alike.all(|it| some.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 6] = ["fmt", "a:b:1", "a:b:2", "a:c", "d:1", "e"];

    #[test]
    fn a_star_stands_for_all_that_begin_alike() {
        assert_eq!(short(&["a:b:1", "a:b:2", "e"], &ALL), ["a:b:*", "e"]);
        assert_eq!(short(&["a:c", "a:b:2", "a:b:1"], &ALL), ["a:*"]);
    }

    #[test]
    fn a_star_never_stands_for_one_or_for_what_is_not_there() {
        assert_eq!(short(&["a:b:1", "d:1"], &ALL), ["a:b:1", "d:1"]);
        assert_eq!(short(&["a:b:1", "a:c"], &ALL), ["a:b:1", "a:c"]);
        assert!(short(&[], &ALL).is_empty());
    }
}
