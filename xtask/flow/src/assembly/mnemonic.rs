// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions that the rewriter knows: those of Armv8.0 that compilers use, without system
//! instructions.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an instruction does with its operands, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Writes its first operand.
    One,
    /// Writes its first operand, and reads it as well.
    Change,
    /// Loads its first two operands.
    Pair,
    /// Writes no register but the base of a write-back.
    None,
    /// Loads its first operand and opens the exclusive monitor.
    Exclusive,
    /// Loads its first two operands and opens the exclusive monitor.
    ExclusivePair,
    /// Stores if the exclusive monitor is open, and writes its first operand.
    Conclude,
    /// Closes the exclusive monitor.
    Close,
    /// Asks for a service.
    Service,
    /// Never goes on.
    Trap,
    /// `b`.
    Jump,
    /// A branch with a condition; its last operand is where it leads.
    Branch,
    /// `bl`.
    Call,
    /// `blr`.
    CallRegister,
    /// `br`.
    JumpRegister,
    /// `ret`.
    Return,
}

const ONE: &str = "
    add adds sub subs adc adcs sbc sbcs neg negs ngc ngcs and ands orr orn eor eon bic bics mvn mov
    movz movn adr adrp lsl lsr asr ror lslv lsrv asrv rorv extr ubfx ubfiz ubfm sbfx sbfiz sbfm
    sxtb sxth sxtw uxtb uxth uxtw madd msub mneg mul smull umull smulh umulh smaddl umaddl smsubl
    umsubl smnegl umnegl sdiv udiv clz cls rbit rev rev16 rev32 rev64 csel csinc csinv csneg cset
    csetm cinc cinv cneg
    ldr ldrb ldrh ldrsb ldrsh ldrsw ldur ldurb ldurh ldursb ldursh ldursw ldar ldarb ldarh
    fmov fabs fneg fsqrt fadd fsub fmul fdiv fnmul fmadd fmsub fnmadd fnmsub fmax fmin fmaxnm
    fminnm fcsel fcvt fcvtas fcvtau fcvtms fcvtmu fcvtns fcvtnu fcvtps fcvtpu fcvtzs fcvtzu scvtf
    ucvtf frinta frinti frintm frintn frintp frintx frintz
    abs addp addv addhn addhn2 cmeq cmge cmgt cmhi cmhs cmle cmlt cmtst cnt dup ext fabd facge
    facgt facle faclt faddp fcmeq fcmge fcmgt fcmle fcmlt fcvtl fcvtl2 fcvtn fcvtn2 fcvtxn fcvtxn2
    fmaxnmp fmaxnmv fmaxp fmaxv fminnmp fminnmv fminp fminv fmulx frecpe frecps frecpx frsqrte
    frsqrts movi mvni not pmul pmull pmull2 raddhn raddhn2 rshrn rshrn2 rsubhn rsubhn2 sabd sabdl
    sabdl2 saddl saddl2 saddlp saddlv saddw saddw2 shadd shl shll shll2 shrn shrn2 shsub smax smaxp
    smaxv smin sminp sminv smov smull2 sqabs sqadd sqdmulh sqdmull sqdmull2 sqneg sqrdmulh sqrshl
    sqrshrn sqrshrn2 sqrshrun sqrshrun2 sqshl sqshlu sqshrn sqshrn2 sqshrun sqshrun2 sqsub sqxtn
    sqxtn2 sqxtun sqxtun2 srhadd srshl srshr sshl sshll sshll2 sshr ssubl ssubl2 ssubw ssubw2 subhn
    subhn2 sxtl sxtl2 tbl trn1 trn2 uabd uabdl uabdl2 uaddl uaddl2 uaddlp uaddlv uaddw uaddw2 uhadd
    uhsub umax umaxp umaxv umin uminp uminv umov umull2 uqadd uqrshl uqrshrn uqrshrn2 uqshl uqshrn
    uqshrn2 uqsub uqxtn uqxtn2 urecpe urhadd urshl urshr ursqrte ushl ushll ushll2 ushr usubl
    usubl2 usubw usubw2 uxtl uxtl2 uzp1 uzp2 xtn xtn2 zip1 zip2 ld1r ld2r ld3r ld4r ld1 ld2 ld3 ld4
";

const CHANGE: &str = "
    movk bfi bfxil bfc bfm bif bit bsl fmla fmls ins mla mls saba sabal sabal2 sadalp sli smlal
    smlal2 smlsl smlsl2 sqdmlal sqdmlal2 sqdmlsl sqdmlsl2 sri srsra ssra suqadd tbx uaba uabal
    uabal2 uadalp umlal umlal2 umlsl umlsl2 ursra usqadd usra
";

const NONE: &str = "
    str strb strh stur sturb sturh stp stnp stlr stlrb stlrh st1 st2 st3 st4 cmp cmn tst ccmp ccmn
    fcmp fcmpe fccmp fccmpe prfm prfum nop dmb dsb isb
";

const CONDITIONS: [&str; 18] = [
    "eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le",
    "al", "nv",
];

/// Finds the one name of an instruction that the assembler knows by several: `b.eq` for `beq`.
pub fn canonical(name: &str) -> String {
    match name.strip_prefix('b') {
        Some(condition) if CONDITIONS.contains(&condition) => format!("b.{condition}"),
        _ => name.to_owned(),
    }
}

/// Finds the class of an instruction by its canonical name.
pub fn class(name: &str) -> Option<Class> {
    static CLASSES: LazyLock<HashMap<&str, Class>> = LazyLock::new(classes);
    CLASSES.get(name).copied()
}

fn classes() -> HashMap<&'static str, Class> {
    let lists = [
        (ONE, Class::One),
        (CHANGE, Class::Change),
        (NONE, Class::None),
        ("ldp ldpsw ldnp", Class::Pair),
        ("ldxr ldxrb ldxrh ldaxr ldaxrb ldaxrh", Class::Exclusive),
        ("ldxp ldaxp", Class::ExclusivePair),
        (
            "stxr stxrb stxrh stlxr stlxrb stlxrh stxp stlxp",
            Class::Conclude,
        ),
        ("clrex", Class::Close),
        ("svc", Class::Service),
        ("brk udf", Class::Trap),
        ("b", Class::Jump),
        ("bl", Class::Call),
        ("blr", Class::CallRegister),
        ("br", Class::JumpRegister),
        ("ret", Class::Return),
        ("cbz cbnz tbz tbnz", Class::Branch),
        (
            "b.eq b.ne b.cs b.hs b.cc b.lo b.mi b.pl b.vs b.vc b.hi b.ls b.ge b.lt b.gt b.le",
            Class::Branch,
        ),
    ];
    let named = lists.into_iter().flat_map(|(names, class)| {
        let names = names.split_ascii_whitespace();
        names.map(move |it| (it, class))
    });
    named.collect()
}
