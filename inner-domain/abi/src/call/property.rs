// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the VideoCore of a Raspberry Pi is asked on Linux's behalf ("Mailbox property interface",
//! Raspberry Pi's firmware documentation).

/// A tag on the list of PROPERTIES.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Number of the property.
    pub tag: u32,
    /// Whether the first word of its buffer says what is asked about.
    pub has_subject: bool,
}

const fn tag(tag: u32) -> Property {
    Property {
        tag,
        has_subject: false,
    }
}

const fn about(tag: u32) -> Property {
    Property {
        tag,
        has_subject: true,
    }
}

/// Tags that only ask. No answer is longer than 20 bytes. Linux knows the list and asks for no
/// other tag, so a refusal is no driver's.
pub const PROPERTIES: &[Property] = &[
    // Revision, variant and hash of the firmware.
    tag(0x0000_0001),
    tag(0x0000_0002),
    tag(0x0000_0003),
    // Model and revision of the board, MAC address, serial number.
    tag(0x0001_0001),
    tag(0x0001_0002),
    tag(0x0001_0003),
    tag(0x0001_0004),
    // Memory of the CPUs and of the VideoCore.
    tag(0x0001_0005),
    tag(0x0001_0006),
    // Power of a device, and how long the device needs to come up.
    about(0x0002_0001),
    about(0x0002_0002),
    // State and rate of a clock, its highest, lowest and measured one.
    about(0x0003_0001),
    about(0x0003_0002),
    about(0x0003_0004),
    about(0x0003_0007),
    about(0x0003_0047),
    // A voltage, its highest and lowest.
    about(0x0003_0003),
    about(0x0003_0005),
    about(0x0003_0008),
    // A temperature, and the highest.
    about(0x0003_0006),
    about(0x0003_000a),
    // State of a power domain.
    about(0x0003_0030),
    // Whether the power supply was too weak. Its word would say which bits to clear: none.
    tag(0x0003_0046),
    // Channels of the DMA engine that the firmware leaves alone.
    tag(0x0006_0001),
];
