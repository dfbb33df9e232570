// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ways of a message.

use std::io::{PipeReader, PipeWriter, Read, Write};

use anyhow::{Context, Result, bail, ensure};
use donjon_client::{Instance, Request};
use donjon_loops::{MESSAGE, Message, Task};

use crate::inside::{call, make, serve};

/// Sends and receives.
pub trait Way {
    /// A message with this number.
    fn send(&mut self, number: u64) -> Result<()>;
    /// The number of the next message.
    fn receive(&mut self) -> Result<u64>;
}

/// The ends of pipes.
pub struct Plain {
    /// What is read from.
    pub reader: PipeReader,
    /// What is written to.
    pub writer: PipeWriter,
}

impl Way for Plain {
    fn send(&mut self, number: u64) -> Result<()> {
        let mut message = Message::EMPTY;
        message.set(number);
        Ok(self.writer.write_all(&message.0)?)
    }

    fn receive(&mut self) -> Result<u64> {
        let mut message = Message::EMPTY;
        self.reader.read_exact(&mut message.0)?;
        message.number().context("a message is not whole")
    }
}

/// Two compartments of this process, with a channel.
pub struct Channel {
    one: Instance,
    other: Instance,
    ends: (u64, u64),
}

impl Channel {
    /// Makes them.
    pub fn new() -> Result<Self> {
        let (one, other) = (make()?, make()?);
        let (end, there) = one.compartment().connect(other.compartment())?;
        let ends = (end.into(), there.into());
        Ok(Self { one, other, ends })
    }
}

impl Way for Channel {
    fn send(&mut self, number: u64) -> Result<()> {
        let sent = call(self.one.compartment(), Task::Send, self.ends.0, number)?;
        ensure!(sent == MESSAGE as u64, "{sent:#x} bytes were sent");
        Ok(())
    }

    fn receive(&mut self) -> Result<u64> {
        call(self.other.compartment(), Task::Receive, self.ends.1, 0)
    }
}

/// A compartment whose host has the ends of pipes, and copies nothing but what the kernel copies.
pub struct Host {
    inside: Instance,
    outside: Plain,
}

impl Host {
    /// Makes it.
    pub fn new(reader: PipeReader, writer: PipeWriter) -> Result<Self> {
        Ok(Self {
            inside: make()?,
            outside: Plain { reader, writer },
        })
    }

    fn serve(&mut self, task: Task, number: u64) -> Result<u64> {
        let Plain { reader, writer } = &mut self.outside;
        serve(&mut self.inside, task, number, |word, shared| {
            let shared = shared.get_mut(..MESSAGE).context("no shared page")?;
            match Request::from_word(word) {
                Some(Request::Output(_)) => writer.write_all(shared)?,
                Some(Request::Input(_)) => reader.read_exact(shared)?,
                _ => bail!("the compartment asks for {word:#x}"),
            }
            Ok(MESSAGE as u64)
        })
    }
}

impl Way for Host {
    fn send(&mut self, number: u64) -> Result<()> {
        let sent = self.serve(Task::Output, number)?;
        ensure!(sent == MESSAGE as u64, "{sent:#x} bytes were sent");
        Ok(())
    }

    fn receive(&mut self) -> Result<u64> {
        self.serve(Task::Input, 0)
    }
}
