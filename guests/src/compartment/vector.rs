// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of SVE and SME, whose registers the inner domain does not save: none runs in a
//! compartment.

use core::arch::global_asm;

use anyhow::{Result, ensure};
use donjon_abi::call::{Request, requests};
use donjon_client::{Access, Compartment, Exit};

use crate::program::{CODE, DATA};

global_asm!(
    r#"
    .section .rodata.compartment, "a"
    .balign 4096
    .global compartment_vectors
compartment_vectors:
    cbnz x0, 30f
    // RDVL x0, #1: the bytes of a vector
    .inst 0x04bf5020
    svc #{RETURN}
    // SMSTART; RDVL x0, #1, which is of the streaming mode; SMSTOP
30: .inst 0xd503477f
    .inst 0x04bf5020
    .inst 0xd503467f
    svc #{RETURN}
    .balign 4096
    .global compartment_vectors_end
compartment_vectors_end:
"#,
    RETURN = const requests::Return::NUMBER,
);

unsafe extern "C" {
    static compartment_vectors: [u8; 4096];
}

/// What is executed first, and the class of `ESR_EL1` of its trap (DDI 0487, D24.2, ESR_EL1).
const INSTRUCTIONS: [(&str, u64); 2] = [("RDVL", 0x19), ("SMSTART", 0x1d)];

/// Checks each instruction in a compartment of its own, which is left with the trap, and for good.
pub fn check() -> Result<()> {
    let mut open = 0;
    for (which, (name, class)) in (0..).zip(INSTRUCTIONS) {
        let it = Compartment::create(16)?;
        // SAFETY: it is a page of constants.
        it.add(CODE, unsafe { &compartment_vectors }, Access::Execute)?;
        it.add(DATA, &[0; 4096], Access::Write)?;
        it.seal(CODE, DATA + 4096)?;
        match it.run([which, 0, 0, 0])? {
            Exit::Faulted(esr) if esr >> 26 & 0x3f == class => {
                println!("compartment: {name}: trap {esr:#x}");
                ensure!(it.run([which, 0, 0, 0]).is_err(), "{name}: it runs again");
            }
            Exit::Returned(bytes) => {
                println!("compartment: {name}: SUCCEEDED, vectors of {bytes} bytes");
                open += 1;
            }
            other => println!("compartment: {name}: {other:x?}, no trap of class {class:#x}"),
        }
    }
    ensure!(open == 0, "{open} instructions are open to compartments");
    Ok(())
}
