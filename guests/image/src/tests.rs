// SPDX-License-Identifier: MIT OR Apache-2.0

mod file;

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use self::file::{CODE, DATA, File, READ, Segment, WRITE, X};
use super::*;

fn refusal(change: impl FnOnce(&mut File)) -> Error {
    let mut file = File::sound();
    change(&mut file);
    Image::parse(&file.bytes()).expect_err("refused")
}

#[test]
fn a_sound_image_has_its_pages_and_numbers() {
    let bytes = File::sound().bytes();
    let image = Image::parse(&bytes).expect("sound");
    let found: Vec<_> = image.pages().map(|it| (it.va, it.access)).collect();
    let expected = [
        (CODE, Access::Execute),
        (DATA, Access::Write),
        (DATA + PAGE, Access::Write),
    ];
    assert_eq!(found, expected);
    assert_eq!((image.entry, image.stack), (CODE + 4, DATA + 2 * PAGE));
    assert_eq!((image.limit, image.shared_pages), (32, 1));
    assert_eq!(image.count(Access::Write), 2);
    let pages: Vec<_> = image.pages().collect();
    assert_eq!(pages[0].bytes[..8], [0x11; 8]);
    assert_eq!(pages[0].bytes[8..], [0; PAGE as usize - 8]);
    assert_eq!(pages[2].bytes, [0; PAGE as usize]);
}

#[test]
fn the_measurement_is_the_documented_one() {
    let bytes = File::sound().bytes();
    let image = Image::parse(&bytes).expect("sound");
    let mut all = Vec::new();
    let mut page = |va: u64, access: u64, given: &[u8]| {
        all.extend(va.to_le_bytes());
        all.extend(access.to_le_bytes());
        all.extend(given);
        all.resize(all.len() + PAGE as usize - given.len(), 0);
    };
    page(CODE, 2, &[0x11; 8]);
    page(DATA, 1, &[0x22; 16]);
    page(DATA + PAGE, 1, &[]);
    for word in [CODE + 4, DATA + 2 * PAGE, 32] {
        all.extend(word.to_le_bytes());
    }
    let expected: [u8; 32] = Sha256::digest(&all).into();
    assert_eq!(image.measurement(), expected);
    assert_eq!(hexadecimal(&[0xa5; 32]), "a5".repeat(32));
}

#[test]
fn frames_are_pages_and_tables() {
    let frames = |file: File| Image::parse(&file.bytes()).expect("sound").frames();
    // Root, registers; levels 1, 2, 3 of the image; levels 2, 3 of the shared page; three pages.
    assert_eq!(frames(File::sound()), 2 + 3 + 2 + 3);
    let mut file = File::sound();
    file.shared_pages = 0;
    assert_eq!(frames(file), 2 + 3 + 3);
    let mut file = File::sound();
    file.segments
        .push(Segment::new((1 << 30) - PAGE, READ, &[1]));
    file.segments.push(Segment::new(1 << 30, READ, &[1]));
    assert_eq!(frames(file), 2 + 1 + 3 + 4 + 5);
}

#[test]
fn what_is_no_program_for_compartments_is_refused() {
    let empty = Image::parse(b"").expect_err("empty");
    assert!(matches!(empty, Error::NotElf(_)));
    assert_eq!(refusal(|it| it.machine = 62), Error::WrongMachine);
    assert_eq!(refusal(|it| it.class = 1), Error::WrongMachine);
    assert_eq!(refusal(|it| it.kind = 3), Error::PositionIndependent);
    assert_eq!(refusal(|it| it.kind = 1), Error::NotExecutable);
    assert_eq!(refusal(|it| it.segments[0].kind = 2), Error::Dynamic);
    assert_eq!(refusal(|it| it.segments[0].kind = 3), Error::Dynamic);
}

#[test]
fn segments_that_cannot_be_mapped_are_refused() {
    let both = refusal(|it| it.segments[0].flags = READ | WRITE | X);
    assert_eq!(both, Error::WritableCode(CODE));
    let within = refusal(|it| it.segments[0].va += 8);
    assert_eq!(within, Error::Unaligned(CODE + 8));
    for va in [0, SHARED, 1 << 38, u64::MAX - PAGE + 1] {
        assert_eq!(refusal(|it| it.segments[0].va = va), Error::OutOfRange(va));
    }
    let long = refusal(|it| it.segments[1].size = u64::MAX);
    assert_eq!(long, Error::OutOfRange(DATA));
    let short = refusal(|it| it.segments[1].size = 8);
    assert_eq!(short, Error::Truncated(DATA));
    let twice = refusal(|it| it.segments.push(Segment::new(DATA + PAGE, READ, &[1])));
    assert_eq!(twice, Error::Overlap(DATA + PAGE));
    let mut cut = File::sound();
    cut.segments[1].size = 3 * PAGE;
    cut.segments[1].file_size = Some(3 * PAGE);
    let cut = Image::parse(&cut.bytes()).expect_err("cut");
    assert_eq!(cut, Error::Truncated(DATA));
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    for entry in [0, CODE + 2, CODE + PAGE, DATA, u64::MAX] {
        assert_eq!(refusal(|it| it.entry = entry), Error::EntryOutside(entry));
    }
    for stack in [0, CODE + PAGE, DATA, DATA + PAGE + 8, DATA + 3 * PAGE] {
        assert_eq!(refusal(|it| it.stack = stack), Error::StackOutside(stack));
    }
    let small = refusal(|it| it.stack_size = 0);
    assert_eq!(small, Error::StackOutside(DATA + 2 * PAGE));
    let (limit, needed) = (9, 10);
    let low = refusal(|it| it.limit = limit);
    assert_eq!(low, Error::LimitTooSmall { limit, needed });
    let many = refusal(|it| it.shared_pages = SHARED_MAX + 1);
    assert_eq!(many, Error::TooManyShared(SHARED_MAX + 1));
}

#[test]
fn notes_of_others_are_passed_over_and_one_is_needed() {
    assert_eq!(refusal(|it| it.note_name = *b"Donjoo\0\0"), Error::NoNote);
    assert_eq!(refusal(|it| it.note_type = 2), Error::BadNote);
    assert_eq!(refusal(|it| it.notes = 0), Error::NoNote);
    assert_eq!(refusal(|it| it.notes = 2), Error::NoNote);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Image::parse(&bytes);
    }

    #[test]
    fn no_change_of_a_sound_image_makes_it_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        length in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = File::sound().bytes();
        for (at, value) in changes {
            // The headers are what matters.
            let at = at.index(400.min(bytes.len()));
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        if let Ok(image) = Image::parse(&bytes) {
            prop_assert!(image.frames() <= image.limit);
            prop_assert!(image.pages().take(100).all(|it| it.va < SHARED));
        }
    }
}
