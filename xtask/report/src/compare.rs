// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the instruction counts of two recorded runs, row by row.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::envelope::UNKNOWN;
use crate::store::{Loaded, folder_of_data, load};
use donjon_figures::counts::{Count, pairs};
use donjon_figures::format;
use donjon_figures::parts::Part;
use donjon_figures::store::Store;

/// Most that two runs may differ by, in percent.
const LIMIT: f64 = 0.5;
/// Most that two runs of rows of fork may differ by, in percent.
const FORK_LIMIT: f64 = 1.0;

/// Prints how two folders of JSON files differ; returns the exit status, which is 1 if a row is
/// beyond its limit, or a part is in one folder alone.
///
/// # Errors
///
/// If there is nothing to compare, or a file cannot be read.
pub fn run(one: &Path, other: &Path) -> Result<u8> {
    for folder in [one, other] {
        ensure!(
            folder.is_dir(),
            "--compare: there is no folder {}",
            folder.display()
        );
    }
    let (one, other) = (folder_of_data(one), folder_of_data(other));
    let (one, other) = (Store::new(&one), Store::new(&other));
    let mut compared = Vec::new();
    let mut alone = false;
    for part in Part::ALL.into_iter().filter(|it| it.row().counts.is_some()) {
        let (a, b) = match (load(&one, part)?, load(&other, part)?) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => continue,
            (Some(_), None) => {
                println!("{}: only in the first folder, not compared", part.name());
                alone = true;
                continue;
            }
            (None, Some(_)) => {
                println!("{}: only in the second folder, not compared", part.name());
                alone = true;
                continue;
            }
        };
        if is_one_run(&a, &b) {
            println!("{}: both files are of one run, not compared", part.name());
            continue;
        }
        let found = Compared::new(part, &a.value, &b.value);
        ensure!(
            found.rows > 0,
            "{}.json has no counts in either folder: measure it again with `cargo xtask report \
             --out DIR --run {0}`",
            part.name()
        );
        if let Some(note) = sources(&a, &b) {
            println!("{}: {note}", part.name());
        }
        println!("{found}");
        compared.push(found);
    }
    ensure!(
        !compared.is_empty(),
        "nothing to compare: the two folders have no part in common that counts instructions and \
         is of two runs. Measure one again with `cargo xtask report --out DIR --run PART`"
    );
    let beyond = compared.iter().any(|it| !it.beyond.is_empty());
    Ok(u8::from(alone || beyond))
}

/// Whether one file is a copy of the other: two runs do not end in the same second with the same
/// figures.
fn is_one_run(one: &Loaded, other: &Loaded) -> bool {
    matches!(
        (&one.envelope, &other.envelope),
        (Some(a), Some(b)) if a.date == b.date && one.value == other.value
    )
}

/// What is to be said where the sources of two runs are not known to be the same.
fn sources(one: &Loaded, other: &Loaded) -> Option<String> {
    let short = |it: &Loaded| {
        let tree = it.envelope.as_ref().map(|it| &it.tree);
        tree.map_or(UNKNOWN.to_owned(), |it| it.short())
    };
    let tree = |it: &Loaded| it.envelope.as_ref().map(|it| it.tree.clone());
    let (a, b) = (tree(one), tree(other));
    (a.is_none() || a != b).then(|| {
        format!(
            "the commits are {} and {}; what differs may come from that",
            short(one),
            short(other)
        )
    })
}

/// How two documents of a part differ.
#[derive(Debug, PartialEq)]
struct Compared {
    part: Part,
    /// How many rows there are.
    rows: usize,
    /// The row with the largest difference, and that in percent.
    most: Option<(String, f64)>,
    /// The rows beyond their limits, and those that only one document has.
    beyond: Vec<String>,
}

impl Compared {
    fn new(part: Part, one: &Value, other: &Value) -> Self {
        let of = |value| part.row().counts.map_or(Vec::new(), |it| it(value));
        let (one, other) = (of(one), of(other));
        let pairs = pairs(&one, &other);
        let mut compared = Self {
            part,
            rows: pairs.len(),
            most: None,
            beyond: Vec::new(),
        };
        for pair in pairs {
            match pair {
                (Some(a), Some(b)) => compared.add(a, b),
                (Some(a), None) => compared.beyond.push(format!("{}: only first", a.name)),
                (None, Some(b)) => compared.beyond.push(format!("{}: only second", b.name)),
                (None, None) => {}
            }
        }
        compared
    }

