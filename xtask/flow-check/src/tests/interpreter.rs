// SPDX-License-Identifier: MIT OR Apache-2.0
//! A processor that knows the words of the tests' programs alone. Conditions are random.

use donjon_flow_chain::State;

use super::assembler::BASE;
use super::dice::Dice;
use crate::replay::{End, Ending, Segment};
use crate::segment::tag;

/// What a run left behind.
#[derive(Clone)]
pub struct Run {
    /// Segments: words, and how each ended.
    pub segments: Vec<(Vec<u64>, End)>,
    /// Addresses of all instructions that were carried out.
    pub trace: Vec<u64>,
    /// Whether the chain over each segment leads to the state that its records left.
    pub proved: bool,
}

impl Run {
    pub fn segments(&self) -> Vec<Segment<'_>> {
        let all = self.segments.iter();
        all.map(|it| Segment {
            words: &it.0,
            end: it.1,
        })
        .collect()
    }
}

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Instructions at most.
    pub fuel: usize,
    /// Words of a segment at most, drawn for each one.
    pub words: usize,
    /// Whether x28 begins anew with each segment. It must not.
    pub resets: bool,
    /// How many of 1,000 conditions hold.
    pub taken: usize,
}

/// A processor.
#[derive(Clone)]
pub struct Machine<'a> {
    text: &'a [u32],
    dice: Dice,
    plan: Plan,
    x: [u64; 32],
    pc: u64,
    stack: Vec<u64>,
    log: Vec<u64>,
    room: usize,
    first: State,
    run: Run,
    /// Whether the next condition holds, if that is not left to the dice.
    forced: Option<bool>,
}

/// Why a processor stopped.
enum Halt {
    Finished,
    Stopped,
}

impl<'a> Machine<'a> {
    pub fn new(text: &'a [u32], seed: u64, plan: Plan) -> Self {
        let mut machine = Self {
            text,
            dice: Dice::new(seed),
            plan,
            x: [0; 32],
            pc: BASE,
            stack: Vec::new(),
            log: Vec::new(),
            room: 0,
            first: State([0; 4]),
            run: Run {
                segments: Vec::new(),
                trace: Vec::new(),
                proved: true,
            },
            forced: None,
        };
        machine.x[28] = 1;
        machine.x[1] = machine.dice.next();
        machine.begin();
        machine
    }

    /// Begins a segment.
    fn begin(&mut self) {
        self.room = 1 + self.dice.below(self.plan.words);
        self.first = State([(); 4].map(|()| self.dice.next()));
        self.x[22..26].copy_from_slice(&self.first.0);
        if self.plan.resets {
            self.x[28] = 1;
        }
    }

    /// Ends a segment, and compares the chain with the one in Rust.
    fn close(&mut self, how: Ending) {
        let words = std::mem::take(&mut self.log);
        let state = State([self.x[22], self.x[23], self.x[24], self.x[25]]);
        let whole = !matches!(how, Ending::Stopped) || !self.is_in_record();
        self.run.proved &= !whole || tag(self.first, &words) == state;
        let (pc, path) = (self.pc, self.x[28]);
        self.run.segments.push((words, End { how, pc, path }));
    }

    fn word(&self, pc: u64) -> u32 {
        let at = pc.wrapping_sub(BASE) / 4;
        self.text.get(at as usize).copied().unwrap_or(0)
    }

    /// Says whether the next instruction is a step of a record.
    fn is_in_record(&self) -> bool {
        let word = self.word(self.pc);
        (22..26).contains(&(word & 0x1f)) && word & 0x1f00_0000 != 0x1200_0000
    }

    /// Runs until the fuel is burnt, the program ends or faults.
    pub fn run(mut self) -> Run {
        for _ in 0..self.plan.fuel {
            match self.step() {
                Ok(()) => {}
                Err(Halt::Finished) => {
                    self.run.trace.push(self.pc);
                    self.pc += 4;
                    self.close(Ending::Finished);
                    return self.run;
                }
                Err(Halt::Stopped) => break,
            }
        }
        self.close(Ending::Stopped);
        self.run
    }

    fn step(&mut self) -> Result<(), Halt> {
        let word = self.word(self.pc);
        if word & !0x1f == 0xf800_8760 && self.log.len() == self.room {
            self.close(Ending::Stopped);
            self.begin();
        }
        let next = self.pc + 4;
        let pc = self.pc;
        self.pc = self.carry_out(word, next)?;
        self.run.trace.push(pc);
        Ok(())
    }

