// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges memory of compartments as io_uring charges its own: to the user who opened
 * the file, beside all else that this one has pinned, against the limit of the
 * process that asks. It is shown as VmPin.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "compartment_account.h"
#include "private.h"

#if !defined(CONFIG_NET) && !defined(CONFIG_IO_URING)
#error "CONFIG_DONJON needs CONFIG_NET or CONFIG_IO_URING: users have no count of pinned pages"
#endif

void compartment_account_open(struct compartment_account *account)
{
	account->user = get_uid(current_user());
	account->mm = current->mm;
	if (account->mm)
		mmgrab(account->mm);
}

void compartment_account_keep(struct compartment_account *account)
{
	account->kept = true;
}

void compartment_account_close(struct compartment_account *account)
{
	if (!account->kept)
		compartment_uncharge(account, account->pages);
	if (account->mm)
		mmdrop(account->mm);
	/* The count goes with the last reference */
	if (!account->kept)
		free_uid(account->user);
}

long compartment_charge(struct compartment_account *account, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long now, old = atomic_long_read(&account->user->locked_vm);

	/* No sum of these is too large for a word */
	if (pages > totalram_pages() + donjon_private_most())
		return -ENOMEM;
	do {
		now = old + pages;
		if (now > limit && !capable(CAP_IPC_LOCK))
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&account->user->locked_vm, &old, now));
	account->pages += pages;
	if (account->mm)
		atomic64_add(pages, &account->mm->pinned_vm);
	return 0;
}

void compartment_uncharge(struct compartment_account *account, unsigned long pages)
{
	atomic_long_sub(pages, &account->user->locked_vm);
	account->pages -= pages;
	if (account->mm)
		atomic64_sub(pages, &account->mm->pinned_vm);
}
