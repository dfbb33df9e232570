// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macros that declare a number, a name and its documentation once.
//!
//! Each macro yields the Rust item and a description of it as data. `cargo xtask header` makes the
//! C header and the tables of `docs/idc.md` from the descriptions. The first paragraph of a
//! documentation comment becomes a comment in C and a cell of a table, so it is plain text without
//! links; further paragraphs are for Rust alone.

use core::fmt;

/// The documentation comment of an item, line by line.
#[derive(Clone, Copy, Debug)]
pub struct Documentation(pub &'static [&'static str]);

/// Writes the first paragraph as one line.
impl fmt::Display for Documentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.iter().map(|line| line.trim());
        for (number, line) in lines.take_while(|line| !line.is_empty()).enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            f.write_str(line)?;
        }
        Ok(())
    }
}

/// A constant that Linux uses.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Name in C, without the prefix `DONJON_`.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// What it is.
    pub about: Documentation,
}

/// The layout of a buffer: a `repr(C)` struct without padding.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Name of the type.
    pub name: &'static str,
    /// What it is.
    pub about: Documentation,
    /// Bytes of it.
    pub size: usize,
    /// Fields of the type, in order.
    pub fields: &'static [Field],
}

/// A field of a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name of the field.
    pub name: &'static str,
    /// Type of the field: `u32`, `u64` or `i64`.
    pub kind: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// What it is.
    pub about: Documentation,
}

/// Declares an enum of numbers: `Name = 1`, or `Name = 1 => "words for people"`.
///
/// The enum gets `ALL`, `from_number()`, `identifier()` and `about()`, and `words()` if it has
/// words.
macro_rules! numbers {
    (
        $(#[doc = $doc:literal])+
        pub enum $enum:ident: $repr:ident {
            $(
                $(#[doc = $about:literal])+
                $name:ident = $number:literal => $words:literal,
            )+
        }
    ) => {
        $crate::declare::numbers! {
            $(#[doc = $doc])+
            pub enum $enum: $repr {
                $(
                    $(#[doc = $about])+
                    $name = $number,
                )+
            }
        }

        impl $enum {
            /// Words for messages to people.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)+
                }
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        pub enum $enum:ident: $repr:ident {
            $(
                $(#[doc = $about:literal])+
                $name:ident = $number:literal,
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr($repr)]
        pub enum $enum {
            $(
                $(#[doc = $about])+
                $name = $number,
            )+
        }

        impl $enum {
            /// Every value, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The value with a number.
            pub const fn from_number(number: $repr) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The name in the declaration.
            pub const fn identifier(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// What it is.
            pub const fn about(self) -> $crate::declare::Documentation {
                match self {
                    $(Self::$name => $crate::declare::Documentation(&[$($about),+]),)+
                }
            }
        }
    };
}

/// Declares the functions of the interface: an enum as from [`numbers`], and for each function
/// its [`Signature`](crate::call::Signature).
macro_rules! functions {
    (
        $(#[doc = $doc:literal])+
        pub enum $enum:ident {
            $(
                $(#[doc = $about:literal])+
                $name:ident = $number:literal {
                    arguments: $arguments:expr,
                    value: $value:literal,
                    errors: [$($error:ident),*],
                    $(buffers: [$($buffer:ident),+],)?
                }
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
            /// Arguments, value, errors and buffers.
            pub const fn signature(self) -> $crate::call::Signature {
                match self {
                    $(Self::$name => $crate::call::Signature {
                        arguments: &$arguments,
                        value: $value,
                        errors: &[$($crate::call::Error::$error),*],
                        buffers: &[$($($buffer::LAYOUT),+)?],
                    },)+
                }
            }
        }
    };
}

/// Declares constants. One with `=> "NAME"` is in the C header, as `DONJON_NAME`; these are in
/// `CONSTANTS` as well.
macro_rules! constants {
    ($(
        $(#[doc = $about:literal])+
        pub const $constant:ident: $type:ty = $value:expr $(=> $name:literal)?;
    )+) => {
        $(
            $(#[doc = $about])+
            pub const $constant: $type = $value;
        )+

        /// The constants of this module that Linux uses; `None` for each of the others.
        pub const CONSTANTS: &[Option<$crate::declare::Constant>] = &[
            $($crate::declare::constants!(@entry [$($about),+] $constant $($name)?)),+
        ];
    };
    (@entry [$($about:literal),+] $constant:ident) => { None };
    (@entry [$($about:literal),+] $constant:ident $name:literal) => {
        Some($crate::declare::Constant {
            name: $name,
            value: $constant as u64,
            about: $crate::declare::Documentation(&[$($about),+]),
        })
    };
}

/// Declares the layouts of buffers. Each struct gets `LAYOUT`, and can be read from and written
/// as bytes, which the derives prove: it has no padding, and every pattern of bits is valid.
macro_rules! buffers {
    ($(
        $(#[doc = $doc:literal])+
        pub struct $buffer:ident {
            $(
                $(#[doc = $about:literal])+
                pub $field:ident: $type:ident,
            )+
        }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout,
        )]
        #[repr(C)]
        pub struct $buffer {
            $(
                $(#[doc = $about])+
                pub $field: $type,
            )+
        }

        impl $buffer {
            /// The layout, for C.
            pub const LAYOUT: $crate::declare::Layout = $crate::declare::Layout {
                name: stringify!($buffer),
                about: $crate::declare::Documentation(&[$($doc),+]),
                size: size_of::<$buffer>(),
                fields: &[$($crate::declare::Field {
                    name: stringify!($field),
                    kind: stringify!($type),
                    offset: core::mem::offset_of!($buffer, $field),
                    about: $crate::declare::Documentation(&[$($about),+]),
                }),+],
            };
        }
    )+};
}

pub(crate) use {buffers, constants, functions, numbers};
