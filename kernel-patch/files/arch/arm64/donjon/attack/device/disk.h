/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_ATTACK_DISK_H
#define __DONJON_ATTACK_DISK_H

#include <linux/types.h>

struct bio;
struct pci_dev;

/* Where attacks keep a page on the disk, in pages from its beginning. */
#define DISK_MARKED	1

/*
 * Opens the disk, and transfers a page of ordinary memory there and back. False if
 * that does not work, and attack_untried() has been called: a device that is dead
 * stops every attempt.
 */
bool disk_works(void);
/*
 * One request of one page, of any frame. More than a page would end the device where
 * a part of it is refused. That it succeeded says nothing: contents alone count.
 */
void disk_read(unsigned int page, u64 frame);
void disk_write(unsigned int page, u64 frame);
/*
 * What the disk finds in a frame, in a page of ordinary memory: zeros if it finds
 * nothing.
 */
void disk_look(u64 frame, u64 *page);

/* What a frame had before, by the disk as well; the copy's page is freed. For undo_later(). */
void disk_put_back(u64 frame, u64 copy);
/* A request of one page that reads into a frame. Its submitter waits, and puts it. */
struct bio *disk_request(unsigned int page, u64 frame);
/* The disk's function, once the disk works; NULL if it is none. */
struct pci_dev *disk_function(void);

/* A frame with a table of level 3: the one that maps this module's text. */
u64 table_frame(void);
/*
 * The first of so many words of a page that are zero, searched from the end: the first
 * ones of a page are used more often. 0 if there are none.
 */
unsigned int zero_words(const u64 *page, unsigned int words);

#endif /* __DONJON_ATTACK_DISK_H */
