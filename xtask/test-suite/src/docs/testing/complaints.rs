// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is missing in the table, or is named there and does not exist.

use std::collections::BTreeSet;

use donjon_attack::Attack;

use super::row::{Data, Entry};
use super::{DATA, Holder};

/// What the data and the holders are compared with.
pub struct Tree<'a> {
    /// Invariants and promises, as their pages have them.
    pub ids: &'a [String],
    /// All attacks.
    pub attacks: &'a [&'static Attack],
    /// Functions that `cargo test` runs.
    pub host_tests: BTreeSet<String>,
    /// All tests.
    pub tests: &'a [Holder],
    /// Whether there is such a file.
    pub is_file: &'a dyn Fn(&str) -> bool,
}

impl Tree<'_> {
    /// One line for each fault.
    pub fn complaints(&self, data: &Data) -> Vec<String> {
        let mut all = Vec::new();
        for id in self.ids {
            match data.get(id) {
                Some(entry) => all.extend(self.of_entry(id, entry)),
                None => all.push(format!("{DATA}: no entry for {id}")),
            }
        }
        let unknown = data.keys().filter(|id| !self.ids.contains(id));
        all.extend(unknown.map(|id| format!("{DATA}: {id} is neither an invariant nor a promise")));
        for test in self.tests {
            all.extend(self.unknown(&format!("the test `{}`", test.name), &test.holds));
        }
        for attack in self.attacks {
            all.extend(self.of_attack(attack));
        }
        all
    }

    fn of_entry(&self, id: &str, entry: &Entry) -> Vec<String> {
        let mut all = Vec::new();
        let files = entry.rules.iter().filter(|it| !(self.is_file)(it));
        all.extend(files.map(|it| format!("{DATA}: {id}: there is no file `{it}`")));
        let names = entry.host_tests.iter();
        let names = names.filter(|it| !self.host_tests.contains(*it));
        all.extend(names.map(|it| format!("{DATA}: {id}: there is no host test `{it}`")));
        if entry.auditor.is_empty() {
            all.push(format!("{DATA}: {id}: nothing is said of the auditor"));
        }
        if !self.tests.iter().any(|it| it.holds.contains(&id)) {
            all.push(format!("{id}: no test holds it; name it in `holds` of one"));
        }
        let is_attacked = self.attacks.iter().any(|it| it.all_held().contains(&id));
        match (is_attacked, &entry.no_attack) {
            (false, None) => all.push(format!(
                "{id}: no attack is about it; name it in `holds` of one, or say in {DATA} why there \
                 is none (`no-attack`)"
            )),
            (true, Some(_)) => all.push(format!(
                "{DATA}: {id}: there are attacks; remove `no-attack`"
            )),
            _ => {}
        }
        all
    }

    /// An attack is about something, and each of its controls stands in a row.
    fn of_attack(&self, attack: &Attack) -> Vec<String> {
        let name = attack.name;
        let mut all = self.unknown(&format!("the attack `{name}`"), &attack.all_held());
        if attack.all_held().is_empty() {
            all.push(format!("no row has the attack `{name}`: it needs `holds`"));
        }
        let unseen = attack.controls.iter().filter(|it| it.seen_as.is_empty());
        for control in unseen.filter(|_| attack.holds.is_empty()) {
            all.push(format!(
                "no row has the control `{}` of the attack `{name}`: the attack needs `holds`",
                control.without.name()
            ));
        }
        all
    }

    fn unknown(&self, what: &str, holds: &[&str]) -> Vec<String> {
        let unknown = holds
            .iter()
            .filter(|id| !self.ids.iter().any(|it| it == *id));
        unknown
            .map(|id| format!("{what} holds {id}, which is neither an invariant nor a promise"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use donjon_attack::{Control, Without};

    use super::super::{page, row};
    use super::*;

    const CONTROL: Control = Control {
        without: Without::inner(&["weaken-x"]),
        attempts: &[],
        seen_as: &["I1"],
    };
    const UNSEEN: Control = Control {
        seen_as: &[],
        without: Without::inner(&["weaken-y"]),
        ..CONTROL
    };
    const ATTACK: Attack = Attack {
        name: "break-in",
        controls: &[CONTROL, UNSEEN],
        holds: &["I2"],
        ..Attack::ROW
    };
    const LOST: Attack = Attack {
        name: "lost",
        controls: &[UNSEEN],
        ..Attack::ROW
    };
    const STRANGE: Attack = Attack {
        name: "strange",
        holds: &["I9"],
        ..Attack::ROW
    };
    const ENTRY: &str = "rules = ['rules.rs']\nhost-tests = ['it_holds']\nauditor = 'yes'\n";

    fn data(text: &str) -> Data {
        toml::from_str(text).expect("data")
    }

    fn tests(holds: &[&'static str]) -> [Holder; 1] {
        [Holder {
            name: "boot:asid".into(),
            holds: holds.to_vec(),
        }]
    }

    fn said(text: &str, attacks: &[&'static Attack], holds: &[&'static str]) -> Vec<String> {
        let tree = Tree {
            ids: &["I1".to_owned(), "I2".to_owned()],
            attacks,
            host_tests: BTreeSet::from(["it_holds".to_owned()]),
            tests: &tests(holds),
            is_file: &|path| path == "rules.rs",
        };
        tree.complaints(&data(text))
    }

    fn both() -> String {
        format!("[I1]\n{ENTRY}[I2]\n{ENTRY}")
    }

    #[test]
    fn a_complete_table_has_no_complaints() {
        let found = said(&both(), &[&ATTACK], &["I1", "I2"]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn the_table_has_each_control_where_it_is_seen_or_where_its_attack_is() {
        let (ids, data) = (["I1".to_owned(), "I2".to_owned()], data(&both()));
        let rows = row::rows(&ids, &data, &[&ATTACK], &tests(&["I2"]));
        let text = page::table(&rows);
        let lines: Vec<&str> = text.lines().skip(3).take(2).collect();
        assert_eq!(
            lines,
            [
                "| I1 | `rules.rs` | `it_holds` | `break-in` (`weaken-x`) |  | yes |",
                "| I2 | `rules.rs` | `it_holds` | `break-in` (`weaken-y`) | `boot:asid` | yes |",
            ]
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let found = said(&format!("[I1]\n{ENTRY}"), &[&ATTACK, &LOST], &[]);
        assert_eq!(
            found,
            [
                "I1: no test holds it; name it in `holds` of one",
                "docs/testing.toml: no entry for I2",
                "no row has the attack `lost`: it needs `holds`",
                "no row has the control `weaken-y` of the attack `lost`: the attack needs `holds`",
            ]
        );
        let found = said(&both(), &[], &["I1", "I2"]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("I1: no attack is about it"),
            "{found:?}"
        );
    }

    #[test]
    fn what_does_not_exist_is_named() {
        let text = format!(
            "[I1]\nrules = ['no.rs']\nhost-tests = ['it_fails']\nauditor = ''\nno-attack = 'none'\n\
             [I2]\n{ENTRY}[I3]\n{ENTRY}"
        );
        let found = said(&text, &[&ATTACK, &STRANGE], &["I1", "I2", "P7"]);
        assert_eq!(
            found,
            [
                "docs/testing.toml: I1: there is no file `no.rs`",
                "docs/testing.toml: I1: there is no host test `it_fails`",
                "docs/testing.toml: I1: nothing is said of the auditor",
                "docs/testing.toml: I1: there are attacks; remove `no-attack`",
                "docs/testing.toml: I3 is neither an invariant nor a promise",
                "the test `boot:asid` holds P7, which is neither an invariant nor a promise",
                "the attack `strange` holds I9, which is neither an invariant nor a promise",
            ]
        );
    }
}
