// SPDX-License-Identifier: MIT OR Apache-2.0
//! Secondary CPUs: where a CPU that was switched on starts, and with which registers.

/// A CPU that was asked for: where it goes on, and what the CPU that asked had in its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartRequest<R> {
    /// A virtual address of the outer view.
    pub entry: u64,
    /// The registers of the CPU that asked.
    pub registers: R,
}

impl<R> StartRequest<R> {
    /// Where the CPU goes on and with what. `recorded` are the registers of the hand-over: from
    /// then on they alone count, whenever the CPU was asked for. Before it there is nothing else
    /// than what Linux has, which is trusted until then; the CPUs that are online are compared.
    ///
    /// The address stays the one that was asked for. An outer domain that can ask can jump there
    /// as well, in the same view and at the same level.
    pub fn start_with(self, recorded: Option<R>) -> (u64, R) {
        (self.entry, recorded.unwrap_or(self.registers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: StartRequest<&str> = StartRequest {
        entry: 0xffff_8000_0000_1000,
        registers: "of the CPU that asked",
    };

    #[test]
    fn before_the_hand_over_a_cpu_gets_what_the_one_that_asked_has() {
        assert_eq!(
            REQUEST.start_with(None),
            (0xffff_8000_0000_1000, "of the CPU that asked")
        );
    }

    #[test]
    fn after_the_hand_over_it_gets_what_was_recorded_then() {
        assert_eq!(
            REQUEST.start_with(Some("recorded")),
            (0xffff_8000_0000_1000, "recorded")
        );
    }
}
