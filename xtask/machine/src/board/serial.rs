// SPDX-License-Identifier: MIT OR Apache-2.0
//! A serial port of this host.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{
    self, BaudRate, ControlFlags, FlushArg, SetArg, SpecialCharacterIndices, cfmakeraw, cfsetspeed,
};

use super::Line;

/// How long the port may refuse to take more.
const SENDING: Duration = Duration::from_secs(10);

/// An open port: 8 data bits, no parity, one stop bit, no flow control. No other program that
/// locks ports has it as well.
pub struct Port {
    file: Flock<File>,
    name: String,
}

impl Port {
    /// Opens `device` at `baud`.
    ///
    /// # Errors
    ///
    /// If there is no such port, this user may not open it, or another program has it; the error
    /// says what to do.
    pub fn open(device: &Path, baud: u32) -> Result<Self> {
        let name = device.display().to_string();
        let speed = speed(baud)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags((OFlag::O_NOCTTY | OFlag::O_NONBLOCK).bits())
            .open(device)
            .map_err(|error| refusal(&name, &error))?;
        ensure!(
            file.metadata()?.file_type().is_char_device(),
            "{name} is no serial port"
        );
        let mut settings = match termios::tcgetattr(&file) {
            Err(Errno::ENOTTY) => bail!("{name} is no serial port"),
            settings => settings.with_context(|| format!("reading the settings of {name}"))?,
        };
        cfmakeraw(&mut settings);
        settings.control_flags |= ControlFlags::CLOCAL | ControlFlags::CREAD;
        settings.control_flags &= !(ControlFlags::CSTOPB | ControlFlags::CRTSCTS);
        settings.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        settings.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        cfsetspeed(&mut settings, speed)?;
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, _)| {
            anyhow!("another program uses {name}; end it (a terminal program such as picocom?)")
        })?;
        termios::tcsetattr(&*file, SetArg::TCSANOW, &settings)
            .with_context(|| format!("{name} does not take {baud} baud"))?;
        termios::tcflush(&*file, FlushArg::TCIFLUSH)?;
        Ok(Self { file, name })
    }

    /// Waits until the port is ready, or `limit` is over.
    fn ready(&self, events: PollFlags, limit: Duration) -> Result<bool> {
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        let mut waiting = [PollFd::new(self.file.as_fd(), events)];
        match poll(&mut waiting, limit) {
            Ok(count) => Ok(count > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error).context("waiting for the serial port"),
        }
    }

    fn gone(&self) -> anyhow::Error {
        anyhow!("{} is gone: was its cable pulled out?", self.name)
    }
}

impl Line for Port {
    fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        let deadline = Instant::now() + SENDING;
        while !bytes.is_empty() {
            ensure!(
                Instant::now() < deadline,
                "{} takes no more bytes: is flow control on, or the adapter unplugged?",
                self.name
            );
            if !self.ready(PollFlags::POLLOUT, Duration::from_millis(200))? {
                continue;
            }
            match self.file.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if retried(&error) => (),
                Err(_) => return Err(self.gone()),
            }
        }
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>> {
        if !self.ready(PollFlags::POLLIN, limit)? {
            return Ok(Vec::new());
        }
        let mut buffer = [0; 4096];
        match self.file.read(&mut buffer) {
            Ok(0) => Err(self.gone()),
            Ok(count) => Ok(buffer[..count].to_vec()),
            Err(error) if retried(&error) => Ok(Vec::new()),
            Err(_) => Err(self.gone()),
        }
    }
}

fn retried(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn refusal(name: &str, error: &std::io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "there is no {name}; `ls /dev/ttyUSB* /dev/ttyACM* /dev/ttyAMA*` shows serial ports, \
             and `dmesg` what an adapter became when it was plugged in"
        ),
        ErrorKind::PermissionDenied => anyhow!(
            "this user may not open {name}: `sudo adduser $USER dialout`, log in anew, and run \
             this again"
        ),
        ErrorKind::ResourceBusy => {
            anyhow!("another program uses {name}; end it (a terminal program such as picocom?)")
        }
        _ => anyhow!("opening {name}: {error}"),
    }
}

fn speed(baud: u32) -> Result<BaudRate> {
    Ok(match baud {
        9600 => BaudRate::B9600,
        19_200 => BaudRate::B19200,
        38_400 => BaudRate::B38400,
        57_600 => BaudRate::B57600,
        115_200 => BaudRate::B115200,
        230_400 => BaudRate::B230400,
        460_800 => BaudRate::B460800,
        921_600 => BaudRate::B921600,
        1_000_000 => BaudRate::B1000000,
        1_500_000 => BaudRate::B1500000,
        _ => bail!(
            "{baud} baud is not offered; allowed: 9600, 19200, 38400, 57600, 115200, 230400, \
             460800, 921600, 1000000, 1500000"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(device: &str, baud: u32) -> String {
        match Port::open(Path::new(device), baud) {
            Ok(_) => panic!("{device} was opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_no_port_is_refused() {
        assert!(refused("/dev/does-not-exist", 115_200).contains("there is no"));
        assert!(refused("/dev/null", 115_200).contains("no serial port"));
        assert!(refused("/dev/null", 1234).contains("1234 baud is not offered"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(refused(&file.path().to_string_lossy(), 9600).contains("no serial port"));
        let denied = std::io::Error::from(ErrorKind::PermissionDenied);
        assert!(
            refusal("/dev/ttyUSB0", &denied)
                .to_string()
                .contains("dialout")
        );
    }
}
