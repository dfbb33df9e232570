// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that addresses in `donjon-core` are types: a plain number stands where a caller of the
//! crate says it, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use donjon_machine::paths;
use syn::visit::{self, Visit};
use syn::{Block, Field, Ident, ImplItem, Item, ItemFn, ItemImpl, Pat, PatType, Type, Visibility};

use crate::sources::{self, is_test};

/// Names of parameters and fields that are addresses.
const NAMES: [&str; 12] = [
    "context",
    "entry",
    "frame",
    "inbox",
    "output",
    "pa",
    "parent",
    "reserved_root",
    "root",
    "source",
    "table",
    "va",
];

/// How many plain addresses of a file callers of the crate say: parameters of public functions and
/// of the functions of public traits, fields of public types. Each is converted, and checked, where
/// it comes in.
const EDGE: [(&str, usize); 20] = [
    ("compartment.rs", 2),
    ("compartment/build.rs", 4),
    ("compartment/channel.rs", 2),
    ("compartment/flow/begin.rs", 1),
    ("compartment/run.rs", 2),
    ("cpu/registers.rs", 1),
    ("cpu/secondary.rs", 1),
    ("devices.rs", 1),
    ("handover.rs", 1),
    ("handover/error.rs", 3),
    ("handover/place.rs", 2),
    ("kernel_tables/import.rs", 3),
    ("kernel_tables/release.rs", 1),
    ("kernel_tables/state.rs", 2),
    ("kernel_tables/text.rs", 4),
    ("kernel_tables/write.rs", 1),
    ("pools/state.rs", 2),
    ("translation/hardware.rs", 7),
    ("user_tables.rs", 2),
    ("user_tables/fill.rs", 6),
];

/// Plain addresses on both sides of the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Plain {
    edge: usize,
    private: usize,
}

/// Counts the plain addresses of a file.
struct Counter<'n> {
    /// Names of public types and traits.
    public: &'n BTreeSet<String>,
    /// Whether callers of the crate see what is looked at.
    is_edge: bool,
    plain: Plain,
}

impl Counter<'_> {
    fn count(&mut self, name: &Ident, of: &Type) {
        if !NAMES.iter().any(|it| name == it) || !is_number(of) {
            return;
        }
        if self.is_edge {
            self.plain.edge += 1;
        } else {
            self.plain.private += 1;
        }
    }

    fn count_pattern(&mut self, pattern: &Pat, of: &Type) {
        match (pattern, of) {
            (Pat::Ident(name), _) => self.count(&name.ident, of),
            (Pat::Tuple(names), Type::Tuple(types)) => {
                for (name, of) in names.elems.iter().zip(&types.elems) {
                    self.count_pattern(name, of);
                }
            }
            _ => {}
        }
    }

    fn within(&mut self, is_edge: bool, visit: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.is_edge, is_edge);
        visit(self);
        self.is_edge = outside;
    }
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_number(of: &Type) -> bool {
    let Type::Path(path) = of else {
        return false;
    };
    let text: Vec<_> = path.path.segments.iter().collect();
    match text.as_slice() {
        [one] if one.ident == "u64" => true,
        [one] if one.ident == "Option" => match &one.arguments {
            syn::PathArguments::AngleBracketed(it) => it
                .args
                .iter()
                .any(|it| matches!(it, syn::GenericArgument::Type(inner) if is_number(inner))),
            _ => false,
        },
        _ => false,
    }
}

impl<'a> Visit<'a> for Counter<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(it) if is_test(&it.attrs) => {}
            Item::Struct(it) => {
                for field in &it.fields {
                    let is_edge = is_public(&it.vis) && is_public(&field.vis);
                    self.within(is_edge, |of| of.visit_field(field));
                }
            }
            Item::Enum(it) => self.within(is_public(&it.vis), |of| visit::visit_item(of, item)),
            Item::Trait(it) => self.within(is_public(&it.vis), |of| visit::visit_item(of, item)),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.within(is_public(&function.vis), |of| {
            visit::visit_item_fn(of, function);
        });
    }

    fn visit_item_impl(&mut self, of: &'a ItemImpl) {
        let path = match (&of.trait_, &*of.self_ty) {
            (Some((_, path, _)), _) => Some(path),
            (None, Type::Path(it)) => Some(&it.path),
            (None, _) => None,
        };
        let name = path.and_then(|it| it.segments.last());
        let is_named = name.is_some_and(|it| self.public.contains(&it.ident.to_string()));
        for item in &of.items {
            if let ImplItem::Fn(it) = item {
                // Those of a trait have no visibility of their own.
                let is_edge = is_named && (of.trait_.is_some() || is_public(&it.vis));
                self.within(is_edge, |of| of.visit_impl_item_fn(it));
            }
        }
    }

    /// Inside of a function is nothing that its callers see.
    fn visit_block(&mut self, block: &'a Block) {
        self.within(false, |of| visit::visit_block(of, block));
    }

    fn visit_pat_type(&mut self, parameter: &'a PatType) {
        self.count_pattern(&parameter.pat, &parameter.ty);
        visit::visit_pat_type(self, parameter);
    }

    fn visit_field(&mut self, field: &'a Field) {
        if let Some(name) = &field.ident {
            self.count(name, &field.ty);
        }
        visit::visit_field(self, field);
    }
}

