/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_COMPARTMENT_H
#define __DONJON_COMPARTMENT_H

#include <linux/list.h>
#include <linux/mutex.h>

#include <asm/donjon.h>

#include "compartment_account.h"

struct file;

/* The compartment of an open file. */
struct compartment {
	struct mutex mutex;
	unsigned long handle;	/* 0 for none */
	/* Private frames that it may have and that its holder was charged for */
	unsigned long frames;
	struct compartment_account account;
	struct list_head shared;
	/* The template of a clone, open as long as the clone is there */
	struct file *template;
};

long compartment_share(struct compartment *it, void __user *argument);
/* Adds whole pages of this process to the end of a log of flow attestation. */
long compartment_share_log(struct compartment *it, unsigned long address,
			   unsigned long bytes);
/* Unpins all pages that it shared, when it is gone. */
void compartment_unshare(struct compartment *it);

/* compartment_flow.c: one for each request about flow attestation */
long compartment_flow(struct compartment *it, void __user *argument);
long compartment_commit(struct compartment *it, void __user *argument);
long compartment_flow_end(struct compartment *it, void __user *argument);
long compartment_flow_report(struct compartment *it, void __user *argument);

#endif /* __DONJON_COMPARTMENT_H */
