// SPDX-License-Identifier: MIT OR Apache-2.0
//! A made-up record of compartments: all experiments, and goals of which two are missed.

use super::super::compartments::{
    Calls, Compartments, Costs, Counts, Found, Goal, Libraries, Loop, Loops, Messages, Number,
    Pipes, Samples, Series, Side, Size, Sizes, Trial, Tried, Trust,
};
use super::{CPU, LINUX};

/// Makes a record of compartments.
pub fn compartments() -> Compartments {
    Compartments {
        unit: "instructions".into(),
        cpu: CPU.into(),
        linux: LINUX.into(),
        number: Some(number()),
        pipe: Some(pipe()),
        memory: Some(memory()),
        cpu_loops: Some(Loops {
            loops: vec![
                of_loop("math", 20_000_000, 19_900_000),
                of_loop("array", 28_000_000, 28_140_000),
            ],
        }),
        call: Some(Calls {
            user: samples([900, 901, 950]),
            unknown_request: samples([380; 3]),
            kernel: samples([410, 411, 412]),
            wipe_mib: samples([50_000, 50_001, 50_002]),
        }),
        trust: Some(trust()),
        libraries: Some(libraries()),
        goals: vec![
            goal("a call from user space", Some(901.0), 1000.0),
            goal("reserving and growing, inside to outside", Some(8.667), 1.0),
            goal("<a goal> without a figure", None, 1.02),
        ],
    }
}

fn goal(name: &str, figure: Option<f64>, most: f64) -> Goal {
    Goal {
        name: name.into(),
        figure,
        most,
        is_met: figure.is_some_and(|it| it <= most),
    }
}

fn number() -> Number {
    let series = |[first, last, most]: [u64; 3], mean| Series {
        first,
        last,
        first_median: first as f64,
        last_median: last as f64,
        most,
        mean,
    };
    Number {
        count: 1000,
        frames: 9,
        made: series([90_000, 90_100, 1_300_000], 120_000.5),
        ended: series([23_000, 23_100, 50_000], 23_050.0),
        back: 1_000_000,
        free_kib: [900_000, 860_000, 899_990],
        rows: vec![
            [1, 102_400, 90_000],
            [500, 122_880, 45_000_000],
            [1000, 143_360, 92_000_000],
        ],
    }
}

fn pipe() -> Pipes {
    let way = |(name, total): (&str, u64)| Messages {
        name: name.into(),
        total: total as f64,
        trials: vec![[1, 0, 0, total]],
    };
    let ways = [
        ("channel", 4000),
        ("pipe-in-one-process", 2500),
        ("pipe", 5000),
        ("call-out", 9500),
    ];
    Pipes {
        ways: ways.map(way).into(),
    }
}

fn memory() -> Sizes {
    let costs = |[grow, write, read, release]: [u64; 4]| Costs {
        grow,
        write,
        read,
        release,
    };
    let size = |megabytes, written| Size {
        megabytes,
        inside: costs([25_600, written, 640_000, 76_800].map(|it| it * megabytes)),
        outside: costs([76_800, 512_000, 640_000, 7_680].map(|it| it * megabytes)),
        reserve: 640_000 * megabytes,
        end: 10_240 * megabytes,
    };
    Sizes {
        sizes: vec![size(100, 512_000), size(1000, 512_256)],
    }
}

fn of_loop(name: &str, outside: u64, inside: u64) -> Loop {
    Loop {
        name: name.into(),
        outside: outside as f64,
        inside: inside as f64,
        trials: vec![[1, outside, inside]],
    }
}

fn samples(samples: [u64; 3]) -> Samples {
    Samples {
        median: samples[1] as f64,
        samples: samples.into(),
    }
}

fn counts([read, refused, reached, found]: [u64; 4]) -> Counts {
    Counts {
        is_there: true,
        read,
        refused,
        reached,
        found,
    }
}

fn trust() -> Trust {
    let trial = |is_inside, who: &str, is_expected_outside, ways: &[(&str, [u64; 4])]| {
        let ways = ways.iter().map(|(name, it)| Tried {
            name: (*name).into(),
            counts: counts(*it),
        });
        let ways: Vec<Tried> = ways.collect();
        let is_visible = ways.iter().any(|it| it.counts.found > 0);
        Trial {
            is_inside,
            who: who.into(),
            is_granted: is_visible,
            is_visible,
            is_expected_outside,
            ways,
        }
    };
    let outside = [("mem", [9, 1, 2, 4]), ("core-dump", [90, 0, 5, 5])];
    Trust {
        trials: vec![
            trial(true, "Root", true, &[("mem", [9, 5, 0, 0])]),
            trial(
                true,
                "Second compartment",
                false,
                &[("load", [0, 16, 0, 0])],
            ),
            trial(false, "Root", true, &outside),
            trial(false, "Kernel module", true, &[("linear", [1000, 0, 5, 5])]),
        ],
    }
}

fn libraries() -> Libraries {
    let side = |[rounds, seconds, messages]: [u64; 3]| Side {
        rounds,
        seconds,
        messages,
    };
    Libraries {
        cpus: 2,
        memory: "256M".into(),
        outside: side([2, 600, 5000]),
        inside: side([9, 3600, 31_000]),
        ways: vec![
            Found {
                name: "linear".into(),
                outside: counts([120_000, 12, 40, 80]),
                inside: counts([540_000, 5400, 0, 0]),
            },
            Found {
                name: "kcore".into(),
                ..Found::default()
            },
        ],
    }
}
