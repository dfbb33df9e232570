// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux: from a source to a cached `Image`.

mod build;
#[cfg(test)]
mod circles;
mod command;
mod config;
mod debian;
pub mod external;
mod overlay;
mod source;
pub mod stock;
pub mod style;
mod tree;
mod unpack;
pub mod walk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use donjon_generator::allow;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use donjon_machine::process;
use sha2::{Digest, Sha256};

use crate::arguments::HostArguments;
use crate::paths::{self, CacheLock};

pub use command::run;

/// Prefix of the cross tools.
pub const CROSS: &str = "aarch64-linux-gnu-";
/// Names of kernels with options of the user's begin so.
const CONFIGURED: &str = "configured";
/// Names of kernels with Debian's configuration begin so.
const DEBIAN: &str = "debian-config";
/// Name of the log of configurations that are tried out.
const CONFIGURE: &str = "configure";
/// Kernels of one variant that stay in the cache.
const KEPT: usize = 4;
/// What was used since may still be in use: the longest runs take hours, and a kernel 33 MB.
const IN_USE: Duration = Duration::from_secs(24 * 3600);

/// With the protection or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Over the inner domain.
    Donjon,
    /// Linux with the protection compiled out, from the same sources.
    Native,
    /// Over the inner domain, without one protection of the kernel's own: the name of a fragment
    /// in `kernel-patch/config/weaken`. For tests alone.
    Weakened(&'static str),
}

impl Variant {
    /// What a machine runs.
    pub fn of(machine: &Machine) -> Self {
        match machine.switch {
            Switch::None => Self::Native,
            _ => Self::Donjon,
        }
    }

    /// Name of its place in the cache.
    pub fn name(self) -> &'static str {
        match self {
            Self::Donjon => "donjon",
            Self::Native => "native",
            Self::Weakened(protection) => protection,
        }
    }

    /// Name of its configuration fragment, and of the directory that it is built in. A weakened
    /// kernel differs from the sound one in a few objects, so they share that.
    fn base(self) -> &'static str {
        match self {
            Self::Donjon | Self::Weakened(_) => "donjon",
            Self::Native => "native",
        }
    }
}

/// A built kernel in the cache.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What boots.
    pub image: PathBuf,
    /// The kernel with symbols.
    pub vmlinux: PathBuf,
    /// Directory of its modules.
    pub modules: PathBuf,
    /// Directory of the device trees of boards for which QEMU makes none.
    pub device_trees: PathBuf,
    /// What `uname -r` says.
    pub release: String,
}

impl Kernel {
    /// Fails if the kernel or a module of it contains an instruction that is not on the list: the
    /// inner domain would refuse it.
    pub fn check_code(&self) -> Result<()> {
        check_code(&self.vmlinux, &self.modules)
    }
}

fn check_code(vmlinux: &Path, modules: &Path) -> Result<()> {
    let mut files = walk::files(modules)?;
    files.push(vmlinux.to_owned());
    for file in files {
        allow::check_vmlinux(&file)?;
    }
    Ok(())
}

/// Files that decide what a kernel is, besides its source.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Name of the directory in the cache that it is built in, behind that of the source.
    pub directory: String,
    /// A whole configuration that the fragments are laid over; `tinyconfig` without one.
    pub base: Option<PathBuf>,
    /// Whether modules are built.
    pub modules: bool,
    /// Configuration fragments, in order.
    pub fragments: Vec<PathBuf>,
    /// Files laid into the tree.
    pub files: PathBuf,
    /// Patches, applied in the order of their names.
    pub series: PathBuf,
}

impl Recipe {
    /// The project's own.
    pub fn of(variant: Variant) -> Self {
        let patch = paths::in_root("kernel-patch");
        let mut fragments = vec![
            patch.join("config/base.config"),
            patch.join(format!("config/{}.config", variant.base())),
        ];
        if let Variant::Weakened(protection) = variant {
            fragments.push(patch.join(format!("config/weaken/{protection}.config")));
        }
        Self {
            directory: variant.base().to_owned(),
            base: None,
            modules: true,
            fragments,
            files: patch.join("files"),
            series: patch.join("series"),
        }
    }

