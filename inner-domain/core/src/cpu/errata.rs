// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errata of cores whose TLB maintenance does less than the architecture says.
//!
//! On many cores a TLB invalidation for all CPUs may be complete, as far as its DSB tells, while
//! another CPU still has an access on its way that used the old translation. Doing the invalidation
//! and the DSB a second time is the remedy that the notices of all of them name: Cortex-A55
//! 2441007, Cortex-A76 1286807, Cortex-A510 2441009, and CVE-2025-10263, which concerns most cores
//! since the Cortex-A76. The core that has the access on its way is the affected one, so a machine
//! with one such core does all of its invalidations twice.
//!
//! New notices name cores that were thought to be good. So the list here is of the cores for which
//! there is no such notice; any other core counts as affected, those of the future among them. The
//! price is the second invalidation, in steps that are rare.
//!
//! Invalidations for one CPU alone, as in the gate's mode `tlbi`, are not concerned: the DSB waits
//! for that CPU's own accesses.
//!
//! Cortex-A53 819472, 824069, 826319 and 827319 need no decision: everything that is cleaned is
//! also invalidated (DC CIVAC), on every core.

/// Implementer, variant, architecture, part and revision of `MIDR_EL1` (Arm DDI 0487, D24.2).
const IMPLEMENTER_SHIFT: u32 = 24;
const PART_SHIFT: u32 = 4;
const ARM: u64 = 0x41;

/// Cores of Arm's without a notice, all revisions: Cortex-A53, A35, A57, A72, A73.
const SOUND: [u64; 5] = [0xd03, 0xd04, 0xd07, 0xd08, 0xd09];

/// Whether TLB invalidations for all CPUs have to be made twice where there is a CPU with this
/// `MIDR_EL1`.
pub fn repeats_invalidations(midr: u64) -> bool {
    let implementer = midr >> IMPLEMENTER_SHIFT & 0xff;
    let part = midr >> PART_SHIFT & 0xfff;
    implementer != ARM || !SOUND.contains(&part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn arm(part: u64, variant: u64, revision: u64) -> u64 {
        ARM << IMPLEMENTER_SHIFT | variant << 20 | 0xf << 16 | part << PART_SHIFT | revision
    }

    #[test]
    fn cores_with_a_notice_do_it_twice() {
        let noticed = [
            ("Cortex-A55 r2p0", arm(0xd05, 2, 0)),
            ("Cortex-A76 r0p0", arm(0xd0b, 0, 0)),
            ("Cortex-A76 r3p0", arm(0xd0b, 3, 0)),
            // Behind 1286807, but CVE-2025-10263 names it.
            ("Cortex-A76 r4p1", arm(0xd0b, 4, 1)),
            ("Cortex-A510 r1p1", arm(0xd46, 1, 1)),
            ("Cortex-A78", arm(0xd41, 1, 2)),
            ("Cortex-X1", arm(0xd44, 1, 0)),
            ("Cortex-A710", arm(0xd47, 2, 0)),
            ("Neoverse N1", arm(0xd0c, 4, 1)),
            ("Neoverse V2", arm(0xd4f, 0, 1)),
            ("Falkor", 0x510f_8000),
            ("Cobalt 100", 0x6d0f_d490),
        ];
        for (core, midr) in noticed {
            assert!(repeats_invalidations(midr), "{core}");
        }
    }

    #[test]
    fn cores_that_are_not_known_do_it_twice() {
        // QEMU's `max`, another implementer with the part of a Cortex-A53, nothing at all.
        for midr in [0x000f_0510, 0x420f_d034, 0] {
            assert!(repeats_invalidations(midr), "{midr:#x}");
        }
    }

    #[test]
    fn cores_without_a_notice_do_it_once() {
        for midr in [
            0x410f_d034,
            0x411f_d070,
            0x410f_d083,
            0x410f_d042,
            0x410f_d092,
        ] {
            assert!(!repeats_invalidations(midr), "{midr:#x}");
        }
    }
}
