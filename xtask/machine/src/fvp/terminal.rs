// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model's console. What the guest prints is on the model's standard output; what is typed
//! goes to a TCP port, which the model names there.

use std::io::{Read, Write, stdin, stdout};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::board::Line;
use crate::port::PortFinder;
use crate::process::Running;
use crate::terminal::Keys;

use super::MODEL;

/// What the model prints before the number of the port.
const PORT: &str = "terminal_0: Listening for serial connection on port ";
/// How often to look for the port before what is typed is lost.
const ATTEMPTS: u32 = 100;

/// A connection to type on, once there is one.
type Input = Arc<Mutex<Option<TcpStream>>>;

/// A running model. Dropping it ends the model.
pub struct Terminal {
    running: Running,
    printed: Receiver<Vec<u8>>,
    input: Input,
}

impl Terminal {
    /// Starts the model.
    pub fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = Running::start(command)?;
        let mut output = running
            .child()
            .stdout
            .take()
            .context("the model has no standard output")?;
        let input = Input::default();
        let (sender, printed) = mpsc::channel();
        let connected = Arc::clone(&input);
        thread::spawn(move || {
            let mut finder = PortFinder::new(PORT);
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if let Some(port) = finder.push(&buffer[..count]) {
                    *lock(&connected) = connect(port);
                }
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            running,
            printed,
            input,
        })
    }
}

impl Line for Terminal {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        for _ in 0..ATTEMPTS {
            if let Some(stream) = lock(&self.input).as_mut() {
                return stream
                    .write_all(bytes)
                    .context("typing on the model's console");
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("{MODEL} did not name the port of its console, terminal_0")
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>> {
        match self.printed.recv_timeout(limit) {
            Ok(bytes) => Ok(bytes),
            Err(RecvTimeoutError::Timeout) => Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.running.wait()?;
                Err(anyhow!("{MODEL} ended ({status})"))
            }
        }
    }
}

/// Runs with the console on our own terminal, until the model ends.
pub fn interactive(command: &mut Command) -> Result<()> {
    let mut terminal = Terminal::start(command)?;
    let _keys = Keys::pass_on()?;
    let input = Arc::clone(&terminal.input);
    // It ends with us: a read of the terminal cannot be interrupted.
    thread::spawn(move || {
        let mut buffer = [0; 256];
        while let Ok(count @ 1..) = stdin().read(&mut buffer) {
            if let Some(stream) = lock(&input).as_mut() {
                let _ = stream.write_all(&buffer[..count]);
            }
        }
    });
    while let Ok(bytes) = terminal.printed.recv() {
        // The reader may be gone; the model still runs to its end.
        let _ = stdout().write_all(&bytes).and_then(|()| stdout().flush());
    }
    let status = terminal.running.wait()?;
    if !status.success() {
        bail!("{MODEL} failed ({status}); its message stands above");
    }
    Ok(())
}

/// Connects, and reads what the port sends, which is what is on standard output as well.
fn connect(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let mut copy = stream.try_clone().ok()?;
    thread::spawn(move || std::io::copy(&mut copy, &mut std::io::sink()));
    Some(stream)
}

fn lock(input: &Input) -> MutexGuard<'_, Option<TcpStream>> {
    input
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
