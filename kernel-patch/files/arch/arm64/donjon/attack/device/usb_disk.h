/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_ATTACK_USB_DISK_H
#define __DONJON_ATTACK_USB_DISK_H

#include <linux/types.h>

#include <asm/donjon.h>

/* Registers of the controller, and of the attacker's channel */
#define USB_HCFG	0x400
#define USB_AMOUNT	0x10
#define USB_ADDRESS	0x14
#define USB_CONTROL	0x00
#define USB_ENABLE	0x80000000U
#define USB_DISABLE	0x40000000U

/* Whether the machine has the controller. */
bool usb_exists(void);
/*
 * A disk behind the controller, whose channel the attacker drives by the inner
 * domain's calls. Linux has used it before. False, and attack_untried() has been
 * called, if there is none.
 */
bool usb_disk_is_there(void);
/* One page to or from any address of memory, as disk_read() and disk_write() do. */
void usb_disk_transfer(bool is_read, unsigned int page, u64 address);

/* A request of the disk, for bytes to or from memory: its command, and its end. */
bool usb_disk_begin(bool is_read, unsigned int page, unsigned int bytes);
void usb_disk_end(void);
/* What is still to come of a page, into memory of no use. */
void usb_disk_drain(void);
/*
 * Starts the channel with these bytes of the disk's, or of a device that does not
 * exist; false if the inner domain refuses it.
 */
bool usb_disk_start(bool is_read, u64 address, unsigned int bytes);
bool usb_nothing_start(bool is_read, u64 address, unsigned int bytes);
/* Tells the channel to end, and leaves all else as it is. */
void usb_disk_stop(void);
/* Waits for the channel's end; false, and it is told to end, if it takes too long. */
bool usb_disk_wait(void);
/* A register of the controller, and of the channel, which is written by itself. */
u32 usb_read(unsigned int offset);
struct donjon_result usb_write(unsigned int offset, u32 value);
unsigned int usb_channel(unsigned int offset);
/* Bytes and the packets that they take, as the channel's register has them */
u32 usb_amount(unsigned int bytes);
/* Where the controller finds memory */
u32 usb_address(u64 address);

#endif /* __DONJON_ATTACK_USB_DISK_H */
