// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles programs in Rust to assembly: one file with all that core, alloc, the runtime and the
//! program itself are made of, and one with the functions that compilers call by themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use donjon_builder::bare::Place;
use donjon_builder::compartment::rust::{UNALIGNED, messages, run};
use donjon_builder::environment::{COMPARTMENT_TARGET, NIGHTLY, core_sources};
use donjon_builder::{lock, paths::digest_name};
use donjon_machine::paths;
use donjon_machine::qemu::SOURCES;
use sha2::{Digest, Sha256};

use super::Build;
use super::sections::{needed, without_lines};
use crate::Source;
use crate::assembly::{Kind, RESERVED, lines};

/// Where packages are made, and built by cargo.
const PACKAGES: &str = "target/flow/rust";
/// Name of each package and of its fingerprints.
const PACKAGE: &str = "program";
const RUNTIME: &str = "guests/runtime";
/// Versions of libraries are those of the repository.
const LOCK: &str = "Cargo.lock";
/// The crate with the functions that compilers call by themselves, such as `memcpy`. It takes no
/// part in the optimization over all crates, so it has a file of assembly of its own.
const BUILTINS: &str = "compiler_builtins";

/// Tells GNU as that files have a folder and a name each, as they do in DWARF 5.
const FILE: &str = "\t.file\t0 \"/donjon\" \"program.rs\"\n";

/// Compiles a file that is the root of a crate.
///
/// # Errors
///
/// If the nightly toolchain or core's sources are missing, the program does not compile, or the
/// compiler uses reserved registers.
pub fn to_assembly(source: &Path, what: &Build, folder: &Path) -> Result<Vec<Source>> {
    let core = core_sources()?;
    let source =
        fs::canonicalize(source).with_context(|| format!("opening {}", source.display()))?;
    let kind = if what.is_instrumented {
        "flow"
    } else {
        "plain"
    };
    let flags = flags(what, &core);
    // Cargo does not write the assembly of crates again where it has them for other flags.
    let digest = digest_name(&Sha256::digest(flags.join("\n")));
    let builds = paths::in_root(PACKAGES)
        .join(NIGHTLY)
        .join(kind)
        .join(digest);
    fs::create_dir_all(&builds).with_context(|| format!("making {}", builds.display()))?;
    // Another command may build another program.
    let _lock = lock::take(&builds.join("lock"))?;
    let target = builds.join("target");
    let package = package(&source, &builds)?;
    let out = package.join("program.s");
    if !out.exists() {
        forget(&target)?;
    }
    let mut command = Command::new("cargo");
    command
        .args(["rustc", "--release", "--quiet", "--lib"])
        .arg(messages())
        .arg(format!("--target={COMPARTMENT_TARGET}"))
        .args(["-Zbuild-std=core,alloc", "--target-dir"])
        .arg(&target)
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .arg("--")
        .arg(format!("--emit=asm={}", out.display()))
        .args(program_flags(&source))
        .current_dir(paths::root())
        .env("RUSTUP_TOOLCHAIN", NIGHTLY)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    run(&mut command, &source)?;
    let mut program = read(&out, source.display().to_string())?;
    program.text.insert_str(0, FILE);
    let kept = folder.join("compiled.s");
    fs::write(&kept, &program.text).with_context(|| format!("writing {}", kept.display()))?;
    let builtins = read(&builtins(&target)?, format!("{BUILTINS}.s"))?;
    let builtins = needed(&program, &builtins)?;
    let mut sources = vec![program, builtins];
    for source in &mut sources {
        if what.is_instrumented {
            leaves_reserved_alone(source)?;
        }
        if !what.has_lines {
            source.text = without_lines(&source.text);
        }
    }
    Ok(sources)
}

/// Returns the flags of all crates, core among them. Directives for unwinding are always written,
/// and the rewriter and the linker drop them: they are in the way of the compiler's scheduler, and
/// with debug information they would be there in any case.
fn flags(what: &Build, core: &Path) -> Vec<String> {
    let place = Place::ours();
    let mut flags = vec![
        UNALIGNED.to_owned(),
        "-Crelocation-model=static".into(),
        "-Cforce-unwind-tables=yes".into(),
        "-Cdwarf-version=5".into(),
        format!("--remap-path-prefix={}=/{SOURCES}", place.sources.display()),
        format!("--remap-path-prefix={}=/rust", core.display()),
    ];
    if let Some(home) = &place.cargo_home {
        flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
    }
    if what.is_instrumented {
        let reserved: Vec<_> = (22..=28).map(|it| format!("+reserve-x{it}")).collect();
        flags.push(format!("-Ctarget-feature={}", reserved.join(",")));
        flags.push("-Cjump-tables=no".into());
        flags.push("--cfg=donjon_flow".into());
    }
    flags
}

