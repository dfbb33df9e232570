// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documents that are kept, damaged, left behind and locked away.

use tempfile::TempDir;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    seconds: Option<f64>,
    status: Option<i32>,
}

const KNOWN: Known = Known {
    seconds: Some(61.0),
    status: None,
};

fn folder() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::make(&folder.path().join("a")).expect("made");
    (folder, store)
}

fn load(store: &Store) -> Option<(Vec<u8>, Option<Known>)> {
    store.load("a").expect("read")
}

fn count(store: &Store) -> usize {
    fs::read_dir(&store.folder).expect("a folder").count()
}

#[test]
fn a_document_is_kept_with_what_is_known_of_it_and_nothing_else() {
    let (_folder, store) = folder();
    assert_eq!(load(&store), None);
    for document in [b"{}", b"[]"] {
        store.keep("a", document, Some(&KNOWN)).expect("kept");
        assert_eq!(load(&store), Some((document.to_vec(), Some(KNOWN))));
    }
    let about = fs::read_to_string(store.about("a")).expect("text");
    let sha256 = digest(b"[]");
    let expected =
        format!("{{\n  \"seconds\": 61.0,\n  \"status\": null,\n  \"sha256\": \"{sha256}\"\n}}\n");
    assert_eq!(about, expected);
    assert_eq!(count(&store), 2);
    store.remove("a").expect("removed");
    store.remove("a").expect("nothing to remove");
    assert_eq!(count(&store), 0);
}

#[test]
fn nothing_is_known_of_a_document_that_was_damaged_or_replaced() {
    let (_folder, store) = folder();
    let damages: [&dyn Fn() -> Result<()>; 4] = [
        &|| store.keep("a", b"{ }", None::<&Known>),
        &|| write(&store.about("a"), b"{\"sha256\":"),
        &|| {
            store
                .keep("a", b"", Some(&KNOWN))
                .and(write(&store.path("a"), b"{}"))
        },
        &|| remove(&store.about("a")),
    ];
    for damage in damages {
        store.keep("a", b"{}", Some(&KNOWN)).expect("kept");
        damage().expect("damaged");
        assert_eq!(load(&store).expect("a document").1, None);
    }
}

#[test]
fn what_was_not_completed_goes_and_what_is_chosen() {
    let (_folder, store) = folder();
    store.keep("a", b"{}", Some(&KNOWN)).expect("kept");
    fs::write(unfinished(&store.path("a")), b"{").expect("written");
    for (all, expected) in [(false, 2), (true, 0)] {
        store.sweep(|_| all).expect("swept");
        assert_eq!(count(&store), expected);
    }
}

#[test]
fn one_run_at_a_time_has_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let lock = || Store::lock(folder.path()).expect("no error");
    let first = lock().expect("the folder");
    first.sweep(|_| true).expect("swept");
    assert!(lock().is_none());
    drop(first);
    assert!(lock().is_some());
}

#[test]
fn an_error_says_what_to_do_and_loses_nothing() {
    let (folder, store) = folder();
    let file = folder.path().join("file");
    write(&file, b"").expect("written");
    let error = Store::make(&file.join("below")).err().expect("no folder");
    assert!(error.to_string().contains("a file is where"), "{error}");
    let full = explained(&file, Err::<(), _>(io::Error::from(ErrorKind::StorageFull)));
    let error = full.expect_err("it is full");
    assert!(error.to_string().contains("free some space"), "{error}");
    // The system refuses to replace a folder, as it refuses what is too much for a disk.
    fs::create_dir_all(store.path("a").join("b")).expect("a folder");
    store.keep("a", b"{}", None::<&Known>).expect_err("no file");
    assert_eq!(count(&store), 1);
}
