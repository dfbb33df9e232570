// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions on a bus that answer as QEMU's do, and what is said of them.

use std::collections::BTreeMap;
use std::vec::Vec;

use crate::dma::pci::{BUS_SIZE, Bridge, Place, Refusal, Space, take_over};
use crate::range::Range;

const CONFIGURATION: u64 = 0x40_1000_0000;
const WINDOW: u64 = 0x1000_0000;

/// What a function is.
#[derive(Clone, Copy)]
struct Kind {
    identity: u32,
    class: u32,
    header: u32,
    /// The second word of the features, where it is a virtio device.
    features: Option<u32>,
    extended: u32,
    /// Whether it stays a bus master.
    is_stubborn: bool,
}

impl Kind {
    const PLAIN: Self = Self {
        identity: 0x0010_1b36,
        class: 0x0108_0000,
        header: 0,
        features: None,
        extended: 0,
        is_stubborn: false,
    };
    const HOST: Self = Self {
        identity: 0x0008_1b36,
        class: 0x0600_0000,
        ..Self::PLAIN
    };

    const fn virtio(device: u32, features: u32) -> Self {
        Self {
            identity: device << 16 | 0x1af4,
            class: 0x0200_0001,
            features: Some(features),
            ..Self::PLAIN
        }
    }
}

/// A function with the words of its configuration space that can be written.
struct Function {
    kind: Kind,
    command: u32,
    bar: u64,
    status: u8,
    select: u32,
}

/// A bus, by the number of a function: bus, device and function.
struct Bus {
    functions: BTreeMap<u64, Function>,
}

impl Bus {
    fn new(functions: &[(u64, Kind)]) -> Self {
        let function = |(number, kind): &(u64, Kind)| {
            let left = Function {
                kind: *kind,
                // Firmware left it running.
                command: 0b111,
                bar: 0,
                status: 0xf,
                select: 0,
            };
            (*number, left)
        };
        let host = (0, Kind::HOST);
        Self {
            functions: functions.iter().chain([&host]).map(function).collect(),
        }
    }

    /// The function whose virtio registers are at an address, and the offset there.
    fn decoded(&mut self, address: u64) -> Option<(&mut Function, u64)> {
        self.functions.values_mut().find_map(|it| {
            let offset = address.checked_sub(it.bar & !0xf)?;
            let is_decoded = it.command & 2 != 0 && it.bar >= WINDOW && offset < 0x4000;
            (is_decoded && it.kind.features.is_some()).then_some((it, offset))
        })
    }
}

/// The offset of an address in configuration space.
fn configuration(address: u64) -> Option<u64> {
    let offset = address.checked_sub(CONFIGURATION)?;
    (offset < 4 * BUS_SIZE).then_some(offset)
}

impl Space for Bus {
    fn read(&self, address: u64) -> u32 {
        let Some(offset) = configuration(address) else {
            let it = self.functions.values().find(|it| {
                it.command & 2 != 0 && (it.bar & !0xf..(it.bar & !0xf) + 0x4000).contains(&address)
            });
            let it = it.expect("something that is decoded");
            if address & 0xfff == 0x14 {
                return u32::from(it.status);
            }
            assert_eq!(address & 0xfff, 4, "features and status alone are read");
            return if it.select == 1 {
                it.kind.features.unwrap_or(0)
            } else {
                u32::MAX
            };
        };
        let Some(it) = self.functions.get(&(offset >> 12)) else {
            return u32::MAX;
        };
        match offset & 0xfff {
            0x00 => it.kind.identity,
            0x04 => it.command | 0x0010_0000,
            0x08 => it.kind.class,
            0x0c => it.kind.header << 16,
            0x20 => it.bar as u32 | 0xc,
            0x24 => (it.bar >> 32) as u32,
            0x34 => 0x98,
            // MSI-X, which leads to the common configuration.
            0x98 => 0x0003_8411,
            0x84 if it.kind.features.is_some() => 0x0110_0009,
            0x88 => 4,
            0x8c => 0,
            0x100 => it.kind.extended,
            _ => 0,
        }
    }

    fn write(&mut self, address: u64, value: u32) {
        let Some(offset) = configuration(address) else {
            let (it, offset) = self.decoded(address).expect("something that is decoded");
            assert_eq!(offset, 0, "the selector alone is written");
            it.select = value;
            return;
        };
        let it = self.functions.get_mut(&(offset >> 12)).expect("a function");
        match offset & 0xfff {
            0x04 if it.kind.is_stubborn => it.command = value | 4,
            0x04 => it.command = value,
            0x20 => it.bar = it.bar & !0xffff_ffff | u64::from(value & !0xf),
            0x24 => it.bar = it.bar & 0xffff_ffff | u64::from(value) << 32,
            other => panic!("{other:#x} was written"),
        }
    }

    fn write_byte(&mut self, address: u64, value: u8) {
        let (it, offset) = self.decoded(address).expect("something that is decoded");
        assert_eq!(offset, 0x14, "the status alone is written as a byte");
        it.status = value;
    }
}

const PLATFORM: u32 = 0b11;

fn judged(functions: &[(u64, Kind)]) -> (Bus, Result<(), Refusal>) {
    let mut bus = Bus::new(functions);
    let bridge = Bridge {
        configuration: Range::with_size(CONFIGURATION, 4 * BUS_SIZE).expect("a range"),
        window: Range::with_size(WINDOW, 0x2eff_0000).expect("a range"),
    };
    let said = take_over(&mut bus, &bridge);
    (bus, said)
}

fn place(bus: u8, device: u8, function: u8) -> Place {
    Place {
        bus,
        device,
        function,
    }
}

