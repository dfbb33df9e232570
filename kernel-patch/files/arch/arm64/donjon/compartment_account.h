/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of compartments that its holder is charged for: frames that a compartment
 * may have, and pages that are pinned because they are shared with it. Both stay
 * until the file is closed.
 */
#ifndef __DONJON_COMPARTMENT_ACCOUNT_H
#define __DONJON_COMPARTMENT_ACCOUNT_H

#include <linux/types.h>

struct user_struct;
struct mm_struct;

struct compartment_account {
	struct user_struct *user;	/* who opened the file */
	struct mm_struct *mm;		/* or NULL */
	unsigned long pages;
	bool kept;
};

void compartment_account_open(struct compartment_account *account);
/* What was charged stays so, since the memory does not come back. */
void compartment_account_keep(struct compartment_account *account);
void compartment_account_close(struct compartment_account *account);
/*
 * Charges pages: -ENOMEM if the user would have more than RLIMIT_MEMLOCK of the
 * caller allows, and it lacks CAP_IPC_LOCK. Every way to memory is charged here.
 */
long compartment_charge(struct compartment_account *account, unsigned long pages);
void compartment_uncharge(struct compartment_account *account, unsigned long pages);

#endif /* __DONJON_COMPARTMENT_ACCOUNT_H */
