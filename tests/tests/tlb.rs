// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every switching mode on the hostile TLB, with what it needs to be safe, and every broken gate,
//! which must be found out.

use std::collections::BTreeSet;

use donjon_models::tlb::{
    Assumptions, Breach, Gate, Invalidation, Mismatch, Move, Operation, Rules, SizeCaching, Way,
    explore, explore_with,
};

use Breach::{
    CompartmentReachesOther, InnerReachesForged, InnerReachesUser, OuterReachesCompartment,
    OuterReachesInner,
};

/// A cached T1SZ belongs to an ASID, and a translation sees one value of TCR_EL1.
const KIND: Assumptions = Assumptions {
    single_point_of_observation: true,
    size_caching: SizeCaching::InEntries,
};
/// Between write and ISB every mixture of fields (DDI 0487 K1.2.4).
const MIXING: Assumptions = Assumptions {
    single_point_of_observation: false,
    ..KIND
};
/// What the letter of the manual leaves open.
const LETTER: Assumptions = Assumptions {
    single_point_of_observation: false,
    size_caching: SizeCaching::Anywhere,
};

fn breaches(gate: &Gate, assumptions: Assumptions) -> BTreeSet<Breach> {
    let violations = explore(gate, assumptions, Rules::KEPT, true);
    violations.into_keys().collect()
}

/// Isolation of the domains, without the second line of defence.
fn is_isolated(gate: &Gate, assumptions: Assumptions) -> bool {
    let breaches = breaches(gate, assumptions);
    breaches.into_iter().all(|it| it == InnerReachesUser)
}

fn tlbi() -> Gate {
    Gate::tlbi(Invalidation::InnerPage)
}

#[test]
fn asid_is_safe_where_a_translation_sees_one_tcr() {
    assert!(breaches(&Gate::asid(), KIND).is_empty());
}

#[test]
fn asid_is_not_safe_where_fields_may_mix() {
    let violations = explore(&Gate::asid(), MIXING, Rules::KEPT, false);
    // An ordinary call suffices: {wide, the user's ASID} on the way in or out.
    let violation = &violations[&OuterReachesInner];
    assert_eq!(violation.operations, [Operation::Call]);
}

#[test]
fn strict_is_safe_for_callers_even_where_fields_may_mix() {
    let violations = explore(&Gate::strict(), MIXING, Rules::KEPT, false);
    assert!(violations.keys().all(|it| *it == InnerReachesUser));
}

#[test]
fn strict_is_not_safe_from_a_jump_to_its_second_step_where_fields_may_mix() {
    // The outer view can fetch the second write. With the right value in the register it
    // changes A1 and T1SZ at once, and no comparison can tell.
    assert!(breaches(&Gate::strict(), KIND).is_empty());
    let violations = explore(&Gate::strict(), MIXING, Rules::KEPT, true);
    let operations = &violations[&OuterReachesInner].operations;
    assert!(matches!(operations[..], [Operation::Jump { step: 3, .. }]));
}

#[test]
fn strict_compared_only_after_its_second_step_is_never_safe() {
    let gate = Gate::strict_compared_once();
    let found = breaches(&gate, KIND);
    assert!(found.contains(&OuterReachesInner) && found.contains(&InnerReachesForged));
}

#[test]
fn tlbi_is_safe_where_fields_may_mix() {
    assert!(is_isolated(&tlbi(), KIND));
    assert!(is_isolated(&tlbi(), MIXING));
}

#[test]
fn strict_with_tlbi_is_safe_where_fields_may_mix() {
    let gate = Gate::strict_and_tlbi(Invalidation::InnerPage);
    assert!(breaches(&gate, KIND).is_empty());
    assert!(is_isolated(&gate, MIXING));
}

#[test]
fn by_the_letter_only_a_full_invalidation_after_narrowing_is_safe() {
    assert!(is_isolated(&Gate::tlbi(Invalidation::All), LETTER));
    assert!(is_isolated(
        &Gate::strict_and_tlbi(Invalidation::All),
        LETTER
    ));
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        assert!(!is_isolated(&gate, LETTER));
    }
}

#[test]
fn stray_accesses_of_the_inner_domain_hit_user_memory_unless_the_asid_flips() {
    assert!(breaches(&tlbi(), KIND).contains(&InnerReachesUser));
    // Even then EPD0 and A1 must change together.
    assert!(breaches(&Gate::strict(), MIXING).contains(&InnerReachesUser));
}

#[test]
fn a_gate_that_forgets_to_narrow_is_found() {
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        let found = breaches(&gate.without_narrowing(), KIND);
        assert!(found.contains(&OuterReachesInner));
    }
}

#[test]
fn a_gate_that_forgets_the_asid_is_found() {
    for gate in [Gate::asid(), Gate::strict()] {
        let found = breaches(&gate.without_asid(), KIND);
        assert!(found.contains(&OuterReachesInner));
    }
}

#[test]
fn a_gate_that_invalidates_before_it_narrows_is_found() {
    for invalidation in [Invalidation::InnerPage, Invalidation::All] {
        let gate = Gate::tlbi(invalidation).invalidating_first();
        assert!(breaches(&gate, KIND).contains(&OuterReachesInner));
    }
}

