// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a channel of the USB controller reads or writes, by its registers.

use super::registers::{DISABLE, ENABLE, IN};
use crate::devices::Window;
use crate::dma::window::{Access, DeviceWindow};
use crate::range::Range;

/// `HCCHAR.MPS`: bytes of a packet at most.
const PACKET: u32 = 0x7ff;
/// `HCTSIZ.XFERSIZE`: bytes.
const BYTES: u32 = 0x7_ffff;
/// `HCTSIZ.PKTCNT`: packets.
const PACKETS: u32 = 0x3ff << 19;
/// Bytes that the controller transfers at once: it ignores lower bits of an address.
const WORD: u64 = 4;
/// Bytes of the longest packet. Nothing that is not reached begins so close behind a transfer to
/// memory: a packet may come that is longer than what is asked for.
pub const SLACK: u64 = 2048;

/// A transfer of a channel, as its registers have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Control of the channel, without the bits that start and stop.
    pub control: u32,
    /// Bytes and packets.
    pub amount: u32,
    /// Address on the bus of the controller.
    pub address: u32,
    /// Transactions that a hub splits.
    pub split: u32,
}

impl Transfer {
    /// Bytes that are read or written; none for other packets than those bytes need, or packets of
    /// no bytes, of which the controller's behaviour is not known. To memory go whole packets.
    pub fn bytes(&self) -> Option<u64> {
        let packet = self.control & PACKET;
        let packets = (self.amount & PACKETS) >> PACKETS.trailing_zeros();
        let bytes = self.amount & BYTES;
        let is_started = self.control & (ENABLE | DISABLE) != 0;
        if is_started || packet == 0 || packets != bytes.div_ceil(packet).max(1) {
            return None;
        }
        if self.is_in() {
            Some(u64::from(packets * packet))
        } else {
            Some(u64::from(bytes))
        }
    }

    /// Whether memory is written.
    pub const fn is_in(&self) -> bool {
        self.control & IN != 0
    }

    /// Whether devices reach all of `bytes` from the address on, and `loose` ones more: the latter
    /// may be written at the address before the transfer begins, which then begins behind them.
    /// `bus` says where memory is on the controller's bus.
    pub fn is_allowed(&self, bytes: u64, loose: u64, window: &DeviceWindow, bus: Window) -> bool {
        let (access, slack) = if loose != 0 || self.is_in() {
            (Access::ReadWrite, SLACK)
        } else {
            (Access::Read, 0)
        };
        if bytes + loose == 0 {
            return true;
        }
        let address = u64::from(self.address);
        let end = (address + bytes + loose).next_multiple_of(WORD) + slack;
        let range = Range::new(address & !(WORD - 1), end);
        let range = range.and_then(|it| bus.translate(it));
        range.is_some_and(|it| window.allows(it, access))
    }
}
