// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A stable merge sort in place: runs are merged through a buffer of 32 elements where one fits, and
 * otherwise halved by rotations until one does. Elements are compared by a function.
 */
#include "repeated.h"

#define SIZE 600
#define BUFFER 32
/* Runs that are sorted by insertion */
#define RUN 12

struct element {
	uint32_t key;
	/* Where it was before */
	uint32_t place;
};

typedef bool (*order)(const struct element *one, const struct element *other);

static struct element elements[SIZE], buffer[BUFFER];

static bool by_key(const struct element *one, const struct element *other)
{
	return one->key < other->key;
}

static bool by_key_down(const struct element *one, const struct element *other)
{
	return one->key > other->key;
}

static void reverse(struct element *from, struct element *to)
{
	while (from < to) {
		struct element it = *from;

		*from++ = *--to;
		*to = it;
	}
}

/* What is from the middle on comes before what was in front. */
static void rotate(struct element *from, struct element *middle, struct element *to)
{
	reverse(from, middle);
	reverse(middle, to);
	reverse(from, to);
}

/* The first element that is not before another one. */
static struct element *lower(struct element *from, struct element *to, const struct element *of,
			     order is_before)
{
	while (from < to) {
		struct element *middle = from + (to - from) / 2;

		if (is_before(middle, of))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The first element that another one is before. */
static struct element *upper(struct element *from, struct element *to, const struct element *of,
			     order is_before)
{
	while (from < to) {
		struct element *middle = from + (to - from) / 2;

		if (is_before(of, middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static void insertion_sort(struct element *from, struct element *to, order is_before)
{
	for (struct element *at = from + 1; at < to; at++) {
		struct element it = *at, *place = at;

		for (; place > from && is_before(&it, place - 1); place--)
			*place = place[-1];
		*place = it;
	}
}

/* The first part fits into the buffer. */
static void merge_forward(struct element *from, struct element *middle, struct element *to,
			  order is_before)
{
	struct element *kept = buffer, *end = buffer;

	for (struct element *it = from; it < middle; it++)
		*end++ = *it;
	while (kept < end)
		*from++ = middle < to && is_before(middle, kept) ? *middle++ : *kept++;
}

/* The second part fits into the buffer. */
static void merge_backward(struct element *from, struct element *middle, struct element *to,
			   order is_before)
{
	struct element *end = buffer;

	for (struct element *it = middle; it < to; it++)
		*end++ = *it;
	while (end > buffer)
		*--to = middle > from && is_before(end - 1, middle - 1) ? *--middle : *--end;
}

static void merge(struct element *from, struct element *middle, struct element *to,
		  order is_before)
{
	struct element *cut, *other, *joint;

	/* What is in its place already stays there. */
	from = upper(from, middle, middle, is_before);
	if (from == middle)
		return;
	to = lower(middle, to, middle - 1, is_before);
	if (middle - from <= BUFFER) {
		merge_forward(from, middle, to, is_before);
		return;
	}
	if (to - middle <= BUFFER) {
		merge_backward(from, middle, to, is_before);
		return;
	}
	if (middle - from >= to - middle) {
		cut = from + (middle - from) / 2;
		other = lower(middle, to, cut, is_before);
	} else {
		other = middle + (to - middle) / 2;
		cut = upper(from, middle, other, is_before);
	}
	joint = cut + (other - middle);
	rotate(cut, middle, other);
	merge(from, cut, joint, is_before);
	merge(joint, other, to, is_before);
}

static void sort(int size, order is_before)
{
	struct element *end = elements + size;

	for (int i = 0; i < size; i += RUN)
		insertion_sort(elements + i, i + RUN < size ? elements + i + RUN : end, is_before);
	for (int run = RUN; run < size; run *= 2)
		for (int i = 0; i + run < size; i += 2 * run)
			merge(elements + i, elements + i + run,
			      i + 2 * run < size ? elements + i + 2 * run : end, is_before);
}

static bool is_sorted(int size, order is_before)
{
	for (int i = 1; i < size; i++) {
		const struct element *it = elements + i;

		if (is_before(it, it - 1))
			return false;
		if (!is_before(it - 1, it) && it->place <= it[-1].place)
			return false;
	}
	return true;
}

static void fill(int size, uint32_t keys, uint64_t *state)
{
	for (int i = 0; i < size; i++)
		elements[i] = (struct element){ draw(state) % keys, (uint32_t)i };
}

static uint64_t once(uint64_t sum)
{
	static const order orders[2] = { by_key, by_key_down };
	uint64_t state = seeded(sum);

	for (int i = 0; i < 4; i++) {
		int size = SIZE - (int)(draw(&state) % 100);
		order is_before = orders[draw(&state) & 1];
		uint32_t places = 0;

		/* Few keys, so many are equal, or many. */
		fill(size, i & 1 ? 1u << 20 : 20, &state);
		sort(size, is_before);
		if (!is_sorted(size, is_before))
			return FAILED(1);
		for (int j = 0; j < size; j++) {
			places += elements[j].place;
			sum = mix(sum, (uint64_t)elements[j].key << 32 | elements[j].place);
		}
		if (places != (uint32_t)(size * (size - 1) / 2))
			return FAILED(2);
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
