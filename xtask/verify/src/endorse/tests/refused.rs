// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

#[test]
fn a_policy_has_to_suit_the_program() {
    let place = Place::new();
    let policy = |text: &str| EndorseArguments {
        policy: Some(place.put("policy", text.as_bytes())),
        ..place.arguments()
    };
    refused(&policy("must-run = ['nowhere']"), "no function nowhere");
    refused(&policy("must = 1"), "unknown field");
    written(&policy("must-run = ['open']")).expect("it suits");
    // A program that is not instrumented has no path, and reference values all the same.
    let mut file = fs::read(place.path("program")).expect("a program");
    let nop = 0xd503_201f_u32.to_le_bytes();
    let words = file.as_chunks_mut::<4>().0;
    let give_up = 0xd400_0081_u32.to_le_bytes();
    let at = words.iter().position(|it| *it == give_up).expect("svc #4");
    words[at] = nop;
    place.put("program", &file);
    refused(&policy("must-run = ['open']"), "not of attested form");
    written(&place.arguments()).expect("values");
}

#[test]
fn a_signature_names_who_signs() {
    let place = Place::new();
    let arguments = EndorseArguments {
        key: Some(place.path("key")),
        signer: None,
        ..place.arguments()
    };
    refused(&arguments, "--signer");
}

#[test]
fn what_is_started_has_to_be_known_and_to_agree() {
    let place = Place::new();
    let reference = Reference::of(&place.arguments()).expect("values");
    let with = |boot: bool, started: Option<[u8; 32]>| {
        let mut arguments = place.arguments();
        arguments.started = started;
        if !boot {
            arguments.boot = None;
            arguments.command_line = None;
        }
        arguments
    };
    let right = Some(reference.started);
    let computed = written(&with(true, None)).expect("values");
    assert_eq!(computed, written(&with(true, right)).expect("values"));
    assert_eq!(computed, written(&with(false, right)).expect("values"));
    refused(&with(true, Some([1; 32])), "not the digest of that boot");
    refused(&with(false, None), "name what is started");
    place.put("boot", b"no image");
    refused(&with(true, None), "is no boot image");
}

#[test]
fn what_is_none_of_its_kind_is_named() {
    let place = Place::new();
    type Change = fn(&Place, &mut EndorseArguments);
    let changes: [(Change, &str); 6] = [
        (|place, it| it.program = place.path("boot"), "boot"),
        (|_, it| it.program = "/nowhere".into(), "/nowhere"),
        (
            |_, it| it.inner_version = Some("0.1".into()),
            "three numbers",
        ),
        (
            |_, it| it.inner_version = Some("0.1.x".into()),
            "three numbers",
        ),
        (
            |_, it| it.attest_key = Some([2; 32]),
            "no Ed25519 public key",
        ),
        (
            |place, it| it.key = Some(place.put("none", b"x")),
            "Ed25519 key in",
        ),
    ];
    for (change, words) in changes {
        let mut arguments = place.arguments();
        change(&place, &mut arguments);
        refused(&arguments, words);
    }
    place.put("values", b"old");
    let trouble = crate::endorse::run(&place.arguments()).expect_err("it is there");
    assert!(
        trouble.to_string().contains("is there already"),
        "{trouble}"
    );
    assert_eq!(fs::read(place.path("values")).expect("a file"), b"old");
}
