// SPDX-License-Identifier: MIT OR Apache-2.0
/* Requests to the inner domain. */
#include <donjon.h>

/* x0 to x16 before a request and afterwards (request.S) */
typedef uint64_t registers[17];

void donjon_request_call_out(registers);
void donjon_request_grow(registers);
void donjon_request_shrink(registers);
_Noreturn void donjon_request_exit(registers);
void donjon_request_send(registers);
void donjon_request_receive(registers);
void donjon_request_peer(registers);
void donjon_request_random(registers);
void donjon_request_report(registers);
void donjon_request_verify(registers);
void donjon_request_key(registers);

/* The inner domain has bytes in registers big-endian. */
static void to_bytes(uint8_t *to, const uint64_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word = __builtin_bswap64(from[i]);

		memcpy(to + 8 * i, &word, 8);
	}
}

static void to_words(uint64_t *to, const uint8_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t word;

		memcpy(&word, from + 8 * i, 8);
		to[i] = __builtin_bswap64(word);
	}
}

/* No copy of a secret stays on the stack. */
static void wipe(volatile uint64_t *x)
{
	for (size_t i = 0; i < sizeof(registers) / 8; i++)
		x[i] = 0;
}

uint64_t donjon_call_out(uint64_t word)
{
	registers x = { word };

	donjon_request_call_out(x);
	return x[0];
}

void donjon_exit(uint64_t word)
{
	registers x = { word };

	donjon_request_exit(x);
}

uint64_t donjon_grow(uint64_t pages, uint64_t *all)
{
	registers x = { pages };

	donjon_request_grow(x);
	if (all)
		*all = x[1];
	return x[0];
}

uint64_t donjon_shrink(uint64_t pages, uint64_t *all)
{
	registers x = { pages };

	donjon_request_shrink(x);
	if (all)
		*all = x[1];
	return x[0];
}

int64_t donjon_send(uint64_t end, const void *from, size_t size, bool *is_open)
{
	registers x = { end, (uintptr_t)from, size };

	donjon_request_send(x);
	if (is_open)
		*is_open = x[1] == 1;
	return (int64_t)x[0];
}

int64_t donjon_receive(uint64_t end, void *to, size_t size, bool *is_open)
{
	registers x = { end, (uintptr_t)to, size };

	donjon_request_receive(x);
	if (is_open)
		*is_open = x[1] == 1;
	return (int64_t)x[0];
}

bool donjon_peer(uint64_t end, uint8_t measurement[32])
{
	registers x = { end };

	donjon_request_peer(x);
	to_bytes(measurement, x + 1, 4);
	return x[0] == 1;
}

bool donjon_random(uint8_t bytes[32])
{
	registers x = { 0 };
	bool is_there;

	donjon_request_random(x);
	to_bytes(bytes, x + 1, 4);
	is_there = x[0] == 1;
	wipe(x);
	return is_there;
}

bool donjon_key(uint64_t purpose, uint8_t key[32])
{
	registers x = { purpose };
	bool is_there;

	donjon_request_key(x);
	to_bytes(key, x + 1, 4);
	is_there = x[0] == 1;
	wipe(x);
	return is_there;
}

bool donjon_report(const uint8_t data[64], struct donjon_report *report)
{
	registers x = { 0 };

	to_words(x, data, 8);
	donjon_request_report(x);
	to_bytes(report->code, x + 1, 4);
	to_bytes(report->measurement, x + 5, 4);
	report->limit = x[9];
	memcpy(report->data, data, sizeof(report->data));
	to_bytes(report->started, x + 10, 4);
	report->version = x[14];
	report->weakened = x[15];
	report->identity = x[16];
	return x[0] == 1;
}

bool donjon_verify(const struct donjon_report *report)
{
	registers x = { 0 };
	uint64_t started[4];

	to_words(x, report->code, 4);
	to_words(x + 4, report->measurement, 4);
	x[8] = report->limit;
	to_words(x + 9, report->data, 8);
	donjon_request_verify(x);
	to_words(started, report->started, 4);
	return x[0] == 1 && !memcmp(x + 10, started, sizeof(started)) &&
	       x[14] == report->version && x[15] == report->weakened &&
	       x[16] == report->identity;
}
