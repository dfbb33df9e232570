// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is generated from the requests of compartments: the header of programs in C, and the table
//! of `docs/compartments.md`.

use std::fmt::Write;

use donjon_abi::call::Supervisor;
use donjon_abi::registers::{MAX_REGISTERS, RegisterField};

use super::c::comment;
use super::{capitals, snake};

const HEAD: &str = "\
/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Requests to the inner domain, for programs in C. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef DONJON_REQUESTS_H
#define DONJON_REQUESTS_H

/* Numbers of SVC */
";

const MIDDLE: &str = "
#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* Registers hold bytes as big-endian words (request.c). */
void donjon_to_bytes(uint8_t *to, const uint64_t *from, size_t words);
void donjon_to_words(uint64_t *to, const uint8_t *from, size_t words);
/* Fills with zeros what may have been a secret. */
void donjon_wipe(void *from, size_t size);
";

const TAIL: &str = "
#endif /* !__ASSEMBLER__ */

#endif /* DONJON_REQUESTS_H */
";

/// The header.
pub fn header() -> String {
    let mut out = String::from(HEAD);
    for it in Supervisor::ALL {
        // Writing to a String cannot fail.
        let name = capitals(it.identifier());
        let _ = writeln!(out, "#define DONJON_SVC_{name} {}", *it as u64);
    }
    out.push_str("\n/* Name and number of each request that has a function */\n");
    out.push_str("#define DONJON_REQUESTS(it)");
    for it in asked() {
        let _ = write!(out, " \\\n\tit({}, {})", snake(it.identifier()), *it as u64);
    }
    out.push('\n');
    out.push_str(MIDDLE);
    structures(&mut out);
    for it in asked() {
        function(&mut out, *it);
    }
    out.push_str(TAIL);
    out
}

/// The rows of the table.
pub fn table() -> String {
    let mut out =
        String::from("| SVC | request | what it does | takes | gives |\n|---:|---|---|---|---|\n");
    for it in Supervisor::ALL {
        let signature = it.signature();
        let name = capitals(it.identifier());
        let _ = writeln!(
            out,
            "| {} | `{name}` | {} | {} | {} |",
            *it as u64,
            it.about(),
            fields(signature.arguments),
            fields(signature.reply),
        );
    }
    out
}

/// Every request but the one that ends a call, which has no function.
fn asked() -> impl Iterator<Item = &'static Supervisor> {
    Supervisor::ALL
        .iter()
        .filter(|it| !matches!(it, Supervisor::Return | Supervisor::FlowEnd))
}

/// Fields as a cell of a table: the registers of each, and what it is.
fn fields(fields: &[RegisterField]) -> String {
    let each = fields.iter().map(|it| {
        let first = it.first;
        let registers = match it.count {
            1 => format!("x{first}"),
            count => format!("x{first} to x{}", first + count - 1),
        };
        format!("{registers} {}: {}", it.name, it.about)
    });
    let cell = each.collect::<Vec<_>>().join("<br>");
    if cell.is_empty() {
        "–".to_owned()
    } else {
        cell
    }
}

/// A struct for each type of arguments and replies that has fields.
fn structures(out: &mut String) {
    let mut known = Vec::new();
    for it in asked() {
        let signature = it.signature();
        let types = [
            (signature.takes, signature.arguments),
            (signature.gives, signature.reply),
        ];
        for (name, fields) in types {
            if fields.is_empty() || known.contains(&name) {
                continue;
            }
            known.push(name);
            let _ = writeln!(out, "\nstruct donjon_{} {{", snake(name));
            for field in fields {
                comment(out, "\t", field.about);
                let _ = match field.is_bytes {
                    true => writeln!(out, "\tuint8_t {}[{}];", field.name, 8 * field.count),
                    false => writeln!(out, "\tuint64_t {};", field.name),
                };
            }
            out.push_str("};\n");
        }
    }
}

/// The function that makes a request.
fn function(out: &mut String, request: Supervisor) {
    let (name, signature) = (snake(request.identifier()), request.signature());
    let takes = match signature.arguments {
        [] => "void".to_owned(),
        _ => format!("const struct donjon_{} *arguments", snake(signature.takes)),
    };
    let gives = match signature.reply {
        [] => "void".to_owned(),
        _ => format!("struct donjon_{}", snake(signature.gives)),
    };
    let _ = write!(out, "\nvoid donjon_registers_{name}(uint64_t *x);\n\n");
    comment(out, "", request.about());
    let _ = write!(
        out,
        "static inline {gives}\ndonjon_request_{name}({takes})\n{{\n\
         \tuint64_t x[{MAX_REGISTERS}] = {{ 0 }};\n"
    );
    if !signature.reply.is_empty() {
        let _ = writeln!(out, "\t{gives} reply;");
    }
    out.push('\n');
    for it in signature.arguments {
        let (field, first, count) = (it.name, it.first, it.count);
        let _ = match it.is_bytes {
            true => writeln!(
                out,
                "\tdonjon_to_words(x + {first}, arguments->{field}, {count});"
            ),
            false => writeln!(out, "\tx[{first}] = arguments->{field};"),
        };
    }
    let _ = writeln!(out, "\tdonjon_registers_{name}(x);");
    for it in signature.reply {
        let (field, first, count) = (it.name, it.first, it.count);
        let _ = match it.is_bytes {
            true => writeln!(
                out,
                "\tdonjon_to_bytes(reply.{field}, x + {first}, {count});"
            ),
            false => writeln!(out, "\treply.{field} = x[{first}];"),
        };
    }
    if !signature.reply.is_empty() {
        out.push_str("\tdonjon_wipe(x, sizeof(x));\n\treturn reply;\n");
    }
    out.push_str("}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_a_function_for_each_request_that_comes_back() {
        let header = header();
        for it in asked() {
            let name = snake(it.identifier());
            assert!(
                header.contains(&format!("\ndonjon_request_{name}(")),
                "{name}"
            );
            assert!(
                header.contains(&format!("\tit({name}, {})", *it as u64)),
                "{name}"
            );
        }
        assert!(!header.contains("donjon_request_return"));
    }

    #[test]
    fn the_table_says_which_registers_a_field_takes() {
        let table = table();
        assert!(table.contains("| 10 | `VERIFY` |"), "{table}");
        assert!(table.contains("x9 to x16 data"), "{table}");
    }
}