    /// Carries an instruction out, and returns the address of the next one.
    fn carry_out(&mut self, word: u32, next: u64) -> Result<u64, Halt> {
        let field = |low: u32| (word >> low & 0x1f) as usize;
        let (d, n, m) = (field(0), field(5), field(16));
        let distance = |bits: u32, low: u32| {
            let value = i64::from(word >> low) << (64 - bits) >> (64 - bits);
            (next - 4).wrapping_add_signed(4 * value)
        };
        let shift = word >> 10 & 0x3f;
        let twelve = u64::from(word >> 10 & 0xfff) << if word >> 22 & 1 != 0 { 12 } else { 0 };
        let upper = |it: u64| u64::from(it as u32);
        self.x[31] = 0;
        match word >> 24 {
            0xf8 if word & 0xffff_ffe0 == 0xf800_8760 => self.log.push(self.x[d]),
            0xf8 if word == 0xf81f_0ffe => self.stack.push(self.x[30]),
            0xf8 if word == 0xf841_07fe => self.x[30] = self.stack.pop().unwrap_or(0),
            0xf8 if word == 0xf840_8422 => self.x[1] = self.x[1].wrapping_add(8),
            0xca if shift == 0 && word >> 21 & 7 == 0 => self.x[d] = self.x[n] ^ self.x[m],
            0xca if word >> 21 & 7 == 6 => self.x[d] = self.x[n] ^ self.x[m].rotate_right(shift),
            0x93 if word >> 21 & 7 == 6 && n == m => self.x[d] = self.x[n].rotate_right(shift),
            0x8b if shift == 0 => self.x[d] = self.x[n].wrapping_add(self.x[m]),
            0xcb if shift == 0 => self.x[d] = self.x[n].wrapping_sub(self.x[m]),
            0x4b if shift == 0 => self.x[d] = upper(self.x[n].wrapping_sub(self.x[m])),
            0x2a if shift == 0 && n == 31 => self.x[d] = upper(self.x[m]),
            0xd2 if word & 0xffff_fc00 == 0xd241_0000 => self.x[d] = self.x[n] ^ 1 << 63,
            0xd2 if word >> 21 & 7 == 4 => self.x[d] = u64::from(word >> 5 & 0xffff),
            0xb2 if word & 0xffff_fc00 == 0xb241_0000 => self.x[d] = self.x[n] | 1 << 63,
            0x91 => self.x[d] = self.x[n].wrapping_add(twelve),
            0xd1 | 0xf1 => self.x[d] = self.x[n].wrapping_sub(twelve),
            0x11 | 0x31 => self.x[d] = upper(self.x[n].wrapping_add(twelve)),
            0x51 | 0x71 => self.x[d] = upper(self.x[n].wrapping_sub(twelve)),
            0xd3 if word >> 22 & 3 == 1 => {
                let rotate = word >> 16 & 0x3f;
                self.x[d] = match shift {
                    63 => self.x[n] >> rotate,
                    _ if shift + 1 == rotate => self.x[n] << (63 - shift),
                    _ => return Err(Halt::Stopped),
                };
            }
            0xb7 => {
                return Ok(self.test(
                    self.x[d] >> (32 + (word >> 19 & 0x1f)) & 1,
                    distance(14, 5),
                    next,
                ));
            }
            0xb5 => return Ok(self.test(self.x[d], distance(19, 5), next)),
            0x54 => {
                let taken = self.dice.below(1000) < self.plan.taken;
                let taken = self.forced.take().unwrap_or(taken);
                return Ok(if taken { distance(19, 5) } else { next });
            }
            0x14..=0x17 => return Ok(distance(26, 0)),
            0x94..=0x97 => {
                self.x[30] = next;
                return Ok(distance(26, 0));
            }
            0x10 => self.x[d] = distance(19, 5),
            0xd6 => {
                let to = self.x[n];
                if word >> 21 & 3 == 1 {
                    self.x[30] = next;
                }
                return Ok(to);
            }
            0xd5 if word == 0xd503_201f => {}
            0xd4 if word == 0xd400_0181 => return Err(Halt::Finished),
            0x00 => return Err(Halt::Stopped),
            // Not in the programs of these tests, which are only damaged ones.
            _ => return Err(Halt::Stopped),
        }
        Ok(next)
    }

    fn test(&self, value: u64, to: u64, next: u64) -> u64 {
        if value != 0 { to } else { next }
    }
}

/// What a search over all runs needs.
impl Machine<'_> {
    /// Says whether the next instruction is a branch with a condition.
    pub fn is_at_condition(&self) -> bool {
        self.word(self.pc) >> 24 == 0x54
    }

    /// Says whether the next condition holds.
    pub fn force(&mut self, holds: bool) {
        self.forced = Some(holds);
    }

    /// Returns how many instructions were carried out.
    pub fn instructions(&self) -> usize {
        self.run.trace.len()
    }

    /// Carries one instruction out. `false`: the program has ended, or faulted.
    pub fn advance(&mut self) -> bool {
        match self.step() {
            Ok(()) => true,
            Err(Halt::Finished) => {
                self.pc += 4;
                self.close(Ending::Finished);
                false
            }
            Err(Halt::Stopped) => false,
        }
    }

    /// Says whether the log so far is one that another run began with.
    pub fn follows(&self, other: &Run) -> bool {
        let (segments, words) = (&self.run.segments, &self.log);
        let next = other.segments.get(segments.len());
        other.segments.starts_with(segments) && next.is_some_and(|it| it.0.starts_with(words))
    }

    /// Says whether the log would be that of another run, if this one ended here.
    pub fn has_left(&self, other: &Run) -> bool {
        if let Some((last, before)) = other.segments.split_last()
            && last.1.how == Ending::Stopped
        {
            let end = (self.pc, self.x[28]) == (last.1.pc, last.1.path);
            return end && self.log == last.0 && self.run.segments == before;
        }
        self.run.segments == other.segments
    }
}
