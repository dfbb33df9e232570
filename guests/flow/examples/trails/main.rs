// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for the best trail of differences through the record of a flow log's chain: what a
//! program that was hijacked could do to end in the state of a lawful run.
//!
//! `docs/flow-attestation.md` has the commands and says what their figures mean.

mod carries;
mod code;
mod count;
mod enumerate;
mod formula;
mod record;
mod search;
mod systematic;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use carries::Carries;
use clap::{Args, Parser, Subcommand};
use code::{Code, weight};
use donjon_flow_chain::State;
use record::Record;

/// Searches for trails of differences through the record.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

/// Which trails are searched.
#[derive(Args)]
struct Trails {
    /// The record's name, as the search without arguments prints it
    record: String,
    /// How many records the trail has
    records: usize,
    /// Bits of a word: 64, 32, 16 or 8
    #[arg(long, default_value_t = 64)]
    width: u32,
}

#[derive(Subcommand)]
enum Task {
    /// Searches by chance for a light trail with additions taken as exclusive ors
    Search {
        #[command(flatten)]
        trails: Trails,
        /// How long
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Only differences that repeat after as many bits
        #[arg(long)]
        period: Option<u32>,
        /// Then counts in 2^TRIES runs how often the trail is met
        #[arg(long)]
        tries: Option<u32>,
    },
    /// Proves a bound for trails with additions taken as exclusive ors
    Bound {
        #[command(flatten)]
        trails: Trails,
        /// Trails that differ in as many places of a group are all tried
        #[arg(long, default_value_t = 4)]
        places: usize,
    },
    /// Counts the collisions of two records of 8-bit words over all differences
    Pairs {
        /// In how many states
        #[arg(long, default_value_t = 4096)]
        states: u64,
    },
    /// Finds the lightest trail that may use carries, by a SAT solver
    Carries {
        #[command(flatten)]
        trails: Trails,
        /// The weight to begin with
        #[arg(long, default_value_t = 100)]
        most: usize,
        /// The first record weighs at most so much: for a search that need not be complete
        #[arg(long)]
        first: Option<usize>,
        /// A program that reads DIMACS and takes `-q`, in place of the solver that is linked
        #[arg(long)]
        solver: Option<String>,
        /// Then counts in 2^TRIES runs how often the trail is met
        #[arg(long)]
        tries: Option<u32>,
    },
}

impl Trails {
    /// Finds the record.
    fn record(&self) -> Result<Record> {
        let record = Record::named(&self.record);
        let mut record = record.context("no such record: run without arguments for the names")?;
        ensure!(
            [8, 16, 32, 64].contains(&self.width),
            "a word has 8, 16, 32 or 64 bits"
        );
        record.width = self.width;
        Ok(record)
    }
}

/// Prints a trail: its differences, and the weight of each addition.
fn print_trail(differences: &[u64], weights: impl Iterator<Item = u32>) {
    let weights: Vec<_> = weights.map(|weight| weight.to_string()).collect();
    println!("  differences {differences:x?}");
    println!("  weights {}", weights.join(" "));
}

/// Counts how often a trail is met.
fn print_count(record: &Record, differences: &[u64], tries: u32) {
    let met = count::count(record, differences, 1, 1 << tries);
    let weight = f64::from(tries) - (met as f64).log2();
    println!("  met in {met} of 2^{tries} runs: weight {weight:.1}");
}

/// Searches by chance, prints the lightest trail and returns its weight.
fn search(record: &Record, records: usize, period: u32, seconds: u64, tries: Option<u32>) -> u32 {
    let code = Code::new(record, records, period);
    let (best, orders) = search::search(&code, 1, Duration::from_secs(seconds));
    println!(
        "{}, {records} records: {} dimensions and {} that cost nothing, {orders} orders: weight {}",
        record.name,
        code.basis.len(),
        code.free,
        best.weight,
    );
    if let Some((operands, differences)) = best.trail.split_at_checked(2 * code.additions) {
        let differences: Vec<_> = differences.iter().map(|one| one & record.mask()).collect();
        print_trail(&differences, operands.chunks(2).map(weight));
        if let Some(tries) = tries {
            print_count(record, &differences, tries);
        }
    }
    best.weight
}