/// Names of types and traits that a file declares, the public ones or all others.
fn declared(text: &str, public: bool) -> BTreeSet<String> {
    let items = syn::parse_file(text).expect("Rust").items.into_iter();
    let names = items.filter_map(|item| match item {
        Item::Struct(it) => Some((it.vis, it.ident)),
        Item::Enum(it) => Some((it.vis, it.ident)),
        Item::Trait(it) => Some((it.vis, it.ident)),
        _ => None,
    });
    let names = names.filter(|(visibility, _)| is_public(visibility) == public);
    names.map(|(_, name)| name.to_string()).collect()
}

/// The plain addresses in the text of a file. `public` has the names of all public types and
/// traits of the crate; the file may have others of the same name.
fn plain_in(text: &str, public: &BTreeSet<String>) -> Plain {
    let mut counter = Counter {
        public: &(public - &declared(text, false)),
        is_edge: false,
        plain: Plain::default(),
    };
    counter.visit_file(&syn::parse_file(text).expect("Rust"));
    counter.plain
}

#[test]
fn addresses_in_the_core_are_types_but_for_those_that_a_caller_says() {
    let files = sources::files(&paths::in_root("inner-domain/core/src"));
    let names = files.iter().flat_map(|(_, text)| declared(text, true));
    let public = names.collect();
    let counted = files.into_iter();
    let counted: Vec<_> = counted
        .map(|(file, text)| (file, plain_in(&text, &public)))
        .collect();
    let found = |of: fn(&Plain) -> usize| -> BTreeMap<&str, usize> {
        let counts = counted
            .iter()
            .map(|(file, plain)| (file.as_str(), of(plain)));
        counts.filter(|(_, plain)| *plain != 0).collect()
    };
    assert_eq!(found(|it| it.edge), BTreeMap::from(EDGE));
    assert_eq!(found(|it| it.private), BTreeMap::new());
}

fn planted(text: &str) -> (usize, usize) {
    let plain = plain_in(text, &declared(text, true));
    (plain.edge, plain.private)
}

#[test]
fn plain_addresses_are_found_in_functions_and_fields_and_not_in_tests() {
    assert_eq!(planted("fn f(va: u64, count: u64) {}"), (0, 1));
    assert_eq!(
        planted("struct S { pub root: Option<u64>, entry: Entry }"),
        (0, 1)
    );
    assert_eq!(planted("trait T { fn f(&self, frame: u64); }"), (0, 1));
    assert_eq!(planted("fn f((va, count): (u64, u64)) {}"), (0, 1));
    assert_eq!(planted("fn f() { let f = |pa: u64| pa; }"), (0, 1));
    let none = (0, 0);
    assert_eq!(planted("fn f(va: UserAddress, source: [u64; 2]) {}"), none);
    assert_eq!(planted("#[cfg(test)] mod t { fn f(va: u64) {} }"), none);
}

#[test]
fn an_address_that_a_caller_says_is_told_from_one_that_is_private() {
    assert_eq!(planted("pub fn f(va: u64) {}"), (1, 0));
    assert_eq!(planted("pub(crate) fn f(va: u64) {}"), (0, 1));
    assert_eq!(planted("pub trait T { fn f(&self, frame: u64); }"), (1, 0));
    assert_eq!(planted("pub enum E { V { entry: u64 } }"), (1, 0));
    let two = "pub struct S { pub root: u64, frame: u64 }";
    assert_eq!(planted(two), (1, 1));
    let two = "pub struct S; impl S { pub fn f(va: u64) {} fn g(va: u64) {} }";
    assert_eq!(planted(two), (1, 1));
    let hidden = "struct S; impl S { pub fn f(va: u64) {} }";
    assert_eq!(planted(hidden), (0, 1));
    let within = "pub fn f() { fn g(va: u64) {} }";
    assert_eq!(planted(within), (0, 1));
}
