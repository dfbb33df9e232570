// SPDX-License-Identifier: MIT OR Apache-2.0
//! The secrets that reports and keys come from: found, used and wiped.

use core::arch::asm;
use core::sync::atomic::{Ordering, compiler_fence};

use donjon_abi::boot_info::BootSecrets;
use donjon_abi::manifest::{Identity, Randomness};
use donjon_core::compartment::attestation::{BYTES, Derived, Start};
use donjon_core::range::Range;
use donjon_hal::cpu;
use dtoolkit::fdt::Fdt;
use dtoolkit::{Node, Property};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::device_tree;
use crate::failure::Failure;
use crate::image::Image;

/// A word of the command line says where the identity is.
const ARGUMENT: &str = "donjon.identity=";
/// In `/chosen` where the seed is no secret, because another copy of it stays.
pub const SEED_IS_PUBLIC: &str = "donjon,seed-is-public";
/// First bytes there.
const MAGIC: &[u8; 8] = b"DONJONID";
/// Words of the magic number and of the secret behind it.
const WORDS: usize = (MAGIC.len() + BYTES) / 8;

/// What is secret in this boot.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Secrets {
    boot: Option<[u8; BYTES]>,
    identity: Option<[u8; BYTES]>,
    #[zeroize(skip)]
    randomness: Randomness,
}

impl Secrets {
    /// Takes `/chosen/rng-seed` out of the device tree at an address, and leaves in its place what
    /// is derived from it for Linux. The CPU's own random numbers go in as well, if it has them.
    ///
    /// # Safety
    ///
    /// The loader put a device tree there, and nothing refers to it.
    pub unsafe fn take(tree: u64) -> Result<Self, Failure> {
        let mut secrets = Self {
            boot: None,
            identity: None,
            randomness: Randomness::None,
        };
        let mut hash = Sha256::new();
        // SAFETY: the loader put a device tree there, and nothing else refers to it.
        let place = seed(&unsafe { device_tree::read(tree) }?);
        let place = place.filter(|it| it.size() >= BYTES as u64);
        if let Some(place) = place {
            for at in place.start()..place.end() {
                // SAFETY: bytes of the tree.
                hash.update([unsafe { (at as *const u8).read_volatile() }]);
            }
            secrets.randomness = Randomness::Tree;
        }
        if let Some(mut words) = cpu_random() {
            for word in &words {
                hash.update(word.to_le_bytes());
            }
            words.zeroize();
            if place.is_none() {
                secrets.randomness = Randomness::Cpu;
            }
        }
        if secrets.randomness != Randomness::None {
            let boot: [u8; BYTES] = hash.finalize().into();
            if let Some(place) = place {
                let mut fresh = Derived::for_linux(&boot);
                for (index, at) in (place.start()..place.end()).enumerate() {
                    let byte = fresh.get(index).copied().unwrap_or(0);
                    // SAFETY: bytes of the tree, to which nothing refers.
                    unsafe { (at as *mut u8).write_volatile(byte) };
                }
                // Linux can read what is in memory behind the caches.
                // SAFETY: bytes of the tree.
                unsafe { cpu::clean_to_coherency(place.start(), place.size()) };
                fresh.zeroize();
            }
            secrets.boot = Some(boot);
        }
        Ok(secrets)
    }

    /// Takes the identity from where the command line says that it is, if it says so, and wipes it
    /// there.
    ///
    /// # Errors
    ///
    /// [`Failure::Identity`] if nothing like one is there.
    pub fn take_identity(
        &mut self,
        command_line: &str,
        banks: &[Range],
        image: Range,
    ) -> Result<(), Failure> {
        let Some(text) = command_line
            .split_whitespace()
            .find_map(|it| it.strip_prefix(ARGUMENT))
        else {
            return Ok(());
        };
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let address = u64::from_str_radix(digits, 16).map_err(|_| Failure::Identity(0))?;
        let wrong = Failure::Identity(address);
        let place = Range::with_size(address, WORDS as u64 * 8);
        let place = place.filter(|it| it.start().is_multiple_of(8) && !it.overlaps(image));
        let Some(place) = place.filter(|it| banks.iter().any(|bank| bank.encloses(*it))) else {
            return Err(wrong);
        };
        let mut words = [0_u64; WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            // SAFETY: RAM by the device tree, which is mapped, and not the boot image's.
            *word = unsafe { (place.start() as *const u64).add(index).read_volatile() };
        }
        let (magic, secret) = words.split_at(1);
        if magic[0].to_le_bytes() != *MAGIC {
            return Err(wrong);
        }
        let mut identity = [0; BYTES];
        for (to, from) in identity.chunks_exact_mut(8).zip(secret) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        self.identity = Some(identity);
        identity.zeroize();
        words.zeroize();
        for index in 0..WORDS {
            // SAFETY: RAM by the device tree, which is mapped, and not the boot image's.
            unsafe { (place.start() as *mut u64).add(index).write_volatile(0) };
        }
        compiler_fence(Ordering::SeqCst);
        // SAFETY: RAM that is mapped. It must not come back out of memory below the cache.
        unsafe { cpu::clean_to_coherency(place.start(), place.size()) };
        Ok(())
    }

    /// Where they come from.
    pub const fn sources(&self) -> (Identity, Randomness) {
        let identity = match self.identity {
            Some(_) => Identity::Given,
            None => Identity::None,
        };
        (identity, self.randomness)
    }

    /// What the inner domain gets, if there is any secret.
    pub fn derive(&self, started: &[u8; BYTES]) -> Option<BootSecrets> {
        let derived = Derived::new(self.identity.as_ref(), self.boot.as_ref(), started)?;
        Some(BootSecrets {
            reports: derived.reports,
            keys: derived.keys,
            seed: derived.seed.unwrap_or_default(),
            has_seed: u64::from(derived.seed.is_some()),
        })
    }
}

/// SHA-256 of what is started: the inner domain as it was packed and how it is entered, Linux, and
/// Linux's command line.
pub fn started(image: &Image, linux: &[u64; 4], command_line: &str) -> [u8; BYTES] {
    let start = Start {
        switch_mode: image.switch_mode,
        dma_profile: image.dma_profile,
        linux_read_only: image.linux_read_only().map_or(0, |it| it.size()),
        linux: *linux,
        command_line,
    };
    start.digest(image.segments())
}

/// Where the seed is, if it can be a secret.
fn seed(tree: &Fdt) -> Option<Range> {
    let chosen = tree.find_node("/chosen")?;
    if chosen.property(SEED_IS_PUBLIC).is_some() {
        return None;
    }
    let seed = chosen.property("rng-seed")?;
    let bytes = seed.value();
    Range::with_size(bytes.as_ptr() as u64, bytes.len() as u64)
}

/// Four words of the CPU's own, where it has `RNDR` (FEAT_RNG) and it works.
fn cpu_random() -> Option<[u64; 4]> {
    let features: u64;
    // SAFETY: reads an identification register.
    unsafe { asm!("mrs {}, id_aa64isar0_el1", out(reg) features, options(nomem, nostack)) };
    if features >> 60 == 0 {
        return None;
    }
    let mut words = [0; 4];
    for word in &mut words {
        let (value, failed): (u64, u64);
        // SAFETY: the CPU has RNDR (S3_3_C2_C4_0); Z says that it had nothing in time (D24.2.156).
        unsafe {
            asm!(
                "mrs {value}, s3_3_c2_c4_0",
                "cset {failed}, eq",
                value = out(reg) value,
                failed = out(reg) failed,
                options(nomem, nostack)
            );
        }
        if failed != 0 {
            return None;
        }
        *word = value;
    }
    Some(words)
}
