// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports of made-up figures.

use donjon_figures::records::examples;
use serde_json::json;

use super::*;
use crate::envelope::Envelope;
use crate::store::Origin;
use crate::{html, markdown};

fn tree(commit: &str) -> Tree {
    Tree {
        commit: Some(commit.to_owned()),
        ..Tree::default()
    }
}

fn loaded(value: Value, commit: &str) -> Loaded {
    Loaded {
        value,
        origin: Origin::Run,
        envelope: Some(Envelope {
            qemu: "0.0".into(),
            host_cpu: "made up".into(),
            ..Envelope::of_run(Part::Idc, &tree(commit), 61.0, 0)
        }),
    }
}

/// All examples, as if they were measured at this commit.
fn examples_of(commit: &str) -> Material {
    let part = |part: Part| {
        let value = examples::document(part.name()).expect("an example");
        (part, loaded(value, commit))
    };
    Material {
        parts: Part::ALL.into_iter().map(part).collect(),
        reasons: BTreeMap::new(),
        tree: tree(commit),
        date: "today".into(),
    }
}

fn both(material: Material) -> (String, String) {
    let templates = Templates::new().expect("templates");
    let report = report(&templates, material).expect("a report");
    let page = html::page(&templates, &report).expect("a page");
    (page, markdown::page(&report))
}

