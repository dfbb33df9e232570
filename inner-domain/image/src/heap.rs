// SPDX-License-Identifier: MIT OR Apache-2.0
//! The inner domain's heap: a buddy allocator over a fixed part of its data.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};

use buddy_system_allocator::Heap;
use spin::Mutex;

/// Bytes of the heap.
const HEAP_SIZE: usize = 128 << 10;

/// Orders of the buddy allocator: blocks up to 2^19 bytes.
const ORDERS: usize = 20;

#[repr(C, align(4096))]
struct Memory(UnsafeCell<[u8; HEAP_SIZE]>);

// SAFETY: handed once to the allocator, which owns it behind a lock.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; HEAP_SIZE]));

struct LockedHeap(Mutex<Heap<ORDERS>>);

#[global_allocator]
static HEAP: LockedHeap = LockedHeap(Mutex::new(Heap::empty()));

// SAFETY: the buddy allocator hands out disjoint blocks of at least the layout's size and
// alignment, and the lock makes its calls exclusive. Interrupts are masked in the inner domain,
// so a holder of the lock is never interrupted on its CPU.
unsafe impl GlobalAlloc for LockedHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0
            .lock()
            .alloc(layout)
            .map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller got the block from `alloc` with this layout.
            unsafe { self.0.lock().dealloc(block, layout) };
        }
    }
}

/// Gives the allocator its memory. Call once.
///
/// # Safety
///
/// Not called before.
pub unsafe fn init() {
    // SAFETY: the memory is a static of this size that nothing else refers to.
    unsafe { HEAP.0.lock().init(MEMORY.0.get() as usize, HEAP_SIZE) };
}

/// Free bytes.
pub fn free() -> usize {
    let heap = HEAP.0.lock();
    heap.stats_total_bytes() - heap.stats_alloc_actual()
}
