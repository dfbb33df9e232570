/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_ATTACK_DISK_H
#define __DONJON_ATTACK_DISK_H

#include <linux/types.h>

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

#endif /* __DONJON_ATTACK_DISK_H */
