// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is measured, chosen by parts of names.

use anyhow::{Result, ensure};

/// Words that choose whatever has one of them in its name, in capital letters or not. No word
/// chooses all.
#[derive(Debug)]
pub struct Selection(Vec<String>);

impl Selection {
    /// The words of an option.
    ///
    /// # Errors
    ///
    /// If a word is in none of the names. `kind` says what they name: `program`, `row`.
    pub fn new(words: &[String], kind: &str, names: &[impl AsRef<str>]) -> Result<Self> {
        for word in words {
            let this = Self(vec![word.to_lowercase()]);
            ensure!(
                names.iter().any(|name| this.has(name.as_ref())),
                "no {kind} has `{word}` in its name; there are: {}",
                names
                    .iter()
                    .map(AsRef::as_ref)
                    .collect::<Vec<_>>()
                    .join("; ")
            );
        }
        Ok(Self(words.iter().map(|it| it.to_lowercase()).collect()))
    }

    /// Whether it is chosen.
    pub fn has(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.0.is_empty() || self.0.iter().any(|word| name.contains(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["AF_UNIX", "fork+exit", "fork+exec"];

    fn chosen(words: &[&str]) -> Result<Vec<&'static str>> {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let selection = Selection::new(&words, "row", &NAMES)?;
        Ok(NAMES.into_iter().filter(|it| selection.has(it)).collect())
    }

    #[test]
    fn words_are_parts_of_names_in_capital_letters_or_not() {
        for words in [["af_unix", "EXEC"], ["AF", "exec"]] {
            assert_eq!(chosen(&words).ok(), Some(vec!["AF_UNIX", "fork+exec"]));
        }
        assert_eq!(chosen(&[]).ok(), Some(NAMES.to_vec()));
    }

    #[test]
    fn a_word_of_no_name_is_an_error_that_lists_them() {
        let error = chosen(&["fork", "spoon"]).expect_err("no row").to_string();
        assert_eq!(
            error,
            "no row has `spoon` in its name; there are: AF_UNIX; fork+exit; fork+exec"
        );
    }
}
