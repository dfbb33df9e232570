// SPDX-License-Identifier: GPL-2.0-only
/*
 * The USB controller of a Raspberry Pi, where the inner domain writes its registers.
 * The driver sets a channel up by several registers and then starts it. What it has
 * set up is kept here until then: the inner domain takes all of it at once. What it
 * does behind a transfer to a channel that is off, such as to disable its interrupts,
 * has no effect there; it is kept here as well, and most of it is set up again for the
 * next transfer.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/donjon.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/printk.h>

#include <asm/barrier.h>
#include <asm/donjon.h>
#include <asm/pgtable.h>

#include "devices.h"

/* Of the first channel, and of each */
#define CHANNELS_START	0x500
#define CHANNEL_SIZE	0x20
#define CHANNELS	16
#define HCCHAR		0x00
#define HCSPLT		0x04
#define HCINT		0x08
#define HCINTMSK	0x0c
#define HCTSIZ		0x10
#define HCDMA		0x14
/* Of all channels */
#define GINTMSK		0x18
#define HAINTMSK	0x418
#define CHENA		BIT(31)
#define CHDIS		BIT(30)

/* The driver's lock serialises what is done with a channel */
static struct channel {
	u32 control, split, amount, address;
	/* Interrupts that the driver wants, and those that it has seen */
	u32 enables, seen;
	/* It did not start: nothing of the amount was transferred */
	bool is_refused;
} channels[CHANNELS];
/* Channels whose interrupts the driver wants */
static u32 wanted;
static void __iomem *registers;
static phys_addr_t start;

/*
 * Maps the first page of the controller's registers. NULL if the inner domain does not
 * write them. The page stays mapped when the driver leaves, for when it comes back.
 */
void __iomem *donjon_usb_map(struct platform_device *device, struct resource **from)
{
	if (!donjon_present() || !of_property_present(device->dev.of_node, "donjon,checked"))
		return NULL;
	*from = platform_get_resource(device, IORESOURCE_MEM, 0);
	if (!*from || (registers && start != (*from)->start))
		return IOMEM_ERR_PTR(-EINVAL);
	start = (*from)->start;
	if (!registers)
		registers = __ioremap_prot(start, PAGE_SIZE, DEVICE_READ_ONLY);
	return registers ?: IOMEM_ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_GPL(donjon_usb_map);

static bool is_read_only(const void __iomem *address)
{
	return registers && address >= registers && address < registers + PAGE_SIZE;
}

/* The channel of a register; NULL if it is of all channels. The offset is from its start on. */
static struct channel *channel_of(unsigned int *offset)
{
	unsigned int within = *offset - CHANNELS_START;

	if (*offset < CHANNELS_START || within >= CHANNELS * CHANNEL_SIZE)
		return NULL;
	*offset = within % CHANNEL_SIZE;
	return &channels[within / CHANNEL_SIZE];
}

static void __iomem *of_channel(const struct channel *channel, unsigned int offset)
{
	return registers + CHANNELS_START + (channel - channels) * CHANNEL_SIZE + offset;
}

static bool is_off(const struct channel *channel)
{
	return !(readl(of_channel(channel, HCCHAR)) & CHENA);
}

static u32 read_channel(const struct channel *channel, unsigned int offset)
{
	u32 value = readl(of_channel(channel, offset));

	switch (offset) {
	case HCSPLT:
		return channel->split;
	case HCINTMSK:
		return channel->enables;
	case HCINT:
		return is_off(channel) ? value & ~channel->seen : value;
	case HCCHAR:
		return value & CHENA ? value : channel->control;
	case HCTSIZ:
		return channel->is_refused ? channel->amount : value;
	}
	return value;
}

/* Like readl(). Of a channel, what the driver has set up. */
u32 donjon_usb_readl(const void __iomem *address)
{
	const struct channel *channel;
	unsigned int offset;

	if (!is_read_only(address))
		return readl(address);
	offset = address - registers;
	if (offset == HAINTMSK)
		return wanted;
	channel = channel_of(&offset);
	return channel ? read_channel(channel, offset) : readl(address);
}
EXPORT_SYMBOL_GPL(donjon_usb_readl);

static void write_register(void __iomem *address, u32 value)
{
	__donjon_call2(DONJON_FN_DEVICE_WRITE, start + (address - registers), value);
}

static void write_if_new(void __iomem *address, u32 value)
{
	if (readl(address) != value)
		write_register(address, value);
}

static void start_channel(struct channel *channel)
{
	unsigned int index = channel - channels;
	struct donjon_result result;

	write_if_new(of_channel(channel, HCINTMSK), channel->enables);
	result = __donjon_call(DONJON_FN_USB_START, index, channel->control, channel->amount,
			       channel->address, channel->split, 0);
	channel->is_refused = result.status;
	channel->seen = 0;
	if (!channel->is_refused)
		return;
	pr_warn_ratelimited("USB transfer of %#x at %#x refused: %ld, %ld\n",
			    channel->amount, channel->address, (long)result.status,
			    (long)result.value);
	/* QEMU's controller reports an end without a reason, which is an error to the driver */
	write_register(of_channel(channel, HCCHAR), CHDIS);
}

/* Interrupts that the driver has seen. Those that it does not want raise none. */
static void clear_interrupts(struct channel *channel, u32 value)
{
	void __iomem *address = of_channel(channel, HCINT);
	u32 raised = readl(of_channel(channel, HCINTMSK));

	value &= readl(address);
	if (!is_off(channel))
		raised = ~0U;
	else
		channel->seen |= value;
	if (value & raised)
		write_register(address, value & raised);
}

/* Of a channel that is off, an interrupt that is raised has to end. */
static void enable_interrupts(struct channel *channel, u32 value)
{
	void __iomem *address = of_channel(channel, HCINTMSK);

	channel->enables = value;
	if (!is_off(channel) || readl(of_channel(channel, HCINT)) & readl(address))
		write_if_new(address, value);
}

static void write_channel(struct channel *channel, unsigned int offset, u32 value)
{
	switch (offset) {
	case HCTSIZ:
		channel->amount = value;
		return;
	case HCDMA:
		channel->address = value;
		return;
	case HCSPLT:
		channel->split = value;
		return;
	case HCINT:
		clear_interrupts(channel, value);
		return;
	case HCINTMSK:
		enable_interrupts(channel, value);
		return;
	case HCCHAR:
		if (value & CHDIS)
			break;
		channel->control = value & ~CHENA;
		if (value & CHENA)
			start_channel(channel);
		return;
	}
	write_register(of_channel(channel, offset), value);
}

/* Like writel(). The inner domain logs a refusal; the controller stays as it is. */
void donjon_usb_writel(u32 value, void __iomem *address)
{
	struct channel *channel;
	unsigned int offset;

	if (!is_read_only(address)) {
		writel(value, address);
		return;
	}
	dma_wmb();
	offset = address - registers;
	channel = channel_of(&offset);
	if (channel) {
		write_channel(channel, offset, value);
	} else if (offset == HAINTMSK) {
		wanted = value;
		write_if_new(address, value | readl(address));
	} else if (offset == GINTMSK) {
		write_if_new(address, value);
	} else {
		write_register(address, value);
	}
}
EXPORT_SYMBOL_GPL(donjon_usb_writel);
