// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as one HTML page that loads nothing.

use anyhow::{Context, Result};
use minijinja::context;
use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html,
};

use crate::chapters::Report;
use crate::chart::Figure;
use crate::markdown::plain;
use crate::plot::{Colour, WIDTHS};
use crate::templates::Templates;

const STYLE: &str = include_str!("style.css");

/// Writes the page.
///
/// # Errors
///
/// If a chart cannot be drawn.
pub fn page(templates: &Templates, report: &Report) -> Result<String> {
    let Report { head, chapters } = report;
    let number = |line: &String| {
        let (value, what) = line.strip_prefix("**")?.split_once("** ")?;
        Some([plain(value), inline(what)])
    };
    let headline: Vec<_> = chapters
        .iter()
        .flat_map(|it| &it.headline)
        .filter_map(number)
        .collect();
    let chapters: Vec<_> = chapters
        .iter()
        .map(|it| {
            let text = blocks(templates, &it.text).with_context(|| it.title.clone())?;
            Ok(context! { id => it.id, title => plain(&it.title), text })
        })
        .collect::<Result<_>>()?;
    let summary = inline(&head.text);
    let page =
        context! { title => plain(&head.title), style => STYLE, summary, headline, chapters };
    templates.render("page.html", page)
}

/// HTML of blocks: tables with their captions, charts, notes and what a reader has to open.
fn blocks(templates: &Templates, markdown: &str) -> Result<String> {
    let mut page = String::new();
    let mut events = Parser::new_ext(markdown, Options::ENABLE_TABLES).peekable();
    while let Some(event) = events.next() {
        let Event::Start(tag) = event else { continue };
        let end = tag.to_end();
        let inside: Vec<Event<'_>> = events
            .by_ref()
            .take_while(|it| *it != Event::End(end))
            .collect();
        match tag {
            Tag::Paragraph => {
                let label: String = inside.iter().map(text_of).collect();
                let text = written(inside);
                if let Some(Event::Start(Tag::Table(columns))) =
                    events.next_if(|it| matches!(it, Event::Start(Tag::Table(_))))
                {
                    let rows = events
                        .by_ref()
                        .take_while(|it| *it != Event::End(TagEnd::Table));
                    page += &table(templates, [&text, &label], &columns, rows)?;
                } else {
                    page += &format!("<p>{text}</p>\n");
                }
            }
            Tag::BlockQuote(_) => {
                let is_mark = |it: &Event<'_>| {
                    matches!(
                        it,
                        Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)
                    )
                };
                let words = inside.into_iter().filter(|it| !is_mark(it)).collect();
                page += &format!("<p class=\"note\" role=\"note\">{}</p>\n", written(words));
            }
            Tag::Heading { level, .. } if level > HeadingLevel::H2 => {
                page += &format!("<{level}>{}</{level}>\n", written(inside));
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(kind)) => {
                let text: String = inside.iter().map(text_of).collect();
                if &*kind == "fold" {
                    let (summary, text) = text.split_once('\n').unwrap_or((&text, ""));
                    let text = blocks(templates, text)?;
                    let summary = inline(summary);
                    page += &format!("<details><summary>{summary}</summary>\n{text}</details>\n");
                } else if let Some(it) = Figure::read(&kind, &text)? {
                    page += &figure(templates, &it)?;
                }
            }
            tag => {
                let whole = [Event::Start(tag)].into_iter().chain(inside);
                page += &written(whole.chain([Event::End(end)]).collect());
            }
        }
    }
    Ok(page)
}

fn table<'a>(
    templates: &Templates,
    caption: [&str; 2],
    columns: &[Alignment],
    events: impl Iterator<Item = Event<'a>>,
) -> Result<String> {
    let class = |it: &Alignment| match it {
        Alignment::Right => " class=\"figure\"",
        _ => "",
    };
    let classes: Vec<&str> = columns.iter().map(class).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut cell = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
            Event::End(TagEnd::TableCell) => {
                let cell = written(std::mem::take(&mut cell));
                rows.last_mut().context("a cell without a row")?.push(cell);
            }
            Event::Start(Tag::TableCell) | Event::End(_) => {}
            other => cell.push(other),
        }
    }
    let [caption, label] = caption.map(|it| it.strip_suffix(':').unwrap_or(it));
    let (head, rows) = rows.split_first().context("a table without a head")?;
    templates.render(
        "table.html",
        context! { label, caption, classes, head, rows => rows.to_vec() },
    )
}

