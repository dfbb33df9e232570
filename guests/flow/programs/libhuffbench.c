// SPDX-License-Identifier: MIT OR Apache-2.0
/* Huffman's code for 2 KiB of made-up text: canonical, written and read back bit by bit. */
#include "repeated.h"

#define SIZE 2048
#define SYMBOLS 256
#define LONGEST 31

static uint8_t text[SIZE], packed[SIZE * 2], unpacked[SIZE];
static uint32_t counts[SYMBOLS];

struct code {
	uint8_t lengths[SYMBOLS];
	uint32_t codes[SYMBOLS];
	/* Codes of each length, and the symbols in the order of their codes */
	uint16_t of_length[LONGEST + 1];
	uint8_t symbols[SYMBOLS];
};

/* A heap of the tree's nodes, the rarest first; nodes above SYMBOLS are inner ones. */
static uint16_t heap[SYMBOLS], parents[2 * SYMBOLS];
static uint32_t weights[2 * SYMBOLS];
static int heap_size;

static bool is_before(uint16_t one, uint16_t other)
{
	if (weights[one] != weights[other])
		return weights[one] < weights[other];
	return one < other;
}

static void push(uint16_t node)
{
	int i = heap_size++;

	while (i && is_before(node, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = node;
}

static uint16_t pop(void)
{
	uint16_t first = heap[0], last = heap[--heap_size];
	int i = 0, child;

	while ((child = 2 * i + 1) < heap_size) {
		if (child + 1 < heap_size && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

/* Few letters are frequent: each is the least of three draws. */
static void write_text(uint64_t *state)
{
	for (int i = 0; i < SIZE; i++) {
		uint32_t drawn = draw(state);
		uint8_t least = drawn & 63;

		for (int j = 8; j < 24; j += 8)
			if ((drawn >> j & 63) < least)
				least = drawn >> j & 63;
		text[i] = (uint8_t)(' ' + least);
	}
}

/* Joins the two rarest nodes until one is left. A length is the way up to that one. */
static void find_lengths(struct code *it)
{
	uint16_t next = SYMBOLS, root;

	heap_size = 0;
	for (int i = 0; i < SYMBOLS; i++) {
		weights[i] = counts[i];
		if (counts[i])
			push((uint16_t)i);
	}
	while (heap_size > 1) {
		uint16_t one = pop(), other = pop();

		weights[next] = weights[one] + weights[other];
		parents[one] = next;
		parents[other] = next;
		push(next++);
	}
	root = pop();
	for (uint16_t i = 0; i < SYMBOLS; i++) {
		it->lengths[i] = 0;
		for (uint16_t node = i; counts[i] && node != root; node = parents[node])
			it->lengths[i]++;
	}
}

/* Numbers the codes by length and symbol; false if one is too long. */
static bool number_codes(struct code *it)
{
	uint32_t code = 0;
	int place = 0;

	memset(it->of_length, 0, sizeof(it->of_length));
	for (uint8_t length = 1; length <= LONGEST; length++) {
		for (int i = 0; i < SYMBOLS; i++) {
			if (it->lengths[i] != length)
				continue;
			it->codes[i] = code++;
			it->symbols[place++] = (uint8_t)i;
			it->of_length[length]++;
		}
		code <<= 1;
	}
	/* A tree with all of its leaves uses the codes up. */
	return code == 0;
}

static size_t pack(const struct code *it)
{
	size_t bit = 0;

	memset(packed, 0, sizeof(packed));
	for (int i = 0; i < SIZE; i++) {
		uint32_t code = it->codes[text[i]];

		for (int j = it->lengths[text[i]] - 1; j >= 0; j--, bit++)
			packed[bit / 8] |= (uint8_t)((code >> j & 1) << (7 - bit % 8));
	}
	return bit;
}

static size_t unpack(const struct code *it)
{
	size_t bit = 0;

	for (int i = 0; i < SIZE; i++) {
		uint32_t code = 0, first = 0;
		int place = 0;

		for (int length = 1; length <= LONGEST; length++, bit++) {
			code = code << 1 | (packed[bit / 8] >> (7 - bit % 8) & 1);
			if (code - first < it->of_length[length]) {
				unpacked[i] = it->symbols[place + (int)(code - first)];
				bit++;
				break;
			}
			place += it->of_length[length];
			first = (first + it->of_length[length]) << 1;
		}
	}
	return bit;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	struct code code;
	size_t bits;

	write_text(&state);
	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < SIZE; i++)
		counts[text[i]]++;
	find_lengths(&code);
	if (!number_codes(&code))
		return FAILED(1);
	bits = pack(&code);
	if (bits >= SIZE * 6 || unpack(&code) != bits || memcmp(text, unpacked, SIZE))
		return FAILED(2);
	for (size_t i = 0; i < bits / 8; i++)
		sum = mix(sum, packed[i]);
	return mix(sum, bits);
}

DONJON_PROGRAM(64, 1, 4);
