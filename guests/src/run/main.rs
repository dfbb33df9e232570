// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a program in a compartment: `donjon-run IMAGE [ARGUMENT...]`. docs/compartments.md says
//! what the program can ask for.

#[cfg(target_arch = "aarch64")]
mod flow;
#[cfg(target_arch = "aarch64")]
mod options;
#[cfg(target_arch = "aarch64")]
mod serve;
#[cfg(target_arch = "aarch64")]
mod signals;

#[cfg(target_arch = "aarch64")]
mod program {
    use std::fs;

    use anyhow::{Context, Result, anyhow, ensure};
    use donjon_client::{Exit, Image, Instance, PANIC, hexadecimal};

    use crate::options::Options;
    use crate::{flow, serve};

    /// Makes the compartment and calls it; returns the status of the program.
    pub fn run() -> Result<u8> {
        let options = Options::of(std::env::args_os().skip(1))?;
        let name = options.image.display();
        let bytes = fs::read(&options.image).with_context(|| format!("reading {name}"))?;
        let image = Image::parse(&bytes).with_context(|| name.to_string())?;
        let mut instance = Instance::new(&image)?;
        let information = instance.compartment().information()?;
        let expected = image.measurement();
        ensure!(
            information.measurement == expected,
            "the inner domain measured {}, and {name} has {}",
            hexadecimal(&information.measurement),
            hexadecimal(&expected)
        );
        if options.measure {
            println!("{}", hexadecimal(&information.measurement));
            return Ok(0);
        }
        if let Some(flow) = &options.flow {
            let arguments = serve::hand_over(&options.arguments, instance.shared())?;
            return flow::run(instance, arguments, flow);
        }
        for _ in 0..options.calls {
            let arguments = serve::hand_over(&options.arguments, instance.shared())?;
            let status = status(instance.serve(arguments, serve::answer)?)?;
            if status != 0 {
                return Ok(status);
            }
        }
        Ok(0)
    }

    /// A call returns a status; everything else is an error.
    fn status(exit: Exit) -> Result<u8> {
        /// Exception class of a data abort at EL0, of an instruction abort, and of an `SVC`.
        const CLASSES: [(u64, &str); 3] = [
            (
                0x24,
                "it used an address where it has no page, or wrote to a constant",
            ),
            (0x20, "it jumped to where it has no code"),
            (
                0x15,
                "it made a request that this inner domain does not know",
            ),
        ];
        Err(match exit {
            Exit::Returned(value) => {
                return u8::try_from(value)
                    .map_err(|_| anyhow!("it returned {value:#x}, which is no status"));
            }
            Exit::Ended(word) if word & PANIC == PANIC => {
                anyhow!("it panicked in line {} of a source", word as u32)
            }
            Exit::Ended(word) => anyhow!("it ended with the word {word:#x}"),
            Exit::Faulted(esr) => {
                let class = CLASSES.iter().find(|it| it.0 == esr >> 26 & 0x3f);
                let what = class.map_or("it made an exception", |it| it.1);
                anyhow!("{what} (ESR_EL1 {esr:#x})")
            }
            other => anyhow!("it was left in a way that this program does not know: {other:?}"),
        })
    }
}

#[cfg(target_arch = "aarch64")]
fn main() -> std::process::ExitCode {
    /// What no program in a compartment is behind.
    const FAILED: u8 = 125;
    match program::run() {
        Ok(status) => status.into(),
        Err(error) => {
            eprintln!("donjon-run: {error:#}");
            FAILED.into()
        }
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn main() {}
