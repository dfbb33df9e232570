// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes a file of assembly apart: functions, and what stands around them.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail, ensure};

use crate::assembly::{Kind, Line, RESERVED, identifiers, lines};

/// Prefix of the labels that the rewriter makes.
pub const LABELS: &str = ".Lflow_";

/// A function: what stands between its label and its `.size`.
#[derive(Debug)]
pub struct Function {
    /// The function's name.
    pub name: String,
    /// The function's statements, its own label first.
    pub lines: Vec<Line>,
}

/// A part of a file.
#[derive(Debug)]
pub enum Piece {
    /// Text that is kept as it is.
    Text(String),
    /// Code to rewrite.
    Function(Function),
}

/// A file of assembly.
#[derive(Debug)]
pub struct Unit {
    /// The file's name, for messages.
    pub name: String,
    /// The file's parts in order.
    pub pieces: Vec<Piece>,
    /// Labels that something else than a branch names.
    pub taken: HashSet<String>,
    /// Names that `.set` makes, and the symbol that each stands for.
    pub aliases: HashMap<String, String>,
    /// Names that other files see.
    pub global: HashSet<String>,
}

/// Takes a file apart.
///
/// # Errors
///
/// If it has a construct that the rewriter does not know; the error names its line.
pub fn parse(name: &str, text: &str) -> Result<Unit> {
    let lines = lines(text).with_context(|| name.to_owned())?;
    let mut parser = Parser {
        unit: Unit {
            name: name.to_owned(),
            pieces: Vec::new(),
            taken: HashSet::new(),
            aliases: HashMap::new(),
            global: HashSet::new(),
        },
        functions: HashSet::new(),
        sections: vec![Section::code()],
        open: None,
    };
    for line in lines {
        let number = line.number;
        parser
            .line(line)
            .with_context(|| format!("{name}:{number}"))?;
    }
    if let Some(open) = parser.open {
        bail!("{name}: function {} has no .size behind it", open.name);
    }
    Ok(parser.unit)
}

#[derive(Clone)]
struct Section {
    is_code: bool,
    is_debug: bool,
}

impl Section {
    fn code() -> Self {
        Self {
            is_code: true,
            is_debug: false,
        }
    }

    fn of(directive: &str, arguments: &str) -> Self {
        let mut parts = arguments.split(',').map(str::trim);
        let name = match directive {
            ".section" | ".pushsection" => parts.next().unwrap_or_default(),
            other => other,
        };
        let flags = parts.next().unwrap_or_default();
        Self {
            is_code: name.starts_with(".text") || flags.trim_matches('"').contains('x'),
            is_debug: name.starts_with(".debug"),
        }
    }
}

struct Parser {
    unit: Unit,
    functions: HashSet<String>,
    sections: Vec<Section>,
    open: Option<Function>,
}

impl Parser {
    fn line(&mut self, line: Line) -> Result<()> {
        match &line.kind {
            Kind::Label(name) => {
                ensure!(
                    !name.starts_with(LABELS),
                    "label {name} begins with {LABELS}, as the rewriter's own labels do; rename it"
                );
                ensure!(
                    !name.starts_with(|it: char| it.is_ascii_digit()) || !self.is_code(),
                    "local label {name} in code is not supported; give it a name"
                );
                if self.open.is_none() && self.is_code() && self.functions.contains(name) {
                    self.open = Some(Function {
                        name: name.clone(),
                        lines: Vec::new(),
                    });
                }
            }
            Kind::Often(_) | Kind::Odds(..) => {}
            Kind::Directive(name, arguments) => {
                if self.directive(name, arguments)? {
                    return Ok(());
                }
            }
            Kind::Instruction(instruction) => {
                ensure!(
                    self.is_code(),
                    "instruction {} stands in a section without code",
                    instruction.mnemonic
                );
                ensure!(
                    self.open.is_some(),
                    "instruction {} stands in no function; give the function .type and .size",
                    instruction.mnemonic
                );
                ensure!(
                    !instruction.mentions().meets(RESERVED),
                    "{instruction} uses one of x22 to x28, which flow attestation reserves; \
                     compile with -ffixed-x22 to -ffixed-x28"
                );
            }
        }
        self.keep(line);
        Ok(())
    }

