// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines `NAME: number number …` that a guest printed.

use anyhow::{Context, Result, ensure};

use crate::samples;

/// The numbers of each line with this name.
pub fn all(text: &str, name: &str) -> Result<Vec<Vec<u64>>> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let numbers: Result<Vec<Vec<u64>>, _> = lines
        .map(|line| line.split_whitespace().map(str::parse).collect())
        .collect();
    let numbers = numbers.with_context(|| format!("the guest's line `{name}:`"))?;
    ensure!(!numbers.is_empty(), "the guest printed no line `{name}:`");
    Ok(numbers)
}

/// The numbers of the guest's lines `name:`, each of which has `COUNT`.
pub fn rows<const COUNT: usize>(text: &str, name: &str) -> Result<Vec<[u64; COUNT]>> {
    let rows = all(text, name)?.into_iter();
    rows.map(|it| {
        let found = it.len();
        <[u64; COUNT]>::try_from(it)
            .map_err(|_| anyhow::anyhow!("a line `{name}:` has {found} numbers, not {COUNT}"))
    })
    .collect()
}

/// The numbers of the guest's only line `name:`.
pub fn one<const COUNT: usize>(text: &str, name: &str) -> Result<[u64; COUNT]> {
    let [row] = rows(text, name)?
        .try_into()
        .map_err(|_| anyhow::anyhow!("the guest printed several lines `{name}:`"))?;
    Ok(row)
}

/// The median of numbers; that of none is no number.
pub fn median(numbers: impl IntoIterator<Item = u64>) -> f64 {
    let numbers = numbers.into_iter().map(|it| it as f64);
    samples::median(numbers).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_name() {
        let text = "pipe: 1 2\npipe-in-one-process: 7\npipe: 3 4\n";
        assert_eq!(rows(text, "pipe").expect("rows"), [[1, 2], [3, 4]]);
        assert_eq!(one(text, "pipe-in-one-process").expect("one"), [7]);
        assert!(one::<2>(text, "pipe").is_err());
        assert!(rows::<3>(text, "pipe").is_err());
        assert!(all(text, "channel").is_err());
    }

    #[test]
    fn medians() {
        assert!((median([3, 1, 2]) - 2.0).abs() < 1e-9);
        assert!((median([4, 1, 2, 3]) - 2.5).abs() < 1e-9);
        assert!(median([]).is_nan());
    }
}
