// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference values, before they are encoded.

use std::fmt;

use anyhow::{Context, Result, ensure};
use donjon_compartment_image::Image;
use donjon_flow_check::{Program, read as read_input};
use donjon_token::to_hexadecimal;

use super::arguments::EndorseArguments;
use super::boot_image;
use crate::flow::{Names, PROGRAM_MAX, Policy, Watch, read};

/// What a service compares evidence with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The program's measurement.
    pub program: [u8; 32],
    /// Digest of what is started.
    pub started: [u8; 32],
    /// Version of the inner domain.
    pub version: Option<String>,
    /// The quoting compartment's public key.
    pub key: Option<[u8; 32]>,
    /// Digest of the policy for runs of the program.
    pub policy: Option<[u8; 32]>,
}

impl Reference {
    /// Takes the values from the files of a command line.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, is none of its kind or does not suit the others.
    pub fn of(arguments: &EndorseArguments) -> Result<Self> {
        let name = || arguments.program.display().to_string();
        let file = read(&arguments.program, PROGRAM_MAX)?;
        let image = Image::parse(&file).with_context(name)?;
        if let Some(version) = &arguments.inner_version {
            let parts: Vec<_> = version.split('.').map(str::parse::<u16>).collect();
            ensure!(
                parts.len() == 3 && parts.iter().all(Result::is_ok),
                "--inner-version {version} is none: write three numbers, such as 0.1.0"
            );
        }
        Ok(Self {
            program: image.measurement(),
            started: started(arguments)?,
            version: arguments.inner_version.clone(),
            key: arguments.attest_key,
            policy: policy(arguments, &file)?,
        })
    }
}

/// Returns the digest of what is started, from the boot image or as it was recorded.
fn started(arguments: &EndorseArguments) -> Result<[u8; 32]> {
    let computed = match (&arguments.boot, &arguments.command_line) {
        (Some(boot), Some(line)) => Some(boot_image::started(boot, line)?),
        (Some(_), None) => None,
        (None, _) => arguments.started,
    };
    let digest = computed.context(
        "name what is started: --boot and --command-line, or --started with the digest of a boot \
         that was trusted",
    )?;
    if let Some(expected) = arguments.started {
        ensure!(
            digest == expected,
            "--started is not the digest of that boot image with that command line, which is {}",
            to_hexadecimal(&digest)
        );
    }
    Ok(digest)
}

/// Returns the digest of the policy, which has to suit the program.
fn policy(arguments: &EndorseArguments, file: &[u8]) -> Result<Option<[u8; 32]>> {
    let Some(path) = &arguments.policy else {
        return Ok(None);
    };
    let policy = Policy::open(path)?;
    let program = Program::check(read_input(file)?);
    let program = program.map_err(|it| {
        let name = arguments.program.display();
        let first = it.first().map(ToString::to_string).unwrap_or_default();
        anyhow::anyhow!("{name} is not of attested form, so no policy is about it: {first}")
    })?;
    let suits = || format!("{} does not suit the program", path.display());
    let names = Names::new(&program, file).with_context(suits)?;
    Watch::new(&policy, &names).with_context(suits)?;
    Ok(Some(policy.digest))
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |it: &[u8; 32]| to_hexadecimal(it);
        let lines = [
            ("program", Some(digits(&self.program))),
            ("started", Some(digits(&self.started))),
            ("inner domain", self.version.clone()),
            ("key", self.key.as_ref().map(digits)),
            ("policy", self.policy.as_ref().map(digits)),
        ];
        for (what, value) in lines {
            if let Some(value) = value {
                writeln!(f, "{what:12} {value}")?;
            }
        }
        Ok(())
    }
}
