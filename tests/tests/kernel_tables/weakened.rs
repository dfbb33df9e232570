// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each check is good for: without it the attack that it stops succeeds, and the walk or
//! the TLBs tell.

use donjon_abi::call::Reason;
use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Pools;
use donjon_core::pools::Progress;

use donjon_models::space::invariants;
use donjon_models::space::memory::{PAGE, SmallMachine, Violation};
use donjon_models::space::small::{
    self, DATA, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, ORDINARY, OwnedStorage, TEXT,
};

const TABLE: u64 = 0b11;
/// No memory, and no device of the list.
const NO_DEVICE: u64 = small::DEVICE + 4 * PAGE;
/// Where the vectors are mapped.
const VECTORS_VA: u64 = small::IMAGE + PAGE;
/// An entry for a page that is free.
const ENTRY: u64 = IMAGE_L3 + 9 * 8;

/// A machine under rules with these checks.
struct Attack<'a, C: Checks> {
    machine: SmallMachine,
    pools: Pools<'a, C>,
}

impl<'a, C: Checks> Attack<'a, C> {
    fn new(storage: &'a mut OwnedStorage) -> Self {
        let (mut machine, pools) = small::build::<C>(storage);
        machine.caches.fill(&machine.frames);
        Self { machine, pools }
    }

    fn write(&mut self, entry: u64, value: u64) -> Result<u64, Reason> {
        self.pools.tables.write(&mut self.machine, entry, value)
    }

    /// Everything that is wrong now.
    fn violations(mut self) -> Vec<Violation> {
        self.machine.expect_nothing_pending();
        let types = self.pools.tables.frames();
        let mut all = invariants::walk_all(&self.machine.frames, types).violations;
        all.append(&mut self.machine.violations);
        all.extend(invariants::check_caches(types, &self.machine.caches));
        let leaf = self.pools.tables.kernel_leaf(&self.machine, VECTORS_VA);
        if leaf.is_none_or(|it| it.page != small::VECTORS || !it.executable) {
            all.push(format!("the vectors are {leaf:x?}"));
        }
        all
    }
}

/// Carries out an attack with all checks and without one.
macro_rules! attack {
    ($name:ident, $check:ident, $reason:expr, $violation:literal, $attack:expr) => {
        #[test]
        fn $name() {
            struct Weakened;
            impl Checks for Weakened {
                const $check: Check = Check::LeftOut;
            }
            fn carry_out<C: Checks>(attack: &mut Attack<'_, C>) -> Result<u64, Reason> {
                #[allow(clippy::redundant_closure_call)]
                ($attack)(attack)
            }
            let mut storage = OwnedStorage::default();
            let mut attack = Attack::<Configured>::new(&mut storage);
            assert_eq!(carry_out(&mut attack), $reason);
            assert_eq!(attack.violations(), [] as [Violation; 0]);

            let mut storage = OwnedStorage::default();
            let mut attack = Attack::<Weakened>::new(&mut storage);
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
    |it: &mut Attack<'_, _>| it.write(ENTRY, IMAGE_L3 | KERNEL_PAGE)
);

attack!(
    the_inner_domain_is_not_mapped,
    TARGET,
    Err(Reason::BadTarget),
    "I3",
    |it: &mut Attack<'_, _>| it.write(ENTRY, small::INNER | KERNEL_PAGE | 1 << 7)
);

attack!(
    a_live_entry_does_not_change_its_address,
    TRANSITION,
    Err(Reason::LiveChange),
    "break before make",
    |it: &mut Attack<'_, _>| {
        it.write(ENTRY, DATA | KERNEL_PAGE)?;
        it.write(ENTRY, (DATA + PAGE) | KERNEL_PAGE)
    }
);

attack!(
    a_single_entry_does_not_claim_to_be_one_of_sixteen,
    CONTIGUOUS,
    Err(Reason::BadDescriptor),
    "I10",
    |it: &mut Attack<'_, _>| it.write(ENTRY, DATA | KERNEL_PAGE | 1 << 52)
);

attack!(
    read_only_with_the_dirty_bit_modifier_is_writable,
    DIRTY_BIT_MODIFIER,
    Err(Reason::BadTarget),
    "I2, I4",
    |it: &mut Attack<'_, _>| it.write(ENTRY, TEXT | KERNEL_PAGE | 1 << 7 | 1 << 51)
);

attack!(
    a_table_does_not_get_a_second_parent,
    PARENT,
    Err(Reason::BadTable),
    "I1",
    |it: &mut Attack<'_, _>| it.write(IMAGE_L2 + 8, IMAGE_L3 | TABLE)
);

attack!(
    kernel_data_is_not_executed,
    EXECUTE,
    Err(Reason::Executable),
    "I4",
    |it: &mut Attack<'_, _>| it.write(ENTRY, DATA | KERNEL_PAGE & !(1 << 53))
);

attack!(
    a_device_is_mapped_only_if_it_is_on_the_list,
    DEVICES,
    Err(Reason::NotMemory),
    "I15",
    |it: &mut Attack<'_, _>| it.write(ENTRY, NO_DEVICE | KERNEL_PAGE | 4 << 2)
);

attack!(
    the_address_of_the_vectors_stays_theirs,
    VECTORS,
    Err(Reason::NotText),
    "vectors",
    |it: &mut Attack<'_, _>| {
        it.pools.tables.keep_vectors(VECTORS_VA);
        it.write(IMAGE_L3 + 8, 0)
    }
);

/// Not refusals: the rules do more than they are asked.
fn grow<C: Checks>() -> Vec<Violation> {
    let mut storage = OwnedStorage::default();
    let mut attack = Attack::<C>::new(&mut storage);
    attack
        .write(ENTRY, ORDINARY | KERNEL_PAGE)
        .expect("ordinary");
    // Linux says nothing to the TLB.
    attack.write(ENTRY, 0).expect("clear");
    let Attack { machine, pools } = &mut attack;
    while pools.add(machine, ORDINARY, PoolKind::Tables, None) == Ok(Progress::Again) {}
    attack.violations()
}

#[test]
fn a_forgotten_writable_entry_does_not_outlive_the_change_to_a_pool() {
    struct Weakened;
    impl Checks for Weakened {
        const FLUSH: Check = Check::LeftOut;
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
        const POOL: Check = Check::LeftOut;
    }
    let violations = grow::<Weakened>();
    let named = violations.iter().any(|it| it.contains("I2"));
    assert!(named, "{violations:#?}");
}
