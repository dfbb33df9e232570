// SPDX-License-Identifier: MIT OR Apache-2.0
/* The functions of donjon.h: each fills the struct of a request and takes the reply apart. */
#include <donjon.h>

void donjon_to_bytes(uint8_t *to, const uint64_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word = __builtin_bswap64(from[i]);

		memcpy(to + 8 * i, &word, 8);
	}
}

void donjon_to_words(uint64_t *to, const uint8_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word;

		memcpy(&word, from + 8 * i, 8);
		to[i] = __builtin_bswap64(word);
	}
}

void donjon_wipe(void *from, size_t size)
{
	volatile uint8_t *bytes = from;

	for (size_t i = 0; i < size; i++)
		bytes[i] = 0;
}

uint64_t donjon_call_out(uint64_t word)
{
	const struct donjon_word it = { .word = word };

	return donjon_request_call_out(&it).word;
}

void donjon_exit(uint64_t word)
{
	const struct donjon_word it = { .word = word };

	donjon_request_exit(&it);
	__builtin_unreachable();
}

uint64_t donjon_grow(uint64_t pages, uint64_t *all)
{
	const struct donjon_pages it = { .pages = pages };
	struct donjon_resized heap = donjon_request_grow(&it);

	if (all)
		*all = heap.all;
	return heap.pages;
}

uint64_t donjon_shrink(uint64_t pages, uint64_t *all)
{
	const struct donjon_pages it = { .pages = pages };
	struct donjon_resized heap = donjon_request_shrink(&it);

	if (all)
		*all = heap.all;
	return heap.pages;
}

int64_t donjon_send(uint64_t end, const void *from, size_t size, bool *is_open)
{
	const struct donjon_transfer it = {
		.end = end, .address = (uintptr_t)from, .size = size,
	};
	struct donjon_transferred moved = donjon_request_send(&it);

	if (is_open)
		*is_open = moved.is_open == 1;
	return (int64_t)moved.bytes;
}

int64_t donjon_receive(uint64_t end, void *to, size_t size, bool *is_open)
{
	const struct donjon_transfer it = {
		.end = end, .address = (uintptr_t)to, .size = size,
	};
	struct donjon_transferred moved = donjon_request_receive(&it);

	if (is_open)
		*is_open = moved.is_open == 1;
	return (int64_t)moved.bytes;
}

bool donjon_peer(uint64_t end, uint8_t measurement[32])
{
	const struct donjon_end it = { .end = end };
	struct donjon_peer_reply reply = donjon_request_peer(&it);

	memcpy(measurement, reply.measurement, sizeof(reply.measurement));
	return reply.found == 1;
}

bool donjon_random(uint8_t bytes[32])
{
	struct donjon_random_reply reply = donjon_request_random();
	bool is_there = reply.found == 1;

	memcpy(bytes, reply.bytes, sizeof(reply.bytes));
	donjon_wipe(&reply, sizeof(reply));
	return is_there;
}

bool donjon_key(uint64_t purpose, uint8_t key[32])
{
	const struct donjon_purpose it = { .purpose = purpose };
	struct donjon_key_reply reply = donjon_request_key(&it);
	bool is_there = reply.found == 1;

	memcpy(key, reply.key, sizeof(reply.key));
	donjon_wipe(&reply, sizeof(reply));
	return is_there;
}

bool donjon_report(const uint8_t data[64], struct donjon_report *report)
{
	struct donjon_report_arguments it;
	struct donjon_report_reply reply;

	memcpy(it.data, data, sizeof(it.data));
	reply = donjon_request_report(&it);
	memcpy(report->code, reply.code, sizeof(report->code));
	memcpy(report->measurement, reply.measurement, sizeof(report->measurement));
	report->limit = reply.limit;
	memcpy(report->data, data, sizeof(report->data));
	memcpy(report->started, reply.started, sizeof(report->started));
	report->version = reply.version;
	report->weakened = reply.weakened;
	report->identity = reply.identity;
	return reply.found == 1;
}

bool donjon_verify(const struct donjon_report *report)
{
	struct donjon_verify_arguments it = { .limit = report->limit };
	struct donjon_verify_reply reply;

	memcpy(it.code, report->code, sizeof(it.code));
	memcpy(it.measurement, report->measurement, sizeof(it.measurement));
	memcpy(it.data, report->data, sizeof(it.data));
	reply = donjon_request_verify(&it);
	/* Of another kind: about a run under flow attestation, which the host asked for */
	if (report->limit >> 32)
		return false;
	return reply.found == 1 &&
	       !memcmp(reply.started, report->started, sizeof(reply.started)) &&
	       reply.version == report->version && reply.weakened == report->weakened &&
	       reply.identity == report->identity;
}
