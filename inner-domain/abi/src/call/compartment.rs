// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers between Linux and the inner domain that are about compartments.

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
        /// The log of flow attestation is full. The next COMPARTMENT_RUN continues the call, once
        /// its words were committed to.
        LogFull = 6,
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
