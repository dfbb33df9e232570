// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPU hot-plug.

use std::fs;

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::child::{Child, skip};
use crate::memory::Mapping;

fn set_online(cpu: usize, online: bool) -> Result<()> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/online");
    let word = if online { "1" } else { "0" };
    fs::write(&path, word).with_context(|| format!("writing {word} to {path}"))
}

fn online() -> Result<usize> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    Ok(text
        .lines()
        .filter(|it| it.starts_with("processor"))
        .count())
}

fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// Every CPU but the first goes and comes back, with work on it before and after, in turn and
/// all at once.
pub fn unplug_and_replug() -> Result<()> {
    let all = online()?;
    if all == 1 {
        return Err(skip("one CPU"));
    }
    let memory = Mapping::anonymous(1 << 20)?;
    memory.stamp(1);
    for _ in 0..2 {
        for cpu in 1..all {
            work_on(cpu, &memory)?;
            set_online(cpu, false)?;
            ensure!(online()? == all - 1, "CPU {cpu} did not go");
            ensure!(
                pin_in_child(cpu).is_err(),
                "work runs on CPU {cpu}, which is off"
            );
            memory.check(1)?;
            set_online(cpu, true)?;
            ensure!(online()? == all, "CPU {cpu} did not come back");
            work_on(cpu, &memory)?;
        }
    }
    (1..all).try_for_each(|cpu| set_online(cpu, false))?;
    memory.check(1)?;
    ensure!(online()? == 1, "not all CPUs went");
    (1..all).try_for_each(|cpu| set_online(cpu, true))?;
    (1..all).try_for_each(|cpu| work_on(cpu, &memory))
}

fn pin_in_child(cpu: usize) -> Result<()> {
    Child::start(|| pin(cpu))?.join()
}

fn work_on(cpu: usize, memory: &Mapping) -> Result<()> {
    Child::start(|| {
        pin(cpu)?;
        memory.check(1)?;
        memory.stamp(2);
        memory.protect(0, memory.pages(), libc::PROT_READ)?;
        memory.check(2)
    })?
    .join()
    .with_context(|| format!("work on CPU {cpu}"))?;
    memory.check(1)
}
