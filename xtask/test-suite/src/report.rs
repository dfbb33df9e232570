// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report: each section and each chart is there, the page loads nothing, and, by name, what was
//! measured is in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_figures::parts::Part;
use donjon_figures::records::examples;
use donjon_machine::process;
use serde_json::Value;

use super::scratch::Scratch;
use super::test::Test;

/// Where links in the page lead to.
const SECTIONS: [&str; 16] = [
    "where",
    "idc",
    "lmbench",
    "calls",
    "programs",
    "scale",
    "stress",
    "compartments",
    "flow",
    "attacks",
    "audit",
    "kselftests",
    "projection",
    "method",
    "caveats",
    "missing",
];
/// Charts that there are at least: some sections have several.
const CHARTS: usize = 9;
/// What a page would load something by.
const LOADS: [&str; 10] = [
    "src=", "srcset=", "url(", "@import", "<script", "<link", "<iframe", "<object", "<embed",
    "<base",
];

/// The page of figures that are made up or recorded.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let host = host.clone();
    vec![Test::beside("report:page", move || {
        let scratch = Scratch::new()?;
        page(&host, &scratch, "none")?;
        without_data(&host, &scratch)
    })]
}

/// One part is measured: by name alone, it needs the native kernel.
pub fn measured(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("report:measured", move || {
        let scratch = Scratch::new()?;
        page(&host, &scratch, "idc")?;
        has_what_was_measured(&scratch)
    })
    .long()
}

/// Where the report goes.
const OUT: &str = "report";

fn page(host: &HostArguments, scratch: &Scratch, part: &str) -> Result<()> {
    let out = scratch.path().join(OUT);
    let data = scratch.path().join("examples");
    fs::create_dir(&data)?;
    for part in Part::ALL {
        let document = examples::document(part.name())?;
        fs::write(
            data.join(format!("{}.json", part.name())),
            document.to_string(),
        )?;
    }
    report(
        host,
        &out,
        &["--data", &data.to_string_lossy(), "--run", part],
    )?;
    let html = fs::read_to_string(out.join("report.html"))?;
    is_whole(&html)?;
    for section in SECTIONS {
        let heading = format!("<h2 id=\"{section}\">");
        ensure!(html.contains(&heading), "the page has no section {section}");
    }
    let charts = html.matches("<svg").count();
    ensure!(
        charts >= CHARTS,
        "the page has {charts} charts, not {CHARTS}"
    );
    Ok(())
}

fn has_what_was_measured(scratch: &Scratch) -> Result<()> {
    let out = scratch.path().join(OUT);
    let measured = json(&out, "idc.json")?;
    let about = json(&out, "idc.about.json")?;
    ensure!(
        measured["cpu"] == "cortex-a57",
        "idc.json is not what was measured"
    );
    ensure!(about["status"] == 0, "idc.about.json has no status 0");
    let median = measured["modes"]["asid"]["median"].as_f64();
    let median = median.context("idc.json has no median of asid")?;
    let summary = fs::read_to_string(out.join("report.md"))?;
    let row = format!("| null IDC, asid | {median:.0} |");
    ensure!(
        summary.contains(&row),
        "report.md has no row `{row}`:\n{summary}"
    );
    Ok(())
}

/// What is recorded is there, and the others are said to be missing.
fn without_data(host: &HostArguments, scratch: &Scratch) -> Result<()> {
    let out = scratch.path().join("recorded");
    report(host, &out, &["--run", "none"])?;
    let html = fs::read_to_string(out.join("report.html"))?;
    is_whole(&html)?;
    for present in ["lmbench", "calls", "projection"] {
        ensure!(
            html.contains(&format!("<h2 id=\"{present}\">")),
            "{present} is recorded"
        );
    }
    for missing in ["programs", "audit", "kselftests"] {
        let command = format!("<code>cargo xtask report --run {missing}</code>");
        ensure!(
            html.contains(&command),
            "the page does not say how to measure {missing}"
        );
    }
    Ok(())
}

fn report(host: &HostArguments, out: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(process::this_program());
    command.arg("report").arg("--out").arg(out).args(arguments);
    if let Some(linux) = &host.linux {
        command.arg("--linux").arg(linux);
    }
    process::output(&mut command).map(|_| ())
}

fn json(out: &Path, name: &str) -> Result<Value> {
    let text = fs::read_to_string(out.join("data").join(name)).context(name.to_owned())?;
    serde_json::from_str(&text).context(name.to_owned())
}

/// Fails unless the page is complete and needs no other file.
fn is_whole(html: &str) -> Result<()> {
    ensure!(html.trim_end().ends_with("</html>"), "the page has no end");
    for load in LOADS {
        ensure!(!html.contains(load), "the page loads something: `{load}`");
    }
    for link in html.split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap_or_default();
        let is_inside = link
            .strip_prefix('#')
            .is_some_and(|it| html.contains(&format!("id=\"{it}\"")));
        ensure!(is_inside, "the page has a link to `{link}`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_would_load_is_found() {
        let page = |inner: &str| format!("<html><h2 id=\"a\"></h2>{inner}</html>\n");
        is_whole(&page("<a href=\"#a\">a</a>")).expect("a whole page");
        for bad in [
            "<img src=\"x.png\">",
            "<a href=\"https://example.org\">x</a>",
            "<a href=\"#b\">x</a>",
            "<style>@import \"x\"</style>",
        ] {
            assert!(is_whole(&page(bad)).is_err(), "{bad}");
        }
        assert!(is_whole("<html>").is_err());
    }
}
