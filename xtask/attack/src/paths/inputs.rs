// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs for `guests/flow/programs/protocol.c` that meet its planted bugs.

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};

/// Kinds of messages.
const ENTER: u8 = 1;
const NOTE: u8 = 5;
const ECHO: u8 = 6;
const DOOR: u8 = 7;
const LEAVE: u8 = 8;

/// Bytes of an echo before the return address of `echo`.
const TO_RETURN: usize = 72;
/// Bytes of a note before the function at the session's end.
const TO_END: usize = 24;

/// Addresses in the program.
pub struct Places {
    /// The function that opens the door; no pointer may hold it.
    open_door: u64,
    /// A function that opens the door, and that pointers may hold.
    leave_open: u64,
    /// The call of the first one, behind a check.
    call: u64,
}

impl Places {
    /// Finds the addresses by the program's symbols.
    pub fn of(elf: &[u8]) -> Result<Self> {
        let file = object::File::parse(elf).context("the program")?;
        let symbol = |name: &str| {
            let found = file.symbols().find(|it| it.name() == Ok(name));
            let found = found.with_context(|| format!("the program has no {name}"))?;
            Ok::<_, anyhow::Error>(found.address())
        };
        let open_door = symbol("open_door")?;
        let serve = symbol("serve")?;
        let text = file.sections().find(|it| it.kind() == SectionKind::Text);
        let text = text.context("no text")?;
        let words = text.data()?.as_chunks::<4>().0.iter();
        let mut calls = (text.address()..)
            .step_by(4)
            .zip(words)
            .filter(|(at, word)| {
                let word = u32::from_le_bytes(**word);
                let distance = i64::from((word << 6).cast_signed() >> 4);
                *at >= serve && word >> 26 == 0x25 && at.wrapping_add_signed(distance) == open_door
            });
        Ok(Self {
            open_door,
            leave_open: symbol("leave_open")?,
            call: calls.next().context("no call of open_door")?.0,
        })
    }
}

/// All inputs by name.
pub fn all(places: &Places) -> [(&'static str, Vec<u8>); 7] {
    let guest = || message(ENTER, b"guest\0welcome\0");
    let session = |rest: &[Vec<u8>]| {
        let parts = [&[guest()], rest, &[message(LEAVE, b"")]];
        parts.concat().concat()
    };
    let note = |to: u64| {
        let bytes = [&[0; 1 + TO_END][..], &to.to_le_bytes()].concat();
        session(&[message(NOTE, &bytes)])
    };
    let echo = |to: u64| {
        let bytes = [&[0; TO_RETURN][..], &to.to_le_bytes()].concat();
        session(&[message(ECHO, &bytes)])
    };
    [
        (
            "good",
            session(&[message(NOTE, b"\0a note"), message(DOOR, b"")]),
        ),
        // The byte behind the notes says who is an administrator.
        (
            "data",
            session(&[message(NOTE, &[16, 1]), message(DOOR, b"")]),
        ),
        ("lawful", note(places.leave_open)),
        ("return", echo(places.call)),
        // No address of a program: the log takes it for bits of a path.
        ("letters", echo(u64::from_le_bytes(*b"AAAAAAAA"))),
        ("pointer", note(places.open_door)),
        // With a tag its word would be a count, where the CPU ignored tags.
        ("tagged", note(places.leave_open | 0x80 << 56)),
    ]
}

fn message(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let size = u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes();
    [&[kind][..], &size, bytes].concat()
}
