// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records are read as they were written, and have the form of the documents.

use std::fmt::Debug;

use serde_json::json;

use super::*;
use crate::parts::Part;

/// Writes a record as commands do.
fn text(record: &impl Serialize) -> String {
    serde_json::to_string_pretty(record).expect("a document") + "\n"
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(record: &T) {
    let written = text(record);
    let read: T = serde_json::from_str(&written).expect("a record");
    assert_eq!(read, *record);
    assert_eq!(text(&read), written);
}

#[test]
fn what_is_written_is_read() {
    comes_back(&examples::idc());
    comes_back(&examples::lmbench());
    comes_back(&examples::calls());
    comes_back(&examples::programs());
    comes_back(&examples::scale());
    comes_back(&examples::stress());
    comes_back(&examples::compartments());
    comes_back(&examples::attacks());
    comes_back(&examples::audit());
    comes_back(&examples::kselftests());
    comes_back(&examples::dma());
    comes_back(&examples::flow());
    comes_back(&examples::recorded());
}

#[test]
fn each_part_has_a_record_and_an_example() {
    for part in Part::ALL {
        let document = examples::document(part.name()).expect("an example");
        let checked = (part.row().check)(&document).expect("a record");
        assert_eq!(checked, document);
        assert!((part.row().check)(&json!({"rows": 1})).is_err());
    }
}

#[test]
fn the_recorded_figures_are_a_record() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/figures.json");
    let written = std::fs::read_to_string(path).expect("the recorded figures");
    let read: recorded::Recorded = serde_json::from_str(&written).expect("a record");
    assert_eq!(text(&read), written);
}

/// The keys in their order, and how numbers are written: other programs read these files.
#[test]
fn documents_have_the_agreed_form() {
    fn of<T: Serialize + Default>() -> String {
        serde_json::to_string(&T::default()).expect("a document")
    }
    let counts = r#""is_there":false,"read":0,"refused":0,"reached":0,"found":0"#;
    let sight = r#""cpus":0,"cpus_inside":0,"cpus_in_compartments":0,"user_roots":0,"tables":0,"leaves":0,"frames":{},"private_in_use":0,"exec_pages":0,"code_bytes":0,"geometries":0"#;
    let outcome = r#"{"status":null,"passed":0,"failed":0,"skipped":0}"#;
    for (written, expected) in [
        (of::<idc::Idc>(), r#"{"unit":"","samples":0,"modes":{},"cpu":"","linux":""}"#.to_owned()),
        (of::<lmbench::Lmbench>(), r#"{"unit":"","layouts":0,"source":"","rows":{}}"#.into()),
        (of::<calls::Calls>(), r#"{"operations":[],"longest":[]}"#.into()),
        (
            of::<programs::Programs>(),
            r#"{"unit":"","cpu":"","linux":"","programs":[],"stress":[]}"#.into(),
        ),
        (
            of::<programs::Program>(),
            r#"{"name":"","unit":"","goal_percent":0.0,"instructions":{},"samples":{},"calls":{}}"#.into(),
        ),
        (
            of::<programs::Stressor>(),
            r#"{"name":"","cpus":0,"unit":"","time":{}}"#.into(),
        ),
        (
            of::<scale::Scale>(),
            r#"{"unit":"","cpu":"","linux":"","operations":[],"exponents":[],"cpus":[],"memory":[],"boot":null,"longest":[]}"#.into(),
        ),
        (
            of::<scale::Longest>(),
            r#"{"mode":"","function":"","instructions":0}"#.into(),
        ),
        (
            of::<scale::Contended>(),
            r#"{"wall_milliseconds":0.0,"kinds":{},"calls":0.0,"waits":{}}"#.into(),
        ),
        (
            of::<stress::Stress>(),
            r#"{"unit":"","cpus":0,"times":0,"work":{},"huge":{},"waits":{},"calls":{}}"#.into(),
        ),
        (
            of::<compartments::Compartments>(),
            r#"{"unit":"","cpu":"","linux":"","goals":[]}"#.into(),
        ),
        (
            of::<compartments::Goal>(),
            r#"{"name":"","figure":null,"most":0.0,"is_met":false}"#.into(),
        ),
        (of::<compartments::Tried>(), format!(r#"{{"name":"",{counts}}}"#)),
        (
            of::<attacks::Attack>(),
            r#"{"id":"","name":"","mode":"","outcome":"","by":"","audit_violations":0,"control":"","note":""}"#.into(),
        ),
        (of::<audit::Audit>(), r#"{"violations":[],"audits":[]}"#.into()),
        (of::<audit::Once>(), format!(r#"{{"violations":[],{sight},"at":""}}"#)),
        (
            of::<kselftests::Program>(),
            format!(r#"{{"name":"","native":{outcome},"protected":{outcome},"worse":[]}}"#),
        ),
        (
            of::<dma::Dma>(),
            r#"{"linux":"","instructions":{},"range":{},"usb":{}}"#.into(),
        ),
        (of::<flow::Flow>(), r#"{"unit":"","cpu":"","linux":""}"#.into()),
    ] {
        assert_eq!(written, expected);
    }
}
