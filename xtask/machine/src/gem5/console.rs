// SPDX-License-Identifier: MIT OR Apache-2.0
//! gem5's process, and the console of its machine, a TCP port that gem5 names.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::board::Line;
use crate::port::PortFinder;
use crate::process::{self, Running};

/// What gem5 prints before the number of the port.
const PORT: &str = "terminal: Listening for connections on port ";
/// How long gem5 may take to load its libraries and the image.
const START: Duration = Duration::from_secs(120);
/// Last bytes of gem5's own output that are kept for an error message.
const KEPT: usize = 4096;

/// A running gem5. Dropping it ends gem5.
pub struct Console {
    running: Running,
    printed: Receiver<Vec<u8>>,
    stream: TcpStream,
    messages: Arc<Mutex<Vec<u8>>>,
}

impl Console {
    /// Starts gem5, and connects to the console.
    pub fn start(command: &mut Command) -> Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let mut running = Running::start(command)?;
        // The command keeps its copies of the write end; the pipe must end with gem5.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let messages = Arc::default();
        let (found, port) = mpsc::channel();
        let kept = Arc::clone(&messages);
        thread::spawn(move || listen(reader, &kept, &found));
        let Ok(port) = port.recv_timeout(START) else {
            let status = running.ended()?;
            bail!(
                "gem5 named no port of its console ({}):\n{}",
                status.map_or("it still runs".to_owned(), |it| it.to_string()),
                text(&messages)
            );
        };
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .context("connecting to the console in gem5")?;
        let printed = process::pieces(stream.try_clone()?);
        Ok(Self {
            running,
            printed,
            stream,
            messages,
        })
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // Ends the thread that reads the console.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Line for Console {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream
            .write_all(bytes)
            .context("typing on the console in gem5")
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>> {
        match self.printed.recv_timeout(limit) {
            Ok(bytes) => Ok(bytes),
            Err(RecvTimeoutError::Timeout) => Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.running.wait()?;
                Err(anyhow!("gem5 ended ({status}):\n{}", text(&self.messages)))
            }
        }
    }
}

/// Keeps the end of what gem5 prints, and finds the port in it.
fn listen(mut reader: impl Read, kept: &Mutex<Vec<u8>>, found: &Sender<u16>) {
    let mut finder = PortFinder::new(PORT);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        if let Some(port) = finder.push(&buffer[..count]) {
            let _ = found.send(port);
        }
        let mut kept = lock(kept);
        kept.extend(&buffer[..count]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

fn text(messages: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&lock(messages)).trim().to_owned()
}

fn lock(messages: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    messages
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
