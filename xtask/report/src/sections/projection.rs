// SPDX-License-Identifier: MIT OR Apache-2.0
//! The projection to cycles, apart from everything that was measured.

use anyhow::Result;

use super::calls::Calls;
use super::idc::{Cost as Call, Idc};
use super::programs::Programs;
use super::{Material, NATIVE, modes, read};
use crate::document::{Block, Section, Table};
use crate::projection::{self, Core, Cost, Cycles, Event, Events};
use donjon_figures::format::{number, percent};
use donjon_figures::parts::Part;

/// The mode that is projected for operations and programs.
const MODE: &str = "asid";

/// The section; nothing without the null call.
pub(super) fn section(material: &Material) -> Result<Option<Section>> {
    let Some(idc) = material.parts.get(&Part::Idc) else {
        return Ok(None);
    };
    let Ok(idc) = read::<Idc>(&idc.value) else {
        return Ok(None);
    };
    if idc.unit != "instructions" {
        return Ok(None);
    }
    let costs = projection::costs()?;
    let mut section = Section::new("projection", "Projection to cycles (not measured)");
    section.note(
        "Nothing in this section was measured. It multiplies events, which were counted, by cycles \
         of a model or by an assumption, which were not. Use it to see what decides, and not as a \
         prediction for any processor.",
    );
    section.add(Block::Table(table_of_costs(&costs)));
    let operations: Option<Calls> = part(material, Part::Calls);
    let programs: Option<Programs> = part(material, Part::Programs);
    for core in Core::all(&costs) {
        section.add(Block::Table(null_calls(&core, &idc)));
        let Some(call) = idc.modes.get(MODE) else {
            continue;
        };
        let operations = operations.as_ref().map(|it| of_operations(&core, call, it));
        let programs = programs.as_ref().map(|it| of_programs(&core, call, it));
        let tables = [operations, programs].into_iter().flatten();
        // A core that lacks the cost of an event has no row.
        for table in tables.filter(|it| !it.rows.is_empty()) {
            section.add(Block::Table(table));
        }
    }
    section.text(
        "Cores that can be bought are not among them: no source gives cycles of these events on one. \
         The costs on gem5's core `o3` were worked out from its cycles for null calls of `asid` and \
         `strict`, so these two rows say nothing new. Its core `minor` has no cost of one event: the \
         same two equations give a negative one.",
    );
    section.text(
        "Not in it: TLB operations of `tlbi`, for which there is no figure; barriers and \
         invalidations inside of a call; misses of caches and TLBs; more than one instruction in a \
         cycle. In the table of operations the few instructions that a null call takes inside \
         count twice.",
    );
    Ok(Some(section))
}

fn part<T: serde::de::DeserializeOwned>(material: &Material, part: Part) -> Option<T> {
    read(&material.parts.get(&part)?.value).ok()
}

fn table_of_costs(costs: &[Cost]) -> Table {
    let mut table = Table::new(
        "Assumed cost of one event",
        &["event", "core", "source", "cycles"],
    );
    table.words = 3;
    for it in costs {
        let event = match it.event {
            Event::TcrWrite => "write of TCR_EL1 with its ISB",
            Event::Isb => "ISB by itself",
            Event::Instruction => "other instruction",
            Event::SystemCall => "null system call, to compare with",
        };
        let cycles = Cycles {
            least: it.least,
            most: it.most,
        };
        table.row(vec![
            event.to_owned(),
            it.core.clone(),
            it.source.clone(),
            range(cycles),
        ]);
    }
    table
}

fn null_calls(core: &Core<'_>, idc: &Idc) -> Table {
    let mut table = Table::new(
        &format!("Projection: null call, in cycles of {}", core.name()),
        &[
            "call",
            "TCR_EL1 writes with ISB",
            "other ISBs",
            "other instructions",
            "TLB operations",
            "projected cycles",
        ],
    );
    for mode in modes(idc.modes.keys()) {
        let call = &idc.modes[&mode];
        let Some(events) = events(call, 1.0) else {
            continue;
        };
        let tlb_ops = call.tlb_ops.unwrap_or_default();
        let cycles = core.project(events).filter(|_| tlb_ops == 0);
        table.row(vec![
            format!("null IDC, `{mode}`"),
            number(events.tcr_writes, 0),
            number(events.isbs, 0),
            number(events.instructions, 0),
            tlb_ops.to_string(),
            cycles.map_or("not projected".to_owned(), range),
        ]);
    }
    if let Some(cycles) = core.cycles(Event::SystemCall) {
        let mut row = vec!["null system call (the figure above)".to_owned()];
        row.resize(5, String::new());
        row.push(range(cycles));
        table.row(row);
    }
    table
}

fn of_operations(core: &Core<'_>, call: &Call, calls: &Calls) -> Table {
    let mut table = Table::new(
        &format!(
            "Projection: what the calls of an operation add in `{MODE}`, in cycles of {}",
            core.name()
        ),
        &["operation", "calls", "in the gate", "inside", "together"],
    );
    for it in &calls.operations {
        let Some(gate) = events(call, it.calls).and_then(|it| core.project(it)) else {
            continue;
        };
        let inside = Events {
            instructions: it.instructions,
            ..Events::default()
        };
        let Some(inside) = core.project(inside) else {
            continue;
        };
        let both = Cycles {
            least: gate.least + inside.least,
            most: gate.most + inside.most,
        };
        table.row(vec![
            it.name.clone(),
            number(it.calls, 1),
            range(gate),
            range(inside),
            range(both),
        ]);
    }
    table
}

fn of_programs(core: &Core<'_>, call: &Call, programs: &Programs) -> Table {
    let mut table = Table::new(
        &format!(
            "Projection: what `{MODE}` adds to a unit of a program's work, in cycles of {}",
            core.name()
        ),
        &[
            "program",
            "added instructions",
            "calls",
            "projected cycles added",
            "of a cycle for each native instruction",
        ],
    );
    for it in &programs.programs {
        let figures = [
            it.instructions.get(NATIVE),
            it.instructions.get(MODE),
            it.calls.get(MODE),
        ];
        let [Some(native), Some(with), Some(calls)] = figures else {
            continue;
        };
        // The gate's instructions are among the added ones already.
        let Some(mut events) = events(call, *calls) else {
            continue;
        };
        events.instructions = with - native - 2.0 * events.tcr_writes - events.isbs;
        let Some(cycles) = core.project(events) else {
            continue;
        };
        let share = [cycles.least, cycles.most].map(|it| percent(it / native * 100.0));
        let share = if share[0] == share[1] {
            share[0].clone()
        } else {
            share.join(" to ")
        };
        table.row(vec![
            it.name.clone(),
            number(with - native, 0),
            number(*calls, 2),
            range(cycles),
            share,
        ]);
    }
    table
}

fn events(call: &Call, calls: f64) -> Option<Events> {
    let (writes, isbs) = (call.tcr_writes? as f64, call.isb? as f64);
    Some(Events::of_calls(calls, call.median, writes, isbs))
}

fn range(cycles: Cycles) -> String {
    let [least, most] = [cycles.least, cycles.most].map(|it| number(it, 0));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}
