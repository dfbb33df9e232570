// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels between compartments of the attacker's, and messages that reach too
 * far: over the end of what the sender has, and to one that is gone.
 */
#include <linux/kernel.h>
#include <linux/mm.h>

#include "compartment.h"

/* Where a compartment adds pages by itself */
#define HEAP	BIT(38)

bool connect_compartments(struct channel *channel)
{
	struct donjon_result ends;

	ends = compartment_call(DONJON_FN_COMPARTMENT_CONNECT, channel->from, channel->to, 0, 0);
	if (ends.status)
		attack_untried("no channel: %s", attack_why(ends));
	channel->from_end = lower_32_bits(ends.value);
	channel->to_end = upper_32_bits(ends.value);
	return !ends.status;
}

bool open_channel(struct channel *channel)
{
	channel->from = make_compartment();
	channel->to = channel->from ? make_compartment() : 0;
	return channel->to && connect_compartments(channel);
}

struct donjon_result send_message(const struct channel *channel, u64 va, u64 bytes)
{
	return run_compartment(channel->from, SEND, va, bytes, channel->from_end);
}

struct donjon_result receive_message(const struct channel *channel, u64 va, u64 bytes)
{
	return run_compartment(channel->to, RECEIVE, va, bytes, channel->to_end);
}

bool message_has(struct donjon_result result, u64 bytes)
{
	return result.status == DONJON_EXIT_RETURNED && result.value == bytes;
}

static bool grow(u64 handle)
{
	return message_has(run_compartment(handle, GROW_BY, 1, 0, 0), 1);
}

/*
 * Send over the end of the sender's last page. The next frame belongs to another
 * compartment, because frames are taken in turn from a new block.
 */
static void over_end(void)
{
	struct channel channel;
	struct donjon_result sent, received;
	u64 victim;

	if (!open_channel(&channel))
		return;
	victim = make_compartment();
	if (!victim)
		return;
	/* The first page of a heap takes tables as well */
	if (!grow(victim) || !grow(channel.from) || !grow(victim))
		return attack_untried("there is no heap");
	run_compartment(victim, STORE, HEAP + PAGE_SIZE, SECRET, 0);
	run_compartment(channel.to, STORE, DATA + sizeof(u64), 0, 0);
	sent = send_message(&channel, HEAP + PAGE_SIZE - sizeof(u64), 2 * sizeof(u64));
	if (message_has(sent, ~0UL))
		return attack_stopped("it may not send what it has not");
	received = receive_message(&channel, DATA, 2 * sizeof(u64));
	if (run_compartment(channel.to, LOAD, DATA + sizeof(u64), 0, 0).value == SECRET)
		attack_succeeded("another one's secret was sent");
	else
		attack_succeeded("%lu bytes were sent, %lu received", sent.value, received.value);
}

/* The receiver is gone, and a new compartment with its own channel has its place. */
static void recycled(void)
{
	struct channel old, new = {};
	struct donjon_result sent, received;

	if (!open_channel(&old))
		return;
	destroy_compartment(old.to);
	new.to = make_compartment();
	new.from = new.to ? make_compartment() : 0;
	if (!new.from || !connect_compartments(&new))
		return;
	if (lower_32_bits(old.to) != lower_32_bits(new.to) || old.to_end != new.to_end)
		return attack_untried("it has another place");
	sent = send_message(&old, DATA, sizeof(u64));
	received = receive_message(&new, DATA, sizeof(u64));
	if (message_has(received, sizeof(u64)))
		attack_succeeded("the new one has the old one's message for its partner's");
	else if (message_has(sent, 0))
		attack_stopped("the other end is closed");
	else
		attack_untried("%lu were sent, %lu received", sent.value, received.value);
}

DONJON_ATTACK("rewrite-message", "over-end", over_end);
DONJON_ATTACK("rewrite-message", "recycled", recycled);
