// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions and pull resistors of a Raspberry Pi's pins (BCM2835 ARM Peripherals, 6.1 and 6.2;
//! BCM2711 ARM Peripherals, 5.2 and 5.3).
//!
//! One function of some pins is the debug port of the cores (JTAG). Pull resistors act on a pad
//! whatever its function is, and each pad's level can be read: who has these registers can lead the
//! port to pins, drive its inputs and read its output, without a cable. So Linux gets them in the
//! DMA profile that is open alone. In the profile strict the boot stage gives the pins of Linux's
//! devices their functions, once.

/// A chip with pins of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// Controller of the Raspberry Pi 1 to 3.
    Bcm2835,
    /// Controller of the Raspberry Pi 4.
    Bcm2711,
}

/// Offset of the first function select. Each has ten pins of three bits.
const SELECT: u64 = 0x0;
/// Offset of GPPUD, which says what the next clock does to pull resistors.
const PULL: u64 = 0x94;
/// Offset of GPPUDCLK0: a clock for each of 32 pins.
const PULL_CLOCK: u64 = 0x98;
/// Offset of GPIO_PUP_PDN_CNTRL_REG0. Each has sixteen pins of two bits.
const PULL_SELECT: u64 = 0xe4;

/// Values of a function select for the alternate functions 4 and 5.
const ALT4: u32 = 0b011;
const ALT5: u32 = 0b010;

impl Chip {
    /// The chip whose pin controller has this `compatible`.
    pub fn of(compatible: &str) -> Option<Self> {
        match compatible {
            "brcm,bcm2835-gpio" => Some(Self::Bcm2835),
            "brcm,bcm2711-gpio" => Some(Self::Bcm2711),
            _ => None,
        }
    }

    /// How many pins it has.
    pub const fn pins(self) -> u32 {
        match self {
            Self::Bcm2835 => 54,
            Self::Bcm2711 => 58,
        }
    }

    /// Whether this value of a pin's function select leads a signal of the debug port to it.
    pub const fn is_debug_port(self, pin: u32, function: u32) -> bool {
        match function {
            ALT4 => matches!((self, pin), (_, 22..=27) | (Self::Bcm2711, 48..=53)),
            ALT5 => matches!((self, pin), (Self::Bcm2835, 4..=6 | 12..=13)),
            _ => false,
        }
    }

    /// The value of a pin's function select. `read` reads the register at an offset.
    fn function(self, pin: u32, read: &dyn Fn(u64) -> u32) -> u32 {
        let (offset, shift) = select(pin);
        read(offset) >> shift & 0b111
    }

    /// The first pin that has a function of the debug port. `read` reads the register at an offset.
    pub fn debug_port(self, read: &dyn Fn(u64) -> u32) -> Option<u32> {
        (0..self.pins()).find(|pin| self.is_debug_port(*pin, self.function(*pin, read)))
    }
}

const fn select(pin: u32) -> (u64, u32) {
    (SELECT + (pin / 10 * 4) as u64, pin % 10 * 3)
}

/// A pull resistor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// No resistor.
    Off,
    /// Resistor to ground.
    Down,
    /// Resistor to the supply.
    Up,
}

/// Registers of a pin controller.
pub trait Registers {
    /// Reads the register of 32 bits at an offset.
    fn read(&self, offset: u64) -> u32;
    /// Writes the register of 32 bits at an offset.
    fn write(&mut self, offset: u64, value: u32);
    /// Waits for at least 150 cycles of the VideoCore's clock of 250 MHz.
    fn wait(&mut self);
}

/// What a pin is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    chip: Chip,
    pin: u32,
    function: u32,
    pull: Option<Pull>,
}

impl Setting {
    /// A pin with the value of its function select, and of its pull resistor as the property
    /// `brcm,pull` has it. None if there is no such pin or value, or if it is the debug port's.
    pub fn new(chip: Chip, pin: u32, function: u32, pull: Option<u32>) -> Option<Self> {
        let pull = match pull {
            None => None,
            Some(0) => Some(Pull::Off),
            Some(1) => Some(Pull::Down),
            Some(2) => Some(Pull::Up),
            Some(_) => return None,
        };
        let is_sound = pin < chip.pins() && function < 8 && !chip.is_debug_port(pin, function);
        is_sound.then_some(Self {
            chip,
            pin,
            function,
            pull,
        })
    }

    /// Gives the pin its pull resistor and its function.
    pub fn apply(self, registers: &mut impl Registers) {
        if let Some(pull) = self.pull {
            self.apply_pull(pull, registers);
        }
        let (offset, shift) = select(self.pin);
        let old = registers.read(offset);
        let new = old & !(0b111 << shift) | self.function << shift;
        if new != old {
            registers.write(offset, new);
        }
    }

