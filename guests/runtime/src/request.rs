// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to the inner domain, by what they change. The number is that of the `SVC`.

use core::arch::asm;

/// Makes a request with up to three arguments; returns x0 and x1.
///
/// # Safety
///
/// The request changes no other register, and no memory that something refers to as unchanging.
#[inline(always)]
pub unsafe fn pair<const NUMBER: u64>(a: u64, b: u64, c: u64) -> (u64, u64) {
    let (first, second);
    // SAFETY: the request changes x0 and x1 alone, and no memory that something refers to as
    // unchanging.
    unsafe {
        asm!(
            "svc {number}",
            number = const NUMBER,
            inlateout("x0") a => first,
            inlateout("x1") b => second,
            in("x2") c,
            options(nostack, preserves_flags),
        );
    }
    (first, second)
}

/// Makes a request with one argument; returns the 32 bytes in x1 to x4. None unless x0 is 1.
///
/// # Safety
///
/// The request changes these five registers alone, and no memory.
#[inline(always)]
pub unsafe fn digest<const NUMBER: u64>(argument: u64) -> Option<[u8; 32]> {
    let found: u64;
    let (a, b, c, d);
    // SAFETY: the request changes these five registers alone, and no memory.
    unsafe {
        asm!(
            "svc {number}",
            number = const NUMBER,
            inlateout("x0") argument => found,
            lateout("x1") a, lateout("x2") b, lateout("x3") c, lateout("x4") d,
            options(nostack, preserves_flags),
        );
    }
    (found == 1).then(|| bytes([a, b, c, d]))
}

/// Makes a request with the 17 registers x0 to x16, and stores them again afterwards.
///
/// # Safety
///
/// The request changes no other register, and no memory.
pub unsafe fn wide<const NUMBER: u64>(x: &mut [u64; 17]) {
    // SAFETY: the request changes these 17 registers alone, and no memory.
    unsafe {
        asm!(
            "svc {number}",
            number = const NUMBER,
            inlateout("x0") x[0], inlateout("x1") x[1], inlateout("x2") x[2],
            inlateout("x3") x[3], inlateout("x4") x[4], inlateout("x5") x[5],
            inlateout("x6") x[6], inlateout("x7") x[7], inlateout("x8") x[8],
            inlateout("x9") x[9], inlateout("x10") x[10], inlateout("x11") x[11],
            inlateout("x12") x[12], inlateout("x13") x[13], inlateout("x14") x[14],
            inlateout("x15") x[15], inlateout("x16") x[16],
            options(nostack, preserves_flags),
        );
    }
}

/// Bytes of words, big-endian, as the inner domain has them in registers.
pub fn bytes(words: [u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}
