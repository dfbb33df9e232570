// SPDX-License-Identifier: MIT OR Apache-2.0
//! PACGA, whose key no bit switches off: a compartment computes with a key of its own, and Linux's
//! is back afterwards.

use core::arch::{asm, global_asm};

use anyhow::{Result, bail, ensure};
use donjon_abi::call::{Request, requests};
use donjon_client::{Access, Compartment, Exit};

use crate::program::{CODE, DATA};

global_asm!(
    r#"
    .section .rodata.compartment, "a"
    .balign 4096
    .global compartment_generic_key
compartment_generic_key:
    // PACGA x0, x1, x2: a code of the two; then x3 rounds, and the code once more
    .inst 0x9ac23020
    cbz x3, 2f
1:  subs x3, x3, #1
    b.ne 1b
    .inst 0x9ac23024
    eor x0, x0, x4
2:  svc #{RETURN}
    .balign 4096
"#,
    RETURN = const requests::Return::NUMBER,
);

unsafe extern "C" {
    static compartment_generic_key: [u8; 4096];
}

/// What codes are computed of.
const WORDS: [u64; 2] = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
/// Rounds in which interrupts come.
const ROUNDS: u64 = 50_000_000;

/// What this process computes.
fn own_code() -> u64 {
    let code;
    // SAFETY: it reads two registers and writes one. The caller has looked that the CPU has it.
    unsafe {
        asm!(
            ".inst 0x9ac23020",
            in("x1") WORDS[0],
            in("x2") WORDS[1],
            out("x0") code,
            options(nomem, nostack, preserves_flags)
        );
    }
    code
}

fn make() -> Result<Compartment> {
    let it = Compartment::create(16)?;
    // SAFETY: it is a page of constants.
    it.add(CODE, unsafe { &compartment_generic_key }, Access::Execute)?;
    it.add(DATA, &[0; 4096], Access::Write)?;
    it.seal(CODE, DATA + 4096)?;
    Ok(it)
}

fn run(it: &Compartment, rounds: u64) -> Result<u64> {
    match it.run([0, WORDS[0], WORDS[1], rounds])? {
        Exit::Returned(code) => Ok(code),
        other => bail!("no PACGA in a compartment: {other:x?}"),
    }
}

/// Two compartments, a clone and this process compute four different codes, each the same again.
pub fn check() -> Result<()> {
    let (one, other, template) = (make()?, make()?, make()?);
    let clone = template.another()?;
    let inside = [run(&one, 0)?, run(&other, 0)?, run(&clone, 0)?];
    let before = own_code();
    let same = run(&one, ROUNDS)?;
    ensure!(same == 0, "the key changed within a call: {same:#x}");
    let again = [run(&one, 0)?, run(&other, 0)?, run(&clone, 0)?];
    let after = own_code();
    println!("compartment: PACGA outside {before:#x}, inside {inside:x?}");
    ensure!(inside == again, "the key changed between calls: {again:x?}");
    ensure!(
        before == after,
        "Linux's key is not back: PACGA gives {after:#x}"
    );
    let mut all = [before, inside[0], inside[1], inside[2]];
    all.sort_unstable();
    if all.windows(2).any(|it| it[0] == it[1]) {
        println!("compartment: PACGA: SUCCEEDED, a key is used twice");
        bail!("compartments compute with a key that is not theirs alone");
    }
    println!("compartment: PACGA: each has a key of its own");
    Ok(())
}
