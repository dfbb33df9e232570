// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which devices the outer domain may have, by their `compatible` strings, and why.
//!
//! A device is mapped because a rule says that its registers can neither aim a write at memory,
//! nor stop the coherency of caches and TLBs, nor start or drive a CPU, nor reset the machine past
//! the inner domain. Everything else is withheld, whether anything bad is known of it or not.
//! `docs/devices.md` has the same table.

use donjon_abi::manifest::DmaProfile;

/// What a rule says about a device that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that its registers do reaches memory, coherency or a CPU.
    Harmless,
    /// A device that can be told to write memory, to drive a CPU's debug port or to reset the
    /// machine. Mapped in the DMA profile that is open, and no other.
    Open,
    /// A PCI host bridge. In the profile that is strict it is mapped if an SMMU that the boot stage
    /// owns stands between its functions and memory; in the profile that is open, as it is.
    BehindSmmu,
    /// A device that shares its page with one that is withheld. Linux maps the page read-only, and
    /// the inner domain writes the registers of 32 bits from the first offset up to the second.
    Mediated(u64, u64),
    /// A device that reads and writes memory at addresses in its registers. In the profile that is
    /// strict Linux maps the page read-only, and the inner domain writes the registers; in the
    /// profile that is open, it is mapped as it is.
    Checked,
    /// A GICv3. Linux maps the frames that it writes often, and reads those whose registers name
    /// tables in memory. The inner domain writes the one register there that Linux needs.
    Redistributors,
}

/// Why devices of one kind are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The first string of the device's `compatible`.
    pub compatible: &'static str,
    /// What it can do.
    pub effect: Effect,
    /// Why it may.
    pub reason: &'static str,
}

