// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon: what the inner domain says about itself.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/donjon_text.h>

#include "files.h"
#include "pool.h"

static const char * const switch_names[] = DONJON_SWITCH_NAMES;
static const char * const dma_names[] = DONJON_DMA_NAMES;
static const char * const random_names[] = {
	[DONJON_RANDOM_NONE] = "none",
	[DONJON_RANDOM_TREE] = "device tree",
	[DONJON_RANDOM_CPU] = "cpu",
};

struct dentry *donjon_directory __ro_after_init;

unsigned long donjon_information(unsigned long which)
{
	struct donjon_result result;

	result = donjon_call(DONJON_FN_INFORMATION, which, 0, 0, 0, 0, 0);
	return result.status ? 0 : result.value;
}

unsigned long donjon_statistic(unsigned long cpu, unsigned long function,
			       unsigned long counter)
{
	struct donjon_result result;

	result = donjon_call(DONJON_FN_STATISTICS, cpu, function, counter,
			     0, 0, 0);
	return result.status ? 0 : result.value;
}

/* Sum of one counter over all functions and CPUs. */
static unsigned long donjon_total(unsigned long counter)
{
	unsigned long mask = donjon_information(DONJON_INFO_CPU_MASK);
	unsigned long total = 0;
	int cpu, function;

	for_each_set_bit(cpu, &mask, DONJON_MAX_CPUS)
		for (function = 0; function <= DONJON_FUNCTIONS; function++)
			total += donjon_statistic(cpu, function, counter);
	return total;
}

/* Memory behind the pools that no device reaches, and how much of it is free. */
static void show_reserve(struct seq_file *file, const char *name,
			 enum donjon_reserve_part which)
{
	unsigned int blocks, free;

	donjon_reserve_count(which, &blocks, &free);
	seq_printf(file, "protected_%s_kib: %lu\n", name, blocks * (unsigned long)(POOL_BLOCK_SIZE >> 10));
	seq_printf(file, "protected_%s_free_kib: %lu\n", name, free * (unsigned long)(POOL_BLOCK_SIZE >> 10));
}

