// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads JSON.

use alloc::vec::Vec;

use crate::document::{Document, Place, Value};

/// Most arrays and objects within each other.
pub const DEPTH: usize = 32;

/// Reads a document: it, and its value.
///
/// # Errors
///
/// The number of bytes before the first one that cannot be.
pub fn parse(from: &[u8]) -> Result<(Document, Value), usize> {
    let mut parser = Parser {
        from,
        at: 0,
        document: Document::default(),
        waiting: Vec::new(),
    };
    let parsed = parser.document(DEPTH);
    parsed.map(|it| (parser.document, it)).ok_or(parser.at)
}

/// A document that is read, up to a byte.
struct Parser<'a> {
    from: &'a [u8],
    at: usize,
    document: Document,
    /// Values of arrays and objects that are not complete.
    waiting: Vec<Value>,
}

impl Parser<'_> {
    fn document(&mut self, depth: usize) -> Option<Value> {
        self.blanks();
        let value = self.value(depth)?;
        self.blanks();
        (self.at == self.from.len()).then_some(value)
    }

    fn peek(&self) -> Option<u8> {
        self.from.get(self.at).copied()
    }

    /// Goes behind a byte, if it is this one.
    fn skip(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            b'n' => self.word("null", Value::Null),
            b't' => self.word("true", Value::Truth(true)),
            b'f' => self.word("false", Value::Truth(false)),
            b'"' => self.string(),
            b'[' => self.members(depth.checked_sub(1)?, b']', Self::element),
            b'{' => self.members(depth.checked_sub(1)?, b'}', Self::member),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Option<Value> {
        for byte in word.bytes() {
            if !self.skip(byte) {
                return None;
            }
        }
        Some(value)
    }

    /// Reads what stands between two brackets.
    fn members(
        &mut self,
        depth: usize,
        end: u8,
        one: fn(&mut Self, usize) -> Option<()>,
    ) -> Option<Value> {
        let start = self.waiting.len();
        self.at += 1;
        self.blanks();
        if !self.skip(end) {
            loop {
                self.blanks();
                one(self, depth)?;
                self.blanks();
                if self.skip(end) {
                    break;
                }
                if !self.skip(b',') {
                    return None;
                }
            }
        }
        let place = self.document.put(&mut self.waiting, start);
        Some(match end {
            b']' => Value::Array(place),
            _ => Value::Object(place),
        })
    }

    fn element(&mut self, depth: usize) -> Option<()> {
        let value = self.value(depth)?;
        self.waiting.push(value);
        Some(())
    }

    fn member(&mut self, depth: usize) -> Option<()> {
        let name = self.string()?;
        self.waiting.push(name);
        self.blanks();
        if !self.skip(b':') {
            return None;
        }
        self.blanks();
        self.element(depth)
    }

    fn string(&mut self) -> Option<Value> {
        if !self.skip(b'"') {
            return None;
        }
        let start = self.document.bytes.len();
        loop {
            // All up to what ends the string or means something else is taken at once.
            let rest = &self.from[self.at..];
            let is_plain = |it: &&u8| !matches!(it, b'"' | b'\\' | ..b' ');
            let size = rest.iter().take_while(is_plain).count();
            match str::from_utf8(&rest[..size]) {
                Ok(text) => self.document.bytes.push_str(text),
                Err(error) => {
                    self.at += error.valid_up_to();
                    return None;
                }
            }
            self.at += size;
            if self.skip(b'"') {
                return Some(Value::Text(Place::new(start, self.document.bytes.len())));
            }
            if !self.skip(b'\\') {
                return None;
            }
            let it = self.escape()?;
            self.document.bytes.push(it);
        }
    }

    fn escape(&mut self) -> Option<char> {
        let plain = match self.peek()? {
            it @ (b'"' | b'\\' | b'/') => char::from(it),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return None,
        };
        self.at += 1;
        Some(plain)
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            // The second half of a pair alone is no character.
            return char::from_u32(first);
        }
        if !(self.skip(b'\\') && self.skip(b'u')) {
            return None;
        }
        let low = self.unit()?.checked_sub(0xdc00).filter(|&it| it < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)
    }

    fn unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | char::from(self.peek()?).to_digit(16)?;
            self.at += 1;
        }
        Some(unit)
    }

    fn number(&mut self) -> Option<Value> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        let mut is_whole = true;
        if self.skip(b'.') {
            is_whole = false;
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            is_whole = false;
            let _ = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        let text = str::from_utf8(&self.from[start..self.at]).ok()?;
        match text.parse() {
            Ok(whole) if is_whole => Some(Value::Whole(whole)),
            _ => text.parse().ok().map(Value::Real),
        }
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|it| it.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
