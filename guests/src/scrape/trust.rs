// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who can read the messages of libraries: another user, root, the kernel, another compartment.

use std::io::{Read, Write, pipe, stdout};

use anyhow::{Context, Result, ensure};
use nix::unistd::{ForkResult, Gid, Uid, fork, setgroups, setresgid, setresuid};

use crate::libraries::{CORE, OF_MODULE, OF_USER, Search, Way};
use crate::pair::Pair;
use crate::place::Place;
use crate::second;

/// A user without any privilege.
const OTHER: u32 = 65534;

/// Tries each way once, as each kind of attacker. `PLACE-WHO-WAY:` what was counted.
pub fn run(place: Place, seed: u64) -> Result<()> {
    let pair = Pair::start(place, seed)?;
    let search = Search { place, seed, pair };
    let name = place.name();
    println!("{}", as_user(&search)?.trim_end());
    let of_root = [&OF_USER[..], &[CORE]].concat();
    print!("{}", tried(&search, "root", &of_root)?);
    print!("{}", tried(&search, "module", &OF_MODULE)?);
    let tally = second::reach(place, seed, &search.pair)?;
    println!("{name}-compartment-load: {tally}");
    search.pair.goes_on()
}

/// Lines of what came of ways.
fn tried(search: &Search, who: &str, ways: &[Way]) -> Result<String> {
    let place = search.place.name();
    let mut lines = String::new();
    for (name, way) in ways {
        let tally = way(search).with_context(|| format!("{place}, {who}, {name}"))?;
        lines.push_str(&format!("{place}-{who}-{name}: {tally}\n"));
        search.pair.goes_on().with_context(|| (*name).to_owned())?;
    }
    Ok(lines)
}

/// Tries the ways of a user in a process of an unprivileged user.
fn as_user(search: &Search) -> Result<String> {
    let (mut reader, mut writer) = pipe()?;
    stdout().flush()?;
    // SAFETY: this program has one thread, so the child may do what it likes.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let said = become_user().and_then(|()| tried(search, "user", &OF_USER));
            let told = said.and_then(|it| Ok(writer.write_all(it.as_bytes())?));
            if let Err(error) = told {
                eprintln!("donjon-scrape: another user: {error:#}");
            }
            // SAFETY: ends the child, and leaves the libraries to its parent.
            unsafe { libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(writer);
            let mut text = String::new();
            reader.read_to_string(&mut text)?;
            nix::sys::wait::waitpid(child, None)?;
            ensure!(!text.is_empty(), "the other user has said nothing");
            Ok(text)
        }
    }
}

fn become_user() -> Result<()> {
    let (user, group) = (Uid::from_raw(OTHER), Gid::from_raw(OTHER));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    Ok(setresuid(user, user, user)?)
}
