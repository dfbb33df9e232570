// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values in consecutive registers: what a request of a compartment takes and gives.

use crate::declare::Documentation;

/// Registers that a request may take or give: x0 to x16. A program in C keeps an address in x17.
pub const MAX_REGISTERS: usize = 17;

/// A value that lies in registers from x0 on, field by field.
pub trait Registers: Sized {
    /// Fields of the type, in the order of their registers.
    const FIELDS: &'static [RegisterField];

    /// Registers that the value takes, 0 to [`MAX_REGISTERS`].
    const COUNT: usize;

    /// Reads the value from the words of registers x0, x1 and so on. A word that is not there is 0.
    fn from_words(words: &[u64]) -> Self;

    /// Writes the value to the words of its registers and leaves the others as they are.
    fn to_words(&self, words: &mut [u64]);
}

/// A field of a type that lies in [`Registers`].
#[derive(Clone, Copy, Debug)]
pub struct RegisterField {
    /// Name of the field.
    pub name: &'static str,
    /// The field's first register: 0 is x0.
    pub first: usize,
    /// Registers that the field takes: 1 for a number, a register for 8 bytes.
    pub count: usize,
    /// Whether the field is bytes, which registers hold as big-endian words.
    pub is_bytes: bool,
    /// What the field is.
    pub about: Documentation,
}

/// A type that a field in [`Registers`] may have: a number, or bytes by eights.
pub trait Field: Sized {
    /// Registers that the field takes.
    const COUNT: usize;
    /// Whether the field is bytes.
    const IS_BYTES: bool;
    /// A field whose registers are 0.
    const NONE: Self;

    /// Reads the field from the words of registers, of which `first` is the field's first one.
    fn read(words: &[u64], first: usize) -> Self;

    /// Writes the field to the words of registers.
    fn write(&self, words: &mut [u64], first: usize);
}

impl Field for u64 {
    const COUNT: usize = 1;
    const IS_BYTES: bool = false;
    const NONE: Self = 0;

    #[inline]
    fn read(words: &[u64], first: usize) -> Self {
        words.get(first).copied().unwrap_or(0)
    }

    #[inline]
    fn write(&self, words: &mut [u64], first: usize) {
        if let Some(word) = words.get_mut(first) {
            *word = *self;
        }
    }
}

impl<const BYTES: usize> Field for [u8; BYTES] {
    const COUNT: usize = {
        assert!(BYTES.is_multiple_of(8), "a register holds eight bytes");
        BYTES / 8
    };
    const IS_BYTES: bool = true;
    const NONE: Self = [0; BYTES];

    #[inline]
    fn read(words: &[u64], first: usize) -> Self {
        let mut bytes = [0; BYTES];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        for (index, chunk) in (first..).zip(chunks) {
            *chunk = u64::read(words, index).to_be_bytes();
        }
        bytes
    }

    #[inline]
    fn write(&self, words: &mut [u64], first: usize) {
        let (chunks, _) = self.as_chunks::<8>();
        for (index, chunk) in (first..).zip(chunks) {
            u64::from_be_bytes(*chunk).write(words, index);
        }
    }
}

/// The arguments and the reply of a request, for generated headers and tables.
#[derive(Clone, Copy, Debug)]
pub struct RegisterSignature {
    /// Name of the type of the arguments.
    pub takes: &'static str,
    /// Fields of the arguments.
    pub arguments: &'static [RegisterField],
    /// Name of the type of the reply.
    pub gives: &'static str,
    /// Fields of the reply.
    pub reply: &'static [RegisterField],
}

