// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures the null system call from user space, 100 samples.
//!
//! By default in instructions: PMCCNTR_EL0 under QEMU's `-icount shift=0`, where every
//! instruction takes one cycle. The cost of an empty measurement is subtracted, and said. With
//! `--wall` in nanoseconds of CNTVCT_EL0, each sample the mean of a batch. With `calls` it counts
//! calls into the inner domain per operation instead.

#[cfg(target_arch = "aarch64")]
mod calls;
#[cfg(target_arch = "aarch64")]
mod counter;
#[cfg(target_arch = "aarch64")]
mod measure;

/// Exit status: 0 if the line was printed.
fn main() -> std::process::ExitCode {
    #[cfg(target_arch = "aarch64")]
    return if std::env::args().any(|it| it == "calls") {
        calls::run()
    } else {
        measure::run(std::env::args().any(|it| it == "--wall"))
    };
    #[cfg(not(target_arch = "aarch64"))]
    {
        eprintln!("donjon-bench: runs in the arm64 guest alone");
        std::process::ExitCode::FAILURE
    }
}
