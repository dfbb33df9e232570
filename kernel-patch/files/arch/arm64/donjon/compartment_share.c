// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of a process that a compartment of its own reads and writes as well. They
 * are pinned until the compartment is gone.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/donjon.h>

#include <asm/donjon.h>

#include "compartment.h"
#include "private.h"

/* Pages that are pinned in one go. */
#define SHARE_BATCH	16

struct shared {
	struct list_head list;
	struct page *page;
};

static long share_page(struct compartment *it, unsigned long va, struct page *page)
{
	struct shared *shared = kmalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);
	struct donjon_result result;

	if (!shared)
		return -ENOMEM;
	result = donjon_private_call(DONJON_FN_COMPARTMENT_SHARE, it->handle, va,
				  page_to_phys(page), 0);
	if (result.status) {
		kfree(shared);
		return compartment_refused(result);
	}
	shared->page = page;
	list_add(&shared->list, &it->shared);
	return 0;
}

long compartment_share(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_share share;
	struct page *pages[SHARE_BATCH];
	unsigned long left;
	long error;
	int count, i;

	if (copy_from_user(&share, argument, sizeof(share)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	if (!PAGE_ALIGNED(share.va | share.address | share.bytes) || !share.bytes)
		return -EINVAL;
	/* Pages that are charged and not pinned */
	left = share.bytes / PAGE_SIZE;
	error = compartment_charge(&it->account, left);
	if (error)
		return error;
	while (left && !error) {
		count = min_t(unsigned long, left, SHARE_BATCH);
		count = pin_user_pages_fast(share.address, count,
					    FOLL_WRITE | FOLL_LONGTERM, pages);
		if (count <= 0)
			error = count ?: -EFAULT;
		for (i = 0; i < count; i++) {
			if (!error)
				error = share_page(it, share.va, pages[i]);
			if (error) {
				unpin_user_page(pages[i]);
				continue;
			}
			share.va += PAGE_SIZE;
			left--;
		}
		share.address += count * PAGE_SIZE;
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
		cond_resched();
	}
	compartment_uncharge(&it->account, left);
	return error;
}

void compartment_unshare(struct compartment *it)
{
	struct shared *shared, *next;

	list_for_each_entry_safe(shared, next, &it->shared, list) {
		/* What was written there went by no table of Linux's */
		unpin_user_pages_dirty_lock(&shared->page, 1, true);
		kfree(shared);
	}
}
