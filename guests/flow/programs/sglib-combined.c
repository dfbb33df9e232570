// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Containers: sorted arrays (quicksort and heap sort by functions that compare), a sorted list, a
 * hash table and a red-black tree (sglib-combined-tree.h) with the same numbers.
 */
#include "repeated.h"
#include "sglib-combined-tree.h"

#define SIZE 400
#define BUCKETS 64

/* Below zero, zero or above, as the first number is before, equal to or behind the second */
typedef int (*order)(uint32_t one, uint32_t other);

struct item {
	uint32_t number;
	struct item *next;
};

static uint32_t numbers[SIZE], sorted[SIZE], heap[SIZE];
static struct item items[2 * SIZE], *buckets[BUCKETS];
static int items_used;

static int by_size(uint32_t one, uint32_t other)
{
	return (one > other) - (one < other);
}

static int by_low_bits(uint32_t one, uint32_t other)
{
	int low = by_size(one & 0xffff, other & 0xffff);

	return low ? low : by_size(one, other);
}

static int backwards(uint32_t one, uint32_t other)
{
	return by_size(other, one);
}

static const order orders[3] = { by_size, by_low_bits, backwards };

static void exchange(uint32_t *one, uint32_t *other)
{
	uint32_t it = *one;

	*one = *other;
	*other = it;
}

static void insertion_sort(uint32_t *it, int size, order compare)
{
	for (int i = 1; i < size; i++) {
		uint32_t number = it[i];
		int j = i;

		for (; j && compare(number, it[j - 1]) < 0; j--)
			it[j] = it[j - 1];
		it[j] = number;
	}
}

/* Recurs into the smaller part alone, so the stack stays low. */
static void quicksort(uint32_t *it, int size, order compare)
{
	while (size > 8) {
		uint32_t pivot = it[size / 2];
		int i = 0, j = size - 1;

		for (;;) {
			while (compare(it[i], pivot) < 0)
				i++;
			while (compare(pivot, it[j]) < 0)
				j--;
			if (i >= j)
				break;
			exchange(it + i++, it + j--);
		}
		/* What is before i is not behind the pivot, and the rest not before it. */
		if (i < size - i) {
			quicksort(it, i, compare);
			it += i;
			size -= i;
		} else {
			quicksort(it + i, size - i, compare);
			size = i;
		}
	}
	insertion_sort(it, size, compare);
}

static void sift(uint32_t *it, int i, int size, order compare)
{
	int child;

	while ((child = 2 * i + 1) < size) {
		if (child + 1 < size && compare(it[child], it[child + 1]) < 0)
			child++;
		if (compare(it[child], it[i]) <= 0)
			return;
		exchange(it + i, it + child);
		i = child;
	}
}

static void heap_sort(uint32_t *it, int size, order compare)
{
	for (int i = size / 2; i--;)
		sift(it, i, size, compare);
	while (--size > 0) {
		exchange(it, it + size);
		sift(it, 0, size, compare);
	}
}

static struct item *item(uint32_t number, struct item *next)
{
	struct item *it = items + items_used++;

	it->number = number;
	it->next = next;
	return it;
}

static void list_insert(struct item **list, uint32_t number)
{
	while (*list && (*list)->number < number)
		list = &(*list)->next;
	*list = item(number, *list);
}

static struct item **bucket(uint32_t number)
{
	return buckets + (number * 0x9e3779b1 >> 26) % BUCKETS;
}

static bool hash_has(uint32_t number)
{
	for (struct item *it = *bucket(number); it; it = it->next)
		if (it->number == number)
			return true;
	return false;
}

/* False if it is not there. */
static bool hash_remove(uint32_t number)
{
	for (struct item **it = bucket(number); *it; it = &(*it)->next)
		if ((*it)->number == number) {
			*it = (*it)->next;
			return true;
		}
	return false;
}

static uint64_t sorts(uint64_t sum)
{
	for (int i = 2; i >= 0; i--) {
		memcpy(sorted, numbers, sizeof(sorted));
		memcpy(heap, numbers, sizeof(heap));
		quicksort(sorted, SIZE, orders[i]);
		heap_sort(heap, SIZE, orders[i]);
		if (memcmp(sorted, heap, sizeof(sorted)))
			return FAILED(1);
		for (int j = 0; j < SIZE; j += 16)
			sum = mix(sum, sorted[j]);
	}
	return sum;
}

/* Numbers are drawn until they are new to the table. */
static void fill(uint64_t *state)
{
	items_used = 0;
	memset(buckets, 0, sizeof(buckets));
	for (int i = 0; i < SIZE;) {
		struct item **list;

		numbers[i] = draw(state) & 0xffffff;
		if (hash_has(numbers[i]))
			continue;
		list = bucket(numbers[i]);
		*list = item(numbers[i], *list);
		i++;
	}
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	struct item *list = NULL, *it;
	uint32_t number = 0;

	fill(&state);
	sum = sorts(sum);
	if (has_failed(sum))
		return sum;
	for (int i = 0; i < SIZE; i += 4)
		list_insert(&list, numbers[i]);
	for (it = list; it; it = it->next) {
		if (it->number < number)
			return FAILED(2);
		number = it->number;
		sum = mix(sum, number);
	}
	tree_clear();
	for (int i = 0; i < SIZE; i++)
		tree_insert(numbers[i]);
	for (int i = 0; i < SIZE; i += 2)
		if (!hash_remove(numbers[i]) || !tree_remove(numbers[i]))
			return FAILED(3);
	for (int i = 0; i < SIZE; i++)
		if (hash_has(numbers[i]) != (i & 1) || tree_has(numbers[i]) != (i & 1))
			return FAILED(4);
	if (!tree_is_right())
		return FAILED(5);
	return tree_mix(sum);
}

DONJON_PROGRAM(64, 1, 4);
