// SPDX-License-Identifier: MIT OR Apache-2.0
//! Without each check of shadows, the attack that it stops succeeds.

use std::cell::Cell;

use donjon_abi::call::Process;
use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::kernel_tables::PoolKind;
use donjon_core::pools::Progress;
use donjon_core::translation::frames::{FrameTable, FrameType};
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, LEAST_PAGES, UserTables};
use donjon_models::space::memory::SmallMachine;
use donjon_models::space::small;
use donjon_models::user_tables::storage::OwnedStorage;
use donjon_models::user_tables::{PAGE, World, leaves};

const RAM: u64 = 0x4000_0000;
const RAM_PAGES: u64 = 16;
/// Linux's table.
const SOURCE: u64 = RAM;
const ORDINARY: u64 = RAM + PAGE;
const TEXT: u64 = RAM + 2 * PAGE;
const INNER: u64 = RAM + 3 * PAGE;
const ARENA: u64 = 0x8000_0000;
const ARENA_END: u64 = ARENA + LEAST_PAGES * PAGE;
const OURS: Process = Process::new(5, 5);
const RESERVED: u16 = 1;

/// A page that a user may write.
const USER: u64 = 0x703 | 1 << 6 | 1 << 11 | 1 << 53;
const READ_ONLY: u64 = 1 << 7;
const DIRTY_BIT_MODIFIER: u64 = 1 << 51;
const CONTIGUOUS: u64 = 1 << 52;
const NO_EL1: u64 = 1 << 53;

/// Checks of which one is left out.
macro_rules! without {
    ($check:ident) => {{
        struct Weakened;
        impl Checks for Weakened {
            const $check: Check = Check::LeftOut;
        }
        core::marker::PhantomData::<Weakened>
    }};
}

/// Descriptors that are other ones when they are read again.
struct Fickle {
    world: World,
    reads: Cell<u64>,
    then: u64,
}

impl Hardware for Fickle {
    fn read(&self, entry: u64) -> u64 {
        if entry != SOURCE {
            return self.world.read(entry);
        }
        self.reads.set(self.reads.get() + 1);
        // The first look is for whether there is anything to be filled in.
        if self.reads.get() <= 2 {
            self.world.get(entry)
        } else {
            self.then
        }
    }

    fn perform(&mut self, step: Step) {
        self.world.perform(step);
    }
}

fn types(storage: &OwnedStorage) -> FrameTable<'_> {
    let frames = storage.frames(RAM);
    frames.set(TEXT, FrameType::KernelText);
    frames.set(INNER, FrameType::Inner);
    frames
}

/// What a process has at address 0 when Linux's table at `source` begins with `descriptor`.
fn mapped<C: Checks>(
    _: core::marker::PhantomData<C>,
    source: u64,
    descriptor: u64,
    then: u64,
) -> Option<u64> {
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = types(&storage);
    let user_tables: UserTables<'_, C> = storage.shadows_with(ARENA, 0x1000);
    let mut world = World::new((ARENA, ARENA_END));
    world.set(source, descriptor);
    let mut hw = Fickle {
        world,
        reads: Cell::new(0),
        then,
    };
    user_tables.switch(&mut hw, 0, OURS).expect("a tree");
    let (va, count) = (0, 1);
    let _ = user_tables.map(&mut hw, &frames, OURS, Fill { va, source, count });
    let (root, _) = user_tables.tree(OURS.asid()).expect("a tree");
    let (found, _) = leaves(&mut hw.world, root);
    found.get(&0).map(|leaf| leaf.descriptor)
}

const ALL: core::marker::PhantomData<Configured> = core::marker::PhantomData;

#[test]
fn what_is_not_linuxs_is_not_mapped() {
    let page = INNER | USER | READ_ONLY;
    assert_eq!(mapped(ALL, SOURCE, page, page), None);
    assert_eq!(mapped(without!(TARGET), SOURCE, page, page), Some(page));
}

#[test]
fn el1_executes_nothing_of_a_user() {
    let page = (ORDINARY | USER) & !NO_EL1;
    assert_eq!(mapped(ALL, SOURCE, page, page), None);
    assert_eq!(mapped(without!(EXECUTE), SOURCE, page, page), Some(page));
}

#[test]
fn no_shadow_is_one_of_sixteen() {
    let page = ORDINARY | USER;
    let group = page | CONTIGUOUS;
    assert_eq!(mapped(ALL, SOURCE, group, group), Some(page));
    let weakened = without!(CONTIGUOUS);
    assert_eq!(mapped(weakened, SOURCE, group, group), Some(group));
}

