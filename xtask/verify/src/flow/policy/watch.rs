// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path that is watched step by step, and what a policy says of it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use donjon_abi::flow::{End, EndReason};
use donjon_flow_check::{Event, Program};
use donjon_token::{from_hexadecimal, to_hexadecimal};

use super::{Names, Policy, Watched};

/// What was seen of a function.
#[derive(Clone, Debug)]
struct Seen {
    function: Watched,
    /// Entries: by calls, and by jumps from other functions.
    entries: u64,
    /// Address of the first block that ran.
    ran: Option<u64>,
}

/// An order of two functions, by their numbers.
#[derive(Clone, Copy, Debug)]
struct Order {
    first: usize,
    then: usize,
    each: bool,
    /// Whether the first one was entered.
    ready: bool,
    /// Entry of the other one, from 1 on, that came without it.
    broken: Option<u64>,
}

/// A policy and a path.
pub struct Watch<'a> {
    policy: &'a Policy,
    word: Option<u64>,
    data: Option<[u8; 32]>,
    /// In the order of their addresses.
    functions: Vec<Seen>,
    orders: Vec<Order>,
    numbers: BTreeMap<&'a str, usize>,
    /// The function that the last block was in, if it is watched.
    within: Option<usize>,
    /// Addresses around the last block between which `within` is the same.
    around: (u64, u64),
}

impl<'a> Watch<'a> {
    /// Prepares to watch a path.
    ///
    /// # Errors
    ///
    /// If the policy names what the program does not have as a function of its own.
    pub fn new(policy: &'a Policy, names: &Names<'_>) -> Result<Self> {
        let orders = policy.order.iter().flat_map(|it| [&it.first, &it.then]);
        let runs = policy.must_run.iter().chain(&policy.must_not_run);
        let named = runs.chain(policy.calls.keys()).chain(orders);
        let mut functions: Vec<(&str, Watched)> = Vec::new();
        for name in named {
            if functions.iter().all(|it| it.0 != name) {
                functions.push((name, names.find(name)?));
            }
        }
        functions.sort_by_key(|it| it.1.start);
        let numbers: BTreeMap<_, _> = functions.iter().map(|it| it.0).zip(0..).collect();
        let order = |it: &'a super::Order| Order {
            first: numbers[it.first.as_str()],
            then: numbers[it.then.as_str()],
            each: it.each,
            ready: false,
            broken: None,
        };
        let expected = &policy.result;
        let data = expected.data.as_ref().map(|it| {
            let bytes = from_hexadecimal(it.as_bytes());
            bytes.context("result.data is not 64 hexadecimal digits")
        });
        Ok(Self {
            policy,
            word: expected.word.as_ref().map(|it| it.value()).transpose()?,
            data: data.transpose()?,
            orders: policy.order.iter().map(order).collect(),
            functions: functions
                .into_iter()
                .map(|it| Seen {
                    function: it.1,
                    entries: 0,
                    ran: None,
                })
                .collect(),
            numbers,
            within: None,
            around: (0, 0),
        })
    }

    /// Looks at a step.
    pub fn add(&mut self, event: Event) {
        let Event::Block { start, called, .. } = event else {
            return;
        };
        let before = self.within;
        if !(self.around.0..self.around.1).contains(&start) {
            self.find(start);
        }
        let Some(number) = self.within else {
            return;
        };
        let seen = &mut self.functions[number];
        seen.ran.get_or_insert(start);
        // A jump of a function to its own beginning is a loop.
        if start == seen.function.start && (called || before != Some(number)) {
            seen.entries += 1;
            let entries = seen.entries;
            self.enter(number, entries);
        }
    }

    /// Finds the watched function around an address.
    fn find(&mut self, address: u64) {
        let behind = self
            .functions
            .partition_point(|it| it.function.start <= address);
        let next = self.functions.get(behind);
        let next = next.map_or(u64::MAX, |it| it.function.start);
        let last = behind.checked_sub(1);
        let end = last.map_or(0, |it| self.functions[it].function.end);
        if address < end {
            self.within = last;
            let start = last.map_or(0, |it| self.functions[it].function.start);
            self.around = (start, end);
        } else {
            self.within = None;
            self.around = (end, next);
        }
    }

    fn enter(&mut self, number: usize, entries: u64) {
        for order in &mut self.orders {
            if order.then == number {
                if !order.ready {
                    order.broken.get_or_insert(entries);
                }
                order.ready &= !order.each;
            }
            order.ready |= order.first == number;
        }
    }

    /// Lists what the path does not fulfil, and how the program ended.
    pub fn violations(&self, program: &Program, end: &End) -> Vec<String> {
        let seen = |name: &String| &self.functions[self.numbers[name.as_str()]];
        let mut wrong = Vec::new();
        for it in self.policy.must_run.iter().map(seen) {
            if it.entries == 0 {
                wrong.push(format!("{} has not run", it.function.name));
            }
        }
        for it in self.policy.must_not_run.iter().map(seen) {
            if let Some(at) = it.ran {
                let place = program.names().located(at).unwrap_or_default();
                wrong.push(format!("{} has run: {at:#x} ({place})", it.function.name));
            }
        }
        for (name, bounds) in &self.policy.calls {
            let it = seen(name);
            let (name, count) = (&it.function.name, it.entries);
            if count < bounds.least {
                let least = bounds.least;
                wrong.push(format!(
                    "{name} was entered {count} times, not at least {least}"
                ));
            }
            if let Some(most) = bounds.most.filter(|&it| count > it) {
                wrong.push(format!(
                    "{name} was entered {count} times, not at most {most}"
                ));
            }
        }
        for it in &self.orders {
            if let Some(entry) = it.broken {
                let name = |it: usize| &self.functions[it].function.name;
                let (then, first) = (name(it.then), name(it.first));
                wrong.push(format!("entry {entry} of {then} has no {first} before it"));
            }
        }
        let is_expected = self.word.is_some() || self.data.is_some();
        if is_expected && end.reason != EndReason::Finished as u64 {
            wrong.push("the program has not ended by itself, so it has no result".into());
            return wrong;
        }
        if let Some(word) = self.word.filter(|&it| it != end.word) {
            wrong.push(format!("the result is {:#x}, not {word:#x}", end.word));
        }
        if let Some(data) = self.data.filter(|it| *it != end.data) {
            let (is, not) = (to_hexadecimal(&end.data), to_hexadecimal(&data));
            wrong.push(format!("the result's bytes are {is}, not {not}"));
        }
        wrong
    }
}
