// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Finds a regular expression in texts, without backtracking (Thompson): all states that could be
 * reached go through a text together, so its time is the product of both sizes at most.
 *
 *	matcher PATTERN TEXT…
 *
 * Without words, lines of the standard input: the pattern, then texts. Prints the texts in which it
 * is found; the result is how many, or a word with 0xdead above: 1 for a bad pattern, 2 for input
 * that is too long. A pattern has characters, `.`, sets as `[a-z_]` and `[^0-9]`, groups, `|`, `*`,
 * `+`, `?`, `^` and `$` at its ends, and `\` before a character that stands for itself.
 */
#include "matcher-pattern.h"

/* States to look at next; each is at most once in it. */
struct set {
	uint16_t count, at[STATES];
	uint32_t marks[STATES];
	uint32_t mark;
};

static struct set halves[2];

static void empty(struct set *it)
{
	it->count = 0;
	it->mark++;
}

/* Adds a state, if it is not there, and all that follow it without a character. */
static void add(struct set *it, uint16_t from)
{
	uint16_t waiting[STATES], depth = 0;

	if (it->marks[from] == it->mark)
		return;
	it->marks[from] = it->mark;
	waiting[depth++] = from;
	while (depth) {
		uint16_t at = waiting[--depth], next[2] = { states[at].next, states[at].other };
		int ways = states[at].kind == SPLIT ? 2 : states[at].kind == JOIN;

		it->at[it->count++] = at;
		while (ways--)
			if (it->marks[next[ways]] != it->mark) {
				it->marks[next[ways]] = it->mark;
				waiting[depth++] = next[ways];
			}
	}
}

static bool takes(const struct state *it, uint8_t character)
{
	switch (it->kind) {
	case CHARACTER:
		return it->character == character;
	case ANY:
		return true;
	case SET:
		return sets[it->character][character / 32] >> character % 32 & 1;
	default:
		return false;
	}
}

static void step(struct set *to, const struct set *from, uint8_t character)
{
	for (uint16_t i = 0; i < from->count; i++) {
		const struct state *it = states + from->at[i];

		if (takes(it, character))
			add(to, it->next);
	}
}

static bool has_end(const struct set *it)
{
	for (uint16_t i = 0; i < it->count; i++)
		if (states[it->at[i]].kind == END)
			return true;
	return false;
}

static bool is_in(const struct pattern *pattern, const char *text, size_t size)
{
	struct set *now = halves;

	empty(now);
	add(now, pattern->begin);
	for (size_t i = 0; i < size; i++) {
		struct set *next = halves + (now == halves);

		if (has_end(now) && !pattern->to_end)
			return true;
		empty(next);
		step(next, now, (uint8_t)text[i]);
		if (!pattern->from_begin)
			add(next, pattern->begin);
		now = next;
	}
	return has_end(now);
}

static uint64_t search(const struct pattern *pattern, const char *text, size_t size)
{
	if (!is_in(pattern, text, size))
		return 0;
	donjon_write(text, size);
	donjon_print("\n");
	return 1;
}

static uint64_t bad_pattern(void)
{
	donjon_print("this is no pattern\n");
	return BAD(1);
}

static uint64_t of_words(const char *words, int64_t count)
{
	struct pattern pattern;
	uint64_t found = 0;

	if (!compile(&pattern, words, strlen(words)))
		return bad_pattern();
	while (--count > 0) {
		words += strlen(words) + 1;
		found += search(&pattern, words, strlen(words));
	}
	return found;
}

static size_t line(const char *from, size_t size)
{
	size_t length = 0;

	while (length < size && from[length] != '\n')
		length++;
	return length;
}

static uint64_t of_lines(const char *from, size_t size)
{
	struct pattern pattern;
	size_t length = line(from, size);
	uint64_t found = 0;

	if (!compile(&pattern, from, length))
		return bad_pattern();
	while (length < size) {
		from += length + 1;
		size -= length + 1;
		length = line(from, size);
		if (size)
			found += search(&pattern, from, length);
	}
	return found;
}

uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	static char input[2 * DONJON_PAGE];
	int64_t words = donjon_arguments(a, b, input, sizeof(input)), count;
	size_t size = 0;

	(void)c;
	(void)d;
	if (words)
		return words < 0 ? BAD(2) : of_words(input, words);
	while ((count = donjon_read(input + size, sizeof(input) - size)) > 0) {
		size += (size_t)count;
		if (size == sizeof(input))
			return BAD(2);
	}
	return of_lines(input, size);
}

DONJON_PROGRAM(64, 1, 8);
