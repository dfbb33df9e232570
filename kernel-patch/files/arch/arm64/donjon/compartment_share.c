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

/* Of the pages of a log, the inner domain chooses the address. */
static struct donjon_result share_frame(struct compartment *it, bool is_log,
					unsigned long va, phys_addr_t frame)
{
	if (is_log)
		return donjon_private_call(DONJON_FN_COMPARTMENT_FLOW_LOG, it->handle,
					   frame, 0, 0);
	return donjon_private_call(DONJON_FN_COMPARTMENT_SHARE, it->handle, va, frame, 0);
}

static long share_page(struct compartment *it, bool is_log, unsigned long va,
		       struct page *page)
{
	struct shared *shared = kmalloc(sizeof(*shared), GFP_KERNEL_ACCOUNT);
	struct donjon_result result;

	if (!shared)
		return -ENOMEM;
	result = share_frame(it, is_log, va, page_to_phys(page));
	if (result.status) {
		kfree(shared);
		return compartment_refused(result);
	}
	shared->page = page;
	list_add(&shared->list, &it->shared);
	return 0;
}

static long share_pages(struct compartment *it, bool is_log, unsigned long va,
			unsigned long address, unsigned long bytes)
{
	struct page *pages[SHARE_BATCH];
	/* Pages that are charged and not pinned */
	unsigned long left = bytes / PAGE_SIZE;
	long error;
	int count, i;

	error = compartment_charge(&it->account, left);
	if (error)
		return error;
	while (left && !error) {
		count = min_t(unsigned long, left, SHARE_BATCH);
		count = pin_user_pages_fast(address, count,
					    FOLL_WRITE | FOLL_LONGTERM, pages);
		if (count <= 0)
			error = count ?: -EFAULT;
		for (i = 0; i < count; i++) {
			if (!error)
				error = share_page(it, is_log, va, pages[i]);
			if (error) {
				unpin_user_page(pages[i]);
				continue;
			}
			va += PAGE_SIZE;
			left--;
		}
		address += count * PAGE_SIZE;
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
		cond_resched();
	}
	compartment_uncharge(&it->account, left);
	return error;
}

long compartment_share(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_share share;

	if (copy_from_user(&share, argument, sizeof(share)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	if (!PAGE_ALIGNED(share.va | share.address | share.bytes) || !share.bytes)
		return -EINVAL;
	return share_pages(it, false, share.va, share.address, share.bytes);
}

long compartment_share_log(struct compartment *it, unsigned long address,
			   unsigned long bytes)
{
	return share_pages(it, true, 0, address, bytes);
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
