// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host keeps of a run, signed by a key of the tests, and what is asked about it.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use donjon_abi::flow::{FLOW_REPORT, KIND_OF_REPORT_SHIFT, Message, Start};
use donjon_compartment_image::Image;
use donjon_token::{Claims, sign};
use ed25519_dalek::{Signer, SigningKey};
use tempfile::TempDir;

use super::assembler::{Text, program};
use super::elf::{LIMIT, elf};
use super::run::Run;
use crate::flow::report::Report;
use crate::flow::transcript::digest;
use crate::flow::{Question, judge};

/// The nonce of all runs.
pub const NONCE: [u8; 32] = [0x5a; 32];
/// Names of the program's functions.
pub const NAMES: [&str; 5] = ["_start", "work", "check", "open", "never"];

/// A run in a folder, with the program beside it.
pub struct Kept {
    place: TempDir,
    /// The files of the run.
    pub transcript: Vec<u8>,
    pub log: Vec<u8>,
    pub claims: Claims,
    pub program: Vec<u8>,
    pub policy: Option<String>,
    pub golden: Option<PathBuf>,
    pub max_blocks: u64,
}

/// Writes the file of the small program, its functions named so.
pub fn file(text: &Text, names: [&str; 5]) -> Vec<u8> {
    let places = NAMES.map(|it| text.labels[it]);
    let named: Vec<_> = names.into_iter().zip(places).collect();
    elf(text, &named)
}

fn signing() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

impl Kept {
    /// Keeps a run of the small program.
    pub fn new(run: &Run) -> Self {
        Self::of(run, file(&program(), NAMES))
    }

    /// Keeps a run of a program with this file.
    pub fn of(run: &Run, program: Vec<u8>) -> Self {
        let measurement = Image::parse(&program).expect("an image").measurement();
        let start = Message::Start(Start {
            measurement,
            nonce: NONCE,
            arguments: [5, 6, 7, 8],
        });
        let segments = run.segments.iter().copied().map(Message::Segment);
        let messages = [start].into_iter().chain(segments);
        let messages = messages.chain([Message::End(run.end)]);
        let transcript: Vec<u8> = messages.flat_map(|it| it.to_bytes()).collect();
        let words = run.words.iter().flatten();
        Self {
            place: tempfile::tempdir().expect("a folder"),
            log: words.flat_map(|it| it.to_le_bytes()).collect(),
            claims: Claims {
                nonce: NONCE,
                data: digest(&transcript),
                measurement,
                limit: FLOW_REPORT << KIND_OF_REPORT_SHIFT | LIMIT,
                started: [4; 32],
                version: 1 << 16,
                weakened: 0,
                identity: 1,
                quoter: [5; 32],
                key: signing().verifying_key().to_bytes(),
            },
            transcript,
            program,
            policy: None,
            golden: None,
            max_blocks: 1 << 36,
        }
    }

    /// Lets the report be about the transcript as it is now.
    pub fn reported(mut self) -> Self {
        self.claims.data = digest(&self.transcript);
        self
    }

    /// Returns the token.
    pub fn token(&self) -> Vec<u8> {
        sign(&self.claims, |it| signing().sign(it).to_bytes()).expect("a token")
    }

    /// Returns the folder.
    pub fn folder(&self) -> PathBuf {
        self.place.path().join("run")
    }

    /// Writes the files.
    pub fn write(&self, token: &[u8]) {
        let folder = self.folder();
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("token"), token).expect("written");
        fs::write(folder.join("transcript"), &self.transcript).expect("written");
        fs::write(folder.join("log"), &self.log).expect("written");
        fs::write(self.place.path().join("program"), &self.program).expect("written");
        if let Some(policy) = &self.policy {
            fs::write(self.place.path().join("policy"), policy).expect("written");
        }
    }

    /// Judges the files that are there.
    pub fn asked(&self) -> Result<Report> {
        let policy = self.place.path().join("policy");
        judge(&Question {
            folder: &self.folder(),
            nonce: NONCE,
            key: signing().verifying_key().to_bytes(),
            program: &self.place.path().join("program"),
            measurement: None,
            started: Some([4; 32]),
            policy: self.policy.as_ref().map(|_| &*policy),
            golden: self.golden.as_deref(),
            max_blocks: self.max_blocks,
            prefix: false,
        })
    }

    /// Writes the files, with this token, and judges them.
    pub fn judged_with(&self, token: &[u8]) -> Result<Report> {
        self.write(token);
        self.asked()
    }

    /// Writes the files and judges them.
    pub fn judged(&self) -> Result<Report> {
        self.judged_with(&self.token())
    }

    /// Fails unless the run is rejected with these words; the report.
    pub fn rejected(&self, words: &str) -> Report {
        let report = self.judged().expect("it can be read");
        assert_eq!(report.status(), 1, "{report}");
        let said = report.to_string();
        assert!(said.contains(words), "{words}: {said}");
        assert!(!said.contains("It proves:"), "{said}");
        report
    }
}
