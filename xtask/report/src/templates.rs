// SPDX-License-Identifier: MIT OR Apache-2.0
//! The templates of the report, and the filters and functions that they have.

use anyhow::{Context, Result};
use donjon_figures::records::NATIVE;
use donjon_figures::{format, published};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::flat;
use crate::markdown::{Chapter, escape};
use crate::projection::{self, Events};

/// Modes in the order of all tables.
const MODES: [&str; 3] = ["asid", "tlbi", "strict"];

macro_rules! templates {
    ($($name:literal)*) => {
        /// All templates: one of each part, of each chapter around them, and of HTML.
        const ALL: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../templates/", $name)))),*];
    };
}

templates! {
    "idc.md" "lmbench.md" "calls.md" "programs.md" "scale.md" "stress.md" "compartments.md" "flow.md"
    "attacks.md" "audit.md" "kselftests.md" "published.md"
    "summary.md" "where.md" "projection.md" "method.md" "caveats.md" "missing.md"
    "page.html" "figure.html" "table.html"
}

/// The templates, ready to be filled in.
pub struct Templates(Environment<'static>);

impl Templates {
    /// Reads the templates and the tables that they look into.
    ///
    /// # Errors
    ///
    /// If one of them is wrong.
    pub fn new() -> Result<Self> {
        let mut all = Environment::new();
        all.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        // What is not there may be asked for and must not be written.
        all.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        all.set_auto_escape_callback(|name| match name.ends_with(".md") {
            true => AutoEscape::Custom("markdown".into()),
            false => AutoEscape::Html,
        });
        all.set_formatter(|out, state, value| match state.auto_escape() {
            AutoEscape::Custom(_) if value.is_none() || value.is_undefined() => Ok(()),
            AutoEscape::Custom(_) if value.is_safe() => Ok(out.write_str(&value.to_string())?),
            AutoEscape::Custom(_) => Ok(out.write_str(&escape(&value.to_string()))?),
            _ => minijinja::escape_formatter(out, state, value),
        });
        all.add_filter("number", |value: &Value, places: usize| {
            figure(value).map(|it| format::number(it, places))
        });
        all.add_filter("percent", |value: &Value| {
            figure(value).map(format::percent)
        });
        all.add_filter("duration", |value: &Value| {
            figure(value).map(format::duration)
        });
        all.add_filter("times", |value: &Value| {
            figure(value).map(|it| format::number(it, if it < 10.0 { 3 } else { 1 }))
        });
        all.add_filter("tenths", |value: &Value| {
            figure(value).map(|it| format::number(it, usize::from(it.fract() != 0.0)))
        });
        all.add_filter("plural", |count: usize, one: &str, several: &str| {
            format::plural(count, one, several)
        });
        all.add_filter("code", |text: &str| format!("`{}`", text.replace('`', "")));
        all.add_filter("modes", modes);
        all.add_function("added", |base: &Value, value: &Value| {
            format::added(figure(base)?, figure(value)?)
        });
        all.add_function("ratio", |value: &Value, base: &Value| {
            Some(figure(value)? / figure(base)?)
        });
        all.add_function("find", find);
        all.add_function("fail", |why: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, why))
        });
        all.add_function("flat", |value: Serde<serde_json::Value>| {
            Value::from(Serde(flat::table(&value)))
        });
        all.add_function("events_of", projection::events_of);
        let costs = projection::costs()?;
        all.add_global("costs", Value::from(Serde(&costs)));
        all.add_function("project", move |core: &str, events: Serde<Events>| {
            projection::project(&costs, core, &events).map(|it| Value::from(Serde(it)))
        });
        all.add_global("published", Value::from(Serde(published::all()?)));
        all.add_global(
            "morello",
            Value::from(Serde(published::compartments::all()?)),
        );
        for (name, text) in ALL {
            all.add_template(name, text)?;
        }
        Ok(Self(all))
    }

    /// Fills in a template.
    ///
    /// # Errors
    ///
    /// If it needs what is not there.
    pub fn render(&self, name: &str, context: Value) -> Result<String> {
        Ok(self.0.get_template(name)?.render(context)?)
    }

    /// Makes a chapter by the template of its name.
    ///
    /// # Errors
    ///
    /// If what it is of has another form.
    pub fn chapter(&self, id: &'static str, context: Value) -> Result<Chapter> {
        let text = self.render(&format!("{id}.md"), context);
        Ok(Chapter::new(
            id,
            &text.context("its JSON has another form")?,
        ))
    }
}

/// The figure of a number, or of a text that is one; nothing of everything else.
fn figure(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some(text) => text.parse().ok(),
        None => f64::try_from(value.clone()).ok(),
    }
}

/// The names of modes in an object, or in objects of a list, those that are known first.
fn modes(value: &Value) -> Result<Vec<String>, Error> {
    let mut all: Vec<String> = Vec::new();
    for it in value.try_iter()? {
        match it.as_str() {
            Some(name) => all.push(name.to_owned()),
            None => all.extend(it.try_iter()?.map(|it| it.to_string())),
        }
    }
    all.retain(|it| it != NATIVE);
    let place = |it: &String| {
        MODES
            .iter()
            .position(|mode| mode == it)
            .unwrap_or(MODES.len())
    };
    all.sort_by_key(|it| (place(it), it.clone()));
    all.dedup();
    Ok(all)
}

/// The first row that has these fields; nothing if there is none.
fn find(rows: &Value, fields: Kwargs) -> Result<Option<Value>, Error> {
    let mut found = None;
    for row in rows.try_iter()? {
        let mut is_it = found.is_none();
        for name in fields.args() {
            is_it &= row.get_attr(name)? == fields.get::<Value>(name)?;
        }
        if is_it {
            found = Some(row);
        }
    }
    Ok(found)
}
