// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash functions of the kernel's whose modules have tables of constants beside their code.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};

use anyhow::{Context, Result, ensure};
use nix::sys::socket::{AddressFamily, AlgAddr, SockFlag, SockType, accept, bind, socket};

use super::modules;

/// Modules, in the order in which they are inserted.
const MODULES: [&str; 4] = ["af_alg", "algif_hash", "sha256-arm64", "sha512-arm64"];
/// Drivers of these modules, and the digest of [`MESSAGE`] that FIPS 180-4 gives for it.
const DRIVERS: [(&str, &str); 3] = [
    ("sha256-arm64", SHA256),
    ("sha256-arm64-neon", SHA256),
    ("sha512-arm64", SHA512),
];
/// The two-block message of the examples to FIPS 180-4, SHA-512. Its SHA-256 is of two blocks as
/// well.
const MESSAGE: &[u8] = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                         hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
const SHA256: &str = "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1";
const SHA512: &str = "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
                      501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909";

/// Inserts the modules, hashes a message by each of their drivers, and removes them.
pub fn hashes() -> Result<()> {
    modules::need(&MODULES)?;
    for name in MODULES {
        modules::insert(name, "").with_context(|| format!("inserting {name}"))?;
    }
    for (driver, expected) in DRIVERS {
        let found = digest(driver).with_context(|| driver.to_owned())?;
        ensure!(found == expected, "{driver}: {found}");
    }
    for name in MODULES.into_iter().rev() {
        modules::remove(&name.replace('-', "_"))?;
    }
    Ok(())
}

/// The digest of the message by one driver, in hexadecimal.
fn digest(driver: &str) -> Result<String> {
    let listener = socket(
        AddressFamily::Alg,
        SockType::SeqPacket,
        SockFlag::empty(),
        None,
    )?;
    bind(listener.as_raw_fd(), &AlgAddr::new("hash", driver))?;
    // SAFETY: accept() has just made the descriptor, and nothing else has it.
    let mut operation = unsafe { std::fs::File::from_raw_fd(accept(listener.as_raw_fd())?) };
    operation.write_all(MESSAGE)?;
    let mut bytes = [0; 64];
    let length = operation.read(&mut bytes)?;
    Ok(bytes[..length]
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect())
}