    /// Looks at a directive, and tells whether all is done.
    fn directive(&mut self, name: &str, arguments: &str) -> Result<bool> {
        match name {
            ".text" | ".data" | ".bss" | ".section" | ".pushsection" => {
                let section = Section::of(name, arguments);
                if name == ".pushsection" {
                    self.sections.push(section);
                } else if let Some(last) = self.sections.last_mut() {
                    *last = section;
                }
                // Between parts of a function in other sections only data may stand.
                ensure!(
                    self.open.is_none() || name == ".pushsection",
                    "{name} within a function is not supported"
                );
            }
            ".popsection" => {
                ensure!(self.sections.len() > 1, ".popsection without .pushsection");
                self.sections.pop();
            }
            ".type" => {
                if let Some((name, kind)) = arguments.split_once(',')
                    && kind.contains("function")
                {
                    self.functions.insert(name.trim().to_owned());
                }
            }
            ".global" | ".globl" | ".weak" => {
                self.unit.global.insert(arguments.to_owned());
            }
            ".size" if self.is_code() => {
                let of = arguments.split(',').next().unwrap_or_default().trim();
                if let Some(open) = self.open.take_if(|it| it.name == of) {
                    self.unit.pieces.push(Piece::Function(open));
                }
            }
            ".set" | ".equ" => {
                let mut parts = identifiers(arguments);
                if let (Some(alias), Some(symbol)) = (parts.next(), parts.next()) {
                    ensure!(
                        !self.is_code() || symbol != ".",
                        "{name} with an address in code is not supported"
                    );
                    self.unit.aliases.insert(alias.into(), symbol.into());
                }
            }
            ".inst" | ".macro" | ".endm" | ".rept" | ".endr" | ".irp" | ".irpc" | ".include"
            | ".incbin" | ".previous" | ".subsection" | ".ltorg" | ".pool" | ".req" | ".if"
            | ".ifdef" | ".ifndef" | ".else" | ".endif" | ".altmacro" | ".org" | ".tlsdesccall"
            | ".variant_pcs" => {
                bail!("{name} is not supported; write instructions in full");
            }
            ".align" | ".p2align" | ".balign" | ".file" | ".loc" | ".ident" | ".arch"
            | ".local" | ".hidden" | ".protected" | ".internal" | ".comm" | ".cpu"
            | ".arch_extension" => {}
            _ if name.starts_with(".cfi_") => return Ok(true),
            _ => {
                ensure!(
                    !self.is_code(),
                    "{name} in a section with code is not supported"
                );
                if !self.sections.last().is_some_and(|it| it.is_debug) {
                    let names = identifiers(arguments).map(str::to_owned);
                    self.unit.taken.extend(names);
                }
            }
        }
        Ok(false)
    }

    fn is_code(&self) -> bool {
        self.sections.last().is_some_and(|it| it.is_code)
    }

    fn keep(&mut self, line: Line) {
        // Data that inline assembly puts elsewhere is kept before the function.
        if self.is_code()
            && !matches!(&line.kind, Kind::Directive(name, _) if name == ".popsection")
            && let Some(open) = &mut self.open
        {
            open.lines.push(line);
            return;
        }
        let text = match &line.kind {
            Kind::Label(name) => format!("{name}:"),
            Kind::Directive(name, arguments) => format!("\t{name}\t{arguments}"),
            Kind::Instruction(it) => format!("\t{it}"),
            Kind::Often(_) | Kind::Odds(..) => return,
        };
        self.unit.pieces.push(Piece::Text(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let trouble = parse("a.s", text).expect_err("it has to be refused");
        format!("{trouble:#}")
    }

    #[test]
    fn constructs_that_hide_instructions_are_refused_with_file_and_line() {
        let function = |it: &str| format!("\t.type f, %function\nf:\n\t{it}\n\t.size f, .-f\n");
        for hidden in [".inst 0", ".macro a", ".rept 2", ".word 0", ".ltorg"] {
            let words = refusal(&function(hidden));
            assert!(words.contains("a.s:3"), "{words}");
            assert!(words.contains("not supported"), "{words}");
        }
        assert!(refusal(&function("1: nop")).contains("local label"));
        assert!(refusal(&function("fmov d0, x22")).contains("reserves"));
        assert!(refusal(&function("add w0, w26, w1")).contains("reserves"));
        assert!(refusal("\tret\n").contains("no function"));
    }

    #[test]
    fn labels_that_data_names_are_taken_and_those_of_debug_sections_are_not() {
        let text = "\t.section .rodata\n\t.xword .L1\n\t.section .debug_info\n\t.xword .L2\n";
        let unit = parse("a.s", text).expect("it is data");
        assert!(unit.taken.contains(".L1") && !unit.taken.contains(".L2"));
    }
}
