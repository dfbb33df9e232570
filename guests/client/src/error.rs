// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is no compartment, or it does not run.

use std::fmt;
use std::io;

/// What was tried, and what Linux answered.
#[derive(Debug)]
pub struct Error {
    doing: &'static str,
    cause: io::Error,
    opening: bool,
}

impl Error {
    pub(crate) fn new(doing: &'static str, cause: io::Error) -> Self {
        let opening = false;
        Self {
            doing,
            cause,
            opening,
        }
    }

    pub(crate) fn opening(cause: io::Error) -> Self {
        Self {
            opening: true,
            ..Self::new("opening the device", cause)
        }
    }

    /// What Linux answered. Of a request, `EDQUOT` is a limit, `EPERM` the wrong time, `ENODEV` no
    /// compartment, or one that has ended, `EBUSY` one that is in use, `ENOMEM` no memory, and
    /// `EINVAL` an address, a length or a number that cannot be.
    pub fn cause(&self) -> &io::Error {
        &self.cause
    }

    /// Whether the inner domain says that this is not the time for it.
    pub(crate) fn is_wrong_time(&self) -> bool {
        self.cause.raw_os_error() == Some(libc::EPERM)
    }

    /// What it means, where that is known.
    fn meaning(&self) -> Option<&'static str> {
        Some(match (self.cause.raw_os_error()?, self.opening) {
            (libc::EACCES | libc::EPERM, true) => {
                "/dev/donjon/compartment is root's: run this as root"
            }
            (libc::ENOENT, true) => {
                "there is no /dev/donjon/compartment: this Linux does not run over Donjon"
            }
            (libc::ENODEV, true) => "the inner domain does not protect this Linux",
            (libc::EPERM, false) => "this is not the time for it",
            (libc::ENODEV, false) => "there is no compartment, or it has ended",
            (libc::EOPNOTSUPP, false) => "this boot has no secret or no random bytes",
            (libc::EDQUOT, _) => "the compartment's limit does not allow it",
            (libc::ENOMEM, _) => "Linux has no memory for a compartment",
            _ => return None,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doing, cause, .. } = self;
        match self.meaning() {
            Some(meaning) => write!(f, "{doing}: {meaning} ({cause})"),
            None => write!(f, "{doing}: {cause}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_another_thing_to_a_request() {
        let code = io::Error::from_raw_os_error;
        let opening = Error::opening(code(libc::ENODEV)).to_string();
        assert!(opening.contains("does not protect this Linux"), "{opening}");
        let running = Error::new("running it", code(libc::ENODEV)).to_string();
        assert!(running.starts_with("running it: "), "{running}");
        assert!(running.contains("it has ended"), "{running}");
        let busy = Error::new("running it", code(libc::EBUSY)).to_string();
        assert_eq!(busy, format!("running it: {}", code(libc::EBUSY)));
    }
}
