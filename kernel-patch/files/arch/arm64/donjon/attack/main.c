// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile module. Each attack has a file of its own; this one starts them and
 * says how they went, for `cargo xtask attack`:
 *
 *   echo ID >parameters/run      carry an attack out, or ID/NAME one attempt
 *   echo 1 >parameters/undo      take back what is left of it
 *   cat parameters/flag          physical address of a word of the attacker's
 *   cat parameters/seen          the word, which the auditor writes from outside
 *
 * It says `attack ID/NAME: SUCCEEDED, ...` or `attack ID/NAME: stopped, ...`.
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

static const struct attack * const attacks[] = {
	&attack_a1,
	&attack_a7,
	&attack_a8,
	&attack_a9,
	&attack_a10,
	&attack_b1,
	&attack_b2,
	&attack_b3,
	&attack_b5,
	&attack_b6,
	&attack_b9,
	&attack_b11,
	&attack_b12,
	&attack_d1,
	&attack_d3,
	&attack_d5,
	&attack_d6,
	&attack_d7,
	&attack_f10,
	&attack_f14,
	&attack_f16,
	&attack_f17,
	&attack_f19,
	&attack_f20,
	&attack_u1,
	&attack_u2,
	&attack_u3,
	&attack_u4,
	&attack_u5,
	&attack_longest,
	&attack_fuzz,
	&attack_reclaim,
};

/* The attempt that runs */
static const char *id, *name;

unsigned long attack_set_fixmap;
module_param_named(set_fixmap, attack_set_fixmap, ulong, 0400);
MODULE_PARM_DESC(set_fixmap, "address of __set_fixmap()");

unsigned long attack_page;
module_param_named(page, attack_page, ulong, 0600);
MODULE_PARM_DESC(page, "physical address that an attempt aims at");

static unsigned long *flag;

static void say(const char *outcome, const char *format, va_list *arguments)
{
	struct va_format rest = { .fmt = format, .va = arguments };

	pr_info("%s/%s: %s, %pV\n", id, name, outcome, &rest);
}

#define SAY(function, outcome)				\
void function(const char *format, ...)			\
{							\
	va_list arguments;				\
							\
	va_start(arguments, format);			\
	say(outcome, format, &arguments);		\
	va_end(arguments);				\
}

SAY(attack_succeeded, "SUCCEEDED")
SAY(attack_stopped, "stopped")
SAY(attack_untried, "UNTRIED")

const char *attack_why(struct donjon_result result)
{
	return result.status ? donjon_reason(result) : "accepted";
}

static int carry_out(const struct attack *attack, const char *only)
{
	const struct attempt *attempt;
	int count = 0;

	for (attempt = attack->attempts; attempt->name; attempt++) {
		if (only && strcmp(only, attempt->name))
			continue;
		id = attack->id;
		name = attempt->name;
		attempt->run();
		count++;
	}
	return count ? 0 : -ENOENT;
}

static int run(const char *value, const struct kernel_param *param)
{
	char text[32], *only = text;
	const char *wanted;
	int i;

	if (strscpy(text, value) < 0)
		return -EINVAL;
	wanted = strsep(&only, "/\n");
	/* `ID\n` leaves an empty rest */
	if (only)
		strim(only);
	if (only && !*only)
		only = NULL;
	for (i = 0; i < ARRAY_SIZE(attacks); i++)
		if (!strcmp(wanted, attacks[i]->id))
			return carry_out(attacks[i], only);
	return -ENOENT;
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
