// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who can read what is in a compartment and in a process.

use serde::Deserialize;

use super::figure;
use crate::document::{Block, Section, Table};
use crate::published::compartments::Morello;

#[derive(Deserialize)]
pub(super) struct Trust {
    trials: Vec<Trial>,
}

#[derive(Deserialize)]
struct Trial {
    is_inside: bool,
    who: String,
    is_granted: bool,
    is_visible: bool,
    ways: Vec<Way>,
}

#[derive(Deserialize)]
struct Way {
    read: u64,
    found: u64,
}

impl Trust {
    pub(super) fn show(&self, section: &mut Section, morello: &Morello) {
        section.heading("Trust");
        section.text(format!(
            "Messages lie in a compartment or in a process, and each in turn tries to read them by \
             every way that it has. Access is granted if a page with messages could be read; data \
             is visible if messages were found. What lies outside is the control. Morello: {}.",
            morello.source("trust")
        ));
        let header = [
            "where",
            "who",
            "access",
            "data visible",
            "Morello: access",
            "data visible",
            "pages read",
            "words found",
        ];
        let mut table = Table::new("Who can read it", &header);
        table.words = 6;
        for it in &self.trials {
            let theirs = |what| {
                let row = morello.trust(&it.who, what);
                let word = row.map(|row| {
                    if it.is_inside {
                        &row.inside
                    } else {
                        &row.outside
                    }
                });
                word.map_or("not tried".to_owned(), String::clone)
            };
            let sum = |of: fn(&Way) -> u64| it.ways.iter().map(of).sum::<u64>() as f64;
            table.row(vec![
                if it.is_inside { "inside" } else { "outside" }.into(),
                it.who.clone(),
                if it.is_granted { "Granted" } else { "Denied" }.into(),
                if it.is_visible { "Yes" } else { "No" }.into(),
                theirs("access"),
                theirs("data visible"),
                figure(sum(|it| it.read), 0),
                figure(sum(|it| it.found), 0),
            ]);
        }
        section.add(Block::Table(table));
    }
}
