// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux's count of the frames in the table pools.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

const FILE: &str = "/sys/kernel/security/donjon/pool";
/// Tables that stay: those of the kernel's own addresses, which Linux keeps for the next mapping,
/// and those of programs that have grown meanwhile.
const KEPT: u64 = 64;
/// What ended processes may take to go.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What the pool had at some moment.
pub struct Pool {
    used: u64,
    lost: u64,
}

impl Pool {
    /// Reads the figures of now; none without an inner domain.
    pub fn read() -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(FILE) else {
            return Ok(None);
        };
        let number = |name: &str| -> Result<u64> {
            let value = text
                .lines()
                .find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
            Ok(value
                .with_context(|| format!("{FILE} has no {name}"))?
                .parse()?)
        };
        Ok(Some(Self {
            used: number("frames")? - number("free")?,
            lost: number("lost")?,
        }))
    }

    /// Fails unless hardly more is in use now than at this earlier moment, and no frame was lost.
    pub fn has_come_back(&self) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let now = Self::read()?.context("the pool is gone")?;
            ensure!(
                now.lost == self.lost,
                "{} tables were lost",
                now.lost - self.lost
            );
            if now.used <= self.used + KEPT {
                println!("stress: tables: {} before, {} after", self.used, now.used);
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "{} tables are in use, {} were before",
                now.used,
                self.used
            );
            sleep(Duration::from_millis(200));
        }
    }
}
