/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_FILES_H
#define __DONJON_FILES_H

#include <linux/init.h>
#include <linux/types.h>

struct dentry;

/* Facts and counters, for printing; 0 if the call is refused. */
unsigned long donjon_information(unsigned long which);
unsigned long donjon_statistic(unsigned long cpu, unsigned long function,
			       unsigned long counter);

/* The directory of securityfs; NULL if it could not be made. */
extern struct dentry *donjon_directory;

void __init donjon_refusals_init(struct dentry *directory);

#endif /* __DONJON_FILES_H */
