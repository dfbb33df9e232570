// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `cargo xtask verify`.

use std::path::PathBuf;

use clap::Args;
use donjon_token::from_hexadecimal;

/// What to check, and against what.
#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// The token, as the quoting compartment wrote it, or the folder that a host kept of a run
    /// under flow attestation: its files `token`, `transcript` and `log`.
    #[arg(value_name = "FILE|DIR")]
    pub path: PathBuf,
    /// The nonce that was sent. A run needs it.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub nonce: Option<[u8; 32]>,
    /// The public key of the machine's quoting compartment, from
    /// `donjon-run /usr/lib/donjon/quote key` in a boot that was trusted. A run needs it.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub key: Option<[u8; 32]>,
    /// The measurement that the compartment must have, from `cargo xtask compartment measure`. That
    /// of a run is computed from --program.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub measurement: Option<[u8; 32]>,
    /// The digest of what must have been started, from a boot that was trusted.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub started: Option<[u8; 32]>,
    /// The program that must have run. It is never taken from the folder: measurement, path, names
    /// and lines are those of this file.
    #[arg(long, value_name = "ELF")]
    pub program: Option<PathBuf>,
    /// What the run's path has to be like, in TOML: functions that must run or must not, how often,
    /// in which order, and the result.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The folder of a trusted run, whose path this one has to equal step by step.
    #[arg(long, value_name = "DIR")]
    pub golden: Option<PathBuf>,
    /// Give up on a run after so many blocks, with status 2.
    #[arg(long, value_name = "NUMBER", default_value_t = 1 << 36)]
    pub max_blocks: u64,
    /// Say more about a run that did not end by itself. Its status stays 3.
    #[arg(long)]
    pub prefix: bool,
    /// Write the result, whichever it is, as an EAT attestation result (EAR) to this new file. It
    /// needs --nonce, --key, and --measurement or --program. Without a verdict no file is written.
    #[arg(long, value_name = "FILE", requires = "ear_key")]
    pub ear: Option<PathBuf>,
    /// The verifier's own key, with which the attestation result is signed: Ed25519 in PKCS#8, as
    /// PEM, from `openssl genpkey -algorithm ed25519`.
    #[arg(long, value_name = "FILE", requires = "ear")]
    pub ear_key: Option<PathBuf>,
}

/// Reads 32 bytes from an argument.
///
/// # Errors
///
/// If the text is not 64 hexadecimal digits.
pub fn digits(text: &str) -> Result<[u8; 32], String> {
    from_hexadecimal(text.as_bytes()).ok_or_else(|| "64 hexadecimal digits are needed".to_owned())
}