static int status_show(struct seq_file *file, void *unused)
{
	unsigned long release = donjon_information(DONJON_INFO_RELEASE);
	unsigned long mode = donjon_information(DONJON_INFO_SWITCH_MODE);
	unsigned long dma = donjon_information(DONJON_INFO_DMA_PROFILE);
	unsigned long random = donjon_information(DONJON_INFO_RANDOMNESS);
	unsigned long start = donjon_information(DONJON_INFO_MEMORY_START);
	unsigned long size = donjon_information(DONJON_INFO_MEMORY_SIZE);
	int word;

	if (!donjon_present()) {
		seq_puts(file, "state: absent\n");
		return 0;
	}
	seq_puts(file, "state: running\n");
	seq_printf(file, "version: %lu.%lu.%lu\n", release >> 32,
		   (release >> 16) & 0xffff, release & 0xffff);
	seq_printf(file, "interface: %lu.%lu\n", DONJON_ABI_VERSION >> 16,
		   DONJON_ABI_VERSION & 0xffff);
	seq_printf(file, "switch: %s\n",
		   mode < ARRAY_SIZE(switch_names) && switch_names[mode] ?
		   switch_names[mode] : "unknown");
	seq_printf(file, "dma: %s\n",
		   dma < ARRAY_SIZE(dma_names) && dma_names[dma] ?
		   dma_names[dma] : "unknown");
	seq_printf(file, "cpus: %lu\n", donjon_information(DONJON_INFO_CPUS));
	seq_printf(file, "memory: %#lx-%#lx\n", start, start + size - 1);
	seq_printf(file, "memory_kib: %lu\n", size >> 10);
	if (donjon_reserve_exists()) {
		show_reserve(file, "tables", DONJON_RESERVE_TABLES);
		show_reserve(file, "compartments", DONJON_RESERVE_COMPARTMENTS);
	}
	seq_printf(file, "text_kib: %lu\n",
		   donjon_information(DONJON_INFO_TEXT_SIZE) >> 10);
	seq_printf(file, "heap_free_kib: %lu\n",
		   donjon_information(DONJON_INFO_HEAP_FREE) >> 10);
	seq_puts(file, "kernel_sha256: ");
	for (word = 0; word < 4; word++)
		seq_printf(file, "%016lx",
			   donjon_information(DONJON_INFO_DIGEST0 + word));
	seq_putc(file, '\n');
	seq_printf(file, "identity: %s\n",
		   donjon_information(DONJON_INFO_IDENTITY) == DONJON_IDENTITY_GIVEN ?
		   "given" : "none");
	seq_printf(file, "randomness: %s\n",
		   random < ARRAY_SIZE(random_names) ? random_names[random] : "unknown");
	seq_printf(file, "tlbi_pages: %lu\n",
		   donjon_information(DONJON_INFO_TLBI_PAGES));
	seq_printf(file, "waits: %lu domain, %lu trees, %lu arena\n",
		   donjon_information(DONJON_INFO_WAITS_DOMAIN),
		   donjon_information(DONJON_INFO_WAITS_TREES),
		   donjon_information(DONJON_INFO_WAITS_ARENA));
	seq_printf(file, "weakened: %#lx\n",
		   donjon_information(DONJON_INFO_WEAKENED));
	seq_printf(file, "calls: %lu\n", donjon_total(DONJON_COUNTER_CALLS));
	seq_printf(file, "refusals: %lu\n", donjon_total(DONJON_COUNTER_REFUSALS));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

static void show_function(struct seq_file *file, int cpu, int function)
{
	unsigned long calls = donjon_statistic(cpu, function, DONJON_COUNTER_CALLS);
	unsigned long entries = donjon_statistic(cpu, function, DONJON_COUNTER_ENTRIES);
	unsigned long per_call = calls ? entries * 100 / calls : 0;

	seq_printf(file, "%d %s %lu %lu %lu %lu %lu.%02lu %lu\n", cpu,
		   donjon_function_name(function), calls,
		   donjon_statistic(cpu, function, DONJON_COUNTER_REFUSALS),
		   donjon_statistic(cpu, function, DONJON_COUNTER_INSTRUCTIONS),
		   entries, per_call / 100, per_call % 100,
		   donjon_statistic(cpu, function, DONJON_COUNTER_WORST));
}

static int stats_show(struct seq_file *file, void *unused)
{
	unsigned long mask = donjon_information(DONJON_INFO_CPU_MASK);
	int cpu, function;

	seq_puts(file, "cpu function calls refusals instructions entries entries_per_call worst\n");
	for_each_set_bit(cpu, &mask, DONJON_MAX_CPUS)
		for (function = 0; function <= DONJON_FUNCTIONS; function++)
			show_function(file, cpu, function);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* The kernel's own bookkeeping, not the inner domain's. */
static int pool_show(struct seq_file *file, void *unused)
{
	struct donjon_pool_stats stats = donjon_pool_stats();
	struct donjon_pack_stats packs = donjon_pack_stats();

	seq_printf(file, "frames: %lu\n", stats.frames);
	seq_printf(file, "free: %lu\n", stats.free);
	seq_printf(file, "lowest: %lu\n", stats.lowest);
	seq_printf(file, "blocks_added: %lu\n", stats.blocks_added);
	seq_printf(file, "blocks_removed: %lu\n", stats.blocks_removed);
	seq_printf(file, "exhausted: %lu\n", stats.exhausted);
	seq_printf(file, "lost: %lu\n", stats.lost);
	seq_printf(file, "text: %llu\n",
		   (donjon_text_pool_end - donjon_text_pool_start) / PAGE_SIZE);
	seq_printf(file, "text_of_programs: %lu\n", packs.pages);
	seq_printf(file, "text_of_programs_highest: %lu\n", packs.highest);
	seq_printf(file, "text_of_programs_most: %lu\n", packs.share);
	seq_printf(file, "text_of_programs_denied: %lu\n", packs.denied);
	seq_printf(file, "text_retries: %lu\n", packs.retries);
	show_reserve(file, "tables", DONJON_RESERVE_TABLES);
	show_reserve(file, "compartments", DONJON_RESERVE_COMPARTMENTS);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pool);

static int log_show(struct seq_file *file, void *unused)
{
	struct donjon_reply_header *header;
	struct donjon_result result;
	u64 cursor = 0;

	header = (struct donjon_reply_header *)__get_free_page(GFP_KERNEL);
	if (!header)
		return -ENOMEM;
	for (;;) {
		result = donjon_call(DONJON_FN_LOG, cursor, __pa(header),
				     PAGE_SIZE, 0, 0, 0);
		if (result.status || result.value <= sizeof(*header))
			break;
		cursor = header->next;
		/* The text follows */
		seq_write(file, header + 1, result.value - sizeof(*header));
	}
	free_page((unsigned long)header);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(log);

static int __init donjon_files_init(void)
{
	struct dentry *directory = securityfs_create_dir("donjon", NULL);

	if (IS_ERR(directory))
		return PTR_ERR(directory);
	securityfs_create_file("status", 0444, directory, NULL, &status_fops);
	securityfs_create_file("stats", 0400, directory, NULL, &stats_fops);
	securityfs_create_file("pool", 0400, directory, NULL, &pool_fops);
	securityfs_create_file("log", 0400, directory, NULL, &log_fops);
	donjon_refusals_init(directory);
	donjon_directory = directory;
	return 0;
}
late_initcall(donjon_files_init);
