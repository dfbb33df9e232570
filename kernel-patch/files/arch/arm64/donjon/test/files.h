/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of self-test and measurements in securityfs.
 */
#ifndef __DONJON_TEST_FILES_H
#define __DONJON_TEST_FILES_H

#include <linux/init.h>

struct dentry;

void __init donjon_selftest_init(struct dentry *directory);
void __init donjon_bench_init(struct dentry *directory);
void __init donjon_bench_compartment_init(struct dentry *directory);
void __init donjon_attack_init(struct dentry *directory);

#endif /* __DONJON_TEST_FILES_H */
