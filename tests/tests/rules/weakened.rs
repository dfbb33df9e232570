// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each check is good for: without it the attack that it stops succeeds, and the survey or
//! the TLBs tell.

use donjon_abi::call::Reason;
use donjon_core::rules::{Checks, Configured, PoolKind, Progress, Rules};
use donjon_tests::space::memory::{Machine, PAGE, Violation};
use donjon_tests::space::small::{
    self, Books, DATA, IMAGE_L3, KERNEL_PAGE, ORDINARY, POOL, TEXT, USER_PAGE,
};
use donjon_tests::space::survey;

const TABLE: u64 = 0b11;
const FREE: u64 = POOL + small::TAKEN * PAGE;

/// A machine under rules with these checks, and a user root with tables.
struct Attack<'a, C: Checks> {
    machine: Machine,
    rules: Rules<'a, C>,
}

impl<'a, C: Checks> Attack<'a, C> {
    fn new(books: &'a mut Books) -> Self {
        let (mut machine, mut rules) = small::build::<C>(books);
        rules.new_root(&mut machine, FREE).expect("free");
        for frame in [FREE, FREE + PAGE, FREE + 2 * PAGE] {
            let below = (frame + PAGE) | TABLE;
            rules.write(&mut machine, frame, below).expect("free");
        }
        let mut attack = Self { machine, rules };
        attack.load(0, FREE, 7).expect("a root");
        attack
    }

    fn write(&mut self, entry: u64, value: u64) -> Result<u64, Reason> {
        self.rules.write(&mut self.machine, entry, value)
    }

    fn load(&mut self, cpu: usize, root: u64, asid: u64) -> Result<u64, Reason> {
        let loaded = self.rules.switch_root(&mut self.machine, cpu, root, asid)?;
        let current = (loaded & ((1 << 48) - 1), (loaded >> 48) as u16);
        let Machine { caches, frames, .. } = &mut self.machine;
        caches.load(frames, cpu, Some(current));
        Ok(loaded)
    }

    /// Everything that is wrong now.
    fn violations(mut self) -> Vec<Violation> {
        self.machine.settle();
        let types = self.rules.frames();
        let mut all = survey::survey(&self.machine.frames, types).violations;
        all.append(&mut self.machine.violations);
        all.extend(survey::check_caches(types, &self.machine.caches));
        all.extend(survey::check_roots(types, &self.machine.caches));
        all
    }
}

/// Level 3 table of the user root.
const PAGES: u64 = FREE + 3 * PAGE;

/// Carries out an attack with all checks and without one.
macro_rules! attack {
    ($name:ident, $check:ident, $reason:expr, $violation:literal, $attack:expr) => {
        #[test]
        fn $name() {
            struct Weakened;
            impl Checks for Weakened {
                const $check: bool = false;
            }
            fn carry_out<C: Checks>(attack: &mut Attack<'_, C>) -> Result<u64, Reason> {
                #[allow(clippy::redundant_closure_call)]
                ($attack)(attack)
            }
            let mut books = Books::default();
            let mut attack = Attack::<Configured>::new(&mut books);
            assert_eq!(carry_out(&mut attack), $reason);
            assert_eq!(attack.violations(), [] as [Violation; 0]);

            let mut books = Books::default();
            let mut attack = Attack::<Weakened>::new(&mut books);
            assert!(carry_out(&mut attack).is_ok());
            let violations = attack.violations();
            let named = violations.iter().any(|it| it.contains($violation));
            assert!(named, "{violations:#?}");
        }
    };
}

attack!(
    a_table_is_not_mapped_writable,
    TARGET,
    Err(Reason::BadTarget),
    "I2",
    |it: &mut Attack<'_, _>| it.write(PAGES, PAGES | USER_PAGE)
);

attack!(
    the_inner_domain_is_not_mapped,
    TARGET,
    Err(Reason::BadTarget),
    "I3",
    |it: &mut Attack<'_, _>| it.write(IMAGE_L3 + 8 * 8, small::INNER | KERNEL_PAGE | 1 << 7)
);

