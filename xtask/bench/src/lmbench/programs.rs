// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that measure: Debian's, those of a directory, or our own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::guest;
use object::Endianness;
use object::elf::{DT_NEEDED, EM_AARCH64, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use super::rows::Row;
use crate::arguments::LmbenchArguments;

/// Where they are in the guest.
pub const PLACE: &str = "/lmbench";
/// What `lat_proc` executes.
const HELLO: &str = "hello";
/// Programs that say what a time and a loop cost. LMBench works without, but worse.
const OPTIONAL: [&str; 2] = ["timing_o", "loop_o"];
/// Where Debian's package has them.
const IN_DEBIAN: &str = "usr/lib/lmbench/bin";
const PROOF: &str = "usr/lib/lmbench/bin/lat_syscall";
/// Debian's C library for arm64 looks here for others.
const LIBRARIES: &str = "/lib/aarch64-linux-gnu";
/// Where libraries may be in an unpacked package.
const IN_PACKAGES: [&str; 4] = [
    "lib/aarch64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib",
    "usr/lib",
];
/// Said with results of LMBench itself.
const TERMS: &str = "LMBench has terms and is in Debian's non-free: who distributes results must \
    not have modified it, must not take a fee and must name its version (see its file copyright).";

/// Programs for the guest.
pub struct Programs {
    /// What the report says about where they come from.
    pub source: String,
    /// What has to be said with results.
    pub note: Option<&'static str>,
    /// Files of the guest.
    pub files: Vec<(String, Vec<u8>)>,
    /// Shell lines that put them into `PLACE`.
    pub setup: String,
}

impl Programs {
    /// Obtains the programs that the arguments ask for, as far as `rows` need them.
    pub fn obtain(arguments: &LmbenchArguments, rows: &[&Row]) -> Result<Self> {
        match &arguments.lmbench {
            _ if arguments.own => Ok(Self::own(rows)),
            Some(directory) => Self::of(directory, rows),
            None => Self::debian(rows).context(
                "LMBench is not to be had; --own measures with our own programs, --lmbench DIR \
                 with those in a directory",
            ),
        }
    }

    /// Our own: one program, which every guest has, by many names.
    pub fn own(rows: &[&Row]) -> Self {
        let links = names(rows).into_iter().chain([HELLO]);
        let links = links.map(|it| format!("ln -s /bin/donjon-lmbench {PLACE}/{it} || exit 1\n"));
        Self {
            source: "own programs".to_owned(),
            note: None,
            files: Vec::new(),
            setup: format!("mkdir -p {PLACE} || exit 1\n{}", links.collect::<String>()),
        }
    }

    /// Debian's package, with the libraries that it needs.
    pub fn debian(rows: &[&Row]) -> Result<Self> {
        let packages = ["lmbench:arm64", "libc6:arm64"];
        let found = guest::obtain_non_free("lmbench", guest::Component::NonFree, &packages, PROOF)?;
        let upstream = found.version.split('+').next().unwrap_or_default();
        let places = IN_PACKAGES.map(|it| found.root.join(it));
        Ok(Self {
            source: format!("debian {upstream}"),
            note: Some(TERMS),
            files: files(&found.root.join(IN_DEBIAN), rows, || Ok(places.to_vec()))?,
            setup: String::new(),
        })
    }

    /// The programs of a directory. Libraries that are not in it either are Debian's.
    fn of(directory: &Path, rows: &[&Row]) -> Result<Self> {
        let places = || {
            let mut places = vec![directory.to_owned(), directory.join("lib")];
            let proof = "usr/share/doc/libc6/copyright";
            let libc = guest::obtain_libraries("libc", &["libc6:arm64"], proof)?;
            places.extend(IN_PACKAGES.map(|it| libc.join(it)));
            Ok(places)
        };
        Ok(Self {
            source: directory.display().to_string(),
            note: Some(TERMS),
            files: files(directory, rows, places)?,
            setup: String::new(),
        })
    }
}

/// The names of the programs, each once.
fn names(rows: &[&Row]) -> Vec<&'static str> {
    let mut names: Vec<_> = rows.iter().map(|it| it.program).collect();
    names.dedup();
    names
}

/// The programs in `directory`, and the loader and libraries from the first of `places` that has
/// them.
fn files(
    directory: &Path,
    rows: &[&Row],
    places: impl FnOnce() -> Result<Vec<PathBuf>>,
) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut wanted = Vec::new();
    let mut names = names(rows);
    if names.contains(&"lat_proc") {
        names.push(HELLO);
    }
    names.extend(OPTIONAL.iter().filter(|it| directory.join(it).exists()));
    for name in names {
        let path = directory.join(name);
        let content = fs::read(&path).with_context(|| path.display().to_string())?;
        wanted.extend(needs(&content).with_context(|| path.display().to_string())?);
        files.push((format!("{PLACE}/{name}"), content));
    }
    wanted.sort();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(files);
    }
    let places = places()?;
    let mut number = 0;
    while let Some(path) = wanted.get(number).cloned() {
        number += 1;
        let name = Path::new(&path).file_name().unwrap_or_default();
        let candidates = places.iter().map(|it| it.join(name));
        let Some(found) = candidates.into_iter().find(|it| it.is_file()) else {
            bail!("{} needs {path}, which is not there", directory.display());
        };
        let content = fs::read(&found).with_context(|| found.display().to_string())?;
        for more in needs(&content).with_context(|| found.display().to_string())? {
            let same = |it: &String| Path::new(it).file_name() == Path::new(&more).file_name();
            if !wanted.iter().any(same) {
                wanted.push(more);
            }
        }
        files.push((path, content));
    }
    Ok(files)
}

/// Where in the guest an arm64 program expects its loader and its libraries.
fn needs(content: &[u8]) -> Result<Vec<String>> {
    let header = FileHeader64::<Endianness>::parse(content).context("this is no ELF file")?;
    let endian = header.endian()?;
    ensure!(
        header.e_machine(endian) == EM_AARCH64,
        "this is no program for arm64"
    );
    let mut all = Vec::new();
    let segments = header.program_headers(endian, content)?;
    for segment in segments {
        if segment.p_type(endian) == PT_INTERP {
            let path = segment.data(endian, content);
            let path = path.ok().context("its loader has no name")?;
            let path = String::from_utf8_lossy(path);
            all.push(path.trim_end_matches('\0').to_owned());
        }
    }
    let sections = header.sections(endian, content)?;
    if let Some((dynamic, link)) = sections.dynamic(endian, content)? {
        let strings = sections.strings(endian, content, link)?;
        for entry in dynamic {
            if entry.d_tag(endian) == DT_NEEDED {
                let name = entry.string(endian, strings)?;
                let name = String::from_utf8_lossy(name);
                // The loader is a library too, and has a place of its own.
                if !name.starts_with("ld-linux") {
                    all.push(format!("{LIBRARIES}/{name}"));
                }
            }
        }
    }
    Ok(all)
}
