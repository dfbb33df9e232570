// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to the inner domain: an SVC with arguments and a reply in registers.

use core::arch::asm;

use donjon_abi::call::Request;
use donjon_abi::registers::{MAX_REGISTERS, Registers};

/// Registers of the requests that take and give few.
const FEW: usize = 5;

/// Makes a request.
///
/// # Safety
///
/// The request changes no memory that something refers to as unchanging.
#[inline(always)]
pub unsafe fn ask<R: Request>(arguments: &R::Arguments) -> R::Reply {
    if R::Arguments::COUNT <= FEW && R::Reply::COUNT <= FEW {
        let mut x = [0; FEW];
        arguments.to_words(&mut x);
        // SAFETY: the request changes the registers of its reply, which are among these five, and
        // memory as the caller allows.
        unsafe {
            asm!(
                "svc {number}",
                number = const R::NUMBER,
                inlateout("x0") x[0], inlateout("x1") x[1], inlateout("x2") x[2],
                inlateout("x3") x[3], inlateout("x4") x[4],
                options(nostack, preserves_flags),
            );
        }
        return R::Reply::from_words(&x);
    }
    let mut x = [0; MAX_REGISTERS];
    arguments.to_words(&mut x);
    // SAFETY: the request changes the registers of its reply, which are among these 17, and memory
    // as the caller allows.
    unsafe {
        asm!(
            "svc {number}",
            number = const R::NUMBER,
            inlateout("x0") x[0], inlateout("x1") x[1], inlateout("x2") x[2],
            inlateout("x3") x[3], inlateout("x4") x[4], inlateout("x5") x[5],
            inlateout("x6") x[6], inlateout("x7") x[7], inlateout("x8") x[8],
            inlateout("x9") x[9], inlateout("x10") x[10], inlateout("x11") x[11],
            inlateout("x12") x[12], inlateout("x13") x[13], inlateout("x14") x[14],
            inlateout("x15") x[15], inlateout("x16") x[16],
            options(nostack, preserves_flags),
        );
    }
    R::Reply::from_words(&x)
}
