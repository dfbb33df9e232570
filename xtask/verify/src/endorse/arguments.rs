// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `cargo xtask endorse`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::digits;

/// What to endorse, and how.
#[derive(Args, Debug)]
pub struct EndorseArguments {
    /// The program: the image of a compartment.
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// The boot image. Its digest depends on Linux's command line as well.
    #[arg(long, value_name = "FILE", requires = "command_line")]
    pub boot: Option<PathBuf>,
    /// Linux's command line to the letter, as /proc/cmdline shows it in a boot that was trusted.
    #[arg(
        long,
        value_name = "TEXT",
        requires = "boot",
        allow_hyphen_values = true
    )]
    pub command_line: Option<String>,
    /// The digest of what is started, from a boot that was trusted. Beside --boot it has to be that
    /// of the boot image.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub started: Option<[u8; 32]>,
    /// The version of the inner domain, such as 0.1.0.
    #[arg(long, value_name = "VERSION")]
    pub inner_version: Option<String>,
    /// The public key of the machine's quoting compartment, from
    /// `donjon-run /usr/lib/donjon/quote key` in a boot that was trusted.
    #[arg(long, value_name = "HEX", value_parser = digits)]
    pub attest_key: Option<[u8; 32]>,
    /// A policy for runs of the program under flow attestation. It has to suit the program.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// When the values cease to be valid, in seconds since 1970. Without it nothing depends on the
    /// time, and equal inputs give equal bytes.
    #[arg(long, value_name = "SECONDS")]
    pub not_after: Option<u32>,
    /// A key that signs the values: Ed25519 in PKCS#8, as PEM.
    #[arg(long, value_name = "FILE", requires = "signer")]
    pub key: Option<PathBuf>,
    /// The name of who signs.
    #[arg(long, value_name = "NAME", requires = "key")]
    pub signer: Option<String>,
    /// The new file with the reference values.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}
