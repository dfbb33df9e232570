// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares work in a compartment with the equal work in a process, in instructions: what `cargo
//! xtask bench compartments` runs. `donjon-compare call TRIALS`, `number COUNT [SECONDS]`, `pipe
//! TRIALS`, `memory MB...`, `cpu SIZE TRIALS`.

#[cfg(target_arch = "aarch64")]
mod call;
#[cfg(target_arch = "aarch64")]
mod cpu;
#[cfg(target_arch = "aarch64")]
mod inside;
#[cfg(target_arch = "aarch64")]
mod memory;
#[cfg(target_arch = "aarch64")]
mod number;
#[cfg(target_arch = "aarch64")]
mod pipe;
#[cfg(target_arch = "aarch64")]
mod ways;

#[cfg(target_arch = "aarch64")]
fn main() -> anyhow::Result<()> {
    use anyhow::{Context, bail};

    let words: Vec<String> = std::env::args().skip(1).collect();
    let (what, rest) = words.split_first().context("what to compare")?;
    let numbers: Vec<u64> = rest
        .iter()
        .map(|it| it.parse().with_context(|| format!("{it} is no number")))
        .collect::<anyhow::Result<_>>()?;
    match (what.as_str(), numbers.as_slice()) {
        ("call", [trials]) => call::run(*trials),
        ("number", [count]) if *count > 0 => number::run(*count, 0),
        ("number", [count, seconds]) if *count > 0 => number::run(*count, *seconds),
        ("pipe", [trials]) => pipe::run(*trials),
        ("memory", sizes) => sizes.iter().try_for_each(|it| memory::run(*it)),
        ("cpu", [size, trials]) => cpu::run(*size, *trials),
        _ => bail!(
            "call TRIALS, number COUNT [SECONDS], pipe TRIALS, memory MB... or cpu SIZE TRIALS"
        ),
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn main() {}
