// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as one HTML page that loads nothing.

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::document::{Block, Document, Figure, Headline, Table};
use crate::plot::{Colour, WIDTHS};

const STYLE: &str = include_str!("style.css");

/// The page.
///
/// # Errors
///
/// If a chart cannot be drawn.
pub fn page(document: &Document) -> Result<String> {
    let mut sections = Vec::new();
    for section in &document.sections {
        let blocks = blocks(&section.blocks)?;
        sections.push(html! {
            section aria-labelledby=(section.id) {
                h2 id=(section.id) { (section.title) }
                (blocks)
            }
        });
    }
    let page = html! {
        (PreEscaped("<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n"))
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (document.title) }
                    p.summary { (inline(&document.summary)) }
                    (headline(&document.headline))
                }
                nav aria-label="Sections" {
                    ul {
                        @for section in &document.sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        }
                    }
                }
                main {
                    @for section in &sections { (section) }
                }
            }
        }
    };
    Ok(page.into_string() + "\n")
}

fn headline(lines: &[Headline]) -> Markup {
    html! {
        @if !lines.is_empty() {
            dl.headline {
                @for line in lines {
                    div {
                        dt { (inline(&line.what)) }
                        dd { (line.value) }
                    }
                }
            }
        }
    }
}

fn blocks(blocks_of: &[Block]) -> Result<Markup> {
    let mut all = Vec::new();
    for block in blocks_of {
        all.push(match block {
            Block::Heading(text) => html! { h3 { (inline(text)) } },
            Block::Text(text) => html! { p { (inline(text)) } },
            Block::Note(text) => html! { p.note role="note" { (inline(text)) } },
            Block::List(items) => html! { ul { @for it in items { li { (inline(it)) } } } },
            Block::Table(table) => self::table(table),
            Block::Figure(figure) => self::figure(figure)?,
            Block::Details(summary, inner) => {
                let inner = blocks(inner)?;
                html! { details { summary { (inline(summary)) } (inner) } }
            }
        });
    }
    Ok(html! { @for block in &all { (block) } })
}

fn table(table: &Table) -> Markup {
    let class = |column: usize| (column >= table.words).then_some("figure");
    html! {
        div.scroll role="region" aria-label=(without_marks(&table.caption)) tabindex="0" {
            table {
                caption { span { (inline(&table.caption)) } }
                thead {
                    tr {
                        @for (column, head) in table.header.iter().enumerate() {
                            th scope="col" class=[class(column)] { (inline(head)) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 {
                                    th scope="row" class=[class(column)] { (inline(cell)) }
                                } @else {
                                    td class=[class(column)] { (inline(cell)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn figure(figure: &Figure) -> Result<Markup> {
    let [wide, narrow] = WIDTHS;
    let (wide, narrow) = (figure.chart.svg(wide)?, figure.chart.svg(narrow)?);
    let label = without_marks(&figure.alternative);
    Ok(html! {
        figure {
            figcaption { (inline(&figure.caption)) }
            @let legend = figure.chart.legend();
            @if !legend.is_empty() {
                ul.legend {
                    @for (colour, name) in &legend {
                        li {
                            span.key.mark[*colour == Colour::Ink] aria-hidden="true" style={ "background:var(" (colour.variable()) ")" } {}
                            (name)
                        }
                    }
                }
            }
            div.wide role="img" aria-label=(label) { (PreEscaped(element(&wide))) }
            div.narrow role="img" aria-label=(label) { (PreEscaped(element(&narrow))) }
        }
    })
}

/// The SVG element, of which the page decides the size.
fn element(svg: &str) -> String {
    let start = svg.find("<svg").unwrap_or_default();
    let mut svg = svg[start..].to_owned();
    for attribute in [" width=\"", " height=\""] {
        let end = svg.find('>').unwrap_or_default();
        if let Some(begin) = svg[..end].find(attribute) {
            let value = begin + attribute.len();
            let length = svg[value..end].find('"').unwrap_or_default();
            svg.replace_range(begin..=value + length, "");
        }
    }
    svg
}

/// Text in which words between backticks are code.
fn inline(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn without_marks(text: &str) -> String {
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Section;
    use crate::plot::{Bar, Bars, Chart, Group};

    fn page_of(block: Block) -> String {
        let mut section = Section::new("one", "Section <1>");
        section.add(block);
        let document = Document {
            title: "A & B".into(),
            summary: "Mode `asid` <b>".into(),
            headline: vec![Headline {
                value: "59".into(),
                what: "instructions".into(),
            }],
            sections: vec![section],
        };
        page(&document).expect("a page")
    }

    #[test]
    fn what_comes_from_files_is_escaped() {
        let mut table = Table::new("<caption>", &["<head>", "n"]);
        table.row(vec!["<script>alert(1)</script>".into(), "\"1\"".into()]);
        let page = page_of(Block::Table(table));
        assert!(page.contains("<h1>A &amp; B</h1>"), "{page}");
        assert!(page.contains("Mode <code>asid</code> &lt;b&gt;"), "{page}");
        assert!(page.contains("Section &lt;1&gt;"), "{page}");
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
            "{page}"
        );
        assert!(page.contains("aria-label=\"&lt;caption&gt;\""), "{page}");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("<th scope=\"row\">"), "{page}");
    }

    #[test]
    fn a_chart_has_words_and_no_size_or_colour_of_its_own() {
        let bars = Bars {
            unit: "unit".into(),
            series: vec![(Colour::Asid, "asid".into()), (Colour::Tlbi, "tlbi".into())],
            groups: vec![Group {
                name: "<g>".into(),
                bars: vec![
                    Bar {
                        series: 0,
                        value: 1.0,
                        deviation: 0.0,
                        text: "one".into(),
                    },
                    Bar {
                        series: 1,
                        value: 2.0,
                        deviation: 0.0,
                        text: "two".into(),
                    },
                ],
                mark: None,
            }],
            ..Bars::default()
        };
        let page = page_of(Block::Figure(Figure {
            caption: "c".into(),
            alternative: "asid 1, tlbi 2".into(),
            chart: Chart::Bars(bars),
        }));
        assert!(
            page.contains("role=\"img\" aria-label=\"asid 1, tlbi 2\""),
            "{page}"
        );
        assert!(page.contains("fill=\"var(--asid)\""), "{page}");
        assert!(!page.contains("#0D0E"), "{page}");
        assert!(!page.contains("<svg width"), "{page}");
        assert!(page.contains("<svg viewBox"), "{page}");
        assert!(page.contains("&lt;g&gt;"), "{page}");
    }
}