    /// The project's own, with the options of the user's file over it.
    fn chosen(host: &HostArguments, variant: Variant) -> Result<Self> {
        let mut recipe = Self::of(variant);
        if host.has_debian_config() {
            return recipe.over_debian();
        }
        if let Some(file) = &host.config {
            let text = fs::read_to_string(file).with_context(|| {
                format!(
                    "reading {}, which --config names: it takes a file with lines \
                     CONFIG_NAME=value",
                    file.display()
                )
            })?;
            config::expect_options(&text).with_context(|| file.display().to_string())?;
            recipe.fragments.push(file.clone());
            // Two configurations in one directory would be built anew in turn.
            recipe.directory = format!("{CONFIGURED}-{}", recipe.directory);
        }
        Ok(recipe)
    }

    /// The recipe over Debian's configuration, without modules, which would take hours.
    fn over_debian(mut self) -> Result<Self> {
        let config = paths::in_root("kernel-patch/config");
        self.base = Some(debian::configuration()?);
        self.modules = false;
        let distribution = config.join("distribution.config");
        self.fragments.insert(1, distribution);
        self.fragments.push(config.join("debian.config"));
        self.directory = format!("{DEBIAN}-{}", self.directory);
        Ok(self)
    }

    /// The patches, in order.
    pub fn patches(&self) -> Result<Vec<PathBuf>> {
        let mut patches = walk::files(&self.series)?;
        patches.retain(|path| path.extension().is_some_and(|it| it == "patch"));
        Ok(patches)
    }

    fn digest(&self, hash: &mut Sha256) -> Result<()> {
        let mut files = self.fragments.clone();
        files.extend(self.base.clone());
        files.extend(walk::files(&self.files)?);
        files.extend(self.patches()?);
        for file in files {
            let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
            hash.update(
                file.strip_prefix(paths::root())
                    .unwrap_or(&file)
                    .as_os_str()
                    .as_encoded_bytes(),
            );
            hash.update(bytes.len().to_le_bytes());
            hash.update(&bytes);
        }
        Ok(())
    }
}

/// Changes whenever the unpatched source does.
pub fn source_identity(host: &HostArguments) -> Result<String> {
    Ok(source::find(host)?.identity)
}

/// The patched tree; nothing is built.
pub fn source_tree(host: &HostArguments, variant: Variant) -> Result<PathBuf> {
    let source = source::find(host)?;
    let recipe = Recipe::chosen(host, variant)?;
    let lock = CacheLock::take()?;
    Ok(tree::prepare(&lock, &source, &recipe)?.path)
}

/// Prepares the tree of a recipe, and does `work` with it, a directory that is thrown away, and a
/// log of this name.
fn try_out<T>(
    host: &HostArguments,
    recipe: &Recipe,
    name: &str,
    work: impl FnOnce(&tree::Tree, &Path, &Path) -> Result<T>,
) -> Result<T> {
    let source = source::find(host)?;
    let lock = CacheLock::take()?;
    let tree = tree::prepare(&lock, &source, recipe)?;
    let output = lock.unfinished(name);
    fs::create_dir_all(&output)?;
    let log = paths::cache()?.join(format!("logs/{name}.log"));
    work(&tree, &output, &log)
}

/// Configures with one more fragment and begins the build, in a directory that is thrown away.
pub fn try_fragment(host: &HostArguments, variant: Variant, fragment: &Path) -> Result<()> {
    let mut recipe = Recipe::of(variant);
    recipe.fragments.push(fragment.to_path_buf());
    // The first file that the build compiles, and where refused options are looked for.
    let first = ["arch/arm64/kernel/asm-offsets.s".to_owned()];
    try_out(host, &recipe, CONFIGURE, |tree, output, log| {
        build::objects(tree, output, &recipe, variant, &first, log)
    })
}

/// Configures as `host` says, in a directory that is thrown away.
///
/// # Errors
///
/// If options are in conflict.
pub fn try_options(host: &HostArguments, variant: Variant) -> Result<()> {
    let recipe = Recipe::chosen(host, variant)?;
    try_out(host, &recipe, CONFIGURE, |tree, output, log| {
        build::configure(tree, output, &recipe, variant, log)
    })
}

