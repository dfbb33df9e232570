// SPDX-License-Identifier: GPL-2.0-only
/*
 * The USB controller of a Raspberry Pi, where the inner domain writes its registers.
 * The driver sets a channel up by four registers and then starts it. What it has set
 * up is kept here until then: the inner domain takes all of it at once.
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

#include "files.h"

#define READ_ONLY	__pgprot((PROT_DEVICE_nGnRE & ~PTE_WRITE) | PTE_RDONLY)

/* Of the first channel, and of each */
#define CHANNELS_START	0x500
#define CHANNEL_SIZE	0x20
#define CHANNELS	16
#define HCCHAR		0x00
#define HCSPLT		0x04
#define HCTSIZ		0x10
#define HCDMA		0x14
#define CHENA		BIT(31)
#define CHDIS		BIT(30)

/* The driver's lock serialises what is done with a channel */
static struct channel {
	u32 control, split, amount, address;
	/* It did not start: nothing of the amount was transferred */
	bool is_refused;
} channels[CHANNELS];
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
		registers = __ioremap_prot(start, PAGE_SIZE, READ_ONLY);
	return registers ?: IOMEM_ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_GPL(donjon_usb_map);

static bool is_kept_from_us(const void __iomem *address)
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

/* Like readl(). A channel that is off has what the driver has set up. */
u32 donjon_usb_readl(const void __iomem *address)
{
	u32 value = readl(address);
	const struct channel *channel;
	unsigned int offset;

	if (!is_kept_from_us(address))
		return value;
	offset = address - registers;
	channel = channel_of(&offset);
	if (channel && offset == HCSPLT)
		return channel->split;
	if (channel && offset == HCCHAR && !(value & CHENA))
		return channel->control;
	if (channel && offset == HCTSIZ && channel->is_refused)
		return channel->amount;
	return value;
}
EXPORT_SYMBOL_GPL(donjon_usb_readl);

static void write_register(unsigned int offset, u32 value)
{
	__donjon_call2(DONJON_FN_DEVICE_WRITE, start + offset, value);
}

static void start_channel(struct channel *channel)
{
	unsigned int index = channel - channels;
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_USB_START, index, channel->control, channel->amount,
			       channel->address, channel->split, 0);
	channel->is_refused = result.status;
	if (!channel->is_refused)
		return;
	pr_warn_ratelimited("USB transfer of %#x at %#x refused: %ld, %ld\n",
			    channel->amount, channel->address, (long)result.status,
			    (long)result.value);
	/* QEMU's controller reports an end without a reason, which is an error to the driver */
	write_register(CHANNELS_START + index * CHANNEL_SIZE + HCCHAR, CHDIS);
}

/* Like writel(). The inner domain logs a refusal; the controller stays as it is. */
void donjon_usb_writel(u32 value, void __iomem *address)
{
	struct channel *channel;
	unsigned int offset;

	if (!is_kept_from_us(address)) {
		writel(value, address);
		return;
	}
	dma_wmb();
	offset = address - registers;
	channel = channel_of(&offset);
	if (channel && offset == HCTSIZ) {
		channel->amount = value;
	} else if (channel && offset == HCDMA) {
		channel->address = value;
	} else if (channel && offset == HCSPLT) {
		channel->split = value;
	} else if (channel && offset == HCCHAR && !(value & CHDIS)) {
		channel->control = value & ~CHENA;
		if (value & CHENA)
			start_channel(channel);
	} else {
		write_register(address - registers, value);
	}
}
EXPORT_SYMBOL_GPL(donjon_usb_writel);
