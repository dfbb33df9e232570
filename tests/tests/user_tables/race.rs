// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames are withdrawn while another CPU's flush has unlinked their last table and not invalidated
//! yet: the withdrawal waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use donjon_abi::call::Process;
use donjon_core::memory::block_set::BlockSet;
use donjon_core::range::Range;
use donjon_core::translation::frames::FrameType;
use donjon_core::translation::{Hardware, Step};
use donjon_core::user_tables::{Fill, LEAST_PAGES, Withdrawal};
use donjon_models::user_tables::storage::{OwnedStorage, set_types};
use donjon_models::user_tables::{BLOCK, PAGE};

use super::threads::{ARENA, Cpu, Memory, RAM, RAM_PAGES, USER};

/// The output of a descriptor.
const FRAME: u64 = 0xffff_ffff_f000;
const OURS: Process = Process::new(5, 5);
const OTHER: Process = Process::new(6, 6);

/// A CPU that lets others go on before it invalidates.
struct Slow<'m, F: FnMut()> {
    cpu: Cpu<'m>,
    before: F,
}

impl<F: FnMut()> Hardware for Slow<'_, F> {
    fn read(&self, entry: u64) -> u64 {
        self.cpu.read(entry)
    }

    fn perform(&mut self, step: Step) {
        if matches!(step, Step::InvalidateAsid(_)) {
            (self.before)();
        }
        self.cpu.perform(step);
    }
}

/// Withdraws the frames of a table while it is flushed. `ahead` slices were made before. Whether it
/// ended before the flush invalidated.
fn ends_early(ahead: u32) -> bool {
    let memory = Memory::new();
    let storage = OwnedStorage::new(RAM_PAGES);
    let frames = storage.frames(RAM);
    let user_tables = storage.user_tables(ARENA, 0x1000);
    let hw = &mut Cpu(&memory);
    let frame = RAM + BLOCK;
    memory.word(RAM).store(USER | frame, Ordering::Relaxed);
    // Tables of another tree stand between those of ours, so that a search may be past the upper
    // ones when the flush begins.
    for (who, va) in [
        (OURS, 0),
        (OTHER, 0),
        (OTHER, BLOCK),
        (OTHER, 2 * BLOCK),
        (OURS, BLOCK),
    ] {
        user_tables.switch(hw, 0, who).expect("a tree");
        let (source, count) = (RAM, 1);
        assert_eq!(
            user_tables.map(hw, &frames, who, Fill { va, source, count }),
            Ok(None)
        );
    }

    let blocks = BlockSet::of(frame);
    let range = Range::with_size(frame, BLOCK).expect("not empty");
    set_types(&frames, range, FrameType::Claimed);
    let mut state = Some(Withdrawal::default());
    for _ in 0..ahead {
        state = state.and_then(|so_far| user_tables.withdraw(hw, (&frames, &blocks), so_far));
    }
    let mut arena = (ARENA..ARENA + LEAST_PAGES * PAGE).step_by(8);
    let mapped = |entry| memory.word(entry).load(Ordering::Relaxed) & FRAME == frame;
    if !arena.any(mapped) {
        return false;
    }
    let withdrawn = AtomicBool::new(false);
    let mut early = None;
    thread::scope(|scope| {
        let rest = || {
            while let Some(so_far) = state {
                state = user_tables.withdraw(&mut Cpu(&memory), (&frames, &blocks), so_far);
            }
            withdrawn.store(true, Ordering::SeqCst);
        };
        let mut rest = Some(rest);
        let before = || {
            if let Some(rest) = rest.take() {
                scope.spawn(rest);
                thread::sleep(Duration::from_millis(200));
                early = Some(withdrawn.load(Ordering::SeqCst));
            }
        };
        let cpu = Cpu(&memory);
        user_tables.flush(&mut Slow { cpu, before }, OURS, BLOCK, 2 * BLOCK);
    });
    early.expect("the flush invalidates")
}

#[test]
fn frames_stay_while_their_last_table_is_not_invalidated() {
    for ahead in 0..8 {
        assert!(!ends_early(ahead), "{ahead} slices ahead");
    }
}
