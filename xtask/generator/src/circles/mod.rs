// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that the files of the inner domain and of the boot stage use each other in one direction,
//! and that the rooms of `donjon-core` are what `docs/architecture.md` says.

mod graph;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use donjon_machine::paths;

use graph::{Graph, circle, graph};

/// Folders without a circle of files.
const SOURCES: [&str; 4] = [
    "inner-domain/core/src",
    "inner-domain/image/src",
    "inner-domain/hal/src",
    "boot/src",
];
/// Files at the root of `donjon-core` that every room may use.
const GROUND: [&str; 2] = ["checks", "range"];

fn of_tree(folder: &str) -> Graph {
    graph(&uses::files(&paths::in_root(folder)))
}

fn of(files: &[(&str, &str)]) -> Graph {
    let files = files.iter().map(|(name, text)| uses::file(name, text));
    graph(&files.collect())
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    for source in SOURCES {
        assert_eq!(circle(&of_tree(source)), None, "{source}");
    }
    // Uses that are known to be there, so that a reader that sees nothing does not pass.
    let core = of_tree(SOURCES[0]);
    assert!(core["kernel_tables/page"].contains("translation/leaf"));
    assert!(core["pools/extension"].contains("user_tables"));
    assert!(core["user_tables/path"].contains("user_tables/cell"));
    let image = of_tree(SOURCES[1]);
    assert!(image["calls/table"].contains("domain"));
}

/// The rooms in the table of `docs/architecture.md`, each with its floor and what it uses.
fn documented() -> BTreeMap<String, (u32, BTreeSet<String>)> {
    let page = fs::read_to_string(paths::in_root("docs/architecture.md")).expect("the page");
    let (_, table) = page
        .split_once("| floor | room | uses |\n")
        .expect("the table");
    let names = |cell: &str| {
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let mut rooms = BTreeMap::new();
    for row in table.lines().skip(1).take_while(|it| it.starts_with('|')) {
        let cells: Vec<_> = row.split('|').collect();
        let floor: u32 = cells[1].trim().parse().expect("a floor");
        for room in names(cells[2]) {
            rooms.insert(room, (floor, names(cells[3])));
        }
    }
    rooms
}

#[test]
fn rooms_use_what_the_page_says_and_nothing_above() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, used) in of_tree(SOURCES[0]) {
        let room = |it: &str| it.split('/').next().unwrap_or_default().to_owned();
        let own = room(&file);
        if own.is_empty() || GROUND.contains(&&*own) {
            continue;
        }
        let others = used.iter().map(|it| room(it));
        let others = others.filter(|it| *it != own && !GROUND.contains(&&**it));
        found.entry(own.clone()).or_default().extend(others);
    }
    let documented = documented();
    for (room, used) in &found {
        let (floor, said) = documented.get(room).expect(room);
        assert_eq!(used, said, "{room}");
        for other in used {
            assert!(documented[other].0 < *floor, "{room} uses {other}");
        }
    }
    assert!(documented.keys().eq(found.keys()));
}

#[test]
fn a_planted_circle_is_found_over_imports_paths_and_re_exports() {
    let graph = of(&[
        ("", "mod a; mod b; mod c;"),
        ("a", "use crate::b; pub struct One; fn f() { b::two(); }"),
        ("b", "pub use super::c::three; pub fn two() { three() }"),
        ("c", "pub fn three() -> super::a::One { todo!() }"),
    ]);
    assert_eq!(
        circle(&graph).as_deref(),
        Some("a uses b uses c uses a"),
        "{graph:?}"
    );
}

#[test]
fn parts_of_a_room_name_their_root_and_not_each_other_in_turn() {
    let root = "mod b; mod c; pub struct State(b::Part);";
    let part = "use super::State; pub struct Part(State);";
    let graph = of(&[("", "mod a;"), ("a", root), ("a/b", part), ("a/c", "")]);
    assert_eq!(circle(&graph), None, "{graph:?}");
    let part = "use super::c::Other; pub struct Part(Other);";
    let other = "use super::b::Part; pub struct Other(Part);";
    let graph = of(&[("", "mod a;"), ("a", root), ("a/b", part), ("a/c", other)]);
    assert_eq!(circle(&graph).as_deref(), Some("a/b uses a/c uses a/b"));
}

#[test]
fn tests_make_no_circle() {
    let graph = of(&[
        ("", "mod a; mod b;"),
        ("a", "use crate::b::B; pub struct A(B);"),
        (
            "b",
            "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
        ),
    ]);
    assert_eq!(circle(&graph), None);
    assert!(graph["a"].contains("b"));
}
