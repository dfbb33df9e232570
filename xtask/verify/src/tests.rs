// SPDX-License-Identifier: MIT OR Apache-2.0
use std::path::PathBuf;

use super::*;

/// Returns a command line that names nothing.
pub fn no_arguments() -> VerifyArguments {
    VerifyArguments {
        path: PathBuf::new(),
        nonce: None,
        key: None,
        measurement: None,
        started: None,
        program: None,
        policy: None,
        golden: None,
        max_blocks: 1 << 36,
        prefix: false,
        ear: None,
        ear_key: None,
    }
}
