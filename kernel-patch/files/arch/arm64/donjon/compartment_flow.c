// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compartments under flow attestation. Their log is pages of the host; what Linux
 * passes on here is bound by the inner domain, and Linux can only spoil it.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/donjon.h>

#include <asm/donjon.h>

#include "compartment.h"
#include "private.h"

static_assert(sizeof(struct donjon_compartment_message) == DONJON_FLOW_MESSAGE);
static_assert(sizeof(struct donjon_compartment_flow_report) == DONJON_FLOW_RECORD);

/* What the inner domain reads and writes: of one page, as the slabs of this size are */
#define BUFFER		SZ_256

static long begin(struct compartment *it, const struct donjon_compartment_flow *flow)
{
	void *nonce = kmemdup(flow->nonce, sizeof(flow->nonce), GFP_KERNEL);
	struct donjon_result result;

	if (!nonce)
		return -ENOMEM;
	result = __donjon_call(DONJON_FN_COMPARTMENT_FLOW, it->handle, virt_to_phys(nonce),
			       flow->arguments[0], flow->arguments[1],
			       flow->arguments[2], flow->arguments[3]);
	kfree(nonce);
	return result.status ? compartment_refused(result) : 0;
}

long compartment_flow(struct compartment *it, void __user *argument)
{
	struct donjon_compartment_flow flow;
	long error;

	if (copy_from_user(&flow, argument, sizeof(flow)))
		return -EFAULT;
	if (!it->handle)
		return -ENODEV;
	if (!PAGE_ALIGNED(flow.log | flow.bytes) || !flow.bytes ||
	    flow.bytes > DONJON_FLOW_LOG_PAGES_MAX * PAGE_SIZE)
		return -EINVAL;
	error = begin(it, &flow);
	if (error)
		return error;
	return compartment_share_log(it, flow.log, flow.bytes);
}

/*
 * Passes a buffer on to the inner domain, which writes over it. `read` and `written`
 * are how many bytes of the caller's go there and come back.
 */
static long pass(struct compartment *it, unsigned long function, void __user *user,
		 size_t read, size_t written)
{
	struct donjon_result result;
	void *buffer;
	long error = 0;

	if (!it->handle)
		return -ENODEV;
	buffer = kzalloc(BUFFER, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	if (copy_from_user(buffer, user, read)) {
		error = -EFAULT;
	} else {
		result = __donjon_call(function, it->handle, virt_to_phys(buffer), 0, 0, 0, 0);
		if (result.status)
			error = compartment_refused(result);
		else if (copy_to_user(user, buffer, written))
			error = -EFAULT;
	}
	kfree(buffer);
	return error;
}

long compartment_commit(struct compartment *it, void __user *argument)
{
	return pass(it, DONJON_FN_COMPARTMENT_COMMIT, argument, DONJON_FLOW_MESSAGE,
		    DONJON_FLOW_MESSAGE);
}

long compartment_flow_end(struct compartment *it, void __user *argument)
{
	return pass(it, DONJON_FN_COMPARTMENT_FLOW_END, argument, 0, DONJON_FLOW_MESSAGE);
}

long compartment_flow_report(struct compartment *it, void __user *argument)
{
	return pass(it, DONJON_FN_COMPARTMENT_FLOW_REPORT, argument, 0, DONJON_FLOW_RECORD);
}
