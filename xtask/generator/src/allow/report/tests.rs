// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports about small test files.

use std::io::Write as _;

use object::write::{Object, StandardSegment, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};

use super::super::{check_object, list};
use super::*;

const NOP: u32 = 0xd503_201f;
const RET: u32 = 0xd65f_03c0;
const WRITE_TTBR0: u32 = 0xd518_2003;
const BRK: u32 = 0xd421_0000;

/// A relocatable file with sections of code, each one function.
fn module(sections: &[(&str, SectionKind, &[u32])]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::Aarch64, Endianness::Little);
    for (name, kind, words) in sections {
        let segment = object.segment_name(StandardSegment::Text).to_vec();
        let id = object.add_section(segment, name.as_bytes().to_vec(), *kind);
        let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        object.append_section_data(id, &bytes, 4);
        object.add_symbol(Symbol {
            name: format!("f{name}").into_bytes(),
            value: 4,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Compilation,
            weak: false,
            section: SymbolSection::Section(id),
            flags: SymbolFlags::None,
        });
    }
    object.write().expect("a small object")
}

#[test]
fn a_refused_word_is_named_with_function_and_instruction() {
    let file = module(&[
        (".text", SectionKind::Text, &[NOP, NOP, RET]),
        (".init.text", SectionKind::Text, &[NOP, BRK, WRITE_TTBR0]),
        (".data", SectionKind::Data, &[WRITE_TTBR0]),
    ]);
    let report = Report::of_bytes(&file).expect("a valid file");
    assert_eq!((report.words, report.sensitive.len()), (6, 5));
    let error = report.ensure_clean().expect_err("TTBR0_EL1 is refused");
    let text = error.to_string();
    assert!(text.starts_with("1 instructions"), "{text}");
    assert!(
        text.contains("0x8 f.init.text+0x4: msr S3_0_C2_C0_0 (TTBR0_EL1)"),
        "{text}"
    );
}

#[test]
fn a_file_without_refused_words_is_clean() {
    let file = module(&[(".text", SectionKind::Text, &[NOP, BRK, RET])]);
    let report = Report::of_bytes(&file).expect("a valid file");
    report.ensure_clean().expect("nothing refused");
    let mut printed = Vec::new();
    let list = list::read().expect("the list");
    report.print(&list, &mut printed).expect("printing");
    let printed = String::from_utf8(printed).expect("text");
    assert!(printed.contains("3 words, 2 of them decided by the list, 0 refused"));
    assert!(printed.contains("       1  BRK\n"), "{printed}");
}

#[test]
fn a_file_without_code_or_for_another_machine_is_refused() {
    let data = module(&[(".data", SectionKind::Data, &[NOP])]);
    assert!(Report::of_bytes(&data).is_err());
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&data).expect("written");
    check_object(file.path()).expect("an object of the kernel may have tables alone");
    let other = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little)
        .write()
        .expect("a small object");
    assert!(Report::of_bytes(&other).is_err());
    assert!(Report::of_bytes(b"no file").is_err());
}
