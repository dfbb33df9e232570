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

/// One instruction of the path, as the disassembler prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Name of the instruction.
    pub mnemonic: String,
    /// Everything behind the name, in lower case.
    pub operands: String,
}

impl Instruction {
    /// A write of TCR_EL1.
    pub fn writes_tcr(&self) -> bool {
        self.mnemonic == "msr" && self.operands.starts_with("tcr_el1")
    }
}

impl PathCost {
    /// Counts the instructions of an ELF file. `tlbi_pages` is how often the TLBI by address of the
    /// way out runs, if the guest said so; where it never does, a different TLBI invalidates
    /// everything.
    pub fn of(elf: &[u8], tlbi_pages: Option<usize>) -> Result<Self> {
        let mut cost = Self::default();
        for instruction in instructions(elf)? {
            cost.count(&instruction);
        }
        if cost.tlb_ops > 0 {
            cost.tlb_ops = tlbi_pages.unwrap_or(cost.tlb_ops).max(1);
        }
        Ok(cost)
    }

    fn count(&mut self, instruction: &Instruction) {
        match instruction.mnemonic.as_str() {
            _ if instruction.writes_tcr() => self.tcr_writes += 1,
            "isb" => self.isb += 1,
            "tlbi" => self.tlb_ops += 1,
            _ => (),
        }
    }
}

/// The instructions that a call runs through in the linked gate, in their order.
pub fn instructions(elf: &[u8]) -> Result<Vec<Instruction>> {
    let file = object::File::parse(elf)?;
    let disassembler = disassembler()?;
    let mut all = Vec::new();
    for part in PARTS {
        let part_of = disassemble(&disassembler, code(&file, part)?);
        all.extend(part_of.with_context(|| format!("disassembling {part}"))?);
    }
    Ok(all)
}

/// One word at a time: what is no instruction ends nothing.
fn disassemble(disassembler: &Capstone, code: &[u8]) -> Result<Vec<Instruction>> {
    let mut all = Vec::new();
    for word in code.chunks_exact(4) {
        let decoded = disassembler
            .disasm_count(word, 0, 1)
            .map_err(|it| anyhow!("{it}"))?;
        all.extend(decoded.iter().map(|it| Instruction {
            mnemonic: it.mnemonic().unwrap_or_default().to_owned(),
            operands: it.op_str().unwrap_or_default().to_lowercase(),
        }));
    }
    Ok(all)
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
        let disassembler = disassembler().expect("disassembler");
        for instruction in disassemble(&disassembler, &code).expect("code") {
            cost.count(&instruction);
        }
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
