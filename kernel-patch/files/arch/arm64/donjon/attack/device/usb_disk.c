// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk behind the USB controller of a Raspberry Pi, without Linux's drivers: the
 * attacker names registers and values, and the controller reads and writes memory.
 * QEMU has no caches, so nothing is cleaned.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "device/usb_disk.h"

#define BUS		0xc0000000U
/* The last channel; Linux takes them in turns, and the disk is idle */
#define CHANNELS	8
#define CHANNEL(n)	(0x500 + 0x20 * (n))
#define PACKET(control)	((control) & 0x7ff)
#define TYPE(control)	((control) >> 18 & 3)
#define BULK		2
#define IN		0x8000U
/* Device, endpoint, type and packet size */
#define ENDPOINT	0x1fdcffffU
#define ONE_A_FRAME	0x00100000U
/* All bits of the device's number; nothing has that one */
#define DEVICE		0x1fc00000U
#define PATIENCE_MS	5000

#define SECTOR		512
#define SECTORS		(PAGE_SIZE / SECTOR)
#define READ_10		0x28
#define WRITE_10	0x2a

/* What precedes and follows the data of a request */
struct command {
	__le32 signature, tag, bytes;
	u8 flags, unit, length, operation[16];
} __packed;
#define SIGNATURE	0x43425355
#define FROM_DISK	0x80
#define STATUS_SIZE	512

static phys_addr_t start;
static void __iomem *registers;
/* HCCHAR for either direction; 0 before the disk is found */
static u32 from_disk, to_disk;
/* Of the attacker's: a command, a status, and a page of no use */
static u8 *messages, *spare;

u32 usb_read(unsigned int offset)
{
	return readl(registers + offset);
}

struct donjon_result usb_write(unsigned int offset, u32 value)
{
	return __donjon_call2(DONJON_FN_DEVICE_WRITE, start + offset, value);
}

unsigned int usb_channel(unsigned int offset)
{
	return CHANNEL(CHANNELS - 1) + offset;
}

u32 usb_amount(unsigned int bytes)
{
	return DIV_ROUND_UP(bytes, PACKET(from_disk)) << 19 | bytes;
}

u32 usb_address(u64 address)
{
	return BUS + address;
}

static bool find_controller(void)
{
	void __iomem *(*map)(phys_addr_t start, size_t size, pgprot_t prot) =
		(void *)attack_ioremap;
	struct device_node *node;
	struct resource found;

	if (registers)
		return true;
	node = of_find_compatible_node(NULL, NULL, "brcm,bcm2835-usb");
	if (node && map && !of_address_to_resource(node, 0, &found)) {
		start = found.start;
		registers = map(start, PAGE_SIZE,
				__pgprot((PROT_DEVICE_nGnRE & ~PTE_WRITE) | PTE_RDONLY));
	}
	of_node_put(node);
	return registers;
}

bool usb_exists(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "brcm,bcm2835-usb");

	of_node_put(node);
	return node;
}

/* By what Linux has left in the channels: the disk is what has bulk endpoints. */
static bool find_disk(void)
{
	unsigned int i;

	for (i = 0; i < CHANNELS; i++) {
		u32 control = usb_read(CHANNEL(i));

		if (TYPE(control) != BULK || !PACKET(control))
			continue;
		if (control & IN)
			from_disk = (control & ENDPOINT) | ONE_A_FRAME;
		else
			to_disk = (control & ENDPOINT) | ONE_A_FRAME;
	}
	return from_disk && to_disk;
}

bool usb_disk_is_there(void)
{
	if (from_disk && to_disk)
		return true;
	messages = messages ?: (u8 *)get_zeroed_page(GFP_KERNEL);
	spare = spare ?: (u8 *)get_zeroed_page(GFP_KERNEL);
	if (messages && spare && find_controller() && find_disk())
		return true;
	attack_untried("no disk behind USB");
	return false;
}

static bool start_channel(u32 control, u64 address, unsigned int bytes)
{
	return !__donjon_call(DONJON_FN_USB_START, CHANNELS - 1, control, usb_amount(bytes),
			      usb_address(address), 0, 0).status;
}

bool usb_disk_start(bool is_read, u64 address, unsigned int bytes)
{
	return start_channel(is_read ? from_disk : to_disk, address, bytes);
}

bool usb_nothing_start(bool is_read, u64 address, unsigned int bytes)
{
	return start_channel((is_read ? from_disk : to_disk) | DEVICE, address, bytes);
}

void usb_disk_stop(void)
{
	u32 control = usb_read(usb_channel(USB_CONTROL));

	usb_write(usb_channel(USB_CONTROL), control | USB_DISABLE);
}

bool usb_disk_wait(void)
{
	int waited;

	for (waited = 0; waited < PATIENCE_MS; waited++) {
		if (!(usb_read(usb_channel(USB_CONTROL)) & USB_ENABLE))
			return true;
		usleep_range(900, 1100);
	}
	usb_disk_stop();
	return false;
}

static bool move(bool is_read, u64 address, unsigned int bytes)
{
	return usb_disk_start(is_read, address, bytes) && usb_disk_wait();
}

bool usb_disk_begin(bool is_read, unsigned int page, unsigned int bytes)
{
	struct command *command = (struct command *)messages;
	static u32 tag;

	memset(command, 0, sizeof(*command));
	command->signature = cpu_to_le32(SIGNATURE);
	command->tag = cpu_to_le32(++tag);
	command->bytes = cpu_to_le32(bytes);
	command->flags = is_read ? FROM_DISK : 0;
	command->length = 10;
	command->operation[0] = is_read ? READ_10 : WRITE_10;
	put_unaligned_be32(page * SECTORS, &command->operation[2]);
	put_unaligned_be16(bytes / SECTOR, &command->operation[7]);
	return move(false, __pa(command), sizeof(*command));
}

void usb_disk_end(void)
{
	move(true, __pa(messages) + PAGE_SIZE / 2, STATUS_SIZE);
}

void usb_disk_drain(void)
{
	move(true, __pa(spare), PAGE_SIZE);
	clear_page(spare);
}

void usb_disk_transfer(bool is_read, unsigned int page, u64 address)
{
	if (!usb_disk_begin(is_read, page, PAGE_SIZE))
		return;
	/* The disk waits for the rest of its request, whatever was refused */
	if (!move(is_read, address, PAGE_SIZE))
		move(is_read, __pa(spare), PAGE_SIZE);
	clear_page(spare);
	usb_disk_end();
}
