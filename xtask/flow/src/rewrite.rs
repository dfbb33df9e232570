// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rewrites all files of a program.

use anyhow::Result;

use crate::cycle::{Names, force_bits};
use crate::emit::{Labels, emit};
use crate::plan::{Plan, plan};
use crate::unit::{Piece, parse};

/// A file of assembly.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's name, for messages.
    pub name: String,
    /// The file's text, as a compiler wrote it.
    pub text: String,
}

/// Rewrites a program, whose files have to be given together: loops by calls may lead through
/// several of them. The new texts are in the order of the files.
///
/// # Errors
///
/// If a file has a construct that the rewriter does not know; the error names file and line.
pub fn rewrite(sources: &[Source]) -> Result<Vec<String>> {
    let mut units = Vec::new();
    let mut plans = Vec::new();
    let mut files = Vec::new();
    for (file, source) in sources.iter().enumerate() {
        let unit = parse(&source.name, &source.text)?;
        for piece in &unit.pieces {
            if let Piece::Function(function) = piece {
                plans.push(plan(function, &unit)?);
                files.push(file);
            }
        }
        units.push(unit);
    }
    let named: Vec<_> = files.iter().copied().zip(plans.iter().map(name)).collect();
    force_bits(&mut plans, &files, &Names::new(&units, &named));
    let mut plans = plans.iter();
    let texts = units.iter().map(|unit| {
        let mut text = String::new();
        let mut labels = Labels::default();
        for piece in &unit.pieces {
            match piece {
                Piece::Text(it) => text += &format!("{it}\n"),
                Piece::Function(_) => {
                    let plan = plans.next();
                    text += &plan.map_or(Ok(String::new()), |it| emit(it, &mut labels))?;
                }
            }
        }
        Ok(text)
    });
    texts.collect()
}

fn name(plan: &Plan) -> String {
    plan.name.clone()
}
