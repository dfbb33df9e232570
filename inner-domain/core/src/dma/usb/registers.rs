// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers of the USB controller, and what Linux may write to each (Linux has the same offsets
//! in `drivers/usb/dwc2/hw.h`).

/// Most channels of a controller. Each transfers for one endpoint at a time.
pub const CHANNELS: usize = 16;
/// Bytes of the registers. Behind them there are windows to the FIFOs: who writes those can change
/// the addresses of channels, which are kept in the same memory.
pub const SIZE: u64 = 0x1000;

/// Offsets of the registers that all channels share, and of the first channel's and endpoint's.
pub mod offset {
    /// Control of roles.
    pub const GOTGCTL: u64 = 0x0;
    /// Interrupts of roles.
    pub const GOTGINT: u64 = 0x4;
    /// Control of the bus to memory.
    pub const GAHBCFG: u64 = 0x8;
    /// Control of the bus to devices.
    pub const GUSBCFG: u64 = 0xc;
    /// Resets.
    pub const GRSTCTL: u64 = 0x10;
    /// Interrupts.
    pub const GINTSTS: u64 = 0x14;
    /// Enables of interrupts.
    pub const GINTMSK: u64 = 0x18;
    /// Size of the FIFO for what is received, which begins at word 0.
    pub const GRXFSIZ: u64 = 0x24;
    /// Start and size of the FIFO for what is sent.
    pub const GNPTXFSIZ: u64 = 0x28;
    /// Kind and version of the controller.
    pub const GSNPSID: u64 = 0x40;
    /// What the controller implements.
    pub const GHWCFG2: u64 = 0x48;
    /// Start and size of the FIFO for what is sent in each frame.
    pub const HPTXFSIZ: u64 = 0x100;
    /// Control of the host.
    pub const HCFG: u64 = 0x400;
    /// Length of a frame.
    pub const HFIR: u64 = 0x404;
    /// Enables of the interrupts of channels.
    pub const HAINTMSK: u64 = 0x418;
    /// Control of the port.
    pub const HPRT0: u64 = 0x440;
    /// Registers of the first channel.
    pub const CHANNEL: u64 = 0x500;
    /// Control of clocks.
    pub const PCGCTL: u64 = 0xe00;
}

/// Offsets of the registers of a channel, from [`channel`] on.
pub mod within {
    /// Control: HCCHAR.
    pub const CONTROL: u64 = 0x0;
    /// Transactions that a hub splits: HCSPLT.
    pub const SPLIT: u64 = 0x4;
    /// Interrupts: HCINT.
    pub const INTERRUPTS: u64 = 0x8;
    /// Enables of interrupts: HCINTMSK.
    pub const ENABLES: u64 = 0xc;
    /// Bytes and packets: HCTSIZ.
    pub const AMOUNT: u64 = 0x10;
    /// Where memory is read or written: HCDMA.
    pub const ADDRESS: u64 = 0x14;
}

/// Bytes of the registers of one channel.
const STRIDE: u64 = 0x20;
/// `GRSTCTL.CSFTRST`: resets the controller.
pub const RESET: u32 = 1;
/// `GRSTCTL.AHBIDLE`: nothing is on its way to memory.
pub const IDLE: u32 = 1 << 31;
/// `GAHBCFG.DMAEN`: channels access memory.
pub const DMA: u32 = 1 << 5;
/// `GINTSTS.CURMOD`: the controller is a host.
pub const HOST: u32 = 1;
/// `GUSBCFG.FORCEHSTMODE`: the controller is a host whatever its pins say.
pub const FORCE_HOST: u32 = 1 << 29;
/// `HCFG.DESCDMA`: addresses stand in memory.
pub const DESCRIPTORS: u32 = 1 << 23;
/// `HCCHAR.CHENA`: transfers.
pub const ENABLE: u32 = 1 << 31;
/// `HCCHAR.CHDIS`: ends what is transferred.
pub const DISABLE: u32 = 1 << 30;
/// `HCCHAR.EPDIR`: to memory.
pub const IN: u32 = 1 << 15;
/// All interrupts of a channel.
pub const ALL_INTERRUPTS: u32 = 0x3fff;

/// The FIFOs, one behind the other: 1,542 of some 4,000 words. At the end of that memory the
/// controller keeps the addresses of channels, and what it receives begins with words that say how
/// much goes to memory, and for which channel. So no FIFO reaches that end, or over another one. A
/// reset gives other sizes.
pub const FIFOS: [(u64, u32); 3] = [
    (offset::GRXFSIZ, RECEIVED),
    (offset::GNPTXFSIZ, SENT),
    (offset::HPTXFSIZ, SENT_IN_FRAMES),
];
const RECEIVED: u32 = 774;
const SENT: u32 = 256 << 16 | 774;
const SENT_IN_FRAMES: u32 = 512 << 16 | 1030;

/// What is written to a register for Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The first bits of Linux's value, and the second ones beside.
    Bits(u32, u32),
    /// Bits of Linux's value, while no channel transfers.
    Quiet(u32),
    /// The first bits of Linux's value at any time, and the second ones while no channel transfers.
    PartlyQuiet(u32, u32),
    /// A value of the inner domain's, whatever Linux's is, while no channel transfers.
    Fixed(u32),
    /// The control of a channel: an end of its transfer, and nothing else.
    Control(usize),
}

/// The rule for the register at an offset; none if Linux may not write it.
pub const fn rule(at: u64) -> Option<Rule> {
    const ALL: Rule = Rule::Bits(u32::MAX, 0);
    let rule = match at {
        offset::GOTGINT
        | offset::GINTSTS
        | offset::GINTMSK
        | offset::HFIR
        | offset::HAINTMSK
        | offset::HPRT0 => ALL,
        // What overrides the pin for power on the bus.
        offset::GOTGCTL => Rule::Bits(0b1100, 0),
        // Interrupts, and when a FIFO counts as empty, at any time; bursts and DMA.
        offset::GAHBCFG => Rule::PartlyQuiet(0x181, 0x3e),
        // Never a device, by roles that change or by force; no packet that is wrong on purpose.
        offset::GUSBCFG => Rule::Bits(0x1fff_fcff, FORCE_HOST),
        // Reset of the controller, and which FIFOs are emptied.
        offset::GRSTCTL => Rule::Quiet(0x7f1),
        offset::GRXFSIZ => Rule::Fixed(RECEIVED),
        offset::GNPTXFSIZ => Rule::Fixed(SENT),
        offset::HPTXFSIZ => Rule::Fixed(SENT_IN_FRAMES),
        // Clocks and speeds; no lists in memory.
        offset::HCFG => Rule::Bits(0xff87, 0),
        // A register that has no clock does not become what is written.
        offset::PCGCTL => Rule::Bits(0, 0),
        _ => return channel_rule(at),
    };
    Some(rule)
}

const fn channel_rule(at: u64) -> Option<Rule> {
    let Some(from_first) = at.checked_sub(offset::CHANNEL) else {
        return None;
    };
    let index = (from_first / STRIDE) as usize;
    if index >= CHANNELS {
        return None;
    }
    match from_first % STRIDE {
        within::CONTROL => Some(Rule::Control(index)),
        within::INTERRUPTS | within::ENABLES => Some(Rule::Bits(u32::MAX, 0)),
        _ => None,
    }
}

/// Offset of the registers of a channel.
pub const fn channel(index: usize) -> u64 {
    offset::CHANNEL + STRIDE * index as u64
}

/// How many channels there are, by [`offset::GHWCFG2`].
pub const fn count(configuration: u32) -> usize {
    (configuration >> 14 & 0xf) as usize + 1
}
