// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a call begins.

use donjon_abi::call::{Request, requests};

/// The number of the SVC that ends a call.
pub const RETURN: u64 = requests::Return::NUMBER;

/// What a program says about itself, in a note of its image.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Frames that it may have, its tables included.
    pub limit: u64,
    /// Pages that it shares with its host, at most 512.
    pub shared_pages: u64,
    /// Pages of its stack.
    pub stack_pages: u64,
}

impl Program {
    /// What holds unless a program says something else.
    pub const DEFAULT: Self = Self {
        limit: 64,
        shared_pages: 1,
        stack_pages: 4,
    };
}

/// Names the function that is one call, `fn([u64; 4]) -> u64`, and then those numbers of
/// [`Program`] that are others than its default:
///
/// ```ignore
/// entry!(call, limit: 128, stack_pages: 8);
/// ```
#[macro_export]
macro_rules! entry {
    ($function:path $(, $name:ident: $value:expr)* $(,)?) => {
        #[allow(clippy::needless_update)]
        const DONJON_PROGRAM: $crate::Program = $crate::Program {
            $($name: $value,)*
            ..$crate::Program::DEFAULT
        };

        extern "C" fn donjon_call(a: u64, b: u64, c: u64, d: u64) -> u64 {
            let function: fn([u64; 4]) -> u64 = $function;
            function([a, b, c, d])
        }

        $crate::start!(donjon_call);

        ::core::arch::global_asm!(
            r#"
            .section .bss.donjon_stack, "aw", %nobits
            .balign 4096
            .skip {stack_bytes}
        .Ldonjon_stack_end:

            .section .note.donjon, "a", %note
            .balign 4
            .word 7, 32, 1
            .asciz "Donjon"
            .balign 4
            .quad {limit}, {shared_pages}, .Ldonjon_stack_end, {stack_bytes}

            .section .rodata.donjon_shared_pages, "a"
            .balign 8
            .global donjon_shared_pages
        donjon_shared_pages:
            .quad {shared_pages}
            .text
            "#,
            limit = const DONJON_PROGRAM.limit,
            shared_pages = const DONJON_PROGRAM.shared_pages,
            stack_bytes = const DONJON_PROGRAM.stack_pages * $crate::PAGE,
        );
    };
}

/// Writes how a call begins and ends. The stack pointer and the arguments are there, everything
/// else is zero.
#[cfg(not(donjon_flow))]
#[doc(hidden)]
#[macro_export]
macro_rules! start {
    ($call:path) => {
        ::core::arch::global_asm!(
            r#"
            .section .text.donjon_start, "ax"
            .global _start
        _start:
            bl {call}
            svc #{over}
            .text
            "#,
            call = sym $call,
            over = const $crate::RETURN,
        );
    };
}

/// Names the function that `xtask/flow/runtime/start.S` calls: a call under flow attestation begins
/// and ends there.
#[cfg(donjon_flow)]
#[doc(hidden)]
#[macro_export]
macro_rules! start {
    ($call:path) => {
        #[unsafe(export_name = "donjon_call")]
        extern "C" fn donjon_attested_call(a: u64, b: u64, c: u64, d: u64) -> u64 {
            $call(a, b, c, d)
        }
    };
}
