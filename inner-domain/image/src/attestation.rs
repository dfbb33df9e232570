// SPDX-License-Identifier: MIT OR Apache-2.0
//! The secrets of this boot: what reports and keys of compartments come from.

use core::ops::Deref;

use donjon_abi::boot_info::{BootInfo, BootSecrets};
use donjon_abi::manifest::Identity;
use donjon_core::compartment::attestation::{Boot, Derived, Secrets};
use donjon_core::compartment::random::{self, Generator};
use donjon_core::report::waits::{COMPARTMENTS, Waiting};
use donjon_hal::physical;
use spin::mutex::Mutex;
use spin::rwlock::RwLock;
use zeroize::Zeroize;

use crate::calls::information::release;
use crate::gate;

static SECRETS: RwLock<Option<Secrets>, Waiting<COMPARTMENTS>> = RwLock::new(None);
static GENERATOR: Mutex<Option<Generator>, Waiting<COMPARTMENTS>> = Mutex::new(None);

/// Takes what the boot stage has left, if it found any secret, and wipes it there.
///
/// # Safety
///
/// Called once. What `boot` says is a page with secrets is one of inner memory, and nothing refers
/// to it.
pub unsafe fn take(boot: &BootInfo) {
    if boot.secrets == 0 {
        return;
    }
    // SAFETY: the boot stage wrote its secrets to this page of inner memory, which is in the
    // physical view; nothing else refers to it.
    let page = unsafe { physical::table::<BootSecrets>(boot.secrets, 1) };
    let derived = page.first_mut().map(|left| {
        let derived = Derived {
            reports: left.reports,
            keys: left.keys,
            seed: (left.has_seed != 0).then_some(left.seed),
        };
        left.zeroize();
        derived
    });
    let Some(derived) = derived else {
        return;
    };
    let of_boot = Boot {
        started: boot.started,
        version: release(),
        left_out: gate::left_out(),
        identity: Identity::from_number(boot.identity).unwrap_or(Identity::None),
    };
    let mut secrets = Secrets::new(derived, of_boot);
    *GENERATOR.lock() = secrets.take_generator();
    *SECRETS.write() = Some(secrets);
}

/// The secrets, if this boot has any, and the machine does not stop.
pub fn secrets() -> impl Deref<Target = Option<Secrets>> {
    SECRETS.read()
}

/// Wipes the secrets and what random bytes come from, where the machine stops. It waits for no
/// lock: a CPU that holds one uses what it protects.
pub fn forget() {
    if let Some(mut secrets) = SECRETS.try_write() {
        *secrets = None;
    }
    if let Some(mut generator) = GENERATOR.try_lock() {
        *generator = None;
    }
}

/// Four random words, if this boot has a source of random bytes.
pub fn random_words() -> Option<[u64; 4]> {
    let mut bytes = random()?;
    let (chunks, _) = bytes.as_chunks::<8>();
    let words = core::array::from_fn(|at| u64::from_ne_bytes(chunks[at]));
    bytes.zeroize();
    Some(words)
}

/// Random bytes, if this boot has a source of them.
pub fn random() -> Option<[u8; random::BYTES]> {
    GENERATOR.lock().as_mut().map(Generator::bytes)
}
