// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading /sys and /proc, below a directory that tests replace.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::sys::stat::{major, minor};

use super::{Bus, Disk, Use};

/// Bytes that the kernel counts sizes in, whatever a disk's own sectors are.
const SECTOR: u64 = 512;

impl Disk {
    /// The disk that a file in /dev stands for.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is no block device, or the kernel says nothing of it.
    pub fn of_node(node: &Path) -> Result<Self> {
        let shown = node.display();
        let list = "`lsblk -o NAME,SIZE,RM,TRAN,MODEL` shows which device is the card";
        let metadata = fs::metadata(node)
            .with_context(|| format!("there is no device {shown}: is the card in? {list}"))?;
        ensure!(
            metadata.file_type().is_block_device(),
            "{shown} is not a block device, so it is no card; {list}"
        );
        let device = metadata.rdev();
        let number = format!("{}:{}", major(device), minor(device));
        let link = Path::new("/sys/dev/block").join(number);
        let place = fs::canonicalize(&link)
            .with_context(|| format!("{} does not say which disk {shown} is", link.display()))?;
        Self::read(Path::new("/"), &file_name(&place))
    }

    /// The disk with the kernel's name `name`, with sys and proc below `root`.
    ///
    /// # Errors
    ///
    /// If the kernel says nothing of it, or too little.
    pub fn read(root: &Path, name: &str) -> Result<Self> {
        let class = root.join("sys/class/block");
        let place = fs::canonicalize(class.join(name))
            .with_context(|| format!("{} says nothing of {name}", class.display()))?;
        let partition_of = match place.join("partition").exists() {
            true => place.parent().map(file_name),
            false => None,
        };
        let text = |file: &str| attribute(&place.join(file));
        let number = |file: &str| -> Result<u64> {
            let path = place.join(file);
            let text = attribute(&path).with_context(|| format!("reading {}", path.display()))?;
            let number = text.parse();
            number.with_context(|| format!("{} has no number", path.display()))
        };
        let words = [
            text("device/vendor"),
            text("device/model"),
            text("device/name"),
        ];
        let words: Vec<_> = words.into_iter().flatten().collect();
        let nodes = nodes(&place)?;
        Ok(Self {
            name: name.to_owned(),
            partition_of,
            // A partition has no such file.
            removable: text("removable").is_some_and(|it| it == "1"),
            bus: bus(&place, text("device/type").as_deref()),
            read_only: number("ro")? != 0,
            bytes: number("size")?.saturating_mul(SECTOR),
            model: words.join(" "),
            uses: uses(root, &nodes)?,
        })
    }
}

/// The disk itself, or a partition of it.
struct Node {
    name: String,
    /// Major and minor number, with a colon between them.
    number: String,
    place: PathBuf,
}

fn nodes(disk: &Path) -> Result<Vec<Node>> {
    let mut places = vec![disk.to_path_buf()];
    for entry in fs::read_dir(disk)? {
        let path = entry?.path();
        if path.join("partition").exists() {
            places.push(path);
        }
    }
    places.sort();
    let node = |place: PathBuf| {
        let number = place.join("dev");
        Ok(Node {
            name: file_name(&place),
            number: attribute(&number).with_context(|| format!("reading {}", number.display()))?,
            place,
        })
    };
    places.into_iter().map(node).collect()
}

fn bus(place: &Path, kind: Option<&str>) -> Bus {
    let is_usb = |part: &str| {
        let number = part.strip_prefix("usb");
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    if place.iter().any(|part| is_usb(&part.to_string_lossy())) {
        Bus::Usb
    } else if kind == Some("SD") {
        // Soldered flash is of the type MMC.
        Bus::SdSlot
    } else {
        Bus::Other
    }
}

fn uses(root: &Path, nodes: &[Node]) -> Result<Vec<Use>> {
    let read = |name: &str| {
        let path = root.join(name);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let mounts = read("proc/self/mountinfo")?;
    // A kernel without swap has no such file.
    let swaps = read("proc/swaps").unwrap_or_default();
    let mut uses = Vec::new();
    for node in nodes {
        let name = || node.name.clone();
        let device = format!("/dev/{}", node.name);
        for line in mounts.lines() {
            if let Some(at) = mounted_at(line, &device, &node.number) {
                uses.push(Use::Mounted { node: name(), at });
            }
        }
        let first_words = swaps.lines().filter_map(|it| it.split_whitespace().next());
        if first_words.into_iter().any(|it| it == device) {
            uses.push(Use::Swap { node: name() });
        }
        if let Ok(holders) = fs::read_dir(node.place.join("holders")) {
            for holder in holders {
                let by = holder?.file_name().to_string_lossy().into_owned();
                uses.push(Use::Held { node: name(), by });
            }
        }
    }
    Ok(uses)
}

/// Where a line of mountinfo says that a device is mounted. Some file systems have numbers of
/// their own there, but name the device as their source (proc_pid_mountinfo(5)).
fn mounted_at(line: &str, device: &str, number: &str) -> Option<String> {
    let (fields, rest) = line.split_once(" - ")?;
    let mut fields = fields.split(' ').skip(2);
    let (its_number, _root, at) = (fields.next()?, fields.next()?, fields.next()?);
    let source = rest.split(' ').nth(1)?;
    (its_number == number || source == device).then(|| at.replace("\\040", " "))
}

fn attribute(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|it| !it.is_empty())
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
