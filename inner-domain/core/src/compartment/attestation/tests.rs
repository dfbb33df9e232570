// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

const IDENTITY: [u8; BYTES] = [1; BYTES];
const BOOT: [u8; BYTES] = [2; BYTES];
const STARTED: Digest = [3; BYTES];

fn secrets(
    identity: Option<&[u8; BYTES]>,
    boot: Option<&[u8; BYTES]>,
    started: Digest,
    left_out: u64,
) -> Secrets {
    let derived = Derived::new(identity, boot, &started).expect("a secret");
    let boot = Boot {
        started,
        version: 1 << 16,
        left_out,
        identity: Identity::Given,
    };
    Secrets::new(derived, boot)
}

fn usual() -> Secrets {
    secrets(Some(&IDENTITY), Some(&BOOT), STARTED, 0)
}

fn subject() -> Subject {
    Subject {
        measurement: [4; BYTES],
        limit: 64,
        data: [5; DATA],
    }
}

#[test]
fn without_a_secret_there_is_nothing() {
    assert!(Derived::new(None, None, &STARTED).is_none());
    let derived = Derived::new(Some(&IDENTITY), None, &STARTED).expect("an identity");
    assert!(derived.seed.is_none());
}

#[test]
fn each_field_is_in_the_code() {
    let secrets = usual();
    let code = secrets.code(&subject());
    assert!(secrets.is_genuine(&subject(), &code));
    let mut changed = [subject(); 3];
    changed[0].measurement[31] ^= 1;
    changed[1].limit ^= 1;
    changed[2].data[63] ^= 1;
    for it in &changed {
        assert!(!secrets.is_genuine(it, &code), "{it:?}");
    }
    for bit in 0..BYTES * 8 {
        let mut forged = code;
        forged[bit / 8] ^= 1 << (bit % 8);
        assert!(!secrets.is_genuine(&subject(), &forged));
    }
}

#[test]
fn a_report_is_of_one_boot_and_of_one_build() {
    let code = usual().code(&subject());
    for other in [
        secrets(Some(&IDENTITY), Some(&[9; BYTES]), STARTED, 0),
        secrets(Some(&[9; BYTES]), Some(&BOOT), STARTED, 0),
        secrets(Some(&IDENTITY), Some(&BOOT), [9; BYTES], 0),
        secrets(Some(&IDENTITY), None, STARTED, 0),
        secrets(None, Some(&BOOT), STARTED, 0),
    ] {
        assert!(!other.is_genuine(&subject(), &code));
    }
    // Secrets of the sound build, as if one that leaves out checks had kept its digest.
    let left_out = secrets(Some(&IDENTITY), Some(&BOOT), STARTED, 1);
    assert!(!left_out.is_genuine(&subject(), &code));
}

#[test]
fn a_key_lasts_as_long_as_the_identity_and_what_is_started() {
    let key = usual().key(&[4; BYTES], 0);
    let next = secrets(Some(&IDENTITY), Some(&[9; BYTES]), STARTED, 0);
    assert_eq!(next.key(&[4; BYTES], 0), key);
    assert_ne!(usual().key(&[4; BYTES], 1), key);
    assert_ne!(usual().key(&[5; BYTES], 0), key);
    let another = secrets(Some(&IDENTITY), Some(&BOOT), [9; BYTES], 0);
    assert_ne!(another.key(&[4; BYTES], 0), key);
    let none = secrets(None, Some(&BOOT), STARTED, 0);
    let next = secrets(None, Some(&[9; BYTES]), STARTED, 0);
    assert_ne!(none.key(&[4; BYTES], 0), next.key(&[4; BYTES], 0));
}

#[test]
fn codes_and_keys_are_what_another_implementation_says() {
    let secrets = usual();
    assert_eq!(hex(&secrets.code(&subject())), CODE);
    assert_eq!(hex(&secrets.key(&[4; BYTES], 7)), KEY);
    let mut secrets = secrets;
    let mut generator = secrets.take_generator().expect("a seed");
    assert_eq!(hex(&generator.bytes()), RANDOM);
    assert!(secrets.take_generator().is_none());
}

fn hex(bytes: &[u8]) -> std::string::String {
    bytes.iter().map(|it| std::format!("{it:02x}")).collect()
}

// From Python's hmac and hashlib, and ChaCha20 written out from RFC 8439.
const CODE: &str = "4f6a3aa1a13c653b08cbb2d164794466fe89b0ed62fdb034bf5d71c3624b62e9";
const KEY: &str = "1950c3cb2ed49214675ea69096191b70f3dceabc210da6263315a6d46d005163";
const RANDOM: &str = "aa71f7eed62206862d4baac44efee8c24066502943f3d6502edf9a844f75ab9e";
