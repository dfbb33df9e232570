// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a loop's branch depends on its induction register alone: then one count stands for one
//! number of iterations, also where the register comes around.

use crate::assembly::{Instruction, Registers, number};
use crate::block::{Block, End};
use crate::counted::Counted;

/// Arithmetic whose result its operands decide, and flags where it has a condition.
const PURE: &str = "
    add adds sub subs neg negs and ands orr orn eor eon bic bics mvn mov movz movn movk lsl lsr asr
    ror ubfx ubfiz sbfx sbfiz bfi bfxil sxtb sxth sxtw uxtb uxth uxtw madd msub mul mneg udiv sdiv
    clz rbit rev cmp cmn tst cbz cbnz tbz tbnz
";

/// Arithmetic that also depends on flags.
const CONDITIONAL: &str = "csel csinc csinv csneg cset csetm cinc cinv cneg ccmp ccmn";

/// Tells whether the branch at a block's end depends on what the induction register is as an
/// iteration begins, and on what no iteration changes, and on nothing else.
pub fn is_decided(block: &Block, counted: Counted) -> bool {
    let End::Branch(branch, _) = &block.end else {
        return false;
    };
    let induction = counted.register;
    let changed = block.instructions();
    let changed = changed.fold(Registers::default(), |all, it| all | it.writes());
    let mut known: Vec<_> = (0..32)
        .map(|it| !changed.has(it) || it == induction)
        .collect();
    // The upper half of a register of 32 bits may be anything before the step.
    let mut is_half = !counted.is_wide;
    let mut flags = false;
    for it in block.instructions().chain([branch]) {
        let reads = it.reads();
        let is_known = (0..32).all(|it| !reads.has(it) || known[usize::from(it)]);
        let is_narrow = !is_half || !reads.has(induction) || !is_wide(it);
        let is_pure = is_known && is_narrow && is_arithmetic(it, flags);
        if std::ptr::eq(it, branch) {
            return is_pure;
        }
        let writes = it.writes();
        for register in (0..32).filter(|&it| writes.has(it)) {
            known[usize::from(register)] = is_pure || register == induction;
        }
        is_half &= !writes.has(induction);
        if it.sets_flags() {
            flags = is_pure;
        }
    }
    false
}

/// Whether operands decide what the instruction writes or where it branches, and flags if they are
/// known.
fn is_arithmetic(it: &Instruction, flags: bool) -> bool {
    let name = it.mnemonic.as_str();
    let has = |list: &str| list.split_ascii_whitespace().any(|it| it == name);
    let is_listed = has(PURE) || flags && (has(CONDITIONAL) || name.starts_with("b."));
    is_listed && !it.operands.iter().any(|it| is_special(it))
}

/// Whether an operand is the stack pointer, an address or a vector register.
fn is_special(operand: &str) -> bool {
    let vector = operand.strip_prefix(['v', 'q', 'd', 's', 'h', 'b']);
    matches!(operand, "sp" | "wsp")
        || operand.starts_with('[')
        || vector.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
}

/// Whether the instruction works with 64 bits.
fn is_wide(it: &Instruction) -> bool {
    let mut registers = it.operands.iter().filter_map(|it| number(it));
    registers.any(|(_, is_wide)| is_wide)
}
