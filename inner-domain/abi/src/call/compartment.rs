// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers between Linux, the inner domain and compartments.

use crate::declare::numbers;

numbers! {
    /// Why a compartment was left: x0 of COMPARTMENT_RUN.
    pub enum CompartmentExit: u64 {
        /// The call has returned; the value is its result.
        Returned = 1,
        /// An interrupt is pending. The next COMPARTMENT_RUN continues the call.
        Interrupted = 2,
        /// The compartment asks its host for something; the value says what. The next
        /// COMPARTMENT_RUN continues the call, with the answer as first argument.
        CalledOut = 3,
        /// The compartment has ended itself; the value is its exit value.
        Ended = 4,
        /// The compartment made an exception that it does not survive; the value is its ESR_EL1.
        Faulted = 5,
    }
}

numbers! {
    /// What a compartment asks for, by the number of its SVC.
    pub enum Supervisor: u64 {
        /// The call is over; x0 is its result.
        Return = 0,
        /// Asks the host; x0 says for what, and is the answer afterwards.
        CallOut = 1,
        /// Adds x0 pages at the end of the heap: x0 says how many were added, x1 how many it has.
        Grow = 2,
        /// Takes x0 pages away there, in the same way.
        Shrink = 3,
        /// Ends for good.
        Exit = 4,
        /// Sends x2 bytes at address x1 by the channel's end x0: x0 says how many went, x1 is 1 as
        /// long as the other compartment is there. x0 is -1 without such an end or memory.
        Send = 5,
        /// Receives up to x2 bytes, in the same way.
        Receive = 6,
        /// Asks which compartment is at the other end of channel x0: x1 to x4 are its measurement,
        /// as words of big-endian bytes, and x0 is 1; 0 if it is not there any more, -1 without
        /// such an end.
        Peer = 7,
        /// Random bytes: x0 is 1 and x1 to x4 are the bytes; 0 if this machine has no source of
        /// them.
        Random = 8,
        /// A report about the compartment, with the 64 bytes in x0 to x7. x0 is 1, x1 to x4 are the
        /// code that authenticates it, x5 to x8 the measurement, x9 the limit, x10 to x13 the
        /// digest of what was started, x14 the version of the inner domain, x15 the bits that tell
        /// a weakened build, x16 where the identity comes from. x0 is 0 if this boot has no secret.
        Report = 9,
        /// Whether a report was made in this boot: x0 to x3 are the code, x4 to x7 the measurement,
        /// x8 the limit, x9 to x16 the 64 bytes. x0 is 1 if so, and x10 to x16 are as in REPORT.
        Verify = 10,
        /// A key of this compartment's and of no other one, for a purpose in x0: x0 is 1 and x1 to
        /// x4 are the key; 0 if this boot has no secret.
        Key = 11,
    }
}

numbers! {
    /// What COMPARTMENT_INFORMATION tells.
    pub enum CompartmentFact: u64 {
        /// Where it is in its life: 1 being built, 2 between calls, 3 running, 4 in a call and on
        /// no CPU, 5 dead, 6 being wiped.
        Phase = 0,
        /// Frames that it has.
        Frames = 1,
        /// Frames that it may have.
        Limit = 2,
        /// Word 0 of its measurement, big-endian.
        Measurement0 = 3,
        /// Word 1 of it.
        Measurement1 = 4,
        /// Word 2 of it.
        Measurement2 = 5,
        /// Word 3 of it.
        Measurement3 = 6,
    }
}
