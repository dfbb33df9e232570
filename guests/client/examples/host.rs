// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: calls the program `hello`, names whom to greet, and prints what it says in capitals.
//! Every guest has it as `donjon-host`; docs/compartments.md shows it.

use std::error::Error;
use std::fs;

use donjon_client::{Exit, FAILED, Image, Instance, Request};

const NAME: &[u8] = b"host\n";

fn main() -> Result<(), Box<dyn Error>> {
    let file = fs::read("/usr/lib/donjon/hello")?;
    let image = Image::parse(&file)?;
    let mut hello = Instance::new(&image)?;
    let measured = hello.compartment().information()?.measurement;
    if measured != image.measurement() {
        return Err("the inner domain measured another program".into());
    }

    // A call begins with the number of arguments and their bytes in the shared pages.
    hello.shared()[..1].copy_from_slice(b"-");
    let mut said = Vec::new();
    let exit = hello.serve([1, 1, 0, 0], |word, shared| {
        // A program may ask for anything, such as more bytes than there are.
        match Request::from_word(word) {
            Some(Request::Output(bytes)) => match shared.get(..bytes as usize) {
                Some(text) => {
                    said.extend_from_slice(text);
                    bytes
                }
                None => FAILED,
            },
            Some(Request::Input(room)) if room >= NAME.len() as u64 => {
                shared[..NAME.len()].copy_from_slice(NAME);
                NAME.len() as u64
            }
            _ => FAILED,
        }
    })?;
    match exit {
        Exit::Returned(0) => print!("{}", String::from_utf8_lossy(&said).to_uppercase()),
        other => return Err(format!("hello: {other:x?}").into()),
    }
    Ok(())
}
