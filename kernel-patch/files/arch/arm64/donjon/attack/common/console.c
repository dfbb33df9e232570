// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page with the registers of the console, whatever the machine is.
 */
#include <linux/ioport.h>
#include <linux/of.h>
#include <linux/of_address.h>

#include "attack.h"

static u64 find(void)
{
	struct device_node *node;
	struct resource registers;
	const char *path, *options;
	int error;

	if (of_property_read_string(of_chosen, "stdout-path", &path))
		return 0;
	node = of_find_node_opts_by_path(path, &options);
	if (!node)
		return 0;
	error = of_address_to_resource(node, 0, &registers);
	of_node_put(node);
	return error ? 0 : PAGE_OF(registers.start);
}

u64 console_page(void)
{
	static u64 page;

	/* The fuzzer asks often */
	if (!page)
		page = find();
	return page;
}
