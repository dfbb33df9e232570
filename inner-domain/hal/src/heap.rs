// SPDX-License-Identifier: MIT OR Apache-2.0
//! A heap over a fixed piece of memory: the buddy allocator behind a lock.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};

use buddy_system_allocator::Heap;
use spin::Mutex;

/// Orders of the buddy allocator: blocks of up to 2^23 bytes.
const ORDERS: usize = 24;

/// `SIZE` bytes and their allocator, for `#[global_allocator]`. Without [`init`](Self::init) it
/// has nothing to give.
#[repr(C, align(4096))]
pub struct StaticHeap<const SIZE: usize> {
    memory: UnsafeCell<[u8; SIZE]>,
    heap: Mutex<Heap<ORDERS>>,
}

// SAFETY: the memory is handed once to the allocator, which is behind a lock.
unsafe impl<const SIZE: usize> Sync for StaticHeap<SIZE> {}

impl<const SIZE: usize> StaticHeap<SIZE> {
    /// An empty heap.
    pub const fn new() -> Self {
        Self {
            memory: UnsafeCell::new([0; SIZE]),
            heap: Mutex::new(Heap::empty()),
        }
    }

    /// Gives the allocator its memory.
    ///
    /// # Safety
    ///
    /// Not called before on this heap, which stays where it is.
    pub unsafe fn init(&self) {
        // SAFETY: the memory is part of this heap, nothing else refers to it, and it is handed
        // over once.
        unsafe { self.heap.lock().init(self.memory.get() as usize, SIZE) };
    }

    /// Free bytes.
    pub fn free(&self) -> usize {
        let heap = self.heap.lock();
        heap.stats_total_bytes() - heap.stats_alloc_actual()
    }
}

impl<const SIZE: usize> Default for StaticHeap<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: the buddy allocator hands out disjoint blocks of at least the layout's size and
// alignment, and the lock makes its calls exclusive. Interrupts are masked wherever this runs, so
// a holder of the lock is never interrupted on its CPU.
unsafe impl<const SIZE: usize> GlobalAlloc for StaticHeap<SIZE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.heap
            .lock()
            .alloc(layout)
            .map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller got the block from `alloc` with this layout.
            unsafe { self.heap.lock().dealloc(block, layout) };
        }
    }
}