/// Declares types that lie in [`Registers`], with the documentation of each field.
macro_rules! registers {
    ($(
        $(#[doc = $doc:literal])+
        pub struct $type:ident {
            $(
                $(#[doc = $about:literal])+
                pub $field:ident: $kind:ty,
            )*
        }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type {
            $(
                $(#[doc = $about])+
                pub $field: $kind,
            )*
        }

        // Evaluated here, so that a type with too many registers is no type.
        const _: usize = <$type as $crate::registers::Registers>::COUNT;

        impl $type {
            /// A value whose words are all 0.
            pub const NONE: Self = Self { $($field: <$kind as $crate::registers::Field>::NONE),* };
        }

        impl $crate::registers::Registers for $type {
            const COUNT: usize = {
                let count = 0 $(+ <$kind as $crate::registers::Field>::COUNT)*;
                assert!(count <= $crate::registers::MAX_REGISTERS, "too many registers");
                count
            };

            const FIELDS: &'static [$crate::registers::RegisterField] = {
                #[allow(unused_mut, unused_assignments, unused_variables)]
                const FIELDS: &[$crate::registers::RegisterField] = &{
                    let mut first = 0;
                    [$({
                        let count = <$kind as $crate::registers::Field>::COUNT;
                        first += count;
                        $crate::registers::RegisterField {
                            name: stringify!($field),
                            first: first - count,
                            count,
                            is_bytes: <$kind as $crate::registers::Field>::IS_BYTES,
                            about: $crate::declare::Documentation(&[$($about),+]),
                        }
                    }),*]
                };
                FIELDS
            };

            #[inline]
            #[allow(unused_mut, unused_assignments, unused_variables)]
            fn from_words(words: &[u64]) -> Self {
                let mut first = 0;
                $(
                    let $field = <$kind as $crate::registers::Field>::read(words, first);
                    first += <$kind as $crate::registers::Field>::COUNT;
                )*
                Self { $($field),* }
            }

            #[inline]
            #[allow(unused_mut, unused_assignments, unused_variables)]
            fn to_words(&self, words: &mut [u64]) {
                let mut first = 0;
                $(
                    $crate::registers::Field::write(&self.$field, words, first);
                    first += <$kind as $crate::registers::Field>::COUNT;
                )*
            }
        }
    )+};
}

/// Declares the requests of compartments: an enum as from `numbers!`, and for each request a type
/// that is a [`Request`](crate::call::Request) with the types of its arguments and of its reply.
macro_rules! requests {
    (
        $(#[doc = $doc:literal])+
        pub enum $enum:ident in $module:ident {
            $(
                $(#[doc = $about:literal])+
                $name:ident = $number:literal { takes: $takes:ident, gives: $gives:ident }
            )+
        }
    ) => {
        $crate::declare::numbers! {
            $(#[doc = $doc])+
            pub enum $enum: u64 {
                $(
                    $(#[doc = $about])+
                    $name = $number,
                )+
            }
        }

        impl $enum {
            /// The registers of the arguments and of the reply.
            pub const fn signature(self) -> $crate::registers::RegisterSignature {
                match self {
                    $(Self::$name => $crate::registers::RegisterSignature {
                        takes: stringify!($takes),
                        arguments: <$takes as $crate::registers::Registers>::FIELDS,
                        gives: stringify!($gives),
                        reply: <$gives as $crate::registers::Registers>::FIELDS,
                    },)+
                }
            }
        }

        /// A type for each request, which names its number, its arguments and its reply.
        pub mod $module {
            $(
                $(#[doc = $about])+
                #[derive(Clone, Copy, Debug)]
                pub struct $name;

                impl super::Request for $name {
                    const NUMBER: u64 = $number;
                    type Arguments = super::$takes;
                    type Reply = super::$gives;
                }
            )+
        }
    };
}

pub(crate) use {registers, requests};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Transfer, VerifyArguments, VerifyReply};

    #[test]
    fn a_field_lies_behind_the_one_before() {
        let fields = VerifyArguments::FIELDS;
        let places = fields.iter().map(|it| (it.name, it.first, it.count));
        let expected = [
            ("code", 0, 4),
            ("measurement", 4, 4),
            ("limit", 8, 1),
            ("data", 9, 8),
        ];
        assert!(places.eq(expected));
        assert_eq!(VerifyArguments::COUNT, MAX_REGISTERS);
    }

    #[test]
    fn bytes_are_big_endian_words() {
        let mut words = [0; MAX_REGISTERS];
        let reply = VerifyReply {
            found: 1,
            started: core::array::from_fn(|it| it as u8),
            version: 2,
            ..VerifyReply::NONE
        };
        reply.to_words(&mut words);
        assert_eq!(
            words[..3],
            [1, 0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f]
        );
        assert_eq!(words[5], 2);
        assert_eq!(VerifyReply::from_words(&words), reply);
    }

    #[test]
    fn other_registers_keep_their_values() {
        let mut words = [7; MAX_REGISTERS];
        let transfer = Transfer {
            end: 1,
            address: 2,
            size: 3,
        };
        transfer.to_words(&mut words);
        assert_eq!(words[..4], [1, 2, 3, 7]);
        assert!(words[4..].iter().all(|it| *it == 7));
    }

    #[test]
    fn an_old_program_finds_no_facts_behind_a_verification() {
        let mut words = [7; MAX_REGISTERS];
        VerifyReply::NONE.to_words(&mut words);
        assert_eq!(words, [0; MAX_REGISTERS]);
    }
}
