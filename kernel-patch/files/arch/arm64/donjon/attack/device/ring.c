// SPDX-License-Identifier: GPL-2.0-only
/*
 * A virtqueue whose used ring is in memory that the kernel may not write: the device
 * writes there by itself. The function is a source of random numbers, of which Linux
 * uses none.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/string.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci_modern.h>
#include <linux/virtio_ring.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "device/disk.h"

#define VENDOR		0x1af4
#define RANDOM		0x1044
#define QUEUE_SIZE	4
/* Even, so that no word of the ring becomes a valid descriptor */
#define BYTES		64
/* Words of a used ring with one element: flags and index, identifier, length */
#define WORDS		2
/* Milliseconds for a request */
#define PATIENCE	5000

static struct virtio_pci_modern_device random;
static bool is_open;

/* What the device reads, in one page of ordinary memory. */
struct memory {
	struct vring_desc descriptors[QUEUE_SIZE];
	u16 flags, index, ring[QUEUE_SIZE];
	u8 bytes[BYTES];
};

static bool open_function(void)
{
	struct pci_dev *function;

	if (is_open)
		return true;
	function = pci_get_device(VENDOR, RANDOM, NULL);
	if (!function) {
		attack_untried("no source of random numbers");
		return false;
	}
	/* Of the bus's driver: there is none for the device itself */
	device_release_driver(&function->dev);
	random.pci_dev = function;
	if (pci_enable_device(function) || vp_modern_probe(&random)) {
		attack_untried("the function does not come up");
		return false;
	}
	pci_set_master(function);
	is_open = true;
	return true;
}

static bool reset(void)
{
	unsigned int waited;

	vp_modern_set_status(&random, 0);
	for (waited = 0; waited < PATIENCE; waited++) {
		if (!vp_modern_get_status(&random))
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

static bool is_filled(const struct memory *memory)
{
	return memchr_inv(memory->bytes, 0, BYTES);
}

/*
 * One request, with the used ring at `used`. True if random numbers came; a device that
 * cannot reach its ring may have stopped before.
 */
static bool request(u64 used)
{
	struct memory *memory = (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	void __iomem *doorbell;
	unsigned int waited;
	u8 status;
	bool came;

	memory->descriptors[0] = (struct vring_desc){
		.addr = cpu_to_le64(__pa(memory->bytes)),
		.len = cpu_to_le32(BYTES),
		.flags = cpu_to_le16(VRING_DESC_F_WRITE),
	};
	memory->index = 1;
	reset();
	status = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;
	vp_modern_set_status(&random, status);
	/* Without the second one it goes around the SMMU, where it may */
	vp_modern_set_features(&random, vp_modern_get_features(&random) &
					(BIT_ULL(VIRTIO_F_VERSION_1) |
					 BIT_ULL(VIRTIO_F_ACCESS_PLATFORM)));
	status |= VIRTIO_CONFIG_S_FEATURES_OK;
	vp_modern_set_status(&random, status);
	vp_modern_set_queue_size(&random, 0, QUEUE_SIZE);
	vp_modern_queue_address(&random, 0, __pa(memory->descriptors), __pa(&memory->flags),
				used);
	vp_modern_set_queue_enable(&random, 0, true);
	vp_modern_set_status(&random, status | VIRTIO_CONFIG_S_DRIVER_OK);
	doorbell = vp_modern_map_vq_notify(&random, 0, NULL);
	if (doorbell)
		iowrite16(0, doorbell);
	for (waited = 0; waited < PATIENCE && !is_filled(memory); waited += 20)
		msleep(20);
	/* The ring comes behind the bytes */
	msleep(20);
	came = is_filled(memory);
	/* A device that goes on keeps the page */
	if (!reset())
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

	if (!disk_works() || !open_function())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	look_here(frame, copy);
	attack(frame, copy, look_here);
}

static void inner(void)
{
	u64 *copy;

	if (!disk_works() || !open_function())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	disk_look(inner_memory(), copy);
	attack(inner_memory(), copy, disk_look);
}

DONJON_ATTACK("ring-by-device", "table", table);
DONJON_ATTACK("ring-by-device", "inner", inner);
