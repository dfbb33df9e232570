// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lat_pipe`, `lat_unix` and `lat_ctx`: a token that goes round processes.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, ensure};

use crate::kernel;
use crate::timing::{Plan, print};

/// LMBench's pipe wants more time than the rest, in microseconds.
const PIPE_ENOUGH: f64 = 1e6;

/// [`PIPE_ENOUGH`], or what the variable of that name says: a model of a core has no second.
fn enough_for_pipe() -> Result<f64> {
    match std::env::var("PIPE_ENOUGH") {
        Ok(text) => text.parse().context("the variable PIPE_ENOUGH"),
        Err(_) => Ok(PIPE_ENOUGH),
    }
}

/// Where a token is sent to, and where it comes back.
struct Way {
    out: i32,
    back: i32,
    _open: Vec<OwnedFd>,
}

/// Takes a token and passes it on, until there are no more.
fn pass_on(from: i32, to: i32, length: usize) -> ! {
    let mut token = [0; 4];
    let token = &mut token[..length];
    let whole = length.cast_signed();
    while kernel::read(from, token) == whole && kernel::write(to, token) == whole {}
    kernel::exit(0)
}

/// A child that passes tokens on.
fn station(from: i32, to: i32, length: usize) -> Result<()> {
    if kernel::fork()? == 0 {
        kernel::end_with_parent();
        pass_on(from, to, length);
    }
    Ok(())
}

#[inline(always)]
fn round(way: &Way, token: &mut [u8]) -> bool {
    let whole = token.len().cast_signed();
    kernel::write(way.out, token) == whole && kernel::read(way.back, token) == whole
}

/// Times rounds of a token of `length` bytes, after one round so that all are there.
fn rounds(plan: &Plan, length: usize, build: impl FnOnce() -> Result<Way>) -> Result<f64> {
    let ready = || {
        let way = build()?;
        ensure!(round(&way, &mut [0; 4][..length]), "the token is lost");
        Ok(way)
    };
    plan.measure(ready, |way, times| {
        let mut token = [0; 4];
        for _ in 0..times {
            ensure!(round(way, &mut token[..length]), "the token is lost");
        }
        Ok(())
    })
}

/// Times a byte through a pipe to another process, and back through another pipe.
pub fn pipes(plan: &Plan) -> Result<()> {
    let plan = Plan {
        enough: plan.enough.max(enough_for_pipe()?),
        samples: plan.samples,
    };
    print("Pipe latency", rounds(&plan, 1, || ring(2, 1))?);
    Ok(())
}

/// Times a byte through a pair of sockets to another process and back.
pub fn sockets(plan: &Plan) -> Result<()> {
    let pair = || {
        let (ours, theirs) = UnixStream::pair()?;
        let (here, there) = (ours.as_raw_fd(), theirs.as_raw_fd());
        station(there, there, 1)?;
        Ok(Way {
            out: here,
            back: here,
            _open: vec![ours.into(), theirs.into()],
        })
    };
    print("AF_UNIX sock stream latency", rounds(plan, 1, pair)?);
    Ok(())
}

/// Makes a pipe for each process, from one to the next, for tokens of `length`.
fn ring(processes: usize, length: usize) -> Result<Way> {
    let mut pipes = Vec::new();
    for _ in 0..processes {
        pipes.push(std::io::pipe()?);
    }
    for number in 1..processes {
        let from = pipes[number - 1].0.as_raw_fd();
        station(from, pipes[number].1.as_raw_fd(), length)?;
    }
    let (first, last) = (pipes.first(), pipes.last());
    let (first, last) = first.zip(last).context("no processes")?;
    let (out, back) = (first.1.as_raw_fd(), last.0.as_raw_fd());
    let open = |(reader, writer)| [OwnedFd::from(reader), OwnedFd::from(writer)];
    Ok(Way {
        out,
        back,
        _open: pipes.into_iter().flat_map(open).collect(),
    })
}

/// Bytes that go round.
const TOKEN: usize = 4;

/// Times a switch to the next of several processes, for each of `numbers`, less writing to and
/// reading from a pipe.
pub fn switches(plan: &Plan, numbers: &[usize]) -> Result<()> {
    let most = numbers.iter().copied().max().unwrap_or(0);
    ensure!(numbers.iter().all(|it| *it > 1), "at least 2 processes");
    let overhead = own_pipes(plan, most)?;
    eprintln!("\n\"size=0k ovr={overhead:.2}");
    for &number in numbers {
        let all = rounds(plan, TOKEN, || ring(number, TOKEN))?;
        eprintln!("{number} {:.2}", all / number as f64 - overhead);
    }
    Ok(())
}

/// What the pipes alone cost, each used in turn by one process.
fn own_pipes(plan: &Plan, number: usize) -> Result<f64> {
    let pipes = || {
        let pipes: Result<Vec<_>, _> = (0..number).map(|_| std::io::pipe()).collect();
        Ok((pipes?, 0))
    };
    plan.measure(pipes, |(pipes, next), times| {
        let mut token = [0; TOKEN];
        for _ in 0..times {
            let (reader, writer) = &pipes[*next];
            let wrote = kernel::write(writer.as_raw_fd(), &token);
            let read = kernel::read(reader.as_raw_fd(), &mut token);
            ensure!(wrote == 4 && read == 4, "a pipe fails");
            *next = (*next + 1) % pipes.len();
        }
        Ok(())
    })
}