attack!(
    a_live_entry_does_not_change_its_address,
    TRANSITION,
    Err(Reason::LiveChange),
    "break before make",
    |it: &mut Attack<'_, _>| {
        it.write(PAGES, DATA | USER_PAGE)?;
        it.write(PAGES, (DATA + PAGE) | USER_PAGE)
    }
);

attack!(
    a_single_entry_does_not_claim_to_be_one_of_sixteen,
    CONTIGUOUS,
    Err(Reason::BadDescriptor),
    "I10",
    |it: &mut Attack<'_, _>| it.write(PAGES, DATA | USER_PAGE | 1 << 52)
);

attack!(
    read_only_with_the_dirty_bit_modifier_is_writable,
    DIRTY_BIT_MODIFIER,
    Err(Reason::BadTarget),
    "I2, I4",
    |it: &mut Attack<'_, _>| { it.write(PAGES, TEXT | USER_PAGE | 1 << 7 | 1 << 51) }
);

attack!(
    a_table_does_not_get_a_second_parent,
    PARENT,
    Err(Reason::BadTable),
    "I1",
    |it: &mut Attack<'_, _>| it.write(FREE + 2 * PAGE + 8, PAGES | TABLE)
);

attack!(
    the_reserved_asid_is_nobodys,
    ASID,
    Err(Reason::BadAsid),
    "I6",
    |it: &mut Attack<'_, _>| it.load(0, FREE, 1)
);

attack!(
    two_roots_do_not_share_an_asid,
    ASID,
    Err(Reason::BadAsid),
    "break before make",
    |it: &mut Attack<'_, _>| {
        // The same address, another page.
        it.write(PAGES, DATA | USER_PAGE)?;
        let other = FREE + 8 * PAGE;
        let new_root = it.rules.new_root(&mut it.machine, other);
        new_root.expect("free");
        for frame in [other, other + PAGE, other + 2 * PAGE] {
            it.write(frame, (frame + PAGE) | TABLE)?;
        }
        it.write(other + 3 * PAGE, (DATA + PAGE) | USER_PAGE)?;
        it.load(1, other, 7)
    }
);

attack!(
    user_memory_is_not_executed_at_el1,
    EXECUTE,
    Err(Reason::Executable),
    "I5",
    |it: &mut Attack<'_, _>| it.write(PAGES, DATA | USER_PAGE & !(1 << 53))
);

attack!(
    kernel_data_is_not_executed,
    EXECUTE,
    Err(Reason::Executable),
    "I4",
    |it: &mut Attack<'_, _>| it.write(IMAGE_L3 + 8 * 8, DATA | KERNEL_PAGE & !(1 << 53))
);

attack!(
    data_is_not_loaded_as_a_root,
    ROOT,
    Err(Reason::WrongFrame),
    "I6",
    |it: &mut Attack<'_, _>| it.load(0, DATA, 9)
);

/// Not refusals: the rules do more than they are asked.
fn grow<C: Checks>() -> Vec<Violation> {
    let mut books = Books::default();
    let mut attack = Attack::<C>::new(&mut books);
    attack.write(PAGES, ORDINARY | USER_PAGE).expect("ordinary");
    // Linux says nothing to the TLB.
    attack.write(PAGES, 0).expect("clear");
    let Attack { machine, rules } = &mut attack;
    while rules.pool_add(machine, ORDINARY, PoolKind::Tables) == Ok(Progress::Again) {}
    attack.violations()
}

#[test]
fn a_forgotten_writable_entry_does_not_outlive_the_change_to_a_pool() {
    struct Weakened;
    impl Checks for Weakened {
        const FLUSH: bool = false;
    }
    assert_eq!(grow::<Configured>(), [] as [Violation; 0]);
    let violations = grow::<Weakened>();
    let named = violations.iter().any(|it| it.contains("I12"));
    assert!(named, "{violations:#?}");
}

#[test]
fn the_linear_map_shows_a_new_pool_read_only() {
    struct Weakened;
    impl Checks for Weakened {
        const POOL: bool = false;
    }
    let violations = grow::<Weakened>();
    let named = violations.iter().any(|it| it.contains("I2"));
    assert!(named, "{violations:#?}");
}
