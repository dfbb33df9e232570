/* SPDX-License-Identifier: GPL-2.0-only */
/* A virtio function on PCI that Linux has no driver for, driven by hand: its first queue. */
#ifndef __DONJON_ATTACK_FUNCTION_H
#define __DONJON_ATTACK_FUNCTION_H

#include <linux/types.h>
#include <linux/virtio_ring.h>

/* Virtio's, by which functions are found */
#define FUNCTION_VENDOR	0x1af4
#define FUNCTION_QUEUE	4
#define FUNCTION_BYTES	64

/* What the device uses of ordinary memory, in one page. */
struct function_memory {
	struct vring_desc descriptors[FUNCTION_QUEUE];
	__le16 flags, index, ring[FUNCTION_QUEUE];
	u8 bytes[FUNCTION_BYTES];
	/* A used ring, for a request that wants it in this page */
	__le16 used_flags, used_index;
	struct vring_used_elem used_ring[FUNCTION_QUEUE];
};

/*
 * Takes the function with this device number, of virtio's vendor: one and no other. False
 * if there is none, and attack_untried() has been called, with `what` as its name.
 */
bool open_function(unsigned int device, const char *what);
/* Reset the function. False if it goes on after some seconds. */
bool reset_function(void);
/*
 * Resets the function and gives it one request of `bytes` in memory->bytes, with the
 * flags of a descriptor. Its used ring is at the physical address `used`.
 */
void start_request(struct function_memory *memory, u32 bytes, u16 flags, u64 used);
/* Wait until `is_over` says so, for some seconds at most. */
void wait_for_function(const struct function_memory *memory,
		       bool (*is_over)(const struct function_memory *memory));

#endif /* __DONJON_ATTACK_FUNCTION_H */