#[test]
fn each_part_has_its_figures_in_the_report() {
    let (page, text) = both(examples_of("abc"));
    for part in Part::ALL {
        assert!(
            page.contains(&format!("<h2 id=\"{}\">", part.name())),
            "{}",
            part.name()
        );
    }
    for row in [
        // The null call, and a row of LMBench beside what others published of it.
        "| null IDC, asid | 59 | 0.00 | 2 | 2 | 0 |",
        "| fork+exit | 280.000 | +5.0 % | +5.7 % | +5.4 % | +23.0 % | +14.7 % | +59.8 % | +46.7 % | +27.1 % |  |",
        // Calls and the longest of them, the longest first.
        "| fork+exit | 10.5 | 6.3 | 2.1 | 2.0 | 4,150 |",
        "| `text_wait` | 150,053 |\n| `log` | 12,989 |\n| `flush` | 11,963 |",
        // A program above its goal of 4 % in each mode.
        "| sh, starting processes | process | 900,000 | +4.1 % | 52.00 | +5.0 % | 52.00 | +4.2 % | 52.00 | 4 % |",
        // Beside what others published of programs, and of a large fork.
        "| Hilps | NDSS 2017 Table V | Cortex-A57 | CF-Bench | asid | score | 42,243.5 | 36,218.1 | -14.3 % |",
        "| fork of 1 GiB | in batches | time | +3.4 % |",
        // stress-ng beside them, times native.
        "| fork | 2 | 100 | 150 | 1.50 | 110 | 1.10 | 120 | 1.20 |",
        // Two points of scale, and a table of which only the JSON knows the columns.
        "| fork | 262,144 | 15,848,640 | +1.9 % | 522.0 | 502.2 | 0.4 |",
        "| 1,048,576 | 1,000,000 | 950,000 | 20,000 | 200 | 32,768 | 30,720 | 1,000,000 | 950,000 |",
        // Times native, for all work.
        "| all | 3,000 | 1.40 | 1.50 | 1.47 |",
        "| tables | 120 | 300 |",
        // Compartments, each experiment beside what others published of it.
        "| reserving and growing, inside to outside | 8.667 | 1 | no |",
        "| KiB for each | 40.0 | 1,302.8 |",
        "| call from the kernel and back | 411 | 410 | 412 | 3 |",
        "| instructions for each page | 100 MB | 1,000 MB |",
        "| writing each word | 2,000.0 / 2,000.0 | 2,001.0 / 2,000.0 |",
        "| 1,000 | 8.667 | 49.6 | 1.000 | 1.002 | 1.000 | 1.002 | 10.0 | 24.7 |",
        "| channel between compartments | 4,000 | 0.800 |",
        "| 100 | 0.082 | 0.003 | 27.3 |",
        "| math | 20,000,000 | 19,900,000 | -0.5 % | +51.4 % | +13.1 % |",
        "| inside | Root | Denied | No | Granted | Yes | 9 | 0 |",
        "| outside | Kernel module | Granted | Yes | not tried | not tried | 1,000 | 5 |",
        "| kernel: linear map | 120,000 | 12 | 80 | 540,000 | 5,400 | 0 |",
        // A program under flow attestation, and what one step of that adds to all.
        "| tarfind | 1,000 | 1,001 | 1,250 | 1,251 | 1,400 | 3,000 | 5 |",
        "| attested compartment over instrumented process | 0.08 % | 0.30 % |",
        "| a segment more: exit, commit and way back | 550 |",
        "| `/proc/kcore` | not there |  |  | not there |  |  |",
    ] {
        assert!(text.contains(row), "`{row}` is not in\n{text}");
    }
    for words in [
        "2 attacks, 2 stopped; afterwards the auditor found 0 violations. With a control: 1, of which 1",
        "None of 1 of the kernel's selftests is worse",
        "* **0** of 1 kselftests worse than natively",
        "* **0** violations of invariants found from outside, in 2 audits",
        "* **2 of 2** attacks stopped; 1 of 1 controls succeed",
        "* **12,989** instructions of the longest call that does not wait, made by a hostile module (`log`)",
        "Above the goal: sqlite3 insert (`tlbi`), sh, starting processes (`asid`)",
        "> Goals that are missed: reserving and growing, inside to outside; &lt;a goal> without",
        "* **1,000** compartments at once in 4 GiB, 40.0 KiB each",
        "Nothing is missing.",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    assert!(!text.contains("of different commits"), "{text}");
    // What comes from a file is text.
    assert!(page.contains("map a &lt;table&gt; &amp; write"), "{page}");
    assert!(!page.contains("<table> &"), "{page}");
}

#[test]
fn a_projection_is_events_times_costs_and_says_that_it_is_one() {
    let (_, text) = both(examples_of("abc"));
    let (_, projection) = text
        .split_once("## Projection to cycles (not measured)")
        .expect("a section");
    assert!(
        projection
            .trim_start()
            .starts_with("> Nothing in this section was measured.")
    );
    // 2 x 31.07 for the writes, 55 x 1.087 for the rest; `tlbi` needs what has no figure.
    assert!(
        projection.contains("| null IDC, `asid` | 2 | 0 | 55 | 0 | 122 |"),
        "{projection}"
    );
    assert!(
        projection.contains("| null IDC, `tlbi` | 2 | 1 | 86 | 9 | not projected |"),
        "{projection}"
    );
    // 900,000 native; 36,900 more and 52 calls: 1.087 x (36,900 - 4 x 52) + 31.07 x 104.
    assert!(
        projection.contains("| sh, starting processes | 36,900 | 52.00 | 43,115 | +4.8 % |"),
        "{projection}"
    );
    // A core without the cost of an event has no table of programs.
    let (_, minor) = projection
        .split_once("null call, in cycles of gem5's core minor")
        .expect("a table");
    assert!(minor.contains("| null IDC, `asid` | 2 | 0 | 55 | 0 | not projected |"));
    assert!(!minor.contains("sh, starting processes"), "{minor}");
}

#[test]
fn what_is_missing_is_listed_with_its_command() {
    let mut material = examples_of("abc");
    material.parts.remove(&Part::Programs);
    material.parts.remove(&Part::Idc);
    material.reasons.insert(Part::Programs, "no disk".into());
    // A form that this version does not know is no reason to give up.
    let strange = loaded(json!({"rows": 1}), "abc");
    material.parts.insert(Part::Lmbench, strange);
    let (page, text) = both(material);
    assert!(
        text.contains("| programs | `cargo xtask report --run programs` | no disk |"),
        "{text}"
    );
    assert!(
        text.contains("| idc | `cargo xtask report --run idc` | it was not run |"),
        "{text}"
    );
    assert!(
        text.contains("| lmbench | `cargo xtask report --run lmbench` | its JSON has another form"),
        "{text}"
    );
    assert!(!page.contains("<h2 id=\"idc\">"), "{page}");
    // Without the null call there is nothing to project.
    assert!(!page.contains("<h2 id=\"projection\">"), "{page}");
}

#[test]
fn parts_of_different_commits_are_named() {
    let mut material = examples_of("abc");
    let audit = material.parts[&Part::Audit].value.clone();
    material.parts.insert(Part::Audit, loaded(audit, "def"));
    let (_, text) = both(material);
    assert!(
        text.contains("The parts are of different commits"),
        "{text}"
    );
    assert!(text.contains("def: audit)"), "{text}");
    let mut elsewhere = examples_of("abc");
    elsewhere.tree = tree("def");
    let (_, text) = both(elsewhere);
    assert!(
        text.contains("All parts are of commit abc, and the sources are at another one now."),
        "{text}"
    );
}

#[test]
fn a_failure_beside_older_figures_is_said() {
    let mut material = examples_of("abc");
    material.reasons.insert(Part::Idc, "no QEMU".into());
    let (_, text) = both(material);
    assert!(text.contains("The figures of idc are older ones"), "{text}");
    assert!(text.contains("no QEMU"), "{text}");
}

#[test]
fn wall_time_on_a_busy_host_is_said() {
    let stress = |load| {
        let mut material = examples_of("abc");
        let mut loaded = material.parts[&Part::Stress].clone();
        if let Some(envelope) = &mut loaded.envelope {
            envelope.host_load = load;
        }
        material.parts.insert(Part::Stress, loaded);
        both(material).1
    };
    assert!(stress(Some(7.4)).contains("had other work when it began (load 7.4)"));
    for load in [Some(0.1), None] {
        assert!(!stress(load).contains("had other work"), "{load:?}");
    }
}

#[test]
fn experiments_that_were_not_run_are_left_out() {
    let mut material = examples_of("abc");
    let mut some = material.parts[&Part::Compartments].value.clone();
    let fields = some.as_object_mut().expect("an object");
    for name in ["number", "trust", "libraries", "call"] {
        fields.remove(name).expect("an experiment");
    }
    let some = loaded(some, "abc");
    material.parts.insert(Part::Compartments, some);
    let (_, text) = both(material);
    assert!(text.contains("### Messages") && text.contains("### Memory"));
    assert!(!text.contains("### How many") && !text.contains("### Trust"));
}

#[test]
fn what_is_found_in_a_compartment_is_not_overlooked() {
    let mut material = examples_of("abc");
    let mut found = material.parts[&Part::Compartments].value.clone();
    found["libraries"]["ways"][0]["inside"]["found"] = json!(7);
    material
        .parts
        .insert(Part::Compartments, loaded(found, "abc"));
    let (_, text) = both(material);
    assert!(text.contains("> 7 words of messages were found inside."));
}

#[test]
fn an_attack_that_was_not_stopped_is_not_overlooked() {
    let mut material = examples_of("abc");
    let mut attacks = material.parts[&Part::Attacks].value.clone();
    attacks[0]["outcome"] = json!("succeeded");
    attacks[0]["control"] = json!("failed");
    material.parts.insert(Part::Attacks, loaded(attacks, "abc"));
    let (_, text) = both(material);
    assert!(
        text.contains("2 attacks, 1 stopped;") && text.contains("1, of which 0 succeeded"),
        "{text}"
    );
    assert!(
        text.contains("> Not as they have to be: A1 (map-text): succeeded; control failed."),
        "{text}"
    );
}

#[test]
fn a_form_that_is_not_known_is_an_error() {
    let templates = Templates::new().expect("templates");
    let scale = |value| chapter(&templates, Part::Scale, &value);
    assert!(scale(json!({"unit": "instructions"})).is_err());
    assert!(scale(json!({"operations": [{"pages": 1}]})).is_err());
    assert!(chapter(&templates, Part::Audit, &json!({"audits": []})).is_err());
}

#[test]
fn what_a_document_may_lack_is_left_out() {
    let templates = Templates::new().expect("templates");
    let text = |part, value: &Value| chapter(&templates, part, value).expect("a chapter").text;
    let mut scale = examples::document("scale").expect("an example");
    scale["memory"] = json!([]);
    assert!(!text(Part::Scale, &scale).contains("Memory of the inner domain"));
    // As `--only memory` writes it, and as versions did that knew no reserve.
    let mut scale = examples::document("scale").expect("an example");
    scale["operations"] = json!([]);
    for it in scale["memory"][0]["modes"]
        .as_object_mut()
        .expect("modes")
        .values_mut()
    {
        it.as_object_mut()
            .expect("figures")
            .retain(|name, _| !name.starts_with("reserve"));
    }
    let scale = text(Part::Scale, &scale);
    assert!(scale.contains("Memory of the inner domain") && !scale.contains("reserve"));
    let call = json!({"mean": 59.0, "median": 59.0, "stddev": 0.0});
    let idc = json!({"unit": "instructions", "samples": 1, "modes": {"asid": call}});
    let idc = text(Part::Idc, &idc);
    assert!(
        idc.contains("|---|---:|---:|\n| null IDC, asid | 59 | 0.00 |"),
        "{idc}"
    );
    let program = json!({"name": "p", "unit": "u", "goal_percent": 1, "calls": {},
        "instructions": {"asid": 5.0}});
    let programs = json!({"unit": "i", "cpu": "c", "linux": "l", "programs": [program]});
    let programs = text(Part::Programs, &programs);
    assert!(
        programs.contains("No program is above its goal."),
        "{programs}"
    );
}

#[test]
fn no_name_of_a_file_breaks_a_table_or_becomes_html() {
    let hostile = "a|b `c|d` <b>e</b> *f* [g](h) \\ ``` ~~~ & # i\n```\n~~~\n## j {{ 1 }}";
    let mut material = examples_of("abc");
    for part in [
        Part::Calls,
        Part::Programs,
        Part::Compartments,
        Part::Attacks,
    ] {
        let mut text = material.parts[&part].value.to_string();
        for name in ["fork+exit", "sqlite3 insert", "channel", "math", "map-text"] {
            let hostile = json!(format!("{name} {hostile}")).to_string();
            text = text.replace(&format!("\"{name}\""), &hostile);
        }
        let value = serde_json::from_str(&text).expect("a document");
        material.parts.insert(part, loaded(value, "abc"));
    }
    let (page, text) = both(material);
    let (known_page, known_text) = both(examples_of("abc"));
    for tag in [
        "<table", "<tr", "<td", "<th", "<svg", "<h2", "<h3", "<details", "<figure",
    ] {
        assert_eq!(
            page.matches(tag).count(),
            known_page.matches(tag).count(),
            "{tag}"
        );
    }
    assert!(
        !page.contains("<b>") && !page.contains("href=\"h\""),
        "{page}"
    );
    assert_eq!(text.lines().count(), known_text.lines().count(), "{text}");
}
