// SPDX-License-Identifier: GPL-2.0-only
/*
 * A1: map what is not Linux's, writable, by the call that maps everything else.
 */
#include "attack.h"

static void map(const struct window *window, u64 descriptor, u64 offset)
{
	struct donjon_result result = write_entry(window->entry, descriptor);

	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else if (try_touch((u64 *)(window->va + offset)))
		attack_succeeded("mapped, and a store through it went through");
	else
		attack_succeeded("mapped, although an access faults");
}

static void inner(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(inner_memory()), 0);
}

/* The table that has the window's own entry */
static void table(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(PAGE_OF(window.entry)), window.entry % PAGE_SIZE);
}

static void root(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(kernel_root()), 0);
}

static void inner_for_user(void)
{
	struct window window;

	if (open_user_window(&window))
		map(&window, user_page(inner_memory()), 0);
}

static void table_for_user(void)
{
	struct window window;

	if (open_user_window(&window))
		map(&window, user_page(PAGE_OF(window.entry)), window.entry % PAGE_SIZE);
}

static const struct attempt attempts[] = {
	{ "inner", inner },
	{ "table", table },
	{ "root", root },
	{ "inner-for-user", inner_for_user },
	{ "table-for-user", table_for_user },
	{}
};

const struct attack attack_a1 = { "A1", attempts };