/// What becomes of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The outer domain may map its registers.
    Mapped(&'static Rule),
    /// The outer domain may not map its registers, for this reason.
    Withheld(&'static str),
}

const fn harmless(compatible: &'static str, reason: &'static str) -> Rule {
    Rule {
        compatible,
        effect: Effect::Harmless,
        reason,
    }
}

const fn open(compatible: &'static str, reason: &'static str) -> Rule {
    Rule {
        compatible,
        effect: Effect::Open,
        reason,
    }
}

const SERIAL: &str = "characters and line settings; DMA would be a controller's, which is withheld";
const CARD: &str = "data goes through a register; DMA would be a controller's, which is withheld";
const TIMER: &str = "counts and raises its own interrupt";
const LINES: &str = "levels of eight lines, none of which selects a function of a pin";
const PINS: &str =
    "leads the cores' debug port to pins, which it drives itself by their pull resistors";
const GIC: &str = "routes and raises interrupts, which the inner domain masks";
const WATCHDOG: &str = "resets the machine before the memory of compartments is wiped";

/// Every device that is mapped.
pub const RULES: &[Rule] = &[
    // QEMU's virt.
    harmless("arm,pl011", SERIAL),
    harmless("arm,pl031", "tells the time and raises its own interrupt"),
    harmless("arm,pl061", LINES),
    harmless("arm,cortex-a15-gic", GIC),
    harmless("arm,gic-400", GIC),
    harmless("arm,gic-v2m-frame", "a write to it raises an interrupt"),
    Rule {
        compatible: "arm,gic-v3",
        effect: Effect::Redistributors,
        reason: "as a GICv2; registers that name tables in memory are in the frames that Linux only reads",
    },
    open(
        "virtio,mmio",
        "its queues read and write any memory: DMA, and nothing stands between",
    ),
    Rule {
        compatible: "pci-host-ecam-generic",
        effect: Effect::BehindSmmu,
        reason: "what is plugged in behind it reads and writes any memory: DMA, and in the open profile nothing stands between",
    },
    // Juno.
    harmless("arm,pl050", "bytes from and to a keyboard or mouse"),
    harmless("arm,pl180", CARD),
    harmless("arm,sp804", TIMER),
    open("arm,sp805", WATCHDOG),
    harmless("arm,armv7-timer-mem", TIMER),
    harmless(
        "smsc,lan9118",
        "frames go through a register; it is no bus master",
    ),
    // Raspberry Pi 3.
    harmless(
        "brcm,bcm2836-l1-intc",
        "routes interrupts; its mailboxes carry interrupts between CPUs and start none that the inner domain owns",
    ),
    Rule {
        compatible: "brcm,bcm2836-armctrl-ic",
        effect: Effect::Mediated(0x10, 0x28),
        reason: "enables and disables interrupts; its page is the mailbox's as well",
    },
    harmless("brcm,bcm2835-system-timer", TIMER),
    open("brcm,bcm2835-gpio", PINS),
    harmless(
        "brcm,bcm2835-aux",
        "enables the small UART and two SPI controllers",
    ),
    harmless("brcm,bcm2835-aux-uart", SERIAL),
    harmless("brcm,bcm2835-aux-spi", "bytes on a bus; it has no DMA"),
    harmless("brcm,bcm2835-rng", "random numbers"),
    harmless("brcm,bcm2837-thermal", "tells the temperature"),
    harmless("brcm,bcm2835-sdhost", CARD),
    harmless("brcm,bcm2835-sdhci", CARD),
    harmless(
        "brcm,bcm2835-spi",
        "bytes on a bus; DMA would be a controller's, which is withheld",
    ),
    harmless("brcm,bcm2835-pwm", "pulses on a pin"),
    Rule {
        compatible: "brcm,bcm2835-usb",
        effect: Effect::Checked,
        reason: "reads and writes memory at addresses in its registers; in the open profile at any address",
    },
    // Raspberry Pi 4, where it differs.
    open("brcm,bcm2711-gpio", PINS),
    harmless("brcm,bcm2711-rng200", "random numbers"),
    open(
        "brcm,bcm2711-emmc2",
        "reads and writes any memory: DMA of its own",
    ),
    // Both.
    open("brcm,bcm2835-mbox", MAILBOX),
    open("brcm,bcm2835-vchiq", MAILBOX),
    open("brcm,bcm2836-vchiq", MAILBOX),
];

const DMA: &str = "copies to any address";
const DEBUG: &str = "debug or trace: drives CPUs or writes memory through one";
const IOMMU: &str = "writes its queues anywhere and aims other devices";
const COHERENCY: &str = "can take a CPU out of coherency";
const POWER: &str = "starts CPUs, or switches them or their caches off";
const CLOCKS: &str = "drives CPUs faster than they can work";
const MAILBOX: &str = "makes firmware on another processor write memory";

/// Names of devices that are withheld, and the reasons for the log. A device is withheld if any of
/// its names is here, whatever the first one says; a `*` in a name stands for
/// anything. The auditor has a list of its own; a test compares the two.
pub const WITHHELD: &[(&str, &str)] = &[
    ("qemu,fw-cfg-mmio", DMA),
    (
        "arm,gic-v3-its",
        "writes its tables and the pending bits of LPIs anywhere",
    ),
    (
        "cfi-flash",
        "what is written there may be what a reset boots",
    ),
    (
        "pci-host-cam-*",
        "what is plugged in behind it reads and writes any memory",
    ),
    ("arm,smmu-*", IOMMU),
    ("arm,mmu-*", IOMMU),
    ("arm,coresight-*", DEBUG),
    ("arm,embedded-trace-*", DEBUG),
    ("arm,cpu-debug", DEBUG),
    ("arm,armv7-debug", DEBUG),
    ("arm,primecell-debug*", DEBUG),
    ("qcom,coresight-*", DEBUG),
    ("arm,cci-*", COHERENCY),
    ("arm,ccn-*", COHERENCY),
    ("arm,cmn-*", COHERENCY),
    ("fsl,imx*-src", POWER),
    ("allwinner,sun*-cpucfg", POWER),
    ("arm,vexpress-sysreg", POWER),
    ("brcm,bcm2835-pm", POWER),
    ("brcm,bcm2835-cprman", CLOCKS),
    ("arm,mhu*", MAILBOX),
    ("arm,pl080", DMA),
    ("arm,pl081", DMA),
    ("arm,pl330", DMA),
    ("arm,dma-350", DMA),
    ("brcm,bcm2835-dma", DMA),
    ("brcm,bcm2711-dma", DMA),
    ("brcm,bcm2712-dma", DMA),
    ("generic-ehci", DMA),
    ("generic-ohci", DMA),
];

const NO_NAME: &str = "the device tree does not say what it is";
const NO_RULE: &str = "no rule for it";

/// Whether the outer domain may have a device with these `compatible` strings, the most specific
/// first. The most specific string has to have a rule: what resembles a harmless device may do more
/// than it.
pub fn decide<'a>(
    compatible: impl Iterator<Item = &'a str> + Clone,
    profile: DmaProfile,
) -> Decision {
    for name in compatible.clone() {
        if let Some((_, why)) = WITHHELD.iter().find(|(pattern, _)| matches(pattern, name)) {
            return Decision::Withheld(why);
        }
        let mut open = RULES.iter().filter(|it| it.effect == Effect::Open);
        if let Some(rule) = open.find(|it| it.compatible == name)
            && profile == DmaProfile::Strict
        {
            return Decision::Withheld(rule.reason);
        }
    }
    let mut compatible = compatible;
    match compatible.next() {
        None => Decision::Withheld(NO_NAME),
        Some(first) => match RULES.iter().find(|it| it.compatible == first) {
            Some(rule) => Decision::Mapped(rule),
            None => Decision::Withheld(NO_RULE),
        },
    }
}

