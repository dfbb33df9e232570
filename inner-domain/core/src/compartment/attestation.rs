// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports about compartments, and keys that one compartment alone gets.
//!
//! Reports and keys come from up to two secrets, which the boot stage finds and wipes: the
//! machine's *identity*, which was given to it, and a random secret of this boot. From them and
//! from the digest of what it starts, the boot stage derives what the inner domain gets
//! ([`Derived`]); so a different inner domain or kernel gets different secrets, from which these
//! cannot be told. This is what DICE (TCG, *Hardware Requirements for a Device Identifier
//! Composition Engine*) does with one layer.

mod start;

use donjon_abi::flow::RECORD;
use donjon_abi::manifest::Identity;
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::checks::{Checks, Configured};
use crate::compartment::random::Generator;

pub use start::Start;

/// Bytes of a secret, a digest and a code.
pub const BYTES: usize = 32;
/// Bytes that a compartment may have reported.
pub const DATA: usize = 64;

/// What a digest says that was started.
pub type Digest = [u8; BYTES];

/// What the boot stage leaves to the inner domain.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Derived {
    /// Key of reports: differs in each boot, if there is a secret of this boot.
    pub reports: [u8; BYTES],
    /// Secret from which keys are derived: equal in each boot, if there is an identity.
    pub keys: [u8; BYTES],
    /// Seed of random bytes; none without a secret of this boot.
    pub seed: Option<[u8; BYTES]>,
}

impl Derived {
    /// Derives secrets from one that was given to this machine, one of this boot, and the digest of
    /// what is started. None without either.
    pub fn new(
        identity: Option<&[u8; BYTES]>,
        boot: Option<&[u8; BYTES]>,
        started: &Digest,
    ) -> Option<Self> {
        let lasting = identity.or(boot)?;
        let lasting = Hkdf::<Sha256>::new(Some(started), lasting);
        let of_boot = boot.map(|it| Hkdf::<Sha256>::new(Some(started), it));
        let keys = expand(&lasting, b"donjon keys");
        // Of both: a boot without randomness has at least the identity's.
        let mut both = [0; 2 * BYTES];
        let (first, second) = both.split_at_mut(BYTES);
        first.copy_from_slice(&expand(&lasting, b"donjon reports"));
        if let Some(it) = &of_boot {
            second.copy_from_slice(&expand(it, b"donjon reports"));
        }
        let reports = expand(&Hkdf::new(None, &both), b"donjon reports");
        both.zeroize();
        Some(Self {
            reports,
            keys,
            seed: of_boot.map(|it| expand(&it, b"donjon random")),
        })
    }

    /// What replaces the secret of this boot in the device tree, for Linux.
    pub fn for_linux(boot: &[u8; BYTES]) -> [u8; BYTES] {
        expand(&Hkdf::new(None, boot), b"donjon outer domain")
    }
}

fn expand(key: &Hkdf<Sha256>, purpose: &[u8]) -> [u8; BYTES] {
    expand_of(key, &[purpose])
}

fn expand_of(key: &Hkdf<Sha256>, info: &[&[u8]]) -> [u8; BYTES] {
    let mut out = [0; BYTES];
    // It fails for more than 255 digests alone.
    let _ = key.expand_multi_info(info, &mut out);
    out
}

/// What is the same in all reports of a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Digest of what was started.
    pub started: Digest,
    /// Version of the inner domain.
    pub version: u64,
    /// Bits of the checks that this build leaves out; 0 in a product build.
    pub left_out: u64,
    /// Where the identity comes from.
    pub identity: Identity,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Measurement of the compartment.
    pub measurement: Digest,
    /// Frames that it may have.
    pub limit: u64,
    /// What it has reported.
    pub data: [u8; DATA],
}

/// Secrets of the inner domain.
pub struct Secrets {
    derived: Derived,
    boot: Boot,
}

impl Secrets {
    /// Takes what the boot stage has left.
    pub const fn new(derived: Derived, boot: Boot) -> Self {
        Self { derived, boot }
    }

    /// What is the same in all reports.
    pub const fn boot(&self) -> &Boot {
        &self.boot
    }

    /// The generator of random bytes, once.
    pub fn take_generator(&mut self) -> Option<Generator> {
        self.derived.seed.take().map(Generator::new)
    }

    /// The code of a report.
    pub fn code(&self, subject: &Subject) -> [u8; BYTES] {
        self.authenticate(subject).finalize().into_bytes().into()
    }

    /// The report about a subject as bytes: its code, the measurement, the data, the digest of what
    /// was started; then limit, version, bits of checks left out, and identity, big-endian.
    pub fn record(&self, subject: &Subject) -> [u8; RECORD] {
        let boot = &self.boot;
        let words = [
            subject.limit,
            boot.version,
            boot.left_out,
            boot.identity as u64,
        ];
        let words = words.map(u64::to_be_bytes);
        let fields = [
            &self.code(subject)[..],
            &subject.measurement,
            &subject.data,
            &boot.started,
            words.as_flattened(),
        ];
        let mut record = [0; RECORD];
        let mut rest = &mut record[..];
        for field in fields {
            let Some((place, behind)) = rest.split_at_mut_checked(field.len()) else {
                break;
            };
            place.copy_from_slice(field);
            rest = behind;
        }
        record
    }

    /// Whether a report with this code was made in this boot. The time that it takes does not
    /// depend on how much of the code is right.
    pub fn is_genuine(&self, subject: &Subject, code: &[u8; BYTES]) -> bool {
        self.authenticate(subject).verify_slice(code).is_ok() || !Configured::REPORT.is_made()
    }

    /// A key that no compartment with another measurement gets.
    pub fn key(&self, measurement: &Digest, purpose: u64) -> [u8; BYTES] {
        // What was expanded is as good as what is extracted; it saves half of the time.
        let key = Hkdf::<Sha256>::from_prk(&self.derived.keys);
        let info = [&b"compartment"[..], measurement, &purpose.to_le_bytes()];
        key.map_or([0; BYTES], |key| expand_of(&key, &info))
    }

    fn authenticate(&self, subject: &Subject) -> Hmac<Sha256> {
        // HMAC fills a key up with zeros to a block of the hash, 64 bytes.
        let mut key = [0; 2 * BYTES];
        key[..BYTES].copy_from_slice(&self.derived.reports);
        let mut mac = <Hmac<Sha256> as Mac>::new((&key).into());
        key.zeroize();
        // Every field has one length, so no two reports have the same bytes.
        mac.update(&subject.measurement);
        mac.update(&subject.limit.to_le_bytes());
        mac.update(&subject.data);
        mac.update(&self.boot.started);
        mac.update(&self.boot.version.to_le_bytes());
        mac.update(&self.boot.left_out.to_le_bytes());
        mac.update(&(self.boot.identity as u64).to_le_bytes());
        mac
    }
}

// Miri takes minutes for so many hashes, and there is nothing unsafe here.
#[cfg(all(test, not(miri)))]
mod tests;
