// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines that say how an attempt went, and the words for a refusal.
 */
#define pr_fmt(fmt) "attack " fmt

#include <linux/printk.h>

#include "attack.h"

static const struct attempt *running;

void attack_begin(const struct attempt *attempt)
{
	running = attempt;
}

static void say(const char *outcome, const char *format, va_list *arguments)
{
	struct va_format rest = { .fmt = format, .va = arguments };

	pr_info("%s/%s: %s, %pV\n", running->attack, running->name, outcome, &rest);
}

#define DEFINE_OUTCOME(function, outcome)		\
void function(const char *format, ...)			\
{							\
	va_list arguments;				\
							\
	va_start(arguments, format);			\
	say(outcome, format, &arguments);		\
	va_end(arguments);				\
}

DEFINE_OUTCOME(attack_succeeded, "SUCCEEDED")
DEFINE_OUTCOME(attack_stopped, "stopped")
DEFINE_OUTCOME(attack_untried, "UNTRIED")

const char *attack_why(struct donjon_result result)
{
	return result.status ? donjon_reason(result) : "accepted";
}