/// Whether `name` is what `pattern` says; a `*` in it stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Decision {
        decide(names.iter().copied(), DmaProfile::Open)
    }

    fn why(names: &[&str]) -> &'static str {
        match of(names) {
            Decision::Withheld(why) => why,
            Decision::Mapped(rule) => panic!("{names:?} is mapped: {rule:?}"),
        }
    }

    #[test]
    fn what_virt_needs_is_mapped() {
        for names in [
            &["arm,pl011", "arm,primecell"][..],
            &["arm,pl031", "arm,primecell"],
            &["arm,pl061", "arm,primecell"],
            &["arm,cortex-a15-gic"],
            &["arm,gic-v2m-frame"],
        ] {
            let Decision::Mapped(rule) = of(names) else {
                panic!("{names:?}");
            };
            assert_eq!(rule.effect, Effect::Harmless);
        }
        let with = |effect| RULES.iter().find(|it| it.effect == effect).expect("a rule");
        let gicv3 = with(Effect::Redistributors);
        assert_eq!(of(&["arm,gic-v3"]), Decision::Mapped(gicv3));
        assert_eq!(of(&["virtio,mmio"]), Decision::Mapped(with(Effect::Open)));
    }

    #[test]
    fn what_can_do_harm_is_mapped_in_the_open_profile_alone() {
        for rule in RULES {
            let wanted = match rule.effect {
                Effect::Open => Decision::Withheld(rule.reason),
                // The boot stage looks at the bridge and at the checked device more closely.
                Effect::Harmless
                | Effect::BehindSmmu
                | Effect::Checked
                | Effect::Mediated(..)
                | Effect::Redistributors => Decision::Mapped(rule),
            };
            let names = [rule.compatible].into_iter();
            assert_eq!(decide(names.clone(), DmaProfile::Strict), wanted);
            assert_eq!(decide(names, DmaProfile::Open), Decision::Mapped(rule));
        }
        // Debug ports and watchdogs as well as DMA, as the most specific name or another one.
        for names in [
            &["brcm,bcm2835-gpio"][..],
            &["brcm,bcm2711-gpio", "brcm,bcm2835-gpio"],
            &["brcm,bcm7211-gpio", "brcm,bcm2711-gpio"],
            &["arm,sp805", "arm,primecell"],
            &["virtio,mmio"],
        ] {
            let found = decide(names.iter().copied(), DmaProfile::Strict);
            assert!(matches!(found, Decision::Withheld(_)), "{names:?}");
        }
        let resembles = ["arm,pl011", "brcm,bcm2835-mbox"].into_iter();
        let found = decide(resembles, DmaProfile::Strict);
        assert_eq!(found, Decision::Withheld(MAILBOX));
    }

    #[test]
    fn what_aims_writes_stops_coherency_or_starts_cpus_is_withheld() {
        assert_eq!(why(&["qemu,fw-cfg-mmio"]), DMA);
        assert_eq!(why(&["arm,pl330", "arm,primecell"]), DMA);
        assert_eq!(why(&["arm,smmu-v3"]), IOMMU);
        assert_eq!(why(&["arm,mmu-401", "arm,smmu-v1"]), IOMMU);
        assert_eq!(why(&["arm,cci-400"]), COHERENCY);
        assert_eq!(why(&["arm,ccn-504"]), COHERENCY);
        assert_eq!(why(&["arm,cmn-600"]), COHERENCY);
        assert_eq!(why(&["fsl,imx8mq-src", "syscon"]), POWER);
        assert_eq!(why(&["allwinner,sun8i-a83t-r-cpucfg"]), POWER);
        assert_eq!(why(&["arm,mhu", "arm,primecell"]), MAILBOX);
        assert_eq!(why(&["brcm,bcm2835-cprman"]), CLOCKS);
        assert_eq!(
            why(&["arm,coresight-cti-v8-arch", "arm,coresight-cti"]),
            DEBUG
        );
        assert!(why(&["cfi-flash"]).contains("reset"));
        assert!(why(&["arm,vexpress-flash", "cfi-flash"]).contains("reset"));
        assert!(why(&["pci-host-cam-generic"]).contains("any memory"));
        assert!(why(&["arm,gic-v3-its"]).contains("LPIs"));
    }

    #[test]
    fn what_is_unknown_is_withheld() {
        assert_eq!(why(&["vendor,something"]), NO_RULE);
        assert_eq!(why(&[]), NO_NAME);
        assert_eq!(why(&["syscon", "simple-mfd"]), NO_RULE);
        // It resembles a UART, and may be more than one.
        assert_eq!(why(&["vendor,uart-with-dma", "arm,pl011"]), NO_RULE);
        assert_eq!(why(&["arm,primecell"]), NO_RULE);
    }

    #[test]
    fn a_bad_name_anywhere_outweighs_a_rule() {
        assert_eq!(why(&["arm,pl011", "qemu,fw-cfg-mmio"]), DMA);
        for rule in RULES {
            let known = WITHHELD.iter().any(|it| matches(it.0, rule.compatible));
            assert!(!known, "{} is both", rule.compatible);
            let same = RULES.iter().filter(|it| it.compatible == rule.compatible);
            assert_eq!(same.count(), 1, "{}", rule.compatible);
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("fsl,imx*-src", "fsl,imx6q-src"));
        assert!(!matches("fsl,imx*-src", "fsl,imx6q-src-x"));
        assert!(!matches("arm,cci-*", "arm,cc"));
        assert!(matches("arm,mhu*", "arm,mhu"));
    }
}
