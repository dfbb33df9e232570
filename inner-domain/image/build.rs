// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hands the linker its script and the addresses in it, which `donjon-abi` defines.

use donjon_abi::layout;

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    println!("cargo:rerun-if-changed={root}/linker/inner.ld");
    println!("cargo:rustc-link-arg-bins=-T{root}/linker/inner.ld");
    println!("cargo:rustc-link-arg-bins=--fix-cortex-a53-843419");
    println!("cargo:rustc-link-arg-bins=-zmax-page-size=4096");
    for (name, value) in [
        ("TEXT_WINDOW", layout::TEXT_WINDOW),
        ("DATA_WINDOW", layout::DATA_WINDOW),
        ("CPU_BLOCKS", layout::CPU_BLOCKS),
        ("GATE", layout::GATE),
        ("GATE_ENTRY", layout::GATE_ENTRY),
        ("GATE_ENTRY_WRITE", layout::GATE_ENTRY_WRITE),
        ("GATE_REPAIR", layout::GATE_REPAIR),
    ] {
        println!("cargo:rustc-link-arg-bins=--defsym={name}={value:#x}");
    }
}