#[test]
fn no_shadow_becomes_writable_by_itself() {
    let page = TEXT | USER | READ_ONLY;
    let dirty = page | DIRTY_BIT_MODIFIER;
    assert_eq!(mapped(ALL, SOURCE, dirty, dirty), Some(page));
    let weakened = without!(DIRTY_BIT_MODIFIER);
    assert_eq!(mapped(weakened, SOURCE, dirty, dirty), Some(dirty));
}

#[test]
fn shadows_are_filled_from_linuxs_memory() {
    let page = ORDINARY | USER;
    assert_eq!(mapped(ALL, INNER, page, page), None);
    assert_eq!(mapped(without!(SOURCE), INNER, page, page), Some(page));
}

#[test]
fn what_was_checked_is_what_is_mapped() {
    let (page, then) = (ORDINARY | USER, INNER | USER);
    assert_eq!(mapped(ALL, SOURCE, page, then), Some(page));
    assert_eq!(mapped(without!(ONCE), SOURCE, page, then), Some(then));
}

/// Whether a CPU gets the reserved ASID, and whether two processes run under one ASID at a time.
fn shared<C: Checks>(_: core::marker::PhantomData<C>) -> (bool, bool) {
    let storage = OwnedStorage::new(RAM_PAGES);
    let user_tables: UserTables<'_, C> = storage.shadows_with(ARENA, 0x1000);
    let hw = &mut World::new((ARENA, ARENA_END));
    let reserved = user_tables.switch(hw, 0, Process::new(RESERVED, 9)).is_ok();
    user_tables.switch(hw, 0, OURS).expect("a tree");
    (
        reserved,
        user_tables
            .switch(hw, 1, Process::new(OURS.asid(), 6))
            .is_ok(),
    )
}

#[test]
fn each_asid_is_one_process() {
    assert_eq!(shared(ALL), (false, false));
    assert_eq!(shared(without!(ASID)), (true, true));
}

/// Memory of the kernel's tables and of the arena.
struct Both {
    kernel: SmallMachine,
    users: World,
}

impl Hardware for Both {
    fn read(&self, entry: u64) -> u64 {
        match entry {
            ARENA..ARENA_END => self.users.read(entry),
            _ => self.kernel.read(entry),
        }
    }

    fn perform(&mut self, step: Step) {
        match step {
            Step::Write { entry, .. }
            | Step::ZeroFrame(entry)
            | Step::ZeroGroups { frame: entry, .. }
                if (ARENA..ARENA_END).contains(&entry) =>
            {
                self.users.perform(step);
            }
            Step::InvalidatePage { .. } | Step::InvalidateAsid(_) | Step::LoadRoot { .. } => {
                self.users.perform(step);
            }
            Step::InvalidateAll | Step::BarrierStore | Step::Barrier => {
                self.users.perform(step);
                self.kernel.perform(step);
            }
            _ => self.kernel.perform(step),
        }
    }
}

/// What a process, and TLBs, have of a block that became a pool.
fn left_in_a_pool<C: Checks>(_: core::marker::PhantomData<C>) -> (usize, usize) {
    let mut kernel_storage = small::OwnedStorage::default();
    let (kernel, mut pools) = small::build::<C>(&mut kernel_storage);
    let storage = OwnedStorage::new(RAM_PAGES);
    let user_tables: UserTables<'_, C> = storage.shadows_with(ARENA, 0x1000);
    let frames = *pools.tables.frames();
    let users = World::new((ARENA, ARENA_END));
    let mut hw = Both { kernel, users };
    let source = small::DATA;
    hw.kernel.frames.write(source, small::ORDINARY | USER);
    user_tables.switch(&mut hw, 0, OURS).expect("a tree");
    let (va, count) = (0, 1);
    let filled = user_tables.map(&mut hw, &frames, OURS, Fill { va, source, count });
    assert_eq!(filled, Ok(None));
    loop {
        let kind = PoolKind::Tables;
        match pools.add(&mut hw, small::ORDINARY, kind, Some(&user_tables)) {
            Ok(Progress::Again) => {}
            Ok(Progress::Done) => break,
            Err(reason) => panic!("{reason:?}"),
        }
    }
    let (root, _) = user_tables.tree(OURS.asid()).expect("a tree");
    let (found, _) = leaves(&mut hw.users, root);
    (found.len(), hw.users.cached().count())
}

#[test]
fn a_block_that_becomes_a_pool_belongs_to_no_process() {
    assert_eq!(left_in_a_pool(ALL), (0, 0));
    assert_eq!(left_in_a_pool(without!(WITHDRAW)), (1, 1));
}
