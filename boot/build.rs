// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hands the linker its script. The image is position-independent: it runs where it was loaded.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    println!("cargo:rerun-if-changed={root}/linker/boot.ld");
    for argument in [
        &format!("-T{root}/linker/boot.ld"),
        "--fix-cortex-a53-843419",
        "-pie",
        "--no-dynamic-linker",
        "-znotext",
        "-zmax-page-size=4096",
    ] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
