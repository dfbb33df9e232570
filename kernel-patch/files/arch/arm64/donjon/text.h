/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_TEXT_H
#define __DONJON_TEXT_H

#include <linux/spinlock_types.h>
#include <linux/types.h>

#include <asm/donjon.h>

/*
 * Write 8 bytes of text in one piece, while all CPUs are stopped. The caller
 * holds off CPU hotplug. Nothing is written when it fails.
 */
int donjon_write_stopped_pointer(void *address, u64 value);

/* The inner domain has one page at a time on its way to text, in several calls. */
extern raw_spinlock_t donjon_seal_lock;

/* With the lock held. */
struct donjon_result donjon_seal_locked(unsigned long address);

/* The errno of a seal; says what to do where it failed. */
int donjon_seal_result(const char *owner, unsigned long offset,
		       struct donjon_result result);

#endif /* __DONJON_TEXT_H */
