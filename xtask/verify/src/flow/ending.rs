// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a run ended, and whether the program can have ended so.

use donjon_abi::flow::{EndReason, Segment};
use donjon_flow_check::Program;

use super::transcript::Transcript;

/// The instruction with which a program gives up: `svc #4`.
const GIVE_UP: u32 = 0xd400_0081;

/// Says what is wrong with the end of a run, beside its path.
///
/// # Errors
///
/// What no program of attested form does, for people.
pub fn check(transcript: &Transcript, program: &Program) -> Result<(), String> {
    let last = transcript.segments.last();
    let reason = transcript.reason;
    match (reason, last) {
        (EndReason::Broken, _) => Err(
            "the end says that the program left the form of an attested one, which this one cannot"
                .into(),
        ),
        (EndReason::Cut, _) | (EndReason::Finished | EndReason::Faulted, Some(_)) => Ok(()),
        (EndReason::Exited, Some(last)) if program.word(last.pc) == Some(GIVE_UP) => Ok(()),
        (EndReason::Exited, Some(last)) => Err(format!(
            "the end says that the program gave up, and at {} it does not",
            place(program, last)
        )),
        (_, None) => Err(format!(
            "the end says that {}, and there is no segment",
            reason.words()
        )),
    }
}

/// Says how a run ended, with the place.
pub fn words(transcript: &Transcript, program: &Program) -> String {
    let at = transcript.segments.last();
    let at = at.map_or("its entry".to_owned(), |it| place(program, it));
    match transcript.reason {
        EndReason::Finished => "the program ended by itself".into(),
        EndReason::Exited => format!("the program gave up, at {at}"),
        EndReason::Faulted => {
            let esr = transcript.end.esr;
            format!("the program made an exception (ESR_EL1 {esr:#x}), at {at}")
        }
        EndReason::Cut => format!("the host ended it; the last segment ended at {at}"),
        EndReason::Broken => "the program left the form of an attested one".into(),
    }
}

/// Says where the CPU was led, if that is no instruction of the program. The log may show such an
/// address as a word of another kind, and then names a step behind it.
pub fn astray(transcript: &Transcript, program: &Program) -> Option<String> {
    let last = transcript.segments.last()?;
    let is_astray = transcript.reason == EndReason::Faulted && program.word(last.pc).is_none();
    is_astray.then(|| {
        format!(
            "the run ended at {:#x}, where the program has no instruction: the step above may \
             stand behind the one that led there",
            last.pc
        )
    })
}

fn place(program: &Program, last: &Segment) -> String {
    match program.names().located(last.pc) {
        Some(place) => format!("{:#x} ({place})", last.pc),
        None => format!("{:#x}", last.pc),
    }
}
