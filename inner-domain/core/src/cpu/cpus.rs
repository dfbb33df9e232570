// SPDX-License-Identifier: MIT OR Apache-2.0
//! The set of CPUs, and the check that the gate can tell them apart.
//!
//! The gate finds its stack by [`cpu_index`] of MPIDR_EL1, two instructions without a table.
//! Two CPUs with one index would share a stack, so such a machine is refused before Linux runs.

use donjon_abi::layout::{MAX_CPUS, cpu_index};
use thiserror::Error;

/// Aff3 (bits 39 to 32) and Aff2 to Aff0 (bits 23 to 0) of MPIDR_EL1, what names a CPU
/// (Arm DDI 0487, D24.2, MPIDR_EL1).
pub const AFFINITY: u64 = 0xff_00ff_ffff;

/// Why a set of CPUs was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CpuError {
    /// No CPU at all.
    #[error("there is no CPU")]
    Empty,
    /// More CPUs than stacks.
    #[error("there are more than {MAX_CPUS} CPUs")]
    TooMany,
    /// The gate would give two CPUs the same stack.
    #[error("CPUs {first:#x} and {second:#x} (MPIDR) would both have index {index}")]
    SameIndex {
        /// Affinity of the CPU that has the index.
        first: u64,
        /// Affinity of the CPU that would have it as well.
        second: u64,
        /// What [`cpu_index`] makes of both.
        index: usize,
    },
}

/// CPUs with different indices; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSet {
    affinities: [Option<u64>; MAX_CPUS],
}

impl CpuSet {
    /// Checks the CPUs with these MPIDR_EL1 values (or device tree `reg` values, which are the
    /// affinity bits alone).
    ///
    /// # Errors
    ///
    /// [`CpuError`]: no CPU, too many, or two with the same index.
    pub fn new(mpidrs: impl IntoIterator<Item = u64>) -> Result<Self, CpuError> {
        let mut affinities = [None; MAX_CPUS];
        for (count, mpidr) in mpidrs.into_iter().enumerate() {
            if count == MAX_CPUS {
                return Err(CpuError::TooMany);
            }
            let index = cpu_index(mpidr);
            let second = mpidr & AFFINITY;
            if let Some(first) = affinities[index] {
                return Err(CpuError::SameIndex {
                    first,
                    second,
                    index,
                });
            }
            affinities[index] = Some(second);
        }
        if affinities.iter().all(Option::is_none) {
            return Err(CpuError::Empty);
        }
        Ok(Self { affinities })
    }

    /// One bit per index that a CPU has.
    pub fn mask(&self) -> u64 {
        self.iter().fold(0, |mask, (index, _)| mask | 1 << index)
    }

    /// How many CPUs there are, 1 to [`MAX_CPUS`].
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// Whether the CPU with this MPIDR_EL1 is one of them.
    pub fn contains(&self, mpidr: u64) -> bool {
        self.index(mpidr).is_some()
    }

    /// The index of the CPU with this MPIDR_EL1, if it is one of them.
    pub fn index(&self, mpidr: u64) -> Option<usize> {
        let index = cpu_index(mpidr);
        (self.affinities[index] == Some(mpidr & AFFINITY)).then_some(index)
    }

    /// Index and affinity of each CPU, in the order of the indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.affinities
            .iter()
            .enumerate()
            .filter_map(|(index, affinity)| affinity.map(|affinity| (index, affinity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cluster_and_clusters_of_four_are_told_apart() {
        let sixteen = CpuSet::new(0..16).expect("one cluster");
        assert_eq!(sixteen.mask(), 0xffff);
        let clusters = CpuSet::new([0, 1, 2, 3, 0x100, 0x101, 0x102, 0x103]);
        assert_eq!(clusters.expect("two clusters").mask(), 0xff);
        let juno = CpuSet::new([0, 1, 0x100, 0x101, 0x102, 0x103]);
        assert_eq!(juno.expect("A57 and A53").count(), 6);
    }

    #[test]
    fn the_register_and_the_device_tree_name_the_same_cpu() {
        let set = CpuSet::new([0x8000_0003]).expect("one CPU");
        assert!(set.contains(3));
        assert_eq!(set.index(0xc100_0003), Some(3));
        assert_eq!(set.index(0x1_0000_0003), None, "another Aff3");
        assert_eq!(set.index(0xc3), None, "same index, another CPU");
        assert_eq!(set.iter().next(), Some((3, 3)));
    }

    #[test]
    fn what_the_gate_cannot_tell_apart_is_refused() {
        let same = CpuError::SameIndex {
            first: 4,
            second: 0x100,
            index: 4,
        };
        assert_eq!(CpuSet::new([0, 4, 0x100]), Err(same));
        let twice = CpuError::SameIndex {
            first: 2,
            second: 2,
            index: 2,
        };
        assert_eq!(CpuSet::new([2, 2]), Err(twice));
        assert_eq!(CpuSet::new([]), Err(CpuError::Empty));
        assert_eq!(CpuSet::new(0..17), Err(CpuError::TooMany));
    }
}