/// Proves a bound and prints it.
fn bound(record: &Record, records: usize, places: usize) {
    let code = Code::new(record, records, record.width);
    let start = Instant::now();
    let (best, others) = search::bound(&code, 1, places, u32::MAX);
    println!(
        "{}, {records} records: the lightest trail that was met has weight {}, all others have at \
         least {others}; {} s",
        record.name,
        best.weight,
        start.elapsed().as_secs(),
    );
}

/// Searches for trails that may use carries, each lighter than the one before, until none is left.
fn carries(
    record: &Record,
    carries: &Carries,
    most: usize,
    solver: Option<&str>,
    tries: Option<u32>,
) -> Result<()> {
    let (mut most, mut lightest) = (most, None);
    let start = Instant::now();
    while let Some(found) = carries.find(most, solver)? {
        let weight: u32 = found.weights.iter().sum();
        println!("weight {weight}, {} s", start.elapsed().as_secs());
        print_trail(&found.injections, found.weights.iter().copied());
        lightest = Some(found);
        let Some(less) = (weight as usize).checked_sub(1) else {
            return Ok(());
        };
        most = less;
    }
    println!(
        "no trail of weight {most} or less, {} s",
        start.elapsed().as_secs()
    );
    if let (Some(found), Some(tries)) = (lightest, tries) {
        print_count(record, &found.injections, tries);
    }
    Ok(())
}

/// Searches all records, each for up to five of them one after the other.
fn search_all() -> Result<()> {
    for record in Record::all() {
        println!("{}: {}", record.name, record.about);
        let weights = (2..=5).map(|records| search(&record, records, 64, 5, None));
        let least = weights.min().unwrap_or(0);
        println!("{}: {least}\n", record.name);
        if ["record", "x24-too"].contains(&record.name) && least < 70 {
            bail!("a trail of weight {least}: change the order of the record's steps");
        }
    }
    Ok(())
}

/// Demands that the record that is searched is that of the crate.
fn check_record() -> Result<()> {
    let record = Record::named("record").context("the record is on the list")?;
    let mut state = [1, 2, 3, 4];
    for word in 0..1_000_u64 {
        let next = record.run(state, &mut std::iter::once(word));
        ensure!(
            State(state).absorb(word) == State(next),
            "the crate has another record"
        );
        state = next;
    }
    Ok(())
}

fn main() -> Result<()> {
    check_record()?;
    match Arguments::parse().task {
        None => search_all()?,
        Some(Task::Search {
            trails,
            seconds,
            period,
            tries,
        }) => {
            let period = period.unwrap_or(trails.width);
            ensure!(
                period > 0 && trails.width.is_multiple_of(period),
                "a period divides the width"
            );
            search(&trails.record()?, trails.records, period, seconds, tries);
        }
        Some(Task::Bound { trails, places }) => bound(&trails.record()?, trails.records, places),
        Some(Task::Pairs { states }) => {
            let mut record = Record::named("record").context("the record is on the list")?;
            record.width = 8;
            let met = count::pairs(&record, 1, states);
            let weight = (states as f64).log2() - (met as f64).log2();
            println!("{met} collisions in {states} states: 2^-{weight:.2} for each");
        }
        Some(Task::Carries {
            trails,
            most,
            first,
            solver,
            tries,
        }) => {
            let record = trails.record()?;
            let mut formula = Carries::new(&record, trails.records);
            if let Some(first) = first {
                formula.limit_first(trails.records, first);
            }
            carries(&record, &formula, most, solver.as_deref(), tries)?;
        }
    }
    Ok(())
}
