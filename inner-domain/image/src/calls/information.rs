// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about the inner domain.

use donjon_abi::call::{Error, Information};
use donjon_abi::layout::{PAGE_SIZE, TEXT_WINDOW};
use donjon_core::report::waits;

use crate::outcome::{Arguments, Outcome};
use crate::{domain, gate, heap, state};

unsafe extern "C" {
    /// From the linker script: end of the text, the gate's two pages aside.
    static donjon_text_end: u8;
}

/// Reads one fact about the inner domain.
pub fn information([which, ..]: &Arguments) -> Outcome {
    let machine = state::machine().ok_or(Error::Busy)?;
    let boot = &machine.boot;
    let which = Information::from_number(*which).ok_or(Error::InvalidArgument)?;
    Ok(match which {
        Information::Release => release(),
        Information::SwitchMode => gate::SWITCH_MODE as u64,
        Information::Cpus => machine.cpus.count() as u64,
        Information::MemoryStart => boot.region.start,
        Information::MemorySize => boot.region.end - boot.region.start,
        Information::TextSize => text_size(),
        Information::HeapFree => heap::HEAP.free() as u64,
        Information::Digest0 => boot.digest[0],
        Information::Digest1 => boot.digest[1],
        Information::Digest2 => boot.digest[2],
        Information::Digest3 => boot.digest[3],
        Information::Weakened => gate::left_out(),
        Information::CpuMask => machine.cpus.mask(),
        Information::TlbiPages => boot.tlbi_pages,
        Information::WaitsDomain => waits::checks(waits::DOMAIN),
        Information::WaitsTrees => waits::checks(waits::TREES),
        Information::WaitsArena => waits::checks(waits::ARENA),
        Information::DmaProfile => boot.dma_profile,
        Information::Identity => boot.identity,
        Information::Randomness => boot.randomness,
        Information::PrivateFree => domain::lock()?.pools.private().1.free(),
    })
}

/// Text and read-only data, with the gate's page on either side of the boundary.
fn text_size() -> u64 {
    (&raw const donjon_text_end) as u64 - TEXT_WINDOW + 2 * PAGE_SIZE
}

/// The package version, 16 bits a part.
pub const fn release() -> u64 {
    const fn part(text: &str) -> u64 {
        let digits = text.as_bytes();
        let mut value = 0;
        let mut at = 0;
        while at < digits.len() {
            value = value * 10 + (digits[at] - b'0') as u64;
            at += 1;
        }
        value
    }
    part(env!("CARGO_PKG_VERSION_MAJOR")) << 32
        | part(env!("CARGO_PKG_VERSION_MINOR")) << 16
        | part(env!("CARGO_PKG_VERSION_PATCH"))
}
