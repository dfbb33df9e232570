// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a host keeps of a run, signed by a key of the tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use donjon_abi::flow::{
    End, EndReason, FLOW_REPORT, KIND_OF_REPORT_SHIFT, Message, Segment, Start,
};
use donjon_compartment_image::Image;
use donjon_flow::execute::Outcome;
use donjon_flow_chain::State;
use donjon_token::{Claims, sign};
use donjon_verify::{Question, Report, judge};
use ed25519_dalek::{Signer, SigningKey};
use sha2::{Digest, Sha256};

const NONCE: [u8; 32] = [0x5a; 32];

/// A run of one segment.
pub struct Kept {
    folder: PathBuf,
    claims: Claims,
    start: Start,
    segment: Segment,
    end: End,
    /// Words of the log.
    pub log: Vec<u64>,
    /// The program's file.
    pub program: PathBuf,
    /// The text of a policy.
    pub policy: Option<String>,
}

fn signing() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

impl Kept {
    /// Keeps a run that ended by itself.
    pub fn new(folder: PathBuf, program: &Path, first: State, outcome: &Outcome, pc: u64) -> Self {
        let file = fs::read(program).expect("it is there");
        let image = Image::parse(&file).expect("an image");
        let data: [u8; 32] = bytes(&outcome.result[1..]).try_into().expect("32 bytes");
        Self {
            claims: Claims {
                nonce: NONCE,
                data: [0; 32],
                measurement: image.measurement(),
                limit: FLOW_REPORT << KIND_OF_REPORT_SHIFT | image.limit,
                started: [4; 32],
                version: 1 << 16,
                weakened: 0,
                identity: 1,
                quoter: [5; 32],
                key: signing().verifying_key().to_bytes(),
            },
            start: Start {
                measurement: image.measurement(),
                nonce: NONCE,
                arguments: [0; 4],
            },
            segment: Segment {
                index: 0,
                first: first.0,
                last: outcome.state.0,
                words: outcome.log.len() as u64,
                path: outcome.bits,
                pc,
                digest: Sha256::digest(bytes(&outcome.log)).into(),
            },
            end: End {
                segments: 1,
                reason: EndReason::Finished as u64,
                esr: 0,
                word: outcome.result[0],
                data,
            },
            log: outcome.log.clone(),
            program: program.to_owned(),
            policy: None,
            folder,
        }
    }

    /// Lets digest and tag be those of the log as it is now.
    pub fn retagged(mut self) -> Self {
        self.segment.digest = Sha256::digest(bytes(&self.log)).into();
        self.segment.last = donjon_flow_check::tag(State(self.segment.first), &self.log).0;
        self
    }

    /// Writes the files.
    pub fn write(&self) {
        let messages = [
            Message::Start(self.start),
            Message::Segment(self.segment),
            Message::End(self.end),
        ];
        let transcript = messages.map(|it| it.to_bytes()).concat();
        let claims = Claims {
            data: Sha256::digest(&transcript).into(),
            ..self.claims.clone()
        };
        let token = sign(&claims, |it| signing().sign(it).to_bytes()).expect("a token");
        fs::create_dir_all(&self.folder).expect("a folder");
        fs::write(self.folder.join("token"), token).expect("written");
        fs::write(self.folder.join("transcript"), transcript).expect("written");
        fs::write(self.folder.join("log"), bytes(&self.log)).expect("written");
        if let Some(policy) = &self.policy {
            fs::write(self.folder.join("policy"), policy).expect("written");
        }
    }

    /// Judges the files that are there.
    pub fn asked(&self) -> Result<Report> {
        let policy = self.folder.join("policy");
        judge(&Question {
            folder: &self.folder,
            nonce: NONCE,
            key: signing().verifying_key().to_bytes(),
            program: &self.program,
            measurement: None,
            started: None,
            policy: self.policy.as_ref().map(|_| &*policy),
            golden: None,
            max_blocks: 1 << 36,
            prefix: false,
        })
    }

    /// Writes the files and judges them.
    pub fn judged(&self) -> Result<Report> {
        self.write();
        self.asked()
    }
}