#[test]
fn a_gate_that_does_not_wait_for_its_invalidation_is_found() {
    let found = breaches(&tlbi().without_completion(), KIND);
    assert!(found.contains(&OuterReachesInner));
}

#[test]
fn an_invalidation_that_keeps_upper_tables_is_found() {
    // VAALE1 instead of VAAE1.
    let found = breaches(&Gate::tlbi(Invalidation::InnerLeaf), KIND);
    assert!(found.contains(&OuterReachesInner));
}

#[test]
fn an_invalidation_of_another_asid_is_found() {
    let reserved = Invalidation::Asid(donjon_abi::tcr::RESERVED_ASID);
    let found = breaches(&Gate::tlbi(reserved), KIND);
    assert!(found.contains(&OuterReachesInner));
}

#[test]
fn a_repair_without_invalidation_is_found_in_both_directions() {
    for gate in [Gate::asid(), Gate::strict()] {
        let found = breaches(&gate.with_mismatch(Mismatch::Continue), KIND);
        assert!(found.contains(&OuterReachesInner) && found.contains(&InnerReachesForged));
    }
    let found = breaches(&tlbi().with_mismatch(Mismatch::Continue), KIND);
    assert!(found.contains(&InnerReachesForged));
}

#[test]
fn a_repair_with_invalidation_could_go_on() {
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        let gate = gate.with_mismatch(Mismatch::InvalidateAndContinue);
        assert!(is_isolated(&gate, KIND));
    }
}

#[test]
fn a_gate_without_comparison_is_found() {
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        let found = breaches(&gate.without_comparison(), KIND);
        assert!(found.contains(&InnerReachesForged));
    }
}

#[test]
fn each_rule_of_the_layout_is_needed() {
    let broken = |change: fn(&mut Rules)| {
        let mut rules = Rules::KEPT;
        change(&mut rules);
        let violations = explore(&Gate::asid(), KIND, rules, true);
        violations.into_keys().collect::<Vec<_>>()
    };
    let global_inner = broken(|rules| rules.inner_leaves_non_global = false);
    assert_eq!(global_inner, [OuterReachesInner]);
    let valid_twin = broken(|rules| rules.twin_invalid = false);
    assert_eq!(valid_twin, [InnerReachesForged]);
    let global_user = broken(|rules| rules.user_leaves_non_global = false);
    assert_eq!(global_user, [InnerReachesUser]);
    let shared_asid = broken(|rules| rules.reserved_asid_kept = false);
    assert!(shared_asid.contains(&OuterReachesInner));
}

/// Explores a gate with compartments that are entered and left so. A stray access of the inner
/// domain is another matter, and EPD0 is clear while they run.
fn with_compartments(gate: &Gate, way: &Way, assumptions: Assumptions) -> Vec<Breach> {
    let violations = explore_with(gate, Some(way), assumptions, Rules::KEPT, true);
    let breaches = violations.into_keys();
    breaches.filter(|it| *it != InnerReachesUser).collect()
}

#[test]
fn compartments_take_nothing_away_from_a_mode() {
    let way = Way::of_context();
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        assert_eq!(with_compartments(&gate, &way, KIND), []);
    }
    // What strict and tlbi stand, they stand with compartments as well.
    assert_eq!(with_compartments(&tlbi(), &way, MIXING), []);
    let gate = Gate::strict();
    let violations = explore_with(&gate, Some(&way), MIXING, Rules::KEPT, false);
    assert!(violations.keys().all(|it| *it == InnerReachesUser));
    let gate = Gate::tlbi(Invalidation::All);
    assert_eq!(with_compartments(&gate, &way, LETTER), []);
}

#[test]
fn each_move_of_a_compartment_is_needed() {
    let way = Way::of_context;
    for gate in [Gate::asid(), Gate::strict(), tlbi()] {
        let found = |way: &Way| with_compartments(&gate, way, KIND);
        let stale = found(&way().without(Move::InvalidateOther));
        assert_eq!(stale, [CompartmentReachesOther]);
        let left = found(&way().without(Move::RestoreRoot));
        assert!(left.contains(&OuterReachesCompartment), "{left:?}");
    }
    for gate in [Gate::asid(), Gate::strict()] {
        let found = |way: &Way| with_compartments(&gate, way, KIND);
        // Opened with the process's ASID current, for a moment. What that leaves of the inner
        // domain's pages, the gate of mode tlbi would invalidate.
        let early = found(&way().exchanged(Move::LoadRoot, Move::Open));
        assert!(early.contains(&OuterReachesInner), "{early:?}");
        // The process's root is back while the range is wide and A1 is clear.
        let late = found(&way().exchanged(Move::Close, Move::RestoreRoot));
        assert!(late.contains(&OuterReachesInner), "{late:?}");
    }
}

#[test]
fn a_process_with_the_asid_of_compartments_is_found() {
    let rules = Rules {
        compartment_asid_kept: false,
        ..Rules::KEPT
    };
    let way = Way::of_context();
    let violations = explore_with(&Gate::asid(), Some(&way), KIND, rules, false);
    assert!(violations.contains_key(&OuterReachesCompartment));
    assert!(violations.contains_key(&OuterReachesInner));
}
