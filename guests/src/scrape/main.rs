// SPDX-License-Identifier: MIT OR Apache-2.0
//! Searches for the messages of two libraries that exchange them, in compartments or in processes:
//! what `cargo xtask bench compartments trust libraries` runs, with the attacker's module loaded.
//! `donjon-scrape libraries inside|outside SEED SECONDS`,
//! `donjon-scrape trust inside|outside SEED`. `donjon-scrape hold inside|outside SEED` searches
//! nothing: it says when there are messages, and goes on until it is killed.
//!
//! Each search counts `1 READ REFUSED REACHED FOUND`: pages that were read and that were not, pages
//! with messages among those that were read, and words that were found. 0 in place of 1 says that
//! this Linux does not have the way.

#[cfg(target_arch = "aarch64")]
mod core_dump;
#[cfg(target_arch = "aarch64")]
mod inside;
#[cfg(target_arch = "aarch64")]
mod kernel_files;
#[cfg(target_arch = "aarch64")]
mod libraries;
#[cfg(target_arch = "aarch64")]
mod module;
#[cfg(target_arch = "aarch64")]
mod outside;
#[cfg(target_arch = "aarch64")]
mod pair;
#[cfg(target_arch = "aarch64")]
mod place;
#[cfg(target_arch = "aarch64")]
mod process;
#[cfg(target_arch = "aarch64")]
mod second;
#[cfg(target_arch = "aarch64")]
mod target;
#[cfg(target_arch = "aarch64")]
mod trust;
#[cfg(target_arch = "aarch64")]
mod wanted;

#[cfg(target_arch = "aarch64")]
fn main() -> anyhow::Result<()> {
    use place::Place;

    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["libraries", place, seed, seconds] => {
            libraries::run(Place::of(place)?, seed.parse()?, seconds.parse()?)
        }
        ["trust", place, seed] => trust::run(Place::of(place)?, seed.parse()?),
        ["hold", place, seed] => {
            let pair = pair::Pair::start(Place::of(place)?, seed.parse()?)?;
            println!("held");
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
                pair.goes_on()?;
            }
        }
        _ => anyhow::bail!(
            "libraries inside|outside SEED SECONDS, trust inside|outside SEED or hold \
             inside|outside SEED"
        ),
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn main() {}
