// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that a machine boots, built once in a process.
//!
//! The test command boots some hundred machines, most of them from the same programs. Asking cargo
//! for each of them whether its programs are new takes more than a second of CPU time.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use donjon_machine::arguments::Dma;
use donjon_machine::machine::Machine;

use crate::arguments::HostArguments;
use crate::bare::{self, BareMetal, InnerVariant};
use crate::kernel::{self, Kernel, Variant};
use crate::{compartment, guest, pack};

/// What programs are built from.
#[derive(Clone, PartialEq, Eq)]
struct Inputs {
    host: HostArguments,
    linux: Variant,
    /// The inner domain, its profile, and the bytes that are kept for compartments; `None` where
    /// Linux runs without one.
    inner: Option<(InnerVariant, Dma, Option<u64>)>,
}

/// The programs that a machine boots.
#[derive(Clone)]
pub struct Programs {
    /// What QEMU starts.
    pub image: PathBuf,
    /// The initramfs without a command.
    pub initramfs: Vec<u8>,
    /// Linux.
    pub kernel: Kernel,
    /// Inner domain and boot stage, unless there are none.
    pub bare: Option<BareMetal>,
}

/// What this process has built.
static BUILT: Mutex<Vec<(Inputs, Programs)>> = Mutex::new(Vec::new());
/// Held by the thread that builds: two builds at a time would wait for each other's locks, or write
/// the same file.
static BUILDING: Mutex<()> = Mutex::new(());

impl Programs {
    /// Builds the programs of `machine`, unless this process has built them.
    pub fn of(
        host: &HostArguments,
        machine: &Machine,
        variant: &InnerVariant,
        linux: Variant,
    ) -> Result<Self> {
        let has_inner = machine.switch.mode().is_some();
        let inputs = Inputs {
            host: host.clone(),
            linux,
            inner: has_inner.then(|| (variant.clone(), machine.dma, machine.protected)),
        };
        if let Some(programs) = found(&inputs) {
            return Ok(programs);
        }
        let _alone = locked(&BUILDING);
        // Another thread may have built them meanwhile.
        if let Some(programs) = found(&inputs) {
            return Ok(programs);
        }
        let programs = Self::build(&inputs)?;
        locked(&BUILT).push((inputs, programs.clone()));
        Ok(programs)
    }

    fn build(inputs: &Inputs) -> Result<Self> {
        let kernel = kernel::obtain(&inputs.host, inputs.linux)?;
        let busybox = guest::obtain_busybox()?;
        let initramfs = guest::base(&busybox, &bare::build_guests()?, &kernel.modules)?;
        let initramfs = guest::with_programs(&initramfs, &compartment::examples()?)?;
        let mut image = kernel.image.clone();
        let mut bare = None;
        if let Some((variant, dma, protected)) = &inputs.inner
            && let Some(mode) = variant.switch.mode()
        {
            let built = bare::build(variant)?;
            let newest = newest_image(variant, inputs.linux, *dma);
            let profile = pack::Profile {
                mode,
                dma: dma.profile(),
                protected: *protected,
            };
            image = pack::pack(&built.boot, &built.inner, profile, &kernel, &newest)?;
            bare = Some(built);
        }
        Ok(Self {
            image,
            initramfs,
            kernel,
            bare,
        })
    }
}

/// Returns what was built from `inputs`, if it is still there.
fn found(inputs: &Inputs) -> Option<Programs> {
    let built = locked(&BUILT);
    let (_, programs) = built.iter().find(|(it, _)| it == inputs)?;
    programs.image.is_file().then(|| programs.clone())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The link to the image that was packed last.
fn newest_image(variant: &InnerVariant, linux: Variant, dma: Dma) -> PathBuf {
    let mut name = "boot".to_owned();
    if let Variant::Weakened(protection) = linux {
        name = format!("{name}-{protection}");
    }
    if dma == Dma::Open {
        name.push_str("-dma-open");
    }
    name.push_str(".img");
    bare::variant_directory(variant).join(name)
}
