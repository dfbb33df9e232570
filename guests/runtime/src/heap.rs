// SPDX-License-Identifier: MIT OR Apache-2.0
//! The global allocator: a buddy allocator that asks for pages when it has none.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};

use buddy_system_allocator::Heap;

use crate::memory::{HEAP, PAGE, grow};

/// Orders of the buddy allocator: blocks of up to 2^32 bytes.
const ORDERS: usize = 33;

struct Growing(UnsafeCell<Heap<ORDERS>>);

// SAFETY: a compartment runs on one CPU at a time, has one thread and no handlers, so no two calls
// of the allocator overlap.
unsafe impl Sync for Growing {}

#[global_allocator]
static ALLOCATOR: Growing = Growing(UnsafeCell::new(Heap::empty()));

// SAFETY: the buddy allocator hands out disjoint blocks of at least the layout's size and
// alignment.
unsafe impl GlobalAlloc for Growing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: calls of the allocator do not overlap, so no other reference is alive.
        let heap = unsafe { &mut *self.0.get() };
        if let Ok(block) = heap.alloc(layout) {
            return block.as_ptr();
        }
        if !extend(heap, layout) {
            return ptr::null_mut();
        }
        heap.alloc(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: calls of the allocator do not overlap, so no other reference is alive.
        let heap = unsafe { &mut *self.0.get() };
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the block was allocated from this heap with this layout, and is not used any
            // more.
            unsafe { heap.dealloc(block, layout) };
        }
    }
}

/// Adds pages that have an aligned block for `layout` among them. All that could be had are added,
/// also if they are too few.
fn extend(heap: &mut Heap<ORDERS>, layout: Layout) -> bool {
    let wanted = layout.size().max(layout.align()).max(PAGE as usize);
    let Some(block) = wanted.checked_next_power_of_two() else {
        return false;
    };
    let block = block as u64;
    let (_, pages) = grow(0);
    let begin = HEAP + pages * PAGE;
    let Some(end) = begin
        .checked_next_multiple_of(block)
        .and_then(|it| it.checked_add(block))
    else {
        return false;
    };
    let mut now = begin;
    while now < end {
        let (added, all) = grow((end - now) / PAGE);
        if added == 0 {
            break;
        }
        now = HEAP + all * PAGE;
    }
    // SAFETY: these pages are new, at the end of the heap, and no other block has them.
    unsafe { heap.add_to_heap(begin as usize, now as usize) };
    now >= end
}
