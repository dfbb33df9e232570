// SPDX-License-Identifier: MIT OR Apache-2.0
//! BPF programs: interpreted, compiled, compiled with blinded constants; loaded, run, dropped.

use std::fs;
use std::io::Error;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};

use crate::child::skip;

const COMPILER: &str = "/proc/sys/net/core/bpf_jit_enable";
const BLINDING: &str = "/proc/sys/net/core/bpf_jit_harden";

const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const PROGRAM_LOAD: i32 = 5;
const TEST_RUN: i32 = 10;
const SOCKET_FILTER: u32 = 1;
const MAP_ARRAY: u32 = 2;

/// The beginning of `union bpf_attr`, as words. Commands differ in what they mean.
type Words = [u64; 16];

fn bpf(command: i32, words: &mut Words) -> Result<i32> {
    // SAFETY: `words` is as long as it says and lives through the call; the pointers in it are
    // to buffers of the callers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            words.as_mut_ptr(),
            size_of::<Words>(),
        )
    };
    ensure!(
        result >= 0,
        "bpf command {command}: {}",
        Error::last_os_error()
    );
    Ok(result as i32)
}

fn owned(number: i32) -> OwnedFd {
    // SAFETY: the callers got it from a call that returns a new descriptor.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Two halves of a word of the attributes.
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// One instruction: code, registers, offset and immediate value.
fn line(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    u64::from(code)
        | u64::from(to) << 8
        | u64::from(from) << 12
        | u64::from(offset.cast_unsigned()) << 16
        | u64::from(value.cast_unsigned()) << 32
}

const MOVE: u8 = 0xb7;
const MOVE_REGISTER: u8 = 0xbf;
const ADD: u8 = 0x07;
const ADD_REGISTER: u8 = 0x0f;
const MULTIPLY: u8 = 0x27;
const EXCLUSIVE_OR: u8 = 0xa7;
const LOAD_MAP: u8 = 0x18;
const STORE_WORD: u8 = 0x62;
const LOAD_DOUBLE: u8 = 0x79;
const STORE_DOUBLE: u8 = 0x7b;
const JUMP_IF_NULL: u8 = 0x15;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const LOOKUP: i32 = 1;

/// A program that computes with `seed` and counts its runs in the map.
fn program(map: &OwnedFd, seed: i32, steps: usize) -> Vec<u64> {
    let mut lines = vec![line(MOVE, 6, 0, 0, seed)];
    for step in 0..steps {
        let constant = seed.wrapping_mul(31).wrapping_add(step as i32) & 0xffff;
        lines.push(line(
            [ADD, MULTIPLY, EXCLUSIVE_OR][step % 3],
            6,
            0,
            0,
            constant,
        ));
    }
    lines.extend([
        // The key, zero, on the stack.
        line(STORE_WORD, 10, 0, -4, 0),
        line(MOVE_REGISTER, 2, 10, 0, 0),
        line(ADD, 2, 0, 0, -4),
        line(LOAD_MAP, 1, 1, 0, map.as_raw_fd()),
        0,
        line(CALL, 0, 0, 0, LOOKUP),
        line(JUMP_IF_NULL, 0, 0, 4, 0),
        line(LOAD_DOUBLE, 1, 0, 0, 0),
        line(ADD, 1, 0, 0, 1),
        line(STORE_DOUBLE, 0, 1, 0, 0),
        line(MOVE, 0, 0, 0, 0),
        line(ADD_REGISTER, 0, 6, 0, 0),
        line(EXIT, 0, 0, 0, 0),
    ]);
    lines
}

/// What the program returns: the low half of its register.
fn expected(seed: i32, steps: usize) -> u32 {
    let mut value = i64::from(seed);
    for step in 0..steps {
        let constant = i64::from(seed.wrapping_mul(31).wrapping_add(step as i32) & 0xffff);
        value = match step % 3 {
            0 => value.wrapping_add(constant),
            1 => value.wrapping_mul(constant),
            _ => value ^ constant,
        };
    }
    value as u32
}

fn array() -> Result<OwnedFd> {
    let mut words: Words = [0; 16];
    (words[0], words[1]) = (pair(MAP_ARRAY, 4), pair(8, 1));
    Ok(owned(bpf(MAP_CREATE, &mut words)?))
}

fn load(lines: &[u64]) -> Result<OwnedFd> {
    let mut words: Words = [0; 16];
    words[0] = pair(SOCKET_FILTER, u32::try_from(lines.len())?);
    words[1] = lines.as_ptr().addr() as u64;
    words[2] = c"GPL".as_ptr().addr() as u64;
    Ok(owned(bpf(PROGRAM_LOAD, &mut words)?))
}

fn run(program: &OwnedFd, repeat: u32) -> Result<u32> {
    let packet = [0u8; 64];
    let mut words: Words = [0; 16];
    words[0] = u64::from(program.as_raw_fd().cast_unsigned());
    words[1] = pair(packet.len() as u32, 0);
    words[2] = packet.as_ptr().addr() as u64;
    words[4] = u64::from(repeat);
    bpf(TEST_RUN, &mut words)?;
    Ok((words[0] >> 32) as u32)
}

fn count(map: &OwnedFd) -> Result<u64> {
    let (key, value) = (0u32, 0u64);
    let mut words: Words = [0; 16];
    words[0] = u64::from(map.as_raw_fd().cast_unsigned());
    words[1] = (&raw const key).addr() as u64;
    let mut value = value;
    words[2] = (&raw mut value).expose_provenance() as u64;
    bpf(MAP_LOOKUP, &mut words)?;
    // The kernel wrote it behind the compiler's back.
    // SAFETY: a word of ours.
    Ok(unsafe { (&raw const value).read_volatile() })
}

/// Loads `programs` of them, all at once, runs each and checks what it returns.
pub fn load_and_run(programs: i32, steps: usize) -> Result<()> {
    let map = array()?;
    let loaded: Vec<OwnedFd> = (0..programs)
        .map(|seed| load(&program(&map, seed, steps)))
        .collect::<Result<_>>()?;
    for (seed, program) in (0..programs).zip(&loaded) {
        let (found, wanted) = (run(program, 3)?, expected(seed, steps));
        ensure!(
            found == wanted,
            "program {seed} returned {found:#x}, not {wanted:#x}"
        );
    }
    let (runs, wanted) = (count(&map)?, 3 * u64::from(programs.cast_unsigned()));
    ensure!(runs == wanted, "the map counted {runs} runs, not {wanted}");
    Ok(())
}

/// A classic filter on a socket, which Linux translates and compiles too.
fn filter_socket() -> Result<()> {
    let (sender, receiver) = (
        UdpSocket::bind("127.0.0.1:0")?,
        UdpSocket::bind("127.0.0.1:0")?,
    );
    receiver.set_nonblocking(true)?;
    let line = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // The first byte behind the UDP header decides: 7 passes.
    let mut lines = [
        line(0x30, 0, 0, 8),
        line(0x15, 0, 1, 7),
        line(0x06, 0, 0, 0xffff),
        line(0x06, 0, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: lines.as_mut_ptr(),
    };
    // SAFETY: a program that lives through the call, and its size.
    let failed = unsafe {
        libc::setsockopt(
            receiver.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>() as u32,
        )
    };
    ensure!(failed == 0, "SO_ATTACH_FILTER: {}", Error::last_os_error());
    for byte in [7u8, 8] {
        sender.send_to(&[byte; 16], receiver.local_addr()?)?;
        let passed = receiver.recv(&mut [0; 16]).is_ok();
        ensure!(
            passed == (byte == 7),
            "the filter let {byte} pass: {passed}"
        );
    }
    Ok(())
}

/// Runs BPF programs in each way that Linux offers: interpreted, compiled, and compiled with
/// blinding.
pub fn programs() -> Result<()> {
    if fs::read_to_string(COMPILER).is_err() {
        return Err(skip("no compiler for BPF"));
    }
    super::network::loopback_up()?;
    let result = [("0", "0"), ("1", "0"), ("1", "2")]
        .into_iter()
        .try_for_each(|(compiler, blinding)| {
            fs::write(COMPILER, compiler)?;
            fs::write(BLINDING, blinding)?;
            load_and_run(60, 90)?;
            load_and_run(4, 3000)?;
            filter_socket()
                .with_context(|| format!("with compiler {compiler} and blinding {blinding}"))
        });
    fs::write(COMPILER, "1")?;
    fs::write(BLINDING, "0")?;
    result
}
