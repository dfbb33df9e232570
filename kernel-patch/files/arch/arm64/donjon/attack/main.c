// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parameters of the hostile module: they start attempts, which other files
 * register with DONJON_ATTACK(), for `cargo xtask attack`.
 *
 *   echo ATTACK >parameters/run  carry an attack out, or ATTACK/ATTEMPT one attempt
 *   echo 1 >parameters/undo      take back what is left of it
 *   cat parameters/flag          physical address of a word of the attacker's
 *   cat parameters/seen          the word, which the auditor writes from outside
 *
 * It says `attack ATTACK/ATTEMPT: SUCCEEDED, ...`, or `stopped, ...` in its place.
 */
#define pr_fmt(fmt) "attack " fmt

#include <linux/array_size.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "attack.h"

unsigned long attack_set_fixmap;
module_param_named(set_fixmap, attack_set_fixmap, ulong, 0400);
MODULE_PARM_DESC(set_fixmap, "address of __set_fixmap()");

unsigned long attack_ioremap;
module_param_named(ioremap, attack_ioremap, ulong, 0400);
MODULE_PARM_DESC(ioremap, "address of generic_ioremap_prot()");

unsigned long attack_value;
module_param_named(value, attack_value, ulong, 0600);
MODULE_PARM_DESC(value, "physical address or value of a register that an attempt is about");

static unsigned long *flag;

/* All attempts of an attack, or one. */
static int carry_out(const char *attack, const char *only)
{
	const struct attempt *attempt;
	int count = 0;

	for (attempt = donjon_attempts_start; attempt < donjon_attempts_end; attempt++) {
		if (strcmp(attack, attempt->attack) || (only && strcmp(only, attempt->name)))
			continue;
		attack_begin(attempt);
		attempt->run();
		count++;
	}
	return count ? 0 : -ENOENT;
}

static int run(const char *value, const struct kernel_param *param)
{
	char text[64], *only = text;
	const char *attack;

	if (strscpy(text, value) < 0)
		return -EINVAL;
	attack = strsep(&only, "/\n");
	/* `ATTACK\n` leaves an empty rest */
	if (only)
		strim(only);
	if (only && !*only)
		only = NULL;
	return carry_out(attack, only);
}

static int undo(const char *value, const struct kernel_param *param)
{
	undo_all();
	return 0;
}

static int show_flag(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%#llx\n", (u64)virt_to_phys(flag));
}

static int show_seen(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lu\n", READ_ONCE(*flag));
}

static const struct kernel_param_ops run_ops = { .set = run };
static const struct kernel_param_ops undo_ops = { .set = undo };
static const struct kernel_param_ops flag_ops = { .get = show_flag };
static const struct kernel_param_ops seen_ops = { .get = show_seen };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "the attack to carry out");
module_param_cb(undo, &undo_ops, NULL, 0200);
MODULE_PARM_DESC(undo, "takes back what attacks have left");
module_param_cb(flag, &flag_ops, NULL, 0400);
MODULE_PARM_DESC(flag, "physical address of the word that the auditor writes");
module_param_cb(seen, &seen_ops, NULL, 0400);
MODULE_PARM_DESC(seen, "that word");

static int __init attack_init(void)
{
	if (!__donjon_call(DONJON_FN_INFORMATION, 3, 0, 0, 0, 0, 0).value)
		return -ENODEV;
	flag = (unsigned long *)get_zeroed_page(GFP_KERNEL);
	return flag ? 0 : -ENOMEM;
}
module_init(attack_init);

MODULE_DESCRIPTION("Attacks on the Donjon inner domain");
MODULE_LICENSE("GPL");
