// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that addresses in `donjon-core` are types: a plain number stands where a caller says it,
//! and nowhere else.

use std::collections::BTreeMap;

use donjon_machine::paths;
use syn::visit::{self, Visit};
use syn::{Field, FnArg, Item, Pat, Type};

use crate::sources::{self, is_test};

/// Names of parameters and fields that are addresses.
const NAMES: [&str; 6] = ["entry", "frame", "pa", "root", "source", "va"];

/// How many plain addresses a file has: where callers say them (`translation/hardware.rs`, public
/// functions), and where they are not types yet. A file that has fewer says so here, and
/// none gets more.
const PLAIN: [(&str, usize); 31] = [
    ("compartment.rs", 4),
    ("compartment/build.rs", 4),
    ("compartment/channel.rs", 1),
    ("compartment/end.rs", 2),
    ("compartment/flow/begin.rs", 1),
    ("compartment/run.rs", 1),
    ("compartment/space.rs", 11),
    ("cpu/registers.rs", 1),
    ("cpu/secondary.rs", 1),
    ("handover.rs", 1),
    ("handover/code.rs", 1),
    ("handover/copy.rs", 1),
    ("handover/cursor.rs", 1),
    ("handover/error.rs", 3),
    ("handover/leaves.rs", 1),
    ("handover/place.rs", 2),
    ("kernel_tables/blocks.rs", 1),
    ("kernel_tables/import.rs", 3),
    ("kernel_tables/pool_frame.rs", 2),
    ("kernel_tables/release.rs", 2),
    ("kernel_tables/state.rs", 3),
    ("kernel_tables/table.rs", 1),
    ("kernel_tables/text.rs", 5),
    ("kernel_tables/write.rs", 1),
    ("memory/private.rs", 10),
    ("pools/state.rs", 2),
    ("translation/flush.rs", 2),
    ("translation/hardware.rs", 7),
    ("user_tables/fill.rs", 9),
    ("user_tables/fill/without.rs", 1),
    ("user_tables/refresh.rs", 1),
];

#[derive(Default)]
struct Plain(usize);

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

impl<'a> Visit<'a> for Plain {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(it) if is_test(&it.attrs) => {}
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_fn_arg(&mut self, argument: &'a FnArg) {
        if let FnArg::Typed(it) = argument
            && let Pat::Ident(name) = &*it.pat
            && NAMES.iter().any(|it| name.ident == it)
            && is_number(&it.ty)
        {
            self.0 += 1;
        }
        visit::visit_fn_arg(self, argument);
    }

    fn visit_field(&mut self, field: &'a Field) {
        if let Some(name) = &field.ident
            && NAMES.iter().any(|it| name == it)
            && is_number(&field.ty)
        {
            self.0 += 1;
        }
        visit::visit_field(self, field);
    }
}

fn plain_in(text: &str) -> usize {
    let mut plain = Plain::default();
    plain.visit_file(&syn::parse_file(text).expect("Rust"));
    plain.0
}

#[test]
fn addresses_in_the_core_are_types_but_for_those_that_are_listed() {
    let root = paths::in_root("inner-domain/core/src");
    let counted = sources::files(&root).into_iter();
    let counted = counted.map(|(file, text)| (file, plain_in(&text)));
    let found: BTreeMap<_, _> = counted.filter(|(_, plain)| *plain != 0).collect();
    let listed = PLAIN.map(|(file, plain)| (file.to_owned(), plain));
    assert_eq!(found, BTreeMap::from(listed));
}

#[test]
fn plain_addresses_are_found_in_functions_and_fields_and_not_in_tests() {
    assert_eq!(plain_in("fn f(va: u64, count: u64) {}"), 1);
    assert_eq!(
        plain_in("struct S { pub root: Option<u64>, entry: Entry }"),
        1
    );
    assert_eq!(plain_in("trait T { fn f(&self, frame: u64); }"), 1);
    assert_eq!(plain_in("fn f(va: UserAddress, source: [u64; 2]) {}"), 0);
    assert_eq!(plain_in("#[cfg(test)] mod tests { fn f(va: u64) {} }"), 0);
}