    fn add(&mut self, a: &Count, b: &Count) {
        let percent = match format::added(a.value, b.value) {
            Some(percent) => percent,
            None if b.value == 0.0 => 0.0,
            None => f64::INFINITY,
        };
        let limit = if a.is_fork { FORK_LIMIT } else { LIMIT };
        let most = self.most.as_ref().map_or(0.0, |it| it.1.abs());
        if percent.abs() > most {
            self.most = Some((a.name.clone(), percent));
        }
        if percent.abs() > limit {
            self.beyond.push(format!(
                "{}: {} and {}, {percent:+.2} %, limit {limit} %",
                a.name, a.value, b.value
            ));
        }
    }
}

impl Display for Compared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, {} beyond the limit",
            self.part.name(),
            format::plural(self.rows, "row", "rows"),
            self.beyond.len()
        )?;
        match &self.most {
            Some((name, percent)) => write!(f, "; most {percent:+.2} %, {name}")?,
            None => write!(f, "; no difference")?,
        }
        for row in &self.beyond {
            write!(f, "\n  {row}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use donjon_figures::records::examples;
    use serde_json::json;

    use super::*;
    use crate::envelope::{Envelope, Tree};

    /// The made-up document of a part.
    fn example(part: Part) -> Value {
        examples::document(part.name()).expect("an example")
    }

    /// The example with one count changed by `percent`.
    fn changed(part: Part, path: &str, percent: f64) -> Value {
        let mut value = example(part);
        let count = value.pointer_mut(path).expect("a count");
        *count = json!(count.as_f64().expect("a number") * (1.0 + percent / 100.0));
        value
    }

    fn beyond(part: Part, path: &str, percent: f64) -> Vec<String> {
        let other = changed(part, path, percent);
        Compared::new(part, &example(part), &other).beyond
    }

    #[test]
    fn a_row_beyond_its_limit_is_named() {
        let path = "/programs/0/instructions/asid";
        assert_eq!(beyond(Part::Programs, path, 0.4), [""; 0]);
        assert_eq!(beyond(Part::Programs, path, -0.4), [""; 0]);
        let named = beyond(Part::Programs, path, -0.6);
        assert_eq!(named.len(), 1, "{named:?}");
        assert!(named[0].starts_with("sqlite3 insert, asid: 20100 and "));
        assert!(named[0].ends_with("-0.60 %, limit 0.5 %"), "{named:?}");
    }

    #[test]
    fn forks_have_a_limit_of_their_own() {
        let path = "/rows/fork+exit/asid/mean";
        assert_eq!(beyond(Part::Lmbench, path, 0.9), [""; 0]);
        assert_eq!(beyond(Part::Lmbench, path, 1.1).len(), 1);
        assert_eq!(beyond(Part::Lmbench, "/rows/null/asid/mean", 0.9).len(), 1);
    }

    #[test]
    fn the_largest_difference_is_said() {
        let other = changed(Part::Lmbench, "/rows/null/native", 0.25);
        let compared = Compared::new(Part::Lmbench, &example(Part::Lmbench), &other);
        let said = compared.to_string();
        assert!(
            said.contains("0 beyond the limit; most +0.25 %, null, native"),
            "{said}"
        );
    }

    #[test]
    fn a_row_that_one_run_lacks_is_named() {
        let mut other = example(Part::Programs);
        other["programs"].as_array_mut().expect("a list").pop();
        let whole = example(Part::Programs);
        let first = Compared::new(Part::Programs, &whole, &other);
        assert_eq!(first.beyond.len(), 4);
        assert!(first.beyond[0].ends_with(": only first"));
        let second = Compared::new(Part::Programs, &other, &whole);
        assert!(second.beyond[3].ends_with(": only second"));
        assert_eq!(second.rows, first.rows);
    }

    #[test]
    fn a_count_that_comes_from_nothing_is_beyond_every_limit() {
        let (zero, some) = (
            changed(Part::Calls, "/operations/0/instructions", -100.0),
            example(Part::Calls),
        );
        assert_eq!(Compared::new(Part::Calls, &zero, &some).beyond.len(), 1);
        assert_eq!(Compared::new(Part::Calls, &zero, &zero).beyond.len(), 0);
    }

    fn keep(folder: &Path, value: &Value, commit: &str, date: &str) {
        let tree = Tree {
            commit: Some(commit.to_owned()),
            ..Tree::default()
        };
        let json = value.to_string();
        let envelope = Envelope {
            date: date.to_owned(),
            ..Envelope::of_run(Part::Programs, &tree, 1.0, 0)
        };
        let store = Store::new(folder);
        store
            .keep("programs", json.as_bytes(), Some(&envelope))
            .expect("kept");
    }

    #[test]
    fn two_runs_give_a_status_and_copies_of_one_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
        for it in [&one, &other] {
            fs::create_dir(it).expect("a folder");
        }
        assert!(run(&one, &other).is_err(), "nothing is compared");
        let value = example(Part::Programs);
        keep(&one, &value, "a", "today");
        assert!(run(&one, &other).is_err(), "one folder is empty");
        keep(&other, &value, "a", "today");
        assert!(run(&one, &other).is_err(), "a copy is no second run");
        keep(&other, &value, "a", "tomorrow");
        assert_eq!(run(&one, &other).expect("a status"), 0);
        let changed = changed(Part::Programs, "/programs/1/instructions/native", 2.0);
        keep(&other, &changed, "a", "tomorrow");
        assert_eq!(run(&one, &other).expect("a status"), 1);
        assert!(run(&one, &folder.path().join("none")).is_err());
        keep(&other, &json!({}), "a", "tomorrow");
        keep(&one, &json!({}), "a", "today");
        assert!(run(&one, &other).is_err(), "there is no count");
    }

    #[test]
    fn a_report_is_its_folder_of_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|it| folder.path().join(it));
        for (it, date) in [(&one, "today"), (&other, "tomorrow")] {
            let data = it.join("data");
            fs::create_dir_all(&data).expect("a folder");
            keep(&data, &example(Part::Programs), "a", date);
        }
        assert_eq!(run(&one, &other).expect("a status"), 0);
        let calls = example(Part::Calls).to_string();
        let store = Store::new(&one.join("data"));
        store
            .keep("calls", calls.as_bytes(), None::<&Envelope>)
            .expect("kept");
        assert_eq!(run(&one, &other).expect("a status"), 1, "a part is alone");
    }

    #[test]
    fn other_commits_are_said() {
        let loaded = |commit: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            keep(folder.path(), &example(Part::Programs), commit, "today");
            let loaded = super::load(&Store::new(folder.path()), Part::Programs);
            loaded.expect("a document").expect("a file")
        };
        assert_eq!(sources(&loaded("a"), &loaded("a")), None);
        let said = sources(&loaded("a"), &loaded("b")).expect("a note");
        assert!(said.starts_with("the commits are a and b"), "{said}");
        let stray = Loaded {
            envelope: None,
            ..loaded("a")
        };
        let said = sources(&stray, &stray).expect("a note");
        assert!(said.contains(UNKNOWN), "{said}");
    }

    fn counts(part: Part) -> Vec<Count> {
        let counts = part.row().counts;
        counts.map_or(Vec::new(), |it| it(&example(part)))
    }

    #[test]
    fn counts_are_found_where_the_commands_write_them() {
        for (part, name, expected) in [
            (Part::Lmbench, "null, native", 0.3),
            (Part::Lmbench, "fork+exit, asid", 294.0),
            (Part::Calls, "fork+exit, inside", 4150.0),
            (Part::Calls, "flush, longest", 11_963.0),
            (Part::Programs, "sqlite3 insert, tlbi", 20_300.0),
            (Part::Compartments, "user, median", 901.0),
            (Part::Compartments, "channel, messages", 4000.0),
        ] {
            let counts = counts(part);
            let count = counts.iter().find(|it| it.name == name);
            assert_eq!(count.map(|it| it.value), Some(expected), "{name}");
        }
    }

    #[test]
    fn every_part_that_counts_has_rows_with_names_of_their_own() {
        for part in Part::ALL {
            let counts = counts(part);
            assert_eq!(!counts.is_empty(), part.row().counts.is_some(), "{part:?}");
            let mut names: Vec<_> = counts.iter().map(|it| &it.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), counts.len(), "{part:?}");
        }
    }

    #[test]
    fn forks_are_told_from_the_rest() {
        for it in counts(Part::Lmbench) {
            assert_eq!(it.is_fork, it.name.starts_with("fork+"), "{}", it.name);
        }
    }
}
