// SPDX-License-Identifier: MIT OR Apache-2.0
//! The areas, one function each. Every function runs in a process of its own.

mod addresses;
pub mod bpf;
mod compaction;
mod counters;
mod cpus;
mod disk;
mod exhaustion;
mod files;
mod hashes;
mod huge;
mod merging;
pub mod modules;
mod network;
mod pointer_auth;
mod probes;
pub mod processes;
pub mod protection;
pub mod remapping;
pub mod seccomp;
mod shared;
mod signals;
mod swap;
mod tables;
pub mod threads;
mod tracing;
mod userfault;
mod vdso;

use anyhow::Result;

pub use processes::REEXECUTED;

/// One area.
pub struct Area {
    /// What the command line calls it.
    pub name: &'static str,
    /// The function that tries the area.
    pub body: fn() -> Result<()>,
}

const fn area(name: &'static str, body: fn() -> Result<()>) -> Area {
    Area { name, body }
}

/// Areas in the order in which they run.
pub const ALL: [Area; 46] = [
    area("fork", processes::fork_and_exec),
    area("fork-bomb", processes::bomb),
    area("fork-memory-limit", processes::memory_limit),
    area("threads", threads::threads),
    area("giving-up", threads::giving_up),
    area("file-mappings", files::mappings),
    area("file-truncation", files::truncation),
    area("shared-memory", shared::system_v),
    area("memfd", shared::memfd),
    area("mremap", remapping::moves),
    area("mremap-tables", remapping::table_moves),
    area("mprotect", protection::walk),
    area("mprotect-faults", protection::faults),
    area("generated-code", protection::generated_code),
    area("upper-addresses", addresses::upper_half),
    area("sparse-tables", tables::sparse),
    area("taking-turns", tables::taking_turns),
    area("huge-pages", huge::transparent),
    area("hugetlb", huge::reserved),
    area("userfaultfd", userfault::missing),
    area("userfaultfd-wp", userfault::write_protection),
    area("ksm", merging::merge),
    area("compaction", compaction::compaction),
    area("ext4", disk::ext4),
    area("swap", swap::page_out),
    area("swap-given-up", swap::given_up),
    area("swap-pressure", swap::pressure),
    area("oom-kill", exhaustion::oom_kill),
    area("tcp", network::tcp),
    area("udp", network::udp),
    area("perf-counters", counters::counters),
    area("perf-samples", counters::samples),
    area("signals", signals::signals),
    area("ptrace-step", tracing::single_step),
    area("ptrace-breakpoints", tracing::breakpoints),
    area("seccomp", seccomp::filters),
    area("seccomp-pages", seccomp::shared_pages),
    area("bpf", bpf::programs),
    area("modules", modules::load_and_unload),
    area("module-constants", hashes::hashes),
    area("kernel-tests", modules::kernel_tests),
    area("ftrace", probes::ftrace),
    area("kprobes", probes::kprobes),
    area("cpu-hotplug", cpus::unplug_and_replug),
    area("vdso", vdso::vdso),
    area("pointer-authentication", pointer_auth::keys),
];
