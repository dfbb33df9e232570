// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot stage's heap, for the device tree.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};

use buddy_system_allocator::Heap;
use spin::Mutex;

const HEAP_SIZE: usize = 1 << 20;

#[repr(C, align(4096))]
struct Memory(UnsafeCell<[u8; HEAP_SIZE]>);

// SAFETY: handed once to the allocator; the boot stage has one CPU.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; HEAP_SIZE]));

struct LockedHeap(Mutex<Heap<24>>);

#[global_allocator]
static HEAP: LockedHeap = LockedHeap(Mutex::new(Heap::empty()));

// SAFETY: the buddy allocator hands out disjoint blocks that fit the layout; the lock makes its
// calls exclusive.
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

/// Gives the allocator its memory.
///
/// # Safety
///
/// Not called before.
pub unsafe fn init() {
    // SAFETY: the memory is a static of this size that nothing else refers to.
    unsafe { HEAP.0.lock().init(MEMORY.0.get() as usize, HEAP_SIZE) };
}
