// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why evidence is rejected, for programs; the words are for people.

/// A reason to reject a token or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The signature does not fit.
    Signature,
    /// Another key than the expected one signed.
    Key,
    /// The nonce is another one than was sent.
    Nonce,
    /// The report is about another program than expected.
    Program,
    /// Another inner domain, Linux or command line was started than expected.
    Started,
    /// The inner domain is a build that leaves out checks.
    Weakened,
    /// The report is of another kind than the evidence needs.
    Kind,
    /// The program has no attested form, so no log of it says a path.
    Form,
    /// The transcript is not that of the report, or contradicts it or itself.
    Transcript,
    /// The words of the log are not those that were committed to, or their tag does not fit.
    Log,
    /// The path is none of the program's.
    Path,
    /// The path does not fulfil the policy.
    Policy,
    /// The path is not that of the golden run.
    Golden,
}

impl Cause {
    /// Says whether evidence with this fault has no known author, so that nothing in it counts.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Self::Signature | Self::Key)
    }
}