/// Builds the objects in `directories` of a kernel's tree, and checks each of them by the list of
/// allowed instructions; returns how many there are. The kernel itself is not built.
///
/// # Errors
///
/// If the build fails, or an object has an instruction that is not on the list.
pub fn check_objects(
    host: &HostArguments,
    variant: Variant,
    directories: &[String],
) -> Result<usize> {
    let recipe = Recipe::chosen(host, variant)?;
    try_out(host, &recipe, "objects", |tree, output, log| {
        build::objects(tree, output, &recipe, variant, directories, log)?;
        let mut checked = 0;
        for directory in directories {
            let mut objects = walk::files(&output.join(directory))?;
            objects.retain(|it| it.extension().is_some_and(|it| it == "o"));
            for object in &objects {
                allow::check_object(object)?;
            }
            checked += objects.len();
        }
        Ok(checked)
    })
}

/// The kernel of a variant, built if the cache does not have it.
pub fn obtain(host: &HostArguments, variant: Variant) -> Result<Kernel> {
    let recipe = Recipe::chosen(host, variant)?;
    let source = source::find(host)?;
    let place = place_of(host, variant, &recipe, &source)?;
    mark_used(&place);
    if let Some(lock) = CacheLock::take_unless_there(&place)? {
        let tree = tree::prepare(&lock, &source, &recipe)?;
        build::build(&lock, &tree, variant, &recipe, &place)?;
        prune(&place, &kind(host, variant));
    }
    Ok(Kernel {
        image: place.join("Image"),
        vmlinux: place.join("vmlinux"),
        modules: place.join("modules"),
        device_trees: place.join("dtbs"),
        release: fs::read_to_string(place.join("release"))?.trim().to_owned(),
    })
}

/// Where the cache has the kernel of a recipe: its name is a digest of what decides the kernel.
fn place_of(
    host: &HostArguments,
    variant: Variant,
    recipe: &Recipe,
    source: &source::Source,
) -> Result<PathBuf> {
    let mut hash = Sha256::new();
    hash.update(source.identity.as_bytes());
    recipe.digest(&mut hash)?;
    hash.update(build::DEVICE_TREES.concat());
    let compiler = process::output(Command::new(format!("{CROSS}gcc")).arg("--version"))?;
    hash.update(compiler.as_bytes());
    if variant != Variant::Native {
        // A kernel is in the cache only if the list allows its instructions.
        let list = paths::in_root("kernel-patch/allow-list.toml");
        hash.update(fs::read(&list).with_context(|| format!("reading {}", list.display()))?);
    }
    let key = paths::digest_name(&hash.finalize());
    Ok(paths::cache()?
        .join("kernels")
        .join(format!("{}-{key}", kind(host, variant))))
}

/// The beginning of the names of a variant's kernels in the cache.
fn kind(host: &HostArguments, variant: Variant) -> String {
    // A user's kernels take no place of ours in the cache.
    match host.config {
        Some(_) if host.has_debian_config() => format!("{DEBIAN}-{}", variant.name()),
        Some(_) => format!("{CONFIGURED}-{}", variant.name()),
        None => variant.name().to_owned(),
    }
}

/// Makes a kernel of the cache the newest. In a cache that cannot be written it keeps its time.
fn mark_used(place: &Path) {
    if let Ok(directory) = fs::File::open(place) {
        let _ = directory.set_modified(SystemTime::now());
    }
}

/// Removes all but the newest kernels of a kind, and those that another command may be using.
fn prune(newest: &Path, kind: &str) {
    let Some(Ok(entries)) = newest.parent().map(fs::read_dir) else {
        return;
    };
    let mut kernels: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|it| it.file_name().to_string_lossy().starts_with(kind))
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
        .collect();
    kernels.sort();
    let now = SystemTime::now();
    let is_old = |it: &SystemTime| now.duration_since(*it).is_ok_and(|age| age > IN_USE);
    for (used, path) in kernels.iter().rev().skip(KEPT) {
        if is_old(used) {
            // Whatever stays costs space, nothing else.
            let _ = fs::remove_dir_all(path);
        }
    }
}
