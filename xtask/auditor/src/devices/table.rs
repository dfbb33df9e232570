// SPDX-License-Identifier: MIT OR Apache-2.0
//! The auditor's own list of devices that Linux may map.
//!
//! What is not here must not be mapped. A device is here because its registers can neither aim a
//! write at memory, nor stop the coherency of a CPU, nor start or debug one, nor reset the machine;
//! or because it is an open case that the threat model accepts (O3).

/// Which of a device's registers may be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Every register.
    All,
    /// A GICv3: all of them, of its redistributors every second frame alone and the others
    /// read-only.
    Redistributors,
    /// Every register, read-only: the page is that of a device that may not be mapped as well.
    ReadOnly,
    /// Every register, if the SMMU is on behind which the device is.
    Behind,
}

/// A device that may be mapped.
#[derive(Debug)]
pub struct Known {
    /// The first string of its `compatible`.
    pub compatible: &'static str,
    /// How much of it.
    pub part: Part,
    /// Whether it has DMA, or does other harm that the open profile accepts: it may be mapped in
    /// that profile, and no other.
    pub has_dma: bool,
    /// Why.
    #[allow(dead_code, reason = "for readers and for tests")]
    pub why: &'static str,
}

const fn all(compatible: &'static str, why: &'static str) -> Known {
    Known {
        compatible,
        part: Part::All,
        has_dma: false,
        why,
    }
}

const fn with_dma(compatible: &'static str, why: &'static str) -> Known {
    Known {
        has_dma: true,
        ..all(compatible, why)
    }
}

const fn read_only(compatible: &'static str, why: &'static str) -> Known {
    Known {
        part: Part::ReadOnly,
        ..all(compatible, why)
    }
}

/// Everything that may be mapped on the machines that are audited.
pub const MAPPED: [Known; 29] = [
    all(
        "arm,pl011",
        "a FIFO of characters; its DMA is another device's",
    ),
    all("arm,pl031", "a clock with an alarm"),
    all(
        "arm,pl061",
        "eight lines, among them the power key; a line is its own or the board's, and no function is \
         selected by number",
    ),
    all(
        "arm,cortex-a15-gic",
        "a GICv2 keeps everything in registers: interrupts, which are masked inside",
    ),
    all("arm,gic-400", "as above"),
    all("arm,gic-v2m-frame", "a write raises an interrupt"),
    Known {
        compatible: "arm,gic-v3",
        part: Part::Redistributors,
        has_dma: false,
        why: "the distributor keeps everything in registers; redistributors are told of tables in \
              memory by their first and third frames",
    },
    with_dma("virtio,mmio", "O3: its queues are DMA"),
    with_dma(
        "pci-host-ecam-generic",
        "O3: what is plugged in is a master of the bus",
    ),
    // Raspberry Pi 3.
    all(
        "brcm,bcm2836-l1-intc",
        "per-CPU interrupts and words for them; CPUs that read such words at reset have left the \
         firmware",
    ),
    read_only(
        "brcm,bcm2836-armctrl-ic",
        "enables interrupts, and its page has the mailbox to the firmware's processor",
    ),
    all("brcm,bcm2835-system-timer", "a counter with four alarms"),
    with_dma(
        "brcm,bcm2835-gpio",
        "O4: functions 4 of pins 22 to 27 and 5 of pins 4, 5, 6, 12, 13 are the cores' JTAG",
    ),
    all("brcm,bcm2835-aux", "which of three small devices are on"),
    all("brcm,bcm2835-aux-uart", "a FIFO of characters, without DMA"),
    all("brcm,bcm2835-aux-spi", "a FIFO of bytes, without DMA"),
    all("brcm,bcm2835-rng", "a FIFO of random words"),
    all("brcm,bcm2837-thermal", "a sensor"),
    all(
        "brcm,bcm2835-sdhost",
        "a FIFO of blocks; its DMA is another device's",
    ),
    all(
        "brcm,bcm2835-sdhci",
        "a FIFO of blocks; it has no DMA of its own on this chip",
    ),
    all(
        "brcm,bcm2835-spi",
        "a FIFO of bytes; its DMA is another device's",
    ),
    all("brcm,bcm2835-pwm", "pulses; its DMA is another device's"),
    // Raspberry Pi 4.
    with_dma(
        "brcm,bcm2711-gpio",
        "O4: function 4 of pins 22 to 27 and 48 to 53 is the cores' JTAG",
    ),
    all("brcm,bcm2711-rng200", "a FIFO of random words"),
    with_dma("brcm,bcm2711-emmc2", "O3: it follows descriptors in memory"),
    with_dma(
        "brcm,bcm2835-usb",
        "O3: it copies to addresses in its registers",
    ),
    with_dma(
        "brcm,bcm2835-mbox",
        "O3: it makes firmware on another processor write memory",
    ),
    with_dma("brcm,bcm2835-vchiq", "as above"),
    with_dma("brcm,bcm2836-vchiq", "as above"),
];

/// Strings that forbid a device whatever else it is compatible with; a `*` stands for anything.
///
/// The list is the auditor's own on purpose: it must not repeat a mistake of the rules. A test
/// compares it with theirs, so that neither lacks what the other has.
pub const NEVER: [&str; 30] = [
    // Copies to any address.
    "qemu,fw-cfg-mmio",
    "arm,pl080",
    "arm,pl081",
    "arm,pl330",
    "arm,dma-350",
    "brcm,bcm2835-dma",
    "brcm,bcm2711-dma",
    "brcm,bcm2712-dma",
    "generic-ehci",
    "generic-ohci",
    "pci-host-cam-*",
    // Writes tables or queues to any address.
    "arm,gic-v3-its",
    "arm,smmu*",
    "arm,mmu-*",
    // Holds what a reset boots.
    "cfi-flash",
    // Debug and trace.
    "arm,coresight*",
    "arm,embedded-trace*",
    "arm,cpu-debug",
    "arm,armv7-debug",
    "arm,primecell-debug*",
    "qcom,coresight-*",
    // Takes a CPU out of coherency.
    "arm,cci*",
    "arm,ccn-*",
    "arm,cmn-*",
    // Starts CPUs, or switches them off.
    "fsl,imx*-src",
    "allwinner,sun*-cpucfg",
    "arm,vexpress-sysreg",
    "brcm,bcm2835-pm",
    // Drives CPUs faster than they can work.
    "brcm,bcm2835-cprman",
    // Makes firmware on another processor write memory.
    "arm,mhu*",
];

/// What may be mapped of a device with these strings; none if nothing. `dma` says whether devices
/// with DMA may.
pub fn decide(compatible: &[&str], dma: bool) -> Option<Part> {
    if compatible.iter().any(|it| is_forbidden(it)) {
        return None;
    }
    let with_dma = |name: &&str| {
        let mut known = MAPPED.iter().filter(|it| it.has_dma);
        known.any(|it| it.compatible == *name)
    };
    if !dma && compatible.iter().any(with_dma) {
        return None;
    }
    // What resembles a harmless device may do more than it.
    let first = compatible.first()?;
    let known = MAPPED.iter().find(|it| it.compatible == *first);
    known.map(|it| it.part)
}

/// Whether a string is one of [`NEVER`].
fn is_forbidden(name: &str) -> bool {
    NEVER.iter().any(|it| match it.split_once('*') {
        Some((start, end)) => {
            let rest = name.strip_prefix(start);
            rest.is_some_and(|it| it.ends_with(end))
        }
        None => *it == name,
    })
}
