// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds the files of self-test and measurements to /sys/kernel/security/donjon.
 */
#include <linux/init.h>

#include "../files.h"
#include "files.h"

static int __init donjon_test_init(void)
{
	if (!donjon_directory)
		return 0;
	donjon_selftest_init(donjon_directory);
	donjon_bench_init(donjon_directory);
	donjon_bench_compartment_init(donjon_directory);
	donjon_attack_init(donjon_directory);
	return 0;
}
/* The files of the product are there: this folder is linked behind it. */
late_initcall(donjon_test_init);
