// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops that compute. What each returns depends on each round.

/// Words of the array.
const WORDS: usize = 1024;

/// Rounds of sine, cosine, exponential, logarithm and square root.
#[inline(never)]
pub fn math(rounds: u64) -> u64 {
    let mut sum = 0.0_f64;
    for round in 0..rounds {
        let x = (round % 1000) as f64 * 0.01;
        sum += libm::sin(x) + libm::cos(x) + libm::exp(-x) + libm::log(x + 1.0) + libm::sqrt(x);
    }
    sum.to_bits()
}

/// Rounds of multiplications, divisions, shifts and comparisons of integers.
#[inline(never)]
pub fn integer(rounds: u64) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut sum = 0_u64;
    for round in 1..=rounds {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        sum = sum.wrapping_mul(31).wrapping_add(state / round);
        if state % 7 == 3 {
            sum = sum.rotate_left(5);
        }
    }
    sum
}

/// Rounds of additions, multiplications and divisions of floating-point numbers.
#[inline(never)]
pub fn float(rounds: u64) -> u64 {
    let (mut sum, mut factor) = (0.0_f64, 1.0_f64);
    for round in 0..rounds {
        let x = round as f64;
        factor = factor * 0.999 + 0.001 * x;
        sum += (x + 1.5) / (factor + 2.0) - x * 1e-3;
    }
    sum.to_bits()
}

/// Rounds over an array: each word gets what two others have.
#[inline(never)]
pub fn array(rounds: u64) -> u64 {
    let mut words = [0_u64; WORDS];
    for round in 0..rounds {
        for index in 0..WORDS {
            let other = words[(index * 7 + 1) % WORDS];
            let last = words[(index + WORDS - 1) % WORDS];
            words[index] = other.wrapping_add(last ^ round).wrapping_add(index as u64);
        }
    }
    words.iter().fold(0, |sum, it| sum ^ it)
}