/// Returns the flags of a program's own crate: its paths are the same wherever it is made.
fn program_flags(source: &Path) -> Option<String> {
    let folder = source.parent()?;
    let is_ours = folder.starts_with(paths::root());
    (!is_ours).then(|| format!("--remap-path-prefix={}=/program", folder.display()))
}

/// Makes the package of a program; its folder. It is kept, so that nothing is compiled twice.
fn package(source: &Path, builds: &Path) -> Result<PathBuf> {
    let lock = paths::in_root(LOCK);
    let versions = fs::read(&lock).with_context(|| format!("reading {}", lock.display()))?;
    let digest = Sha256::new()
        .chain_update(source.as_os_str().as_encoded_bytes())
        .chain_update(Sha256::digest(versions))
        .finalize();
    let folder = builds.join(digest_name(&digest));
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let quoted = |it: &Path| format!("{:?}", it.display().to_string());
    let manifest = format!(
        "cargo-features = [\"profile-rustflags\"]\n\n\
         [package]\nname = \"{PACKAGE}\"\nedition = \"2024\"\n\n\
         [lib]\npath = {}\ncrate-type = [\"staticlib\"]\n\n\
         [dependencies]\ndonjon-runtime = {{ path = {}, features = [\"alloc\"] }}\n\n\
         [profile.release]\npanic = \"abort\"\nopt-level = 2\nlto = true\ncodegen-units = 1\n\
         debug = \"line-tables-only\"\n\n\
         [profile.release.package.{BUILTINS}]\ndebug = false\nrustflags = [\"--emit=asm\"]\n\n\
         [workspace]\n",
        quoted(source),
        quoted(&paths::in_root(RUNTIME)),
    );
    let file = folder.join("Cargo.toml");
    if fs::read_to_string(&file).ok().as_ref() != Some(&manifest) {
        fs::copy(&lock, folder.join(LOCK))
            .and_then(|_| fs::write(&file, manifest))
            .with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(folder)
}

/// Has cargo compile each program anew: the assembly of one is not there any more, which cargo does
/// not look at.
fn forget(target: &Path) -> Result<()> {
    let prints = target.join(COMPARTMENT_TARGET).join("release/.fingerprint");
    let Ok(entries) = prints.read_dir() else {
        return Ok(());
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(&format!("{PACKAGE}-")) {
            let place = entry.path();
            fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
        }
    }
    Ok(())
}

/// Finds the newest assembly of [`BUILTINS`].
fn builtins(target: &Path) -> Result<PathBuf> {
    let folder = target.join(COMPARTMENT_TARGET).join("release/deps");
    let entries = folder
        .read_dir()
        .with_context(|| format!("opening {}", folder.display()))?;
    let files = entries.filter_map(Result::ok).map(|it| it.path());
    let wanted = files.filter(|it| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(BUILTINS) && name.ends_with(".s")
    });
    let time = |it: &PathBuf| {
        let time = fs::metadata(it).and_then(|it| it.modified());
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    wanted
        .max_by_key(time)
        .with_context(|| format!("{} has no assembly of {BUILTINS}", folder.display()))
}

fn read(file: &Path, name: String) -> Result<Source> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    Ok(Source { name, text })
}

/// Refuses assembly of a compiler that did not reserve registers: it does not say so.
fn leaves_reserved_alone(source: &Source) -> Result<()> {
    let uses = reserved(source)?;
    ensure!(
        uses == 0,
        "{}: {uses} instructions use x22 to x28, so rustc ignored `-Ctarget-feature=+reserve-x22` \
         to `+reserve-x28`; they need a rustc that has them, as {NIGHTLY} does, and a core that it \
         builds (-Zbuild-std)",
        source.name
    );
    Ok(())
}

/// Counts the instructions of a compiler's assembly that use a register which flow attestation
/// reserves.
///
/// # Errors
///
/// If the text is no assembly.
pub fn reserved(source: &Source) -> Result<usize> {
    let lines = lines(&source.text).with_context(|| source.name.clone())?;
    let uses = lines
        .iter()
        .filter(|it| matches!(&it.kind, Kind::Instruction(it) if it.mentions().meets(RESERVED)));
    Ok(uses.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_of_a_compiler_that_reserves_nothing_is_refused() {
        let source = |it: &str| Source {
            name: "a.s".into(),
            text: format!("f:\n\tadd\tx21, x21, #22\n{it}\tret\n"),
        };
        leaves_reserved_alone(&source("")).expect("it uses none");
        let refused = leaves_reserved_alone(&source("\tldp\tx20, x26, [sp]\n\tmov\tw22, w0\n"));
        let said = refused.expect_err("it uses two").to_string();
        assert!(
            said.contains("a.s: 2 instructions use x22 to x28"),
            "{said}"
        );
        assert!(said.contains("-Zbuild-std"), "{said}");
    }
}
