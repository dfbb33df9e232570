// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers as people read them.

/// Writes a number with commas between thousands, and `places` digits behind the point.
pub fn number(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{:.places$}", value.abs());
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, format!(".{rest}")),
        None => (text.as_str(), String::new()),
    };
    let mut grouped = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = !text.contains(|it: char| ('1'..='9').contains(&it));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    format!("{sign}{grouped}{rest}")
}

/// Writes percent with a sign, and no sign for zero.
pub fn percent(value: f64) -> String {
    let text = number(value, 1);
    if text.starts_with('-') || text == "0.0" || text == "-" {
        format!("{text} %")
    } else {
        format!("+{text} %")
    }
}

/// Computes what `value` is more than `base`, in percent; nothing where there is nothing to
/// compare with.
pub fn added(base: f64, value: f64) -> Option<f64> {
    (base != 0.0).then(|| (value / base - 1.0) * 100.0)
}

/// Writes a duration of some seconds in the unit that fits.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Writes a count with its noun in singular or plural.
pub fn plural(count: usize, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", number(count as f64, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(number(1_234_567.891, 1), "1,234,567.9");
        assert_eq!(number(999.0, 0), "999");
        assert_eq!(number(-1000.0, 0), "-1,000");
        assert_eq!(number(-0.04, 1), "0.0");
        assert_eq!(number(f64::NAN, 1), "-");
    }

    #[test]
    fn percents_have_a_sign() {
        assert_eq!(percent(4.96), "+5.0 %");
        assert_eq!(percent(-4.031), "-4.0 %");
        assert_eq!(percent(-0.04), "0.0 %");
        assert_eq!(added(200.0, 210.0).map(percent), Some("+5.0 %".into()));
        assert_eq!(added(0.0, 210.0), None);
    }

    #[test]
    fn durations_have_a_fitting_unit() {
        assert_eq!(duration(59.4), "59 s");
        assert_eq!(duration(61.0), "1 min 1 s");
        assert_eq!(duration(3725.0), "1 h 2 min");
        assert_eq!(plural(1, "attack", "attacks"), "1 attack");
        assert_eq!(plural(43, "attack", "attacks"), "43 attacks");
    }
}
