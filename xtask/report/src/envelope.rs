// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beside each JSON file: from which commit, on which machine and how it was made.

use std::fs;
use std::path::Path;
use std::process::Command;

use donjon_builder::arguments::HostArguments;
use donjon_figures::store::digest;
use donjon_machine::{paths, process, tools};
use serde::{Deserialize, Serialize};

use donjon_figures::parts::Part;

/// Said where something was not written down.
pub const UNKNOWN: &str = "not recorded";

/// The sources that a part was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Git's name of the commit; nothing outside of a repository.
    pub commit: Option<String>,
    /// A digest of what was changed since; nothing if nothing was.
    pub changes: Option<String>,
    /// Options that choose another Linux, and a digest of the file that they name; nothing if there
    /// were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

impl Tree {
    /// Describes the sources as they are now, with the kernel that the arguments choose.
    pub fn now(host: &HostArguments) -> Self {
        let commit = git(&["rev-parse", "HEAD"]).map(|it| it.trim().to_owned());
        Self {
            commit,
            changes: changes_in(paths::root()),
            kernel: kernel(host),
        }
    }

    /// Names the sources for people: twelve letters, whether something was changed, and which
    /// kernel it is.
    pub fn short(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or(UNKNOWN);
        let commit = commit.get(..12).unwrap_or(commit);
        let changes = self.changes.as_ref().map_or("", |_| ", with changes");
        let kernel = self.kernel.as_ref();
        let kernel = kernel.map_or(String::new(), |it| format!(", {it}"));
        format!("{commit}{changes}{kernel}")
    }
}

/// A digest of what differs from the last commit in the repository `root`, files that git does not
/// know among it; nothing if nothing does.
fn changes_in(root: &Path) -> Option<String> {
    let say = |words: &[&str]| git_in(root, words).unwrap_or_default();
    let status = say(&["status", "--porcelain"]);
    if status.is_empty() {
        return None;
    }
    let mut all = status + &say(&["diff", "HEAD", "--binary"]);
    let unknown = say(&["ls-files", "--others", "--exclude-standard", "-z"]);
    for file in unknown.split_terminator('\0') {
        let content = fs::read(root.join(file)).unwrap_or_default();
        all += &format!("{file} {}\n", digest(&content));
    }
    Some(digest(all.as_bytes()))
}

/// Lists the options of a command line that choose another Linux.
pub fn kernel_options(host: &HostArguments) -> Vec<String> {
    let options = [("--linux", &host.linux), ("--config", &host.config)];
    let given = options.into_iter().filter_map(|(option, value)| {
        Some([option.to_owned(), value.as_ref()?.display().to_string()])
    });
    given.flatten().collect()
}

fn kernel(host: &HostArguments) -> Option<String> {
    let options = kernel_options(host).join(" ");
    let file = host.config.as_ref().and_then(|it| fs::read(it).ok());
    let digest = file.map_or(String::new(), |it| {
        format!(" (SHA-256 {:.12})", digest(&it))
    });
    (!options.is_empty()).then(|| options + &digest)
}

/// What is known of one JSON file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Name of the part.
    pub part: String,
    /// The sources.
    pub tree: Tree,
    /// When it was complete, UTC.
    pub date: String,
    /// The emulated machine.
    pub machine: String,
    /// What QEMU says of its version.
    pub qemu: String,
    /// The host's processor.
    pub host_cpu: String,
    /// The host's load over the minute before the run; nothing if it was not read.
    #[serde(default)]
    pub host_load: Option<f64>,
    /// The command line.
    pub command: String,
    /// How long it took; nothing if that was not written down.
    pub seconds: Option<f64>,
    /// Exit status of the command: 1 if it found something.
    pub status: Option<i32>,
}

impl Envelope {
    /// Describes what a run of `part` over `tree` has just written. The load is not in it.
    pub fn of_run(part: Part, tree: &Tree, seconds: f64, status: i32) -> Self {
        Self {
            part: part.name().to_owned(),
            tree: tree.clone(),
            date: now(),
            machine: part.row().machine.to_owned(),
            qemu: qemu(),
            host_cpu: host_cpu(),
            host_load: None,
            command: part.command(),
            seconds: Some((seconds * 10.0).round() / 10.0),
            status: Some(status),
        }
    }

