// SPDX-License-Identifier: MIT OR Apache-2.0
//! A page of code that runs in a compartment. x0 says what to do.

use core::arch::global_asm;

use donjon_abi::call::{Request, requests};

global_asm!(
    r#"
    .arch_extension fp
    .arch_extension simd
    .section .rodata.compartment, "a"
    .balign 4096
    .global compartment_code
compartment_code:
    cmp x0, #0
    b.eq 10f
    cmp x0, #1
    b.eq 11f
    cmp x0, #2
    b.eq 12f
    cmp x0, #3
    b.eq 13f
    cmp x0, #4
    b.eq 14f
    cmp x0, #5
    b.eq 15f
    cmp x0, #6
    b.eq 16f
    cmp x0, #7
    b.eq 17f
    cmp x0, #8
    b.eq 18f
    cmp x0, #9
    b.eq 19f
    cmp x0, #10
    b.eq 20f
    cmp x0, #11
    b.eq 21f
    cmp x0, #12
    b.eq 22f
    cmp x0, #13
    b.eq 23f
    cmp x0, #14
    b.eq 24f
    svc #{EXIT}
    // 0: the sum of the other arguments
10: add x0, x1, x2
    add x0, x0, x3
    svc #{RETURN}
    // 1: asks the host for x1 and returns its answer plus 1, by way of the stack
11: str x1, [sp, #-16]!
    mov x0, x1
    svc #{CALL_OUT}
    ldr x1, [sp], #16
    add x0, x0, x1
    svc #{RETURN}
    // 2: counts down from x1, with a value in each register that must survive interrupts
12: mov x30, #0x30
    fmov d7, x1
    fmov d31, x1
    mov x5, x1
2:  subs x1, x1, #1
    b.ne 2b
    fmov x2, d7
    fmov x3, d31
    sub x0, x2, x5
    sub x3, x3, x5
    orr x0, x0, x3
    sub x3, x30, #0x30
    orr x0, x0, x3
    svc #{RETURN}
    // 3: reads address x1
13: ldr x0, [x1]
    svc #{RETURN}
    // 4: adds x1 pages, writes to each, adds up what is there, takes them away
14: mov x9, x1
    mov x10, #0
    movz x11, #0x40, lsl #32
3:  mov x0, x9
    svc #{GROW}
    cbz x0, 4f
    add x10, x10, x0
    subs x9, x9, x0
    b.ne 3b
4:  mov x12, #0
    mov x13, #0
5:  cmp x12, x10
    b.eq 6f
    ldr x14, [x11]
    add x13, x13, x14
    str x10, [x11]
    add x11, x11, #4096
    add x12, x12, #1
    b 5b
6:  mov x9, x10
7:  cbz x9, 8f
    mov x0, x9
    svc #{SHRINK}
    cbz x0, 8f
    sub x9, x9, x0
    b 7b
8:  add x0, x10, x13, lsl #32
    svc #{RETURN}
    // 5: writes x2 to address x1
15: str x2, [x1]
    mov x0, #0
    svc #{RETURN}
    // 6: leaves x1 in all registers of FP and returns
16: dup v0.2d, x1
    mov v8.16b, v0.16b
    mov v31.16b, v0.16b
    mov x0, #0
    svc #{RETURN}
    // 7: jumps to x1
17: br x1
    // 8: sends x2 bytes at x1 by end x3; how many went, and from bit 32 on whether it is open
18: mov x0, x3
    svc #{SEND}
    add x0, x0, x1, lsl #32
    svc #{RETURN}
    // 9: receives in the same way
19: mov x0, x3
    svc #{RECEIVE}
    add x0, x0, x1, lsl #32
    svc #{RETURN}
    // 10: stores the measurement of who is at end x3 at x1
20: mov x0, x3
    mov x10, x1
    svc #{PEER}
    stp x1, x2, [x10]
    stp x3, x4, [x10, #16]
    svc #{RETURN}
    // 11: stores random bytes at x1
21: mov x20, x1
    svc #{RANDOM}
    stp x1, x2, [x20]
    stp x3, x4, [x20, #16]
    svc #{RETURN}
    // 12: stores a report with the 64 bytes at x1 at x2: what REPORT leaves in x1 to x16
22: mov x20, x1
    mov x21, x2
    ldp x0, x1, [x20]
    ldp x2, x3, [x20, #16]
    ldp x4, x5, [x20, #32]
    ldp x6, x7, [x20, #48]
    svc #{REPORT}
    stp x1, x2, [x21]
    stp x3, x4, [x21, #16]
    stp x5, x6, [x21, #32]
    stp x7, x8, [x21, #48]
    stp x9, x10, [x21, #64]
    stp x11, x12, [x21, #80]
    stp x13, x14, [x21, #96]
    stp x15, x16, [x21, #112]
    svc #{RETURN}
    // 13: whether a report is of this boot: code, measurement, limit and 64 bytes at x1
23: mov x20, x1
    ldp x0, x1, [x20]
    ldp x2, x3, [x20, #16]
    ldp x4, x5, [x20, #32]
    ldp x6, x7, [x20, #48]
    ldp x8, x9, [x20, #64]
    ldp x10, x11, [x20, #80]
    ldp x12, x13, [x20, #96]
    ldp x14, x15, [x20, #112]
    ldr x16, [x20, #128]
    svc #{VERIFY}
    svc #{RETURN}
    // 14: stores a key for the purpose x1 at x2
24: mov x0, x1
    mov x20, x2
    svc #{KEY}
    stp x1, x2, [x20]
    stp x3, x4, [x20, #16]
    svc #{RETURN}
    .balign 4096
    .global compartment_code_end
compartment_code_end:
"#,
    RETURN = const requests::Return::NUMBER,
    CALL_OUT = const requests::CallOut::NUMBER,
    GROW = const requests::Grow::NUMBER,
    SHRINK = const requests::Shrink::NUMBER,
    EXIT = const requests::Exit::NUMBER,
    SEND = const requests::Send::NUMBER,
    RECEIVE = const requests::Receive::NUMBER,
    PEER = const requests::Peer::NUMBER,
    RANDOM = const requests::Random::NUMBER,
    REPORT = const requests::Report::NUMBER,
    VERIFY = const requests::Verify::NUMBER,
    KEY = const requests::Key::NUMBER,
);

unsafe extern "C" {
    static compartment_code: u8;
    static compartment_code_end: u8;
}

/// The page.
pub fn page() -> &'static [u8] {
    // SAFETY: both are symbols of the section above, a page apart.
    unsafe {
        let start = &raw const compartment_code;
        let end = &raw const compartment_code_end;
        std::slice::from_raw_parts(start, end.offset_from(start).cast_unsigned())
    }
}
