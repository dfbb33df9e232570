// SPDX-License-Identifier: MIT OR Apache-2.0
//! What compartments ask for by SVC: one handler for each request, by subject.

mod asked;
mod attestation;
mod channel;
pub mod flow;
mod memory;

use donjon_abi::call::{CompartmentExit, Request, Supervisor, Word, requests};
use donjon_abi::registers::Registers as _;

use crate::stack;

pub use asked::{Asked, End};

impl Asked<'_> {
    /// Serves a request, whose exception is `esr`.
    pub fn serve(self, request: Supervisor, esr: u64) -> End {
        match request {
            Supervisor::CallOut => {
                let Word { word } = Word::from_words(self.program.words());
                Some((CompartmentExit::CalledOut, word))
            }
            Supervisor::Exit => flow::exit(self),
            Supervisor::FlowEnd => flow::end(self, esr),
            Supervisor::Grow => self.answer::<requests::Grow>(memory::grow),
            Supervisor::Shrink => self.answer::<requests::Shrink>(memory::shrink),
            Supervisor::Send => self.answer::<requests::Send>(channel::send),
            Supervisor::Receive => self.answer::<requests::Receive>(channel::receive),
            Supervisor::Peer => self.answer::<requests::Peer>(channel::peer),
            Supervisor::Random => self.answer_wiped::<requests::Random>(attestation::random),
            Supervisor::Report => self.answer_wiped::<requests::Report>(attestation::report),
            Supervisor::Verify => self.answer_wiped::<requests::Verify>(attestation::verify),
            Supervisor::Key => self.answer_wiped::<requests::Key>(attestation::key),
            // RETURN is told apart where the program is left.
            Supervisor::Return => Some((CompartmentExit::Faulted, esr)),
        }
    }

    /// Answers a request by a handler that computes with secrets, and wipes the stack behind it.
    /// This is apart from the other requests: what it takes of the stack would make each of those
    /// longer.
    #[inline(never)]
    fn answer_wiped<R: Request>(self, handler: fn(&mut Self, R::Arguments) -> R::Reply) -> End {
        stack::wiped(|| self.answer::<R>(handler))
    }

    /// Answers a request by its handler. The compartment goes on.
    fn answer<R: Request>(mut self, handler: fn(&mut Self, R::Arguments) -> R::Reply) -> End {
        let arguments = R::Arguments::from_words(self.program.words());
        let reply = handler(&mut self, arguments);
        reply.to_words(self.program.words());
        None
    }
}
