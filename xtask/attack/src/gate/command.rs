// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line of `cargo xtask attack gate`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_machine::arguments::Switch;

use super::Plan;
use crate::arguments::GateArguments;

/// Runs; returns the exit status.
pub fn run(arguments: &GateArguments) -> Result<u8> {
    json::can_write(arguments.json.as_deref())?;
    ensure!(
        !arguments.modes.contains(&Switch::None),
        "without an inner domain there is no gate"
    );
    environment::prepare(&arguments.host, Needs::default())?;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => now()?.as_nanos() as u64 & 0xffff_ffff,
    };
    let mut summaries = Vec::new();
    for mode in &arguments.modes {
        let plan = Plan {
            seed,
            time: arguments.time.map(Duration::from_secs),
            ..Plan::new(&arguments.host, *mode, arguments.runs)
        };
        let step = Step::spinner(format!("gate {}", mode.name()));
        let summary = plan.carry_out(|_| ());
        step.vanish();
        let summary = summary?;
        println!("{summary}");
        summaries.push(summary);
    }
    json::write(arguments.json.as_deref(), &summaries)?;
    let good = summaries.iter().all(super::Summary::is_good);
    Ok(u8::from(!good))
}
