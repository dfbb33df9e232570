// SPDX-License-Identifier: MIT OR Apache-2.0
//! The selftests that run, of those that can be built with a cross compiler and two libraries.
//!
//! Chosen for what the inner domain has a hand in: tables, protection, copies on write, code,
//! debug registers, signals and processes. Left out, with the reason:
//! - bpf needs clang, bpftool and libelf for arm64;
//! - rseq links its library dynamically, and the guest has no dynamic linker;
//! - mm/khugepaged, timers/valid-adjtimex and memfd/fuse_mnt are not built by this compiler;
//! - mm/hugetlb*, hugepage-*, map_hugetlb, thuge-gen, transhuge-stress, split_huge_page_test,
//!   protection_keys, memfd_secret and hmm-tests need features that our kernels do not have, and
//!   say so at once; so do the tests of arm64 for SVE, SME, pointer authentication, BTI and MTE;
//! - mm/uffd-stress, gup_test and virtual_address_range need minutes, or parameters and no result,
//!   mm/seal_elf and exec/load_address.static* end with a signal when they are linked statically;
//! - timers that set the clock or measure its drift (adjtick, raw_skew, set-2038, leap-a-day,
//!   nsleep-lat, inconsistency-check, set-timer-lat, posix_timers …) test QEMU's clock, most of
//!   them for a minute or more;
//! - mm/uffd-unit-tests without a filter takes minutes: each of its faults waits for a tick;
//! - pidfd_test, pidfd_poll_test, vdso_test_chacha and ptrace/vmaccess take half a minute or more,
//!   most of it waiting;
//! - exec/execveat and non-regular need files beside them, mm/migration NUMA nodes;
//! - arm64/fp's stress programs have no end of their own, its others need SVE.

/// One program.
pub struct Program {
    /// Collection and file.
    pub name: &'static str,
    /// Arguments of the program.
    pub arguments: &'static str,
    /// The most that it may take, several times what it takes natively.
    pub seconds: u64,
}

const fn program(name: &'static str) -> Program {
    limited(name, 60)
}

const fn limited(name: &'static str, seconds: u64) -> Program {
    Program {
        name,
        arguments: "",
        seconds,
    }
}

/// What is built.
pub const COLLECTIONS: [&str; 18] = [
    "arm64",
    "breakpoints",
    "clone3",
    "core",
    "exec",
    "futex",
    "kcmp",
    "membarrier",
    "memfd",
    "mincore",
    "mm",
    "pidfd",
    "proc",
    "ptrace",
    "seccomp",
    "sigaltstack",
    "timers",
    "vDSO",
];

/// What runs.
pub const PROGRAMS: [Program; 78] = [
    program("arm64/abi/hwcap"),
    program("arm64/abi/ptrace"),
    program("arm64/abi/syscall-abi"),
    program("arm64/abi/tpidr2"),
    program("arm64/signal/fake_sigreturn_bad_magic"),
    program("arm64/signal/fake_sigreturn_bad_size"),
    program("arm64/signal/fake_sigreturn_bad_size_for_magic0"),
    program("arm64/signal/fake_sigreturn_duplicated_fpsimd"),
    program("arm64/signal/fake_sigreturn_misaligned_sp"),
    program("arm64/signal/fake_sigreturn_missing_fpsimd"),
    program("arm64/signal/mangle_pstate_invalid_compat_toggle"),
    program("arm64/signal/mangle_pstate_invalid_daif_bits"),
    program("arm64/signal/mangle_pstate_invalid_mode_el1h"),
    program("arm64/signal/mangle_pstate_invalid_mode_el1t"),
    program("arm64/signal/mangle_pstate_invalid_mode_el2h"),
    program("arm64/signal/mangle_pstate_invalid_mode_el3h"),
    program("arm64/tags/tags_test"),
    program("breakpoints/breakpoint_test_arm64"),
    program("clone3/clone3"),
    program("clone3/clone3_clear_sighand"),
    program("clone3/clone3_set_tid"),
    program("core/close_range_test"),
    program("core/unshare_test"),
    program("exec/load_address.0x200000"),
    program("exec/null-argv"),
    program("exec/recursion-depth"),
    program("futex/functional/futex_requeue_pi"),
    program("futex/functional/futex_wait"),
    program("futex/functional/futex_wait_private_mapped_file"),
    program("futex/functional/futex_waitv"),
    program("kcmp/kcmp_test"),
    program("membarrier/membarrier_test_multi_thread"),
    program("membarrier/membarrier_test_single_thread"),
    program("memfd/memfd_test"),
    program("mincore/mincore_selftest"),
    program("mm/cow"),
    program("mm/droppable"),
    program("mm/gup_longterm"),
    limited("mm/ksm_functional_tests", 120),
    program("mm/ksm_tests"),
    program("mm/madv_populate"),
    program("mm/map_fixed_noreplace"),
    program("mm/map_populate"),
    program("mm/mdwe_test"),
    program("mm/mkdirty"),
    program("mm/mlock2-tests"),
    program("mm/mlock-random-test"),
    program("mm/mrelease_test"),
    program("mm/mremap_dontunmap"),
    limited("mm/mremap_test", 120),
    program("mm/mseal_test"),
    limited("mm/pagemap_ioctl", 120),
    Program {
        arguments: "-f wp-",
        ..program("mm/uffd-unit-tests")
    },
    program("pidfd/pidfd_fdinfo_test"),
    program("pidfd/pidfd_getfd_test"),
    program("pidfd/pidfd_open_test"),
    program("pidfd/pidfd_setns_test"),
    program("pidfd/pidfd_wait"),
    program("proc/proc-fsconfig-hidepid"),
    program("proc/proc-multiple-procfs"),
    program("proc/proc-self-map-files-001"),
    program("proc/proc-self-map-files-002"),
    program("proc/proc-self-syscall"),
    program("proc/read"),
    program("proc/self"),
    program("proc/setns-dcache"),
    program("proc/thread-self"),
    program("ptrace/get_set_sud"),
    program("ptrace/get_syscall_info"),
    program("ptrace/peeksiginfo"),
    program("seccomp/seccomp_bpf"),
    program("sigaltstack/sas"),
    program("timers/nanosleep"),
    program("vDSO/vdso_test_abi"),
    program("vDSO/vdso_test_clock_getres"),
    program("vDSO/vdso_test_correctness"),
    program("vDSO/vdso_test_getrandom"),
    program("vDSO/vdso_test_gettimeofday"),
];
