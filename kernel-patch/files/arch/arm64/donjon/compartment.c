// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/donjon/compartment: user space makes compartments and runs them. The
 * inner domain decides; here is what Linux has to do around its calls.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/donjon.h>

#include <asm/cpufeature.h>
#include <asm/donjon.h>
#include <asm/neon.h>
#include <asm/sysreg.h>

#include "compartment.h"
#include "files.h"
#include "private.h"

/* Files that are open: with the last one, the memory of compartments goes back. */
static atomic_t users = ATOMIC_INIT(0);

static struct donjon_result call(unsigned long function, unsigned long a1,
				 unsigned long a2, unsigned long a3,
				 unsigned long a4)
{
	return __donjon_call(function, a1, a2, a3, a4, 0, 0);
}

static int compartment_open(struct inode *inode, struct file *file)
{
	struct compartment *it;

	if (!donjon_live)
		return -ENODEV;
	it = kzalloc(sizeof(*it), GFP_KERNEL_ACCOUNT);
	if (!it)
		return -ENOMEM;
	mutex_init(&it->mutex);
	compartment_account_open(&it->account);
	INIT_LIST_HEAD(&it->shared);
	file->private_data = it;
	atomic_inc(&users);
	return nonseekable_open(inode, file);
}

static int compartment_release(struct inode *inode, struct file *file)
{
	struct compartment *it = file->private_data;
	struct donjon_result result = {};

	while (it->handle) {
		result = call(DONJON_FN_COMPARTMENT_DESTROY, it->handle, 0, 0, 0);
		if (result.status || !result.value)
			break;
		cond_resched();
	}
	/* A compartment that lives on goes on to write to these, and has its frames */
	if (!result.status) {
		compartment_unshare(it);
		donjon_private_promise(-it->frames);
	} else {
		compartment_account_keep(&it->account);
	}
	compartment_account_close(&it->account);
	if (it->template)
		fput(it->template);
	kfree(it);
	if (atomic_dec_and_test(&users))
		donjon_private_shrink();
	return 0;
}

/*
 * Makes a compartment that may have `frames` frames. Its holder is charged for
 * them before, because the compartment takes frames without asking Linux.
 */
static long make(struct compartment *it, unsigned long function,
		 unsigned long argument, unsigned long frames)
{
	struct donjon_result result;
	long error;

	/* It cannot have more than there is */
	frames = min(frames, donjon_private_most());
	error = compartment_charge(&it->account, frames);
	if (error)
		return error;
	donjon_private_promise(frames);
	result = donjon_private_call(function, argument, 0, 0, 0);
	if (result.status) {
		donjon_private_promise(-frames);
		compartment_uncharge(&it->account, frames);
		return compartment_refused(result);
	}
	it->frames = frames;
	/* Who sees it sees how many frames it may have */
	smp_store_release(&it->handle, result.value);
	return 0;
}

static long create(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_create create;

	if (copy_from_user(&create, argument, sizeof(create)))
		return -EFAULT;
	if (it->handle)
		return -EEXIST;
	return make(it, DONJON_FN_COMPARTMENT_CREATE, create.frames, create.frames);
}

static const struct file_operations compartment_fops;

static long copy_template(struct compartment *it)
{
	struct donjon_result result;

	do {
		result = donjon_private_call(DONJON_FN_COMPARTMENT_COPY, it->handle,
					  0, 0, 0);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	} while (!result.status && result.value);
	return result.status ? compartment_refused(result) : 0;
}

/* Another file of this device, with a reference */
static struct file *other_file(struct compartment *it, __s32 descriptor)
{
	struct file *file = fget(descriptor);

	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op == &compartment_fops && file->private_data != it)
		return file;
	fput(file);
	return ERR_PTR(-EINVAL);
}

/*
 * Its handle is read without its mutex: a handle of what is gone is refused, and
 * the file keeps what is there.
 */
static unsigned long handle_of(struct file *file)
{
	struct compartment *it = file->private_data;

	/* With the number of frames behind it; make() stores them */
	return smp_load_acquire(&it->handle);
}