/// The number of a function.
const fn number(bus: u64, device: u64, function: u64) -> u64 {
    bus << 8 | device << 3 | function
}

#[test]
fn functions_that_go_through_are_accepted_and_silent() {
    let functions: Vec<_> = [0x1041, 0x1042, 0x1043, 0x1044, 0x1048]
        .into_iter()
        .enumerate()
        .map(|(index, it)| (number(0, index as u64 + 1, 0), Kind::virtio(it, PLATFORM)))
        .collect();
    let (bus, said) = judged(&functions);
    assert_eq!(said, Ok(()));
    for (number, it) in &bus.functions {
        assert_eq!(it.command & 4, 0, "{number:#x} is a bus master");
        assert_eq!(it.bar, 0, "the BAR of {number:#x} is not as it was");
        assert!(
            it.kind.features.is_none() || it.status == 0,
            "{number:#x} runs"
        );
    }
}

#[test]
fn a_bar_that_firmware_assigned_stays() {
    // One that is reached, and one behind what the boot stage reaches.
    for assigned in [WINDOW + 0x20_0000, 0x80_0000_4000] {
        stays(assigned);
    }
}

fn stays(assigned: u64) {
    let mut bus = Bus::new(&[(number(0, 2, 0), Kind::virtio(0x1042, PLATFORM))]);
    let function = bus.functions.get_mut(&number(0, 2, 0)).expect("there");
    function.bar = assigned;
    let bridge = Bridge {
        configuration: Range::with_size(CONFIGURATION, BUS_SIZE).expect("a range"),
        window: Range::with_size(WINDOW, 0x2eff_0000).expect("a range"),
    };
    assert_eq!(take_over(&mut bus, &bridge), Ok(()));
    let function = &bus.functions[&number(0, 2, 0)];
    assert_eq!((function.bar, function.status), (assigned, 0));
}

#[test]
fn what_may_go_around_is_named() {
    let of = |number: u64, kind: Kind| judged(&[(number, kind)]).1.expect_err("a refusal");
    let at = number(0, 2, 0);
    let here = place(0, 2, 0);
    let without = Kind::virtio(0x1042, 1);
    assert_eq!(of(at, without), Refusal::GoesAround(here));
    // A function 1 without a function 0.
    assert_eq!(
        of(number(0, 5, 1), without),
        Refusal::GoesAround(place(0, 5, 1))
    );
    let balloon = Kind::virtio(0x1045, PLATFORM);
    assert_eq!(of(at, balloon), Refusal::Balloon(here));
    for kind in [0x1040, 0x1046, 0x1053, 0x105a, 0x1069, 0x107f] {
        let refusal = of(at, Kind::virtio(kind, PLATFORM));
        assert_eq!(refusal, Refusal::VirtioKind(here, kind as u16 - 0x1040));
    }
    let legacy = Kind::virtio(0x1001, PLATFORM);
    assert_eq!(of(at, legacy), Refusal::LegacyVirtio(here, 0x1001));
    let silent = Kind {
        features: None,
        ..Kind::virtio(0x1042, 0)
    };
    assert_eq!(of(at, silent), Refusal::NoRegisters(here));
    let bridge = Kind {
        header: 1,
        ..Kind::PLAIN
    };
    assert_eq!(of(at, bridge), Refusal::Bridge(here));
    let many = Kind {
        header: 0x81,
        ..Kind::PLAIN
    };
    assert_eq!(of(at, many), Refusal::Bridge(here));
    // An expander has a header of type 0.
    assert_eq!(of(at, Kind::HOST), Refusal::SecondHost(here));
    let virtual_functions = Kind {
        extended: 0x0001_0010,
        ..Kind::PLAIN
    };
    assert_eq!(of(at, virtual_functions), Refusal::VirtualFunctions(here));
    let endless = Kind {
        extended: 0x1000_0001,
        ..Kind::PLAIN
    };
    assert_eq!(of(at, endless), Refusal::VirtualFunctions(here));
    let other = Refusal::NoRule(here, 0x1b36, 0x10);
    assert_eq!(of(at, Kind::PLAIN), other);
    let stubborn = Kind {
        is_stubborn: true,
        ..Kind::virtio(0x1042, PLATFORM)
    };
    assert_eq!(of(at, stubborn), Refusal::Loud(here));
    assert_eq!(
        of(number(3, 1, 0), Kind::PLAIN),
        Refusal::OtherBus(place(3, 1, 0))
    );
}

#[test]
fn a_configuration_space_that_cannot_be_read_is_no_empty_bus() {
    let mut bus = Bus::new(&[]);
    let bridge = Bridge {
        // Behind what answers.
        configuration: Range::with_size(CONFIGURATION + BUS_SIZE, BUS_SIZE).expect("a range"),
        window: Range::with_size(WINDOW, 0x2eff_0000).expect("a range"),
    };
    assert_eq!(take_over(&mut bus, &bridge), Err(Refusal::NoHost));
}

#[test]
fn all_functions_are_silenced_even_if_one_is_refused() {
    let functions = [
        (number(0, 1, 0), Kind::virtio(0x1045, PLATFORM)),
        (number(0, 2, 0), Kind::virtio(0x1042, PLATFORM)),
        (number(2, 2, 0), Kind::PLAIN),
    ];
    let (bus, said) = judged(&functions);
    assert_eq!(said, Err(Refusal::Balloon(place(0, 1, 0))));
    assert!(bus.functions.values().all(|it| it.command & 4 == 0));
    let running = |number| bus.functions[&number].status != 0;
    assert!(!running(number(0, 1, 0)) && !running(number(0, 2, 0)));
}