    fn apply_pull(self, pull: Pull, registers: &mut impl Registers) {
        match self.chip {
            Chip::Bcm2835 => {
                let clock = PULL_CLOCK + u64::from(self.pin / 32 * 4);
                registers.write(PULL, pull as u32);
                registers.wait();
                registers.write(clock, 1 << (self.pin % 32));
                registers.wait();
                registers.write(PULL, 0);
                registers.write(clock, 0);
            }
            Chip::Bcm2711 => {
                let offset = PULL_SELECT + u64::from(self.pin / 16 * 4);
                let shift = self.pin % 16 * 2;
                let value = match pull {
                    Pull::Off => 0,
                    Pull::Up => 1,
                    Pull::Down => 2,
                };
                let old = registers.read(offset);
                registers.write(offset, old & !(0b11 << shift) | value << shift);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    /// Registers that hold what was written, and what was written in order.
    struct Recorded {
        words: [u32; 64],
        written: Vec<(u64, u32)>,
        waits: usize,
    }

    impl Default for Recorded {
        fn default() -> Self {
            Self {
                words: [0; 64],
                written: Vec::new(),
                waits: 0,
            }
        }
    }

    impl Registers for Recorded {
        fn read(&self, offset: u64) -> u32 {
            self.words[offset as usize / 4]
        }

        fn write(&mut self, offset: u64, value: u32) {
            self.words[offset as usize / 4] = value;
            self.written.push((offset, value));
        }

        fn wait(&mut self) {
            self.waits += 1;
        }
    }

    const CHIPS: [Chip; 2] = [Chip::Bcm2835, Chip::Bcm2711];

    #[test]
    fn no_setting_leads_the_debug_port_to_a_pin() {
        for pin in 22..=27 {
            for chip in CHIPS {
                assert_eq!(Setting::new(chip, pin, 0b011, None), None, "{pin}");
                assert!(Setting::new(chip, pin, 0b100, None).is_some());
            }
        }
        for pin in 48..=53 {
            assert_eq!(Setting::new(Chip::Bcm2711, pin, 0b011, None), None);
            // The SD card of the older chip stands beside it, by another function.
            assert!(Setting::new(Chip::Bcm2835, pin, 0b011, None).is_some());
        }
        for pin in [4, 5, 6, 12, 13] {
            assert_eq!(Setting::new(Chip::Bcm2835, pin, 0b010, None), None);
            // Buses of the newer chip.
            assert!(Setting::new(Chip::Bcm2711, pin, 0b010, None).is_some());
        }
        // All settings at once, in any order, leave no pin with a function of it.
        for chip in CHIPS {
            let mut registers = Recorded::default();
            for (pin, function) in (0..64).flat_map(|pin| (0..16).map(move |it| (pin, it))) {
                if let Some(setting) = Setting::new(chip, pin, function, None) {
                    setting.apply(&mut registers);
                }
                assert_eq!(chip.debug_port(&|offset| registers.read(offset)), None);
            }
        }
    }

    #[test]
    fn a_debug_port_that_firmware_has_led_to_pins_is_seen() {
        // ALT4 of pin 22 stands in bits 8:6 of GPFSEL2, ALT5 of pin 4 in bits 14:12 of GPFSEL0.
        let found = |chip: Chip, at: u64, value: u32| {
            chip.debug_port(&|offset| if offset == at { value } else { 0 })
        };
        assert_eq!(found(Chip::Bcm2835, 8, 0b011 << 6), Some(22));
        assert_eq!(found(Chip::Bcm2711, 8, 0b011 << 21), Some(27));
        assert_eq!(found(Chip::Bcm2835, 0, 0b010 << 12), Some(4));
        assert_eq!(found(Chip::Bcm2711, 0, 0b010 << 12), None);
        assert_eq!(found(Chip::Bcm2835, 8, 0b100 << 6), None);
    }

    #[test]
    fn a_function_changes_its_own_three_bits() {
        let mut registers = Recorded::default();
        registers.words[5] = u32::MAX;
        let setting = Setting::new(Chip::Bcm2835, 53, 0b100, None).expect("a pin");
        setting.apply(&mut registers);
        assert_eq!(registers.written, [(0x14, !(0b011 << 9))]);
        // What is so already is not written again.
        setting.apply(&mut registers);
        assert_eq!(registers.written.len(), 1);
    }

    #[test]
    fn a_pull_resistor_is_clocked_or_selected() {
        let mut registers = Recorded::default();
        let up = Setting::new(Chip::Bcm2835, 35, 0, Some(2)).expect("a pin");
        up.apply(&mut registers);
        assert_eq!(
            registers.written,
            [(0x94, 2), (0x9c, 1 << 3), (0x94, 0), (0x9c, 0)]
        );
        assert_eq!(registers.waits, 2);
        let mut registers = Recorded::default();
        registers.words[0xec / 4] = u32::MAX;
        let down = Setting::new(Chip::Bcm2711, 35, 0, Some(1)).expect("a pin");
        down.apply(&mut registers);
        assert_eq!(registers.written, [(0xec, !(0b01 << 6))]);
    }

    #[test]
    fn what_is_no_pin_no_function_and_no_pull_is_none() {
        assert_eq!(Setting::new(Chip::Bcm2835, 54, 0, None), None);
        assert!(Setting::new(Chip::Bcm2711, 57, 0, None).is_some());
        assert_eq!(Setting::new(Chip::Bcm2711, 58, 0, None), None);
        assert_eq!(Setting::new(Chip::Bcm2835, 0, 8, None), None);
        assert_eq!(Setting::new(Chip::Bcm2835, 0, 0, Some(3)), None);
        assert_eq!(Chip::of("arm,pl061"), None);
    }
}
