// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk whose driver belongs to the attacker: it is told any frame.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "attack.h"
#include "device/disk.h"
#include "device/usb_disk.h"

#define DISK		"/dev/vda"
#define DISK_CHECK	0
#define DISK_ANSWER	2
#define CHECK		0xc0ffee00c0ffee00UL

static struct file *disk;

static struct bio *prepare(blk_opf_t operation, unsigned int page, u64 frame)
{
	struct bio *bio = bio_alloc(file_bdev(disk), 1, operation | REQ_SYNC, GFP_KERNEL);

	bio->bi_iter.bi_sector = (sector_t)page * (PAGE_SIZE / SECTOR_SIZE);
	__bio_add_page(bio, pfn_to_page(PHYS_PFN(frame)), PAGE_SIZE, 0);
	return bio;
}

struct bio *disk_request(unsigned int page, u64 frame)
{
	return prepare(REQ_OP_READ, page, frame);
}

struct pci_dev *disk_function(void)
{
	struct device *virtio = disk_to_dev(file_bdev(disk)->bd_disk)->parent;

	return virtio && virtio->parent && dev_is_pci(virtio->parent) ?
		to_pci_dev(virtio->parent) : NULL;
}

static void transfer(blk_opf_t operation, unsigned int page, u64 frame)
{
	struct bio *bio;

	if (usb_exists()) {
		usb_disk_transfer(operation == REQ_OP_READ, page, frame);
		return;
	}
	bio = prepare(operation, page, frame);

	submit_bio_wait(bio);
	bio_put(bio);
}

void disk_read(unsigned int page, u64 frame)
{
	transfer(REQ_OP_READ, page, frame);
}

void disk_write(unsigned int page, u64 frame)
{
	transfer(REQ_OP_WRITE, page, frame);
}

void disk_look(u64 frame, u64 *page)
{
	/* What stood on the disk before must not be taken for the answer */
	clear_page(page);
	disk_write(DISK_ANSWER, __pa(page));
	disk_write(DISK_ANSWER, frame);
	disk_read(DISK_ANSWER, __pa(page));
}

void disk_put_back(u64 frame, u64 copy)
{
	disk_write(DISK_MARKED, __pa(copy));
	disk_read(DISK_MARKED, frame);
	free_page(copy);
}

u64 table_frame(void)
{
	return PAGE_OF(walk_to(kernel_root(), scratch(0), 3).entry);
}

unsigned int zero_words(const u64 *page, unsigned int words)
{
	unsigned int i;

	for (i = PAGE_SIZE / sizeof(*page) - words; i > 0; i--)
		if (!memchr_inv(page + i, 0, words * sizeof(*page)))
			break;
	return i;
}

static bool is_open(void)
{
	if (usb_exists())
		return usb_disk_is_there();
	if (disk)
		return true;
	disk = bdev_file_open_by_path(DISK, BLK_OPEN_READ | BLK_OPEN_WRITE, NULL, NULL);
	if (!IS_ERR(disk))
		return true;
	attack_untried("no disk: %ld", PTR_ERR(disk));
	disk = NULL;
	return false;
}

bool disk_works(void)
{
	static u64 check = CHECK;
	bool works = false;
	u64 *page;

	if (!is_open())
		return false;
	page = (u64 *)__get_free_page(GFP_KERNEL);
	if (page) {
		memset64(page, ++check, PAGE_SIZE / sizeof(*page));
		disk_write(DISK_CHECK, __pa(page));
		clear_page(page);
		disk_read(DISK_CHECK, __pa(page));
		works = page[0] == check && page[PAGE_SIZE / sizeof(*page) - 1] == check;
		free_page((unsigned long)page);
	}
	if (!works)
		attack_untried("the disk does not work");
	return works;
}
