// SPDX-License-Identifier: MIT OR Apache-2.0
//! A formula in conjunctive form, and who solves it.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

/// A variable by its number from 1 on, or its negation.
pub type Literal = i32;

/// Clauses over variables.
#[derive(Clone)]
pub struct Formula {
    variables: Literal,
    clauses: Vec<Vec<Literal>>,
}

impl Formula {
    /// Begins with nothing.
    pub fn new() -> Self {
        Self {
            variables: 0,
            clauses: Vec::new(),
        }
    }

    /// Makes a new variable.
    pub fn fresh(&mut self) -> Literal {
        self.variables += 1;
        self.variables
    }

    /// Demands that one of the literals is true.
    pub fn clause(&mut self, literals: &[Literal]) {
        self.clauses.push(literals.to_vec());
    }

    /// Demands that an even number of the literals is true, unless one of `unless` is.
    pub fn even(&mut self, unless: &[Literal], literals: &[Literal]) {
        for signs in 0..1_u32 << literals.len() {
            if signs.count_ones() % 2 == 1 {
                let signed = literals.iter().enumerate();
                let signed =
                    signed.map(|(bit, &one)| if signs >> bit & 1 == 1 { -one } else { one });
                self.clauses
                    .push(unless.iter().copied().chain(signed).collect());
            }
        }
    }

    /// Demands that at most `most` of the literals are true, by adding up halves in unary.
    pub fn at_most(&mut self, literals: &[Literal], most: usize) {
        let counted = self.count(literals, most + 1);
        if let Some(&beyond) = counted.get(most) {
            self.clause(&[-beyond]);
        }
    }

    /// Makes literals of which number N is true if more than N of `literals` are, for the first
    /// `limit` numbers.
    fn count(&mut self, literals: &[Literal], limit: usize) -> Vec<Literal> {
        if literals.len() < 2 {
            return literals.to_vec();
        }
        let (left, right) = literals.split_at(literals.len() / 2);
        let (left, right) = (self.count(left, limit), self.count(right, limit));
        let length = limit.min(left.len() + right.len());
        let sum: Vec<_> = (0..length).map(|_| self.fresh()).collect();
        for from_left in 0..=left.len() {
            for from_right in 0..=right.len() {
                let Some(total) = (from_left + from_right).checked_sub(1) else {
                    continue;
                };
                let mut clause = vec![sum[total.min(length - 1)]];
                clause.extend(from_left.checked_sub(1).map(|place| -left[place]));
                clause.extend(from_right.checked_sub(1).map(|place| -right[place]));
                self.clauses.push(clause);
            }
        }
        sum
    }

    /// Finds values of the variables that fulfil the formula. `None`: there are none.
    ///
    /// With a command, a program that reads DIMACS from its input solves it, else the solver that
    /// is linked.
    pub fn solve(&self, command: Option<&str>) -> Result<Option<Vec<bool>>> {
        match command {
            Some(command) => self.ask(command),
            None => Ok(self.solve_here()),
        }
    }

    /// Asks the solver that is linked.
    fn solve_here(&self) -> Option<Vec<bool>> {
        let mut solver = BasicSolver::default();
        let variables: Vec<Var> = (0..self.variables)
            .map(|_| solver.new_var_default())
            .collect();
        let literal =
            |one: &Literal| Lit::new(variables[one.unsigned_abs() as usize - 1], *one > 0);
        for clause in &self.clauses {
            solver.add_clause_reuse(&mut clause.iter().map(literal).collect());
        }
        let solved = solver.solve_limited(&[]) == lbool::TRUE;
        let value = |&variable: &Var| solver.value_var(variable) == lbool::TRUE;
        solved.then(|| variables.iter().map(value).collect())
    }

    /// Asks another program.
    fn ask(&self, command: &str) -> Result<Option<Vec<bool>>> {
        let mut child = Command::new(command)
            .args(["-q"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!("cannot run {command}: install it, or leave `--solver` out")
            })?;
        let mut text = format!("p cnf {} {}\n", self.variables, self.clauses.len());
        for clause in &self.clauses {
            for one in clause {
                text += &format!("{one} ");
            }
            text += "0\n";
        }
        let mut input = child.stdin.take().context("the solver has no input")?;
        input
            .write_all(text.as_bytes())
            .context("the solver ended before it read all")?;
        drop(input);
        let said = child.wait_with_output()?.stdout;
        let said = String::from_utf8_lossy(&said);
        if said.contains("s UNSATISFIABLE") {
            return Ok(None);
        }
        if !said.contains("s SATISFIABLE") {
            bail!("{command} gave no answer: it has to read DIMACS and to take `-q`");
        }
        let mut values = vec![false; self.variables as usize];
        for line in said.lines().filter_map(|line| line.strip_prefix("v ")) {
            for one in line.split_whitespace() {
                let one: Literal = one.parse().context("the solver's values are no numbers")?;
                if one > 0 {
                    values[one as usize - 1] = true;
                }
            }
        }
        Ok(Some(values))
    }
}
