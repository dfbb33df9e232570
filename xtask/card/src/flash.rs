// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing an image to a card, reading the card back, and asking before.
//!
//! What copies and compares works on readers and writers, so that tests can let them fail.

mod card;
mod copy;

pub use card::Card;
pub use copy::{Failure, compare, copy};

use std::io::{self, BufRead, Write};

use crate::disk::Disk;

/// Shows what will be lost and asks for the device's name. Only the exact name is a yes.
///
/// # Errors
///
/// If the question cannot be written or the answer cannot be read.
pub fn confirmed(
    disk: &Disk,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<bool> {
    writeln!(output, "{disk}")?;
    write!(
        output,
        "Everything on it will be lost. Type /dev/{} to write to it: ",
        disk.name
    )?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(answer.trim() == format!("/dev/{}", disk.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Bus;

    #[test]
    fn only_the_name_of_the_device_is_a_yes() {
        let disk = Disk {
            name: "sdb".into(),
            partition_of: None,
            removable: true,
            bus: Bus::Usb,
            read_only: false,
            bytes: 8_000_000_000,
            model: "Reader".into(),
            uses: Vec::new(),
        };
        for (answer, expected) in [
            ("/dev/sdb\n", true),
            ("/dev/sdb1\n", false),
            ("sdb\n", false),
            ("y\n", false),
            ("\n", false),
            ("", false),
        ] {
            let mut shown = Vec::new();
            let is_yes = confirmed(&disk, &mut answer.as_bytes(), &mut shown).expect("answer");
            assert_eq!(is_yes, expected, "{answer:?}");
            let shown = String::from_utf8_lossy(&shown).into_owned();
            assert!(
                shown.contains("/dev/sdb, 8000 MB, Reader, at USB"),
                "{shown}"
            );
        }
    }
}
