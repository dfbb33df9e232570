// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trails whose additions may differ by carries as well, as a formula for a SAT solver.
//!
//! An addition of differences `a` and `b` may give the difference `c` if, behind each bit in which
//! the three are equal, the exclusive or of the three is that bit (Lipmaa and Moriai, 2001). Each
//! bit below the highest one in which the three are not equal halves the probability.

use anyhow::Result;

use crate::formula::{Formula, Literal};
use crate::record::{Record, Step};

/// A difference of a word, from bit 0 on.
type Word = Vec<Literal>;

/// The formula of the trails of a number of records, and the literals that cost something.
pub struct Carries {
    /// What holds for each trail.
    pub formula: Formula,
    /// A literal for each bit of an addition; it is true where the bit costs a halving.
    pub costs: Vec<Literal>,
    /// The differences that each injection makes.
    pub injections: Vec<Word>,
    /// Both operands and the sum of each addition.
    pub additions: Vec<[Word; 3]>,
}

/// A trail that a solver found.
pub struct Found {
    /// The difference of each injection.
    pub injections: Vec<u64>,
    /// The weight of each addition, computed from its three differences.
    pub weights: Vec<u32>,
}

impl Carries {
    /// Describes the trails that begin with a difference in the first injection and end in states
    /// that differ in no word but those injected into.
    pub fn new(record: &Record, records: usize) -> Self {
        let mut formula = Formula::new();
        let none = formula.fresh();
        formula.clause(&[-none]);
        let zero = vec![none; record.width as usize];
        let mut state = [zero.clone(), zero.clone(), zero.clone(), zero];
        let mut carries = Self {
            formula,
            costs: Vec::new(),
            injections: Vec::new(),
            additions: Vec::new(),
        };
        for step in std::iter::repeat_n(&record.steps, records).flatten() {
            carries.step(record, &mut state, *step);
        }
        let injected = record.injected();
        for word in (0..4).filter(|word| !injected.contains(word)) {
            for bit in &state[word] {
                carries.formula.clause(&[-bit]);
            }
        }
        let first: Vec<_> = carries.injections[..injected.len()].concat();
        carries.formula.clause(&first);
        carries
    }

    /// Draws a word of new variables.
    fn word(&mut self, width: u32) -> Word {
        (0..width).map(|_| self.formula.fresh()).collect()
    }

    /// Takes the differences of a state through a step.
    fn step(&mut self, record: &Record, state: &mut [Word; 4], step: Step) {
        match step {
            Step::Inject(to) => {
                let injected = self.word(record.width);
                state[to] = self.both(&state[to], &injected);
                self.injections.push(injected);
            }
            Step::Add(to, from) => state[to] = self.sum(&state[to], &state[from]),
            Step::Mix(to, from, bits) => {
                state[to].rotate_right(record.scaled(bits) as usize);
                state[to] = self.both(&state[to], &state[from]);
            }
            Step::Rotate(to, bits) => state[to].rotate_right(record.scaled(bits) as usize),
        }
    }

    /// Describes the exclusive or of two differences.
    fn both(&mut self, left: &Word, right: &Word) -> Word {
        let out = self.word(left.len() as u32);
        for ((left, right), out) in left.iter().zip(right).zip(&out) {
            self.formula.even(&[], &[*left, *right, *out]);
        }
        out
    }

    /// Describes the difference of a sum.
    fn sum(&mut self, left: &Word, right: &Word) -> Word {
        let sum = self.word(left.len() as u32);
        let mut below: Option<(Literal, Literal)> = None;
        for ((&a, &b), &c) in left.iter().zip(right).zip(&sum) {
            match below {
                None => self.formula.even(&[], &[a, b, c]),
                Some((differs, bit)) => self.formula.even(&[differs], &[a, b, c, bit]),
            }
            let differs = self.formula.fresh();
            for clause in [[a, -b], [-a, b], [b, -c], [-b, c]] {
                self.formula.clause(&[differs, clause[0], clause[1]]);
            }
            self.formula.clause(&[-differs, a, b, c]);
            self.formula.clause(&[-differs, -a, -b, -c]);
            below = Some((differs, b));
            self.costs.push(differs);
        }
        // The highest bit costs nothing: its carry goes nowhere.
        self.costs.pop();
        self.additions
            .push([left.clone(), right.clone(), sum.clone()]);
        sum
    }

    /// Demands that the additions of the first record weigh at most so much.
    pub fn limit_first(&mut self, records: usize, most: usize) {
        let costs = self.costs[..self.costs.len() / records].to_vec();
        self.formula.at_most(&costs, most);
    }

    /// Finds a trail of at most a weight. `None`: there is none.
    pub fn find(&self, most: usize, solver: Option<&str>) -> Result<Option<Found>> {
        let mut formula = self.formula.clone();
        formula.at_most(&self.costs, most);
        let Some(values) = formula.solve(solver)? else {
            return Ok(None);
        };
        let word = |word: &Word| {
            let bits = word.iter().enumerate();
            bits.map(|(bit, &one)| u64::from(values[one as usize - 1]) << bit)
                .sum()
        };
        let additions = self.additions.iter();
        let weigh = |three: &[Word; 3]| {
            let [a, b, c]: [u64; 3] = three.each_ref().map(word);
            weigh([a, b, c], three[0].len() as u32)
        };
        Ok(Some(Found {
            injections: self.injections.iter().map(word).collect(),
            weights: additions.map(weigh).collect(),
        }))
    }
}

/// The weight of an addition's differences.
///
/// # Panics
///
/// Panics where the addition cannot have them: then the formula is wrong.
fn weigh([a, b, c]: [u64; 3], width: u32) -> u32 {
    let alike = |a: u64, b: u64, c: u64| !(a ^ b) & !(a ^ c);
    let mask = u64::MAX >> (64 - width);
    let odd = alike(a << 1, b << 1, c << 1) & (a ^ b ^ c ^ b << 1) & mask;
    assert_eq!(
        odd, 0,
        "no addition has the differences {a:x}, {b:x}, {c:x}"
    );
    (!alike(a, b, c) & mask >> 1).count_ones()
}