    /// Describes what docs/figures.json has of a part.
    pub fn of_record(part: Part, file: &str) -> Self {
        let some = |words: &[&str]| {
            let text = git(words)?.trim().to_owned();
            Some(text).filter(|it| !it.is_empty())
        };
        let log = |format: &str| {
            let date = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";
            some(&["log", "-1", date, &format!("--format={format}"), "--", file])
        };
        Self {
            part: part.name().to_owned(),
            tree: Tree {
                kernel: None,
                commit: log("%H"),
                changes: some(&["status", "--porcelain", "--", file])
                    .map(|it| digest(it.as_bytes())),
            },
            date: log("%cd").unwrap_or_else(|| UNKNOWN.to_owned()),
            machine: part.row().machine.to_owned(),
            qemu: UNKNOWN.to_owned(),
            host_cpu: UNKNOWN.to_owned(),
            host_load: None,
            command: "cargo xtask bench --record".to_owned(),
            seconds: None,
            status: None,
        }
    }

    /// Says whether the document is of these very sources.
    pub fn is_of(&self, tree: &Tree) -> bool {
        tree.commit.is_some() && self.tree == *tree
    }
}

/// What git says of this repository; nothing if there is no git, or no repository.
fn git(words: &[&str]) -> Option<String> {
    git_in(paths::root(), words)
}

fn git_in(root: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(words);
    command.env("TZ", "UTC0");
    process::output(&mut command).ok()
}

/// Gives the present time, to the second, UTC.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

fn qemu() -> String {
    let said = process::output(Command::new(tools::QEMU).arg("--version")).ok();
    let line = said.and_then(|it| Some(it.lines().next()?.replace("QEMU emulator version ", "")));
    line.unwrap_or_else(|| UNKNOWN.to_owned())
}

fn host_cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|it| it.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let name = field("model name").or_else(|| Some(format!("CPU part {}", field("CPU part")?)));
    let name = name.unwrap_or_else(|| UNKNOWN.to_owned());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {count} CPUs")
}

/// Reads the host's load over the last minute: how many tasks ran or wanted to run.
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(commit: Option<&str>, changes: Option<&str>) -> Tree {
        Tree {
            commit: commit.map(str::to_owned),
            changes: changes.map(str::to_owned),
            kernel: None,
        }
    }

    #[test]
    fn an_envelope_is_of_its_sources_alone() {
        let sources = tree(Some("abc"), None);
        let envelope = Envelope::of_run(Part::Idc, &sources, 1.25, 0);
        assert!(envelope.is_of(&sources));
        assert!(!envelope.is_of(&tree(Some("abd"), None)));
        assert!(!envelope.is_of(&tree(Some("abc"), Some("x"))));
        let text = serde_json::to_string(&envelope).expect("text");
        let read: Envelope = serde_json::from_str(&text).expect("an envelope");
        assert_eq!(read, envelope);
        // Outside of a repository nothing is known to be of the same sources.
        let nothing = tree(None, None);
        assert!(!Envelope::of_run(Part::Idc, &nothing, 1.0, 0).is_of(&nothing));
    }

    #[test]
    fn a_short_name_says_that_something_was_changed() {
        let short = |commit, changes| tree(commit, changes).short();
        let commit = Some("0123456789abcdef");
        assert_eq!(short(None, None), UNKNOWN);
        assert_eq!(short(commit, None), "0123456789ab");
        assert_eq!(short(commit, Some("x")), "0123456789ab, with changes");
    }

    #[test]
    fn another_kernel_is_another_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("my.config");
        let host = HostArguments {
            config: Some(file.clone()),
            ..HostArguments::default()
        };
        let with = |options: &str| {
            fs::write(&file, options).expect("written");
            Tree {
                kernel: kernel(&host),
                ..tree(Some("abc"), None)
            }
        };
        let (one, other) = (with("CONFIG_A=y"), with("CONFIG_B=y"));
        let envelope = Envelope::of_run(Part::Idc, &one, 1.0, 0);
        assert!(envelope.is_of(&one));
        assert!(!envelope.is_of(&other));
        assert!(!envelope.is_of(&tree(Some("abc"), None)));
        assert!(
            one.short().contains("my.config (SHA-256 "),
            "{}",
            one.short()
        );
        assert_eq!(kernel(&HostArguments::default()), None);
    }

    #[test]
    fn a_change_of_a_file_that_git_does_not_know_is_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit"];
        let commit = [&commit[..], &["-q", "--allow-empty", "-m", "a"]].concat();
        for words in [&["init", "-q"][..], &commit] {
            git_in(root, words).expect("git");
        }
        assert_eq!(changes_in(root), None);
        let with = |content: &str| {
            fs::write(root.join("new.rs"), content).expect("written");
            changes_in(root)
        };
        let (one, other) = (with("1"), with("2"));
        assert!(one.is_some() && other.is_some());
        assert_ne!(one, other);
    }
}
