// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings that Linux knows nothing of.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "attack.h"

/* A process that does not fork, which would have its pages read again. */
static u64 init_process(void)
{
	struct task_struct *task;
	u64 process = 0;

	rcu_read_lock();
	for_each_process(task)
		if (task->pid == 1 && task->mm)
			process = READ_ONCE(task->mm->context.process);
	rcu_read_unlock();
	return process;
}

static void flush_hole(u64 process, u64 va)
{
	__donjon_call(DONJON_FN_FLUSH, process, va, va + PAGE_SIZE, 0, 0, 0);
}

static void close_hole(u64 va, u64 table)
{
	flush_hole(this_process(), va);
	flush_hole(init_process(), va);
	vm_munmap(va, PAGE_SIZE);
	free_page(table);
}

bool open_hole(struct hole *hole)
{
	unsigned long table = get_zeroed_page(GFP_KERNEL);
	unsigned long va;

	va = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!table || IS_ERR_VALUE(va)) {
		attack_untried("there is no address to work with");
		return false;
	}
	undo_later(close_hole, va, table);
	hole->va = va;
	hole->descriptor = (u64 *)table + va / PAGE_SIZE % PTRS_PER_PTE;
	return true;
}

u64 this_process(void)
{
	return READ_ONCE(current->mm->context.process);
}

struct donjon_result without_index(struct donjon_result result)
{
	if (result.status == DONJON_ERR_REFUSED)
		result.value >>= 32;
	return result;
}

struct donjon_result fill_hole_from(const struct hole *hole, u64 source)
{
	return without_index(__donjon_call(DONJON_FN_MAP, this_process(), hole->va,
					   source, 1, 0, 0));
}

struct donjon_result fill_hole(const struct hole *hole, u64 descriptor)
{
	WRITE_ONCE(*hole->descriptor, descriptor);
	return fill_hole_from(hole, virt_to_phys(hole->descriptor));
}

void show_hole(const struct hole *hole)
{
	__donjon_call(DONJON_FN_MAP, init_process(), hole->va,
		      virt_to_phys(hole->descriptor), 1, 0, 0);
}

bool try_user_load(const struct hole *hole, u64 *value)
{
	bool loaded;

	pagefault_disable();
	loaded = !get_user(*value, (u64 __user *)hole->va);
	pagefault_enable();
	return loaded;
}

bool try_user_store(const struct hole *hole, u64 value)
{
	bool stored;

	pagefault_disable();
	stored = !put_user(value, (u64 __user *)hole->va);
	pagefault_enable();
	return stored;
}
