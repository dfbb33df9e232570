// SPDX-License-Identifier: MIT OR Apache-2.0
//! The little of gdb's remote protocol that an audit needs: registers of every CPU by name, and
//! physical memory. ("Debugging with GDB", appendix E.)

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// The number of the program counter among the general registers.
pub const PC: usize = 32;
/// The number of PSTATE among the general registers.
pub const PSTATE: usize = 33;

/// Most bytes of a memory packet.
const CHUNK: usize = 1024;

/// How long an answer may take on a busy host.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A connection to QEMU's stub. Opening it stops the machine; closing it does not start it.
pub struct Stub {
    stream: UnixStream,
    pending: Vec<u8>,
    registers: HashMap<String, usize>,
}

impl Stub {
    /// Connects and asks which registers there are.
    ///
    /// # Errors
    ///
    /// If there is no stub at `socket`, or it does not describe its registers. All that follow fail
    /// if the stub does not answer.
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("connecting to QEMU's gdb stub")?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut stub = Self {
            stream,
            pending: Vec::new(),
            registers: HashMap::new(),
        };
        let features = stub.call("qSupported:qXfer:features:read+")?;
        ensure!(
            features.contains("qXfer:features:read+"),
            "QEMU's gdb stub does not describe its registers: {features}"
        );
        let description = stub.feature("system-registers.xml")?;
        for register in description.split("<reg ").skip(1) {
            let name = attribute(register, "name");
            let number = attribute(register, "regnum").and_then(|it| it.parse().ok());
            if let (Some(name), Some(number)) = (name, number) {
                stub.registers.entry(name.to_owned()).or_insert(number);
            }
        }
        Ok(stub)
    }

    /// Identifiers of the CPUs, in order.
    ///
    /// # Errors
    ///
    /// If the stub does not answer.
    pub fn cpus(&mut self) -> Result<Vec<String>> {
        let mut cpus = Vec::new();
        let mut answer = self.call("qfThreadInfo")?;
        while let Some(list) = answer.strip_prefix('m') {
            cpus.extend(list.split(',').map(str::to_owned));
            answer = self.call("qsThreadInfo")?;
        }
        Ok(cpus)
    }

    /// Selects the CPU that registers are read from and written to.
    ///
    /// # Errors
    ///
    /// If there is no such CPU.
    pub fn select(&mut self, cpu: &str) -> Result<()> {
        self.okay(&format!("Hg{cpu}"))
    }

    /// Whether a CPU stands still until an interrupt or the firmware wakes it.
    ///
    /// # Errors
    ///
    /// If there is no such CPU.
    pub fn is_halted(&mut self, cpu: &str) -> Result<bool> {
        let answer = self.call(&format!("qThreadExtraInfo,{cpu}"))?;
        let text = bytes(&answer).with_context(|| format!("state of CPU {cpu}: {answer}"))?;
        Ok(String::from_utf8_lossy(&text).contains("[halted"))
    }

    /// A system register of the selected CPU by the first of `names` that there is.
    ///
    /// # Errors
    ///
    /// If the register cannot be read.
    pub fn system(&mut self, names: &[&str]) -> Result<Option<u64>> {
        let number = names.iter().find_map(|it| self.registers.get(*it));
        match number.copied() {
            Some(number) => self.register(number).map(Some),
            None => Ok(None),
        }
    }

    /// A register by number: 0 to 30, SP, PC, PSTATE.
    ///
    /// # Errors
    ///
    /// If the register cannot be read.
    pub fn register(&mut self, number: usize) -> Result<u64> {
        let answer = self.call(&format!("p{number:x}"))?;
        let mut bytes = bytes(&answer).with_context(|| format!("register {number}: {answer}"))?;
        bytes.resize(8, 0);
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |all, it| all << 8 | u64::from(*it)))
    }

    /// Writes a general register.
    ///
    /// # Errors
    ///
    /// If the register cannot be written.
    pub fn set_register(&mut self, number: usize, value: u64) -> Result<()> {
        let value = hex(&value.to_le_bytes());
        self.okay(&format!("P{number:x}={value}"))
    }

    /// Writes physical memory.
    ///
    /// # Errors
    ///
    /// If the stub refuses the write.
    pub fn write_physical(&mut self, address: u64, data: &[u8]) -> Result<()> {
        self.okay("Qqemu.PhyMemMode:1")?;
        for (number, chunk) in data.chunks(CHUNK).enumerate() {
            let at = address + (number * CHUNK) as u64;
            self.okay(&format!("M{at:x},{:x}:{}", chunk.len(), hex(chunk)))?;
        }
        self.okay("Qqemu.PhyMemMode:0")
    }

    fn feature(&mut self, name: &str) -> Result<String> {
        let mut text = String::new();
        loop {
            let part = self.call(&format!("qXfer:features:read:{name}:{:x},7f0", text.len()))?;
            match (part.strip_prefix('m'), part.strip_prefix('l')) {
                (Some(more), _) => text.push_str(more),
                (None, Some(last)) => return Ok(text + last),
                _ => bail!("QEMU's gdb stub has no {name}: {part}"),
            }
        }
    }

    /// Stops the machine after [`start`](Self::start), and waits until it has.
    ///
    /// # Errors
    ///
    /// If the stub does not answer.
    pub fn interrupt(&mut self) -> Result<()> {
        self.stream.write_all(&[3])?;
        self.receive().map(drop)
    }

    /// Sends a packet whose answer is `OK`.
    ///
    /// # Errors
    ///
    /// If the answer is another.
    pub fn okay(&mut self, request: &str) -> Result<()> {
        let answer = self.call(request)?;
        ensure!(
            answer == "OK",
            "QEMU's gdb stub refused {request}: {answer}"
        );
        Ok(())
    }

    /// The number of a system register, if there is one of that name.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.registers.get(name).copied()
    }

    /// Sends several packets at once and waits for all answers.
    ///
    /// # Errors
    ///
    /// If the stub does not answer.
    pub fn calls(&mut self, requests: &[&str]) -> Result<Vec<String>> {
        let mut text = String::new();
        for request in requests {
            let sum = request.bytes().fold(0_u8, u8::wrapping_add);
            text.push_str(&format!("${request}#{sum:02x}+"));
        }
        self.stream.write_all(text.as_bytes())?;
        requests.iter().map(|_| self.receive()).collect()
    }

    /// Lets the machine go on until it stops by itself. If it does not within `timeout` it is
    /// stopped, and the answer is no.
    ///
    /// # Errors
    ///
    /// If the stub does not answer.
    pub fn resume(&mut self, timeout: Duration) -> Result<bool> {
        let request = b"$c#63";
        self.stream.write_all(request)?;
        self.stream.set_read_timeout(Some(timeout))?;
        let by_itself = match self.receive() {
            Ok(_) => true,
            Err(error) if is_timeout(&error) => {
                // The interrupt is a byte, not a packet.
                self.stream.write_all(&[3])?;
                self.stream.set_read_timeout(Some(TIMEOUT))?;
                self.receive()?;
                false
            }
            Err(error) => return Err(error),
        };
        self.stream.write_all(b"+")?;
        self.stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(by_itself)
    }

    /// Sends a packet and waits for the answer to it.
    ///
    /// # Errors
    ///
    /// If the stub does not answer.
    pub fn call(&mut self, request: &str) -> Result<String> {
        self.start(request)?;
        let answer = self.receive()?;
        self.stream.write_all(b"+")?;
        Ok(answer)
    }

    /// Sends a packet and does not wait: the answer comes when the machine stops.
    ///
    /// # Errors
    ///
    /// If the stub is gone.
    pub fn start(&mut self, request: &str) -> Result<()> {
        let sum = request.bytes().fold(0_u8, u8::wrapping_add);
        write!(self.stream, "${request}#{sum:02x}")?;
        Ok(())
    }

    fn receive(&mut self) -> Result<String> {
        loop {
            let start = self.pending.iter().position(|it| *it == b'$');
            let end = self.pending.iter().position(|it| *it == b'#');
            if let (Some(start), Some(end)) = (start, end)
                && start < end
                && self.pending.len() >= end + 3
            {
                let packet = self.pending[start + 1..end].to_vec();
                self.pending.drain(..end + 3);
                return Ok(String::from_utf8(packet)?);
            }
            let mut buffer = [0; 8192];
            let count = self
                .stream
                .read(&mut buffer)
                .context("waiting for QEMU's gdb stub")?;
            ensure!(count > 0, "QEMU closed its gdb stub");
            self.pending.extend(&buffer[..count]);
        }
    }
}

fn is_timeout(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(|it| it.kind());
    matches!(kind, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let start = element.split_once(&format!("{name}=\""))?.1;
    start.split_once('"').map(|it| it.0)
}

/// Bytes as the protocol writes them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Bytes that the protocol wrote as hexadecimal digits; none if they are no such digits.
pub fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok();
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|it| digit(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_hexadecimals_are_read() {
        let element = "name=\"TCR_EL1\" bitsize=\"64\" regnum=\"174\" group=\"cp_regs\"/>";
        assert_eq!(attribute(element, "name"), Some("TCR_EL1"));
        assert_eq!(attribute(element, "regnum"), Some("174"));
        assert_eq!(bytes("00ff10"), Some(vec![0, 255, 16]));
        assert_eq!(bytes("0"), None);
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }
}
