// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a disk read and write frames that this kernel cannot write itself. Before and
 * after each attempt the disk works: one that is dead would stop everything.
 */
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "compartment/compartment.h"
#include "device/disk.h"

#define WORDS		(PAGE_SIZE / sizeof(u64))
/* No valid descriptor, whatever becomes of it */
#define MARK		0xde71ce00de71ce00UL

/*
 * Have the disk write a frame: what stands there, with one more word. `copy` is what
 * stands there; `seen` reads the word afterwards.
 */
static void write_frame(u64 frame, u64 *copy, u64 (*seen)(u64 frame, unsigned int word))
{
	unsigned int word = zero_words(copy, 1);
	u64 old = copy[word];

	copy[word] = MARK;
	disk_write(DISK_MARKED, __pa(copy));
	copy[word] = old;
	disk_read(DISK_MARKED, frame);
	if (seen(frame, word) == MARK) {
		attack_succeeded("the disk wrote word %u of the frame %#llx", word, frame);
		undo_later(disk_put_back, frame, (u64)copy);
		return;
	}
	free_page((unsigned long)copy);
	if (disk_works())
		attack_stopped("the frame is as before");
}

static u64 seen_here(u64 frame, unsigned int word)
{
	return READ_ONCE(((u64 *)__va(frame))[word]);
}

/* By the disk alone: this kernel maps no such frame */
static u64 seen_by_disk(u64 frame, unsigned int word)
{
	u64 *page = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	u64 value;

	disk_look(frame, page);
	value = page[word];
	free_page((unsigned long)page);
	return value;
}

static void write_readable(u64 frame)
{
	u64 *copy;

	if (!disk_works())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	memcpy(copy, __va(frame), PAGE_SIZE);
	write_frame(frame, copy, seen_here);
}

static void write_hidden(u64 frame)
{
	u64 *copy;

	if (!disk_works())
		return;
	copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	disk_look(frame, copy);
	write_frame(frame, copy, seen_by_disk);
}

/* Have the disk read a frame whose words are not all zero. */
static void read_hidden(u64 frame)
{
	unsigned int i, found = 0;
	u64 *page;

	if (!disk_works())
		return;
	page = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	disk_look(frame, page);
	for (i = 0; i < WORDS; i++)
		found += page[i] != 0;
	free_page((unsigned long)page);
	if (found)
		attack_succeeded("the disk read %u words of the frame %#llx", found, frame);
	else if (disk_works())
		attack_stopped("nothing but zeros came");
}

static void write_inner(void)
{
	write_hidden(inner_memory());
}

static void write_table(void)
{
	write_readable(table_frame());
}

static void write_root(void)
{
	write_readable(kernel_root());
}

static void write_text(void)
{
	write_readable(PAGE_OF(frame_of((unsigned long)_printk)));
}

static void write_constants(void)
{
	write_readable(PAGE_OF(frame_of((unsigned long)cpu_bit_bitmap)));
}

static void write_module(void)
{
	write_readable(PAGE_OF(frame_of(scratch(0))));
}

static void write_private(void)
{
	if (prepare_compartment())
		write_hidden(private_frame(0));
}

static void read_inner(void)
{
	read_hidden(inner_memory());
}

static void read_private(void)
{
	if (prepare_compartment())
		read_hidden(private_frame(0));
}

DONJON_ATTACK("write-by-device", "inner", write_inner);
DONJON_ATTACK("write-by-device", "table", write_table);
DONJON_ATTACK("write-by-device", "root", write_root);
DONJON_ATTACK("write-by-device", "text", write_text);
DONJON_ATTACK("write-by-device", "constants", write_constants);
DONJON_ATTACK("write-by-device", "module", write_module);
DONJON_ATTACK("write-by-device", "private", write_private);
DONJON_ATTACK("read-by-device", "inner", read_inner);
DONJON_ATTACK("read-by-device", "private", read_private);

/* By a USB controller, where the machine has one */
DONJON_ATTACK("usb-dma", "inner", write_inner);
DONJON_ATTACK("usb-dma", "table", write_table);
DONJON_ATTACK("usb-dma", "text", write_text);
DONJON_ATTACK("usb-dma", "constants", write_constants);
DONJON_ATTACK("usb-dma", "private", write_private);
DONJON_ATTACK("usb-dma", "read-inner", read_inner);
DONJON_ATTACK("usb-dma", "read-private", read_private);
