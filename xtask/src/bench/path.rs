// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the null path does to the translation regime, counted in the linked inner domain.

use anyhow::{Context, Result, anyhow, bail, ensure};
use capstone::prelude::*;
use object::{Object, ObjectSection, ObjectSymbol};

/// The parts of the gate that a call runs through, between their symbols.
const PARTS: [&str; 3] = [
    "donjon_gate_enter",
    "donjon_gate_inner",
    "donjon_gate_leave",
];

/// Operations on the path of a null call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCost {
    /// Writes of TCR_EL1.
    pub tcr_writes: usize,
    /// Instruction synchronization barriers.
    pub isb: usize,
    /// TLB invalidations.
    pub tlb_ops: usize,
}

impl PathCost {
    /// Counts them in an ELF file. `tlbi_pages` is how often the one TLBI of the way out runs, if
    /// the guest said so.
    pub fn of(elf: &[u8], tlbi_pages: Option<usize>) -> Result<Self> {
        let file = object::File::parse(elf)?;
        let disassembler = disassembler()?;
        let mut cost = Self::default();
        for part in PARTS {
            cost.add(&disassembler, code(&file, part)?)
                .with_context(|| format!("disassembling {part}"))?;
        }
        if cost.tlb_ops > 0 {
            cost.tlb_ops = tlbi_pages.unwrap_or(cost.tlb_ops);
        }
        Ok(cost)
    }

    /// Adds the operations in `code`, one word at a time: what is no instruction ends nothing.
    fn add(&mut self, disassembler: &Capstone, code: &[u8]) -> Result<()> {
        for word in code.chunks_exact(4) {
            let decoded = disassembler
                .disasm_count(word, 0, 1)
                .map_err(|it| anyhow!("{it}"))?;
            for instruction in decoded.iter() {
                self.count(
                    instruction.mnemonic().unwrap_or_default(),
                    instruction.op_str().unwrap_or_default(),
                );
            }
        }
        Ok(())
    }

    fn count(&mut self, mnemonic: &str, operands: &str) {
        match mnemonic {
            "msr" if operands.to_lowercase().starts_with("tcr_el1") => self.tcr_writes += 1,
            "isb" => self.isb += 1,
            "tlbi" => self.tlb_ops += 1,
            _ => (),
        }
    }
}

fn disassembler() -> Result<Capstone> {
    let builder = Capstone::new().arm64().mode(arch::arm64::ArchMode::Arm);
    builder
        .build()
        .map_err(|error| anyhow!("starting the disassembler: {error}"))
}

fn code<'a>(file: &object::File<'a>, part: &str) -> Result<&'a [u8]> {
    let address = |name: &str| {
        file.symbols()
            .find(|it| it.name() == Ok(name))
            .map(|it| it.address())
            .with_context(|| format!("the inner domain has no symbol {name}"))
    };
    let (start, end) = (address(part)?, address(&format!("{part}_end"))?);
    ensure!(start < end, "{part} ends before it begins");
    for section in file.sections() {
        if let Ok(Some(data)) = section.data_range(start, end - start) {
            return Ok(data);
        }
    }
    bail!("{part} is in no section of the inner domain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_operations_are_told_apart() {
        let mut cost = PathCost::default();
        // isb; msr tcr_el1, x18; tlbi vaae1, x11; mrs x18, tcr_el1; msr daif, x9
        let words = [
            0xd503_3fdf_u32,
            0xd518_2052,
            0xd508_876b,
            0xd538_2052,
            0xd51b_4229,
        ];
        let code: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        cost.add(&disassembler().expect("disassembler"), &code)
            .expect("code");
        assert_eq!(
            cost,
            PathCost {
                tcr_writes: 1,
                isb: 1,
                tlb_ops: 1
            }
        );
    }
}