static long clone(struct compartment *it, void __user *argument)
{
	struct compartment *template;
	unsigned long handle;
	struct file *file;
	__s32 descriptor;
	long error;

	if (copy_from_user(&descriptor, argument, sizeof(descriptor)))
		return -EFAULT;
	if (it->handle)
		return -EEXIST;
	file = other_file(it, descriptor);
	if (IS_ERR(file))
		return PTR_ERR(file);
	/* It has the limit of what it is made from */
	template = file->private_data;
	handle = handle_of(file);
	error = make(it, DONJON_FN_COMPARTMENT_CLONE, handle,
		     handle ? template->frames : 0);
	if (error) {
		fput(file);
		return error;
	}
	it->template = file;
	return copy_template(it);
}

static long add_page(struct compartment *it, unsigned long va,
		     unsigned long access, struct page *page)
{
	struct donjon_result result;

	do {
		result = donjon_private_call(DONJON_FN_COMPARTMENT_ADD, it->handle,
					  va, access, page_to_phys(page));
		cond_resched();
	} while (!result.status && result.value);
	return result.status ? compartment_refused(result) : 0;
}

static long add(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_add add;
	struct page *page;
	long error = 0;

	if (copy_from_user(&add, argument, sizeof(add)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	if (!PAGE_ALIGNED(add.va | add.bytes) || !add.bytes)
		return -EINVAL;
	page = alloc_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	for (; add.bytes && !error; add.bytes -= PAGE_SIZE) {
		if (copy_from_user(page_address(page), u64_to_user_ptr(add.source),
				   PAGE_SIZE))
			error = -EFAULT;
		else
			error = add_page(it, add.va, add.access, page);
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
		add.va += PAGE_SIZE;
		add.source += PAGE_SIZE;
	}
	clear_page(page_address(page));
	__free_page(page);
	return error;
}

static long seal(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_seal seal;
	struct donjon_result result;

	if (copy_from_user(&seal, argument, sizeof(seal)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	result = call(DONJON_FN_COMPARTMENT_SEAL, it->handle, seal.entry,
		      seal.stack, 0);
	return result.status ? compartment_refused(result) : 0;
}

/*
 * The inner domain keeps the registers of FP and SIMD that are the task's, but
 * not what SVE and SME add to them.
 */
static struct donjon_result enter(unsigned long handle, const __u64 *arguments)
{
	bool scalable = system_supports_sve() || system_supports_sme();
	struct donjon_result result;

	if (scalable)
		kernel_neon_begin();
	result = __donjon_call(DONJON_FN_COMPARTMENT_RUN, handle, arguments[0],
			       arguments[1], arguments[2], arguments[3], 0);
	if (scalable)
		kernel_neon_end();
	/* DIT is 1 on the way in from user mode; an exception from EL0 leaves EL0's */
	if (cpus_have_final_cap(ARM64_HAS_DIT))
		set_pstate_dit(1);
	return result;
}

static long run(struct compartment *it, struct donjon_compartment_run __user *user)
{
	struct donjon_compartment_run run;
	struct donjon_result result;

	if (copy_from_user(&run, user, sizeof(run)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	do {
		result = enter(it->handle, run.arguments);
		if (result.status != DONJON_EXIT_INTERRUPTED)
			break;
		/* It may compute for as long as it likes */
		cond_resched_tasks_rcu_qs();
		if (test_thread_flag(TIF_NOTIFY_RESUME))
			resume_user_mode_work(NULL);
	} while (!signal_pending(current));
	if (result.status < 0)
		return compartment_refused(result);
	run.exit = result.status;
	run.value = result.value;
	return copy_to_user(user, &run, sizeof(run)) ? -EFAULT : 0;
}

static long connect(struct compartment *it,
		    struct donjon_compartment_connect __user *user)
{
	struct donjon_compartment_connect connect;
	struct donjon_result result;
	struct file *file;

	if (copy_from_user(&connect, user, sizeof(connect)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	file = other_file(it, connect.other);
	if (IS_ERR(file))
		return PTR_ERR(file);
	result = donjon_private_call(DONJON_FN_COMPARTMENT_CONNECT, it->handle,
				  handle_of(file), 0, 0);
	fput(file);
	if (result.status)
		return compartment_refused(result);
	connect.end = lower_32_bits(result.value);
	connect.other_end = upper_32_bits(result.value);
	return copy_to_user(user, &connect, sizeof(connect)) ? -EFAULT : 0;
}

static unsigned long fact(struct compartment *it, unsigned long which)
{
	return call(DONJON_FN_COMPARTMENT_INFORMATION, it->handle, which, 0, 0).value;
}

static long info(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_info info = {};
	__be64 word;
	int i;

	if (!it->handle)
		return -ENODEV;
	info.frames = fact(it, DONJON_COMPARTMENT_FRAMES);
	info.limit = fact(it, DONJON_COMPARTMENT_LIMIT);
	info.phase = fact(it, DONJON_COMPARTMENT_PHASE);
	for (i = 0; i < 4; i++) {
		word = cpu_to_be64(fact(it, DONJON_COMPARTMENT_MEASUREMENT0 + i));
		memcpy(info.measurement + i * sizeof(word), &word, sizeof(word));
	}
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

/*
 * Makes memory free for compartments, as many bytes as the argument says. They are
 * of the frames that this compartment may have, for which its holder was charged,
 * and which it does not have yet. Another compartment may take them first.
 */
static long reserve(struct compartment *it, void __user *argument)
{
	unsigned long has;
	u64 bytes, free, blocks;
	int taken = 0;

	if (copy_from_user(&bytes, argument, sizeof(bytes)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	/* So that no sum below is too large for a word */
	if (bytes / PAGE_SIZE > it->frames)
		return -EDQUOT;
	has = fact(it, DONJON_COMPARTMENT_FRAMES);
	if (DIV_ROUND_UP_ULL(bytes, PAGE_SIZE) > it->frames - min(it->frames, has))
		return -EDQUOT;
	free = donjon_information(DONJON_INFO_PRIVATE_FREE) * PAGE_SIZE;
	blocks = DIV_ROUND_UP_ULL(bytes - min(bytes, free), SZ_2M);
	for (; blocks; blocks -= taken) {
		taken = donjon_private_grow(min(blocks, DONJON_POOL_TOGETHER_MAX));
		if (taken < 0)
			return taken;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static long compartment_ioctl(struct file *file, unsigned int command,
			      unsigned long value)
{
	struct compartment *it = file->private_data;
	void __user *argument = (void __user *)value;
	long error;

	if (mutex_lock_interruptible(&it->mutex))
		return -ERESTARTSYS;
	switch (command) {
	case DONJON_COMPARTMENT_CREATE:
		error = create(it, argument);
		break;
	case DONJON_COMPARTMENT_ADD:
		error = add(it, argument);
		break;
	case DONJON_COMPARTMENT_SHARE:
		error = compartment_share(it, argument);
		break;
	case DONJON_COMPARTMENT_SEAL:
		error = seal(it, argument);
		break;
	case DONJON_COMPARTMENT_RUN:
		error = run(it, argument);
		break;
	case DONJON_COMPARTMENT_INFO:
		error = info(it, argument);
		break;
	case DONJON_COMPARTMENT_CLONE:
		error = clone(it, argument);
		break;
	case DONJON_COMPARTMENT_CONNECT:
		error = connect(it, argument);
		break;
	case DONJON_COMPARTMENT_RESERVE:
		error = reserve(it, argument);
		break;
	case DONJON_COMPARTMENT_FLOW:
		error = compartment_flow(it, argument);
		break;
	case DONJON_COMPARTMENT_COMMIT:
		error = compartment_commit(it, argument);
		break;
	case DONJON_COMPARTMENT_FLOW_END:
		error = compartment_flow_end(it, argument);
		break;
	case DONJON_COMPARTMENT_FLOW_REPORT:
		error = compartment_flow_report(it, argument);
		break;
	default:
		error = -ENOTTY;
	}
	mutex_unlock(&it->mutex);
	return error;
}

static const struct file_operations compartment_fops = {
	.owner = THIS_MODULE,
	.open = compartment_open,
	.release = compartment_release,
	.unlocked_ioctl = compartment_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice compartment_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "donjon-compartment",
	.nodename = "donjon/compartment",
	.mode = 0600,
	.fops = &compartment_fops,
};

static int __init compartment_init(void)
{
	if (!donjon_present())
		return 0;
	return misc_register(&compartment_device);
}
device_initcall(compartment_init);
