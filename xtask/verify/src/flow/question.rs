// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a verifier knows, and asks about a run.

use std::path::Path;

use anyhow::{Context, Result};

use crate::VerifyArguments;

/// What is asked about a run.
pub struct Question<'a> {
    /// The folder of the run.
    pub folder: &'a Path,
    /// The nonce that was sent.
    pub nonce: [u8; 32],
    /// The quoting compartment's public key.
    pub key: [u8; 32],
    /// The program's file.
    pub program: &'a Path,
    /// The measurement that the program has to have, if that is known from elsewhere, too.
    pub measurement: Option<[u8; 32]>,
    /// Digest of what has to be started.
    pub started: Option<[u8; 32]>,
    /// The file with a policy.
    pub policy: Option<&'a Path>,
    /// The folder of a trusted run.
    pub golden: Option<&'a Path>,
    /// Blocks at most.
    pub max_blocks: u64,
    /// Whether to say more about a run that did not end by itself.
    pub prefix: bool,
}

impl<'a> Question<'a> {
    /// Takes the question from a command line.
    ///
    /// # Errors
    ///
    /// If something is missing without which a run proves nothing.
    pub fn of(arguments: &'a VerifyArguments) -> Result<Self> {
        let program = arguments.program.as_deref();
        let program = program.context("name the program that must have run: --program");
        let nonce = arguments
            .nonce
            .context("name the nonce that was sent: --nonce");
        let key = arguments
            .key
            .context("name the quoting compartment's key: --key");
        Ok(Self {
            folder: &arguments.path,
            nonce: nonce?,
            key: key?,
            program: program?,
            measurement: arguments.measurement,
            started: arguments.started,
            policy: arguments.policy.as_deref(),
            golden: arguments.golden.as_deref(),
            max_blocks: arguments.max_blocks,
            prefix: arguments.prefix,
        })
    }
}