fn figure(templates: &Templates, figure: &Figure) -> Result<String> {
    let [wide, narrow] = WIDTHS;
    let (wide, narrow) = (figure.chart.svg(wide)?, figure.chart.svg(narrow)?);
    let key = |(colour, name): (Colour, String)| {
        let class = if colour == Colour::INK {
            "key mark"
        } else {
            "key"
        };
        [class.to_owned(), colour.variable(), name]
    };
    let legend: Vec<_> = figure.chart.legend().into_iter().map(key).collect();
    let (caption, label) = (inline(&figure.caption), &figure.alternative);
    templates.render(
        "figure.html",
        context! { caption, label, legend, wide, narrow },
    )
}

fn text_of(event: &Event<'_>) -> String {
    match event {
        Event::Text(text) => text.to_string(),
        Event::Code(code) => code.replace("\\|", "|"),
        _ => String::new(),
    }
}

/// HTML of a line.
fn inline(line: &str) -> String {
    // A word before it, so that nothing begins a block.
    let line = format!("a {line}");
    let inside = |it: &Event<'_>| {
        !matches!(
            it,
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)
        )
    };
    let text = written(Parser::new(&line).filter(inside).collect());
    text.get(2..).unwrap_or_default().to_owned()
}

/// HTML of events; what would be HTML of a file is text.
fn written(events: Vec<Event<'_>>) -> String {
    let mut text = String::new();
    let events = events.into_iter().map(|it| match it {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Code(code) => Event::Code(code.replace("\\|", "|").into()),
        other => other,
    });
    html::push_html(&mut text, events);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{Chapter, escape};

    fn page_of(text: &str) -> String {
        let templates = Templates::new().expect("templates");
        let head = Chapter::new("summary", "# A & B\n\nMode `asid` &lt;b>");
        let headline = "headline: **59** instructions of `a`";
        let chapter = Chapter::new("one", &format!("## Section &lt;1>\n\n{headline}\n\n{text}"));
        let chapters = vec![chapter];
        page(&templates, &Report { head, chapters }).expect("a page")
    }

    #[test]
    fn what_comes_from_files_is_escaped() {
        let hostile = escape("<script>alert(1)</script>|`<i>`");
        let page = page_of(&format!(
            "{}:\n\n| n | {hostile} |\n|---|---:|\n| {hostile} | 1 |\n\n<script>raw</script>\n",
            escape("<caption>")
        ));
        for part in [
            "<h1>A &amp; B</h1>",
            "Mode <code>asid</code> &lt;b&gt;",
            "<h2 id=\"one\">Section &lt;1&gt;</h2>",
            "<dt>instructions of <code>a</code></dt><dd>59</dd>",
            "aria-label=\"&lt;caption&gt;\"",
            "<th scope=\"row\">&lt;script&gt;alert(1)&lt;/script&gt;|<code>&lt;i&gt;</code></th>",
            "<td class=\"figure\">1</td>",
            "&lt;script&gt;raw",
        ] {
            assert!(page.contains(part), "`{part}` is not in\n{page}");
        }
        assert!(!page.contains("<script"), "{page}");
    }

    #[test]
    fn a_chart_has_words_and_no_size_or_colour_of_its_own() {
        let page = page_of(
            "```bars\ncaption: c\nsays: Bars: $all.\nseries: asid | tlbi\n\n\
             &lt;g> | 1 | 2 ± 0.5\n```\n",
        );
        for part in [
            "role=\"img\" aria-label=\"Bars: &lt;g&gt; 1, 2.\"",
            "fill=\"var(--asid)\"",
            "style=\"background:var(--tlbi)\"></span>tlbi</li>",
            "<svg viewBox",
        ] {
            assert!(page.contains(part), "`{part}` is not in\n{page}");
        }
        assert!(!page.contains("#0D0E"), "{page}");
        assert!(!page.contains("<svg width"), "{page}");
    }

    #[test]
    fn what_a_reader_opens_has_tables_as_well() {
        let page = page_of("~~~fold\nThe list\n\nc:\n\n| a |\n|---|\n| 1 |\n~~~\n\n> Look.\n");
        let (_, list) = page
            .split_once("<details><summary>The list</summary>")
            .expect("a list");
        assert!(list.contains("<caption><span>c</span></caption>"), "{page}");
        assert!(
            list.contains("</details>\n<p class=\"note\" role=\"note\">Look.</p>"),
            "{page}"
        );
    }
}
