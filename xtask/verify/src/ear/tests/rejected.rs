// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::BTreeMap;

use super::read::entry;
use super::*;

/// Fails unless a run is rejected, and the result says so in each of its fields.
fn rejected(what: &str, kept: &Kept, token: &[u8], vector: &[(i128, i128)]) -> Read {
    let (status, read) = judged(kept, token, |_| {});
    let read = read.expect("a result");
    assert_eq!((status, read.tier()), (1, 96), "{what}");
    let expected: BTreeMap<_, _> = vector.iter().copied().collect();
    assert_eq!(read.vector(), expected, "{what}");
    let affirms = |it: &i128| (2..32).contains(it);
    assert!(!read.vector().values().any(affirms), "{what}");
    assert!(read.list("proven").is_empty(), "{what}");
    assert!(!read.list("wrong").is_empty(), "{what}");
    read
}

/// Rejects a run whose claims were changed and signed by the machine's key.
fn changed(what: &str, change: impl FnOnce(&mut Kept), vector: &[(i128, i128)]) -> Read {
    let mut kept = finished();
    change(&mut kept);
    rejected(what, &kept, &kept.token(), vector)
}

#[test]
fn each_fault_of_a_token_has_its_number() {
    changed("nonce", |it| it.claims.nonce = [1; 32], &[(2, 0)]);
    changed("kind", |it| it.claims.limit = 32, &[(2, 0)]);
    changed("limit", |it| it.claims.limit ^= 1, &[(2, 33)]);
    changed("program", |it| it.claims.measurement[0] ^= 1, &[(2, 33)]);
    changed("weakened", |it| it.claims.weakened = 1, &[(1, 96)]);
    let both = |it: &mut Kept| (it.claims.weakened, it.claims.limit) = (1, 1 << 32 | 31);
    changed("two faults", both, &[(1, 96), (2, 33)]);
    let kept = finished();
    let (status, read) = judged(&kept, &kept.token(), |it| it.started = Some([9; 32]));
    let read = read.expect("a result");
    assert_eq!((status, read.tier()), (1, 96));
    assert_eq!(read.vector(), [(2, 33)].into());
}

#[test]
fn each_fault_of_a_run_has_its_number() {
    changed("log", |it| it.log[0] ^= 1, &[(2, 99)]);
    changed("length of the log", |it| it.log.truncate(8), &[(2, 99)]);
    changed("transcript", |it| it.transcript[200] ^= 1, &[(2, 99)]);
    let policy = |it: &mut Kept| it.policy = Some("must-not-run = ['open']".into());
    changed("policy", policy, &[(2, 96)]);
    let golden = cut();
    golden.write(&[]);
    changed(
        "golden run",
        |it| it.golden = Some(golden.folder()),
        &[(2, 96)],
    );
    let mut moved = run(&program(), 9, Round::Leave, 7);
    moved.segments.last_mut().expect("one").pc -= 4;
    let kept = Kept::new(&moved);
    rejected("path", &kept, &kept.token(), &[(2, 96)]);
}

/// What a stranger signed is not passed on, and none of its faults is named beside the signature.
#[test]
fn what_has_no_known_author_is_not_passed_on() {
    let mut kept = finished();
    kept.claims.weakened = 1;
    let stranger = SigningKey::from_bytes(&[8; 32]);
    let forged = rejected("signature", &kept, &signed_by(&kept, [8; 32]), &[(0, 99)]);
    kept.claims.key = stranger.verifying_key().to_bytes();
    let token = signed_by(&kept, [8; 32]);
    kept.claims.key = SigningKey::from_bytes(&[9; 32]).verifying_key().to_bytes();
    let other = rejected("key", &kept, &token, &[(0, 97)]);
    for read in [forged, other] {
        assert!(entry(&read.appraisal, 1005).is_none());
        assert!(entry(&read.appraisal, 10).is_none());
        let wrong = read.list("wrong");
        assert!(
            wrong.len() == 1 && read.list("open").is_empty(),
            "{wrong:?}"
        );
    }
    // The control: signed by the machine, the same claims are passed on.
    let read = rejected("weakened", &kept, &kept.token(), &[(1, 96)]);
    assert!(read.evidence("weakened").is_some());
}
