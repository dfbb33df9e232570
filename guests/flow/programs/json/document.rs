// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of JSON, how they are written, and their sum.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// Adds a word to a sum, as `repeated.h` does.
pub fn mix(sum: u64, word: u64) -> u64 {
    let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (sum ^ sum >> 31) & i64::MAX as u64
}

/// A value. Strings are ranges of the document's own bytes, with escapes undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Truth(bool),
    /// A number without fraction and exponent that 64 bits hold.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// A string.
    Text(Place),
    /// Values of an array.
    Array(Place),
    /// Names and values of an object, in turn.
    Object(Place),
}

/// A range of bytes or of values in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// Makes a range of places below 2^32, which documents do not reach.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A document: values behind the values that they are made of, and the bytes of all strings.
#[derive(Default)]
pub struct Document {
    values: Vec<Value>,
    /// Bytes of all strings, one behind the other.
    pub bytes: String,
}

impl Document {
    fn text(&self, place: Place) -> &str {
        &self.bytes[place.range()]
    }

    fn values(&self, place: Place) -> &[Value] {
        &self.values[place.range()]
    }

    /// Adds a string.
    pub fn put_text(&mut self, text: &str) -> Value {
        let start = self.bytes.len();
        self.bytes.push_str(text);
        Value::Text(Place::new(start, self.bytes.len()))
    }

    /// Moves the values from `start` on of a list to the document.
    pub fn put(&mut self, waiting: &mut Vec<Value>, start: usize) -> Place {
        let first = self.values.len();
        self.values.extend(waiting.drain(start..));
        Place::new(first, self.values.len())
    }

    /// Writes a value and all that it has.
    pub fn write(&self, value: Value, to: &mut String) -> fmt::Result {
        match value {
            Value::Null => to.write_str("null"),
            Value::Truth(it) => write!(to, "{it}"),
            Value::Whole(it) => write!(to, "{it}"),
            Value::Real(it) => write!(to, "{it:e}"),
            Value::Text(it) => quote(self.text(it), to),
            Value::Array(it) => {
                to.write_char('[')?;
                for (index, &value) in self.values(it).iter().enumerate() {
                    to.write_str(if index == 0 { "" } else { ", " })?;
                    self.write(value, to)?;
                }
                to.write_char(']')
            }
            Value::Object(it) => {
                to.write_char('{')?;
                for (index, member) in self.values(it).as_chunks::<2>().0.iter().enumerate() {
                    to.write_str(if index == 0 { "\n" } else { ",\n" })?;
                    self.write(member[0], to)?;
                    to.write_str(":\t")?;
                    self.write(member[1], to)?;
                }
                to.write_char('}')
            }
        }
    }

    /// Adds a value and all that it has to a sum.
    pub fn sum(&self, value: Value, sum: u64) -> u64 {
        let all = |kind: u64, place: Place| {
            let values = self.values(place).iter();
            values.fold(mix(sum, kind), |sum, &it| self.sum(it, sum))
        };
        match value {
            Value::Null => mix(sum, 1),
            Value::Truth(it) => mix(sum, 2 + u64::from(it)),
            Value::Whole(it) => mix(sum, it as u64),
            Value::Real(it) => mix(sum, it.to_bits()),
            Value::Text(it) => {
                let bytes = self.text(it).bytes();
                bytes.fold(mix(sum, 4), |sum, it| mix(sum, u64::from(it)))
            }
            Value::Array(it) => all(5, it),
            Value::Object(it) => all(6, it),
        }
    }
}

fn quote(text: &str, to: &mut String) -> fmt::Result {
    to.write_char('"')?;
    for it in text.chars() {
        match it {
            '"' | '\\' => write!(to, "\\{it}")?,
            '\n' => to.write_str("\\n")?,
            ..' ' => write!(to, "\\u{:04x}", it as u32)?,
            // A pair of surrogates, as other writers have it.
            '\u{10000}'.. => {
                let mut pair = [0; 2];
                for half in it.encode_utf16(&mut pair) {
                    write!(to, "\\u{half:04X}")?;
                }
            }
            _ => to.write_char(it)?,
        }
    }
    to.write_char('"')
}
