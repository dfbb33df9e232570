/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compiles a regular expression to states of a machine, each with two ways out at most. */
#ifndef MATCHER_PATTERN_H
#define MATCHER_PATTERN_H

#include <donjon.h>

#define BAD(what) (0xdead000000000000 | (uint64_t)(what))
#define STATES 512
#define SETS 32
/* Groups in groups */
#define DEEPEST 16

enum kind {
	CHARACTER,
	ANY,
	SET,
	JOIN,
	SPLIT,
	END,
};

struct state {
	uint8_t kind;
	/* For CHARACTER, or the number of a set */
	uint8_t character;
	uint16_t next, other;
};

/* A part of the machine; its end is a JOIN that leads nowhere yet. */
struct part {
	uint16_t begin, end;
};

struct pattern {
	uint16_t begin;
	bool from_begin, to_end;
};

struct parser {
	const char *at, *end;
	uint16_t states, sets;
	int depth;
	bool failed;
};

static struct state states[STATES];
static uint32_t sets[SETS][8];

static struct part alternatives(struct parser *it);

/* A new state; the first one again if there is no room, and the parser has failed. */
static uint16_t state(struct parser *it, enum kind kind, uint16_t next, uint16_t other)
{
	uint16_t new = it->states;

	if (new == STATES) {
		it->failed = true;
		return 0;
	}
	it->states++;
	states[new] = (struct state){ (uint8_t)kind, 0, next, other };
	return new;
}

static struct part single(struct parser *it, enum kind kind, uint8_t character)
{
	uint16_t end = state(it, JOIN, 0, 0);
	uint16_t begin = state(it, kind, end, 0);

	states[begin].character = character;
	return (struct part){ begin, end };
}

/* The next character, or what stands behind a backslash; -1 at the end. */
static int escaped(struct parser *it)
{
	if (it->at < it->end && *it->at == '\\')
		it->at++;
	return it->at < it->end ? (uint8_t)*it->at++ : -1;
}

static bool skip(struct parser *it, char character)
{
	if (it->at == it->end || *it->at != character)
		return false;
	it->at++;
	return true;
}

/* What is between the brackets. */
static struct part set(struct parser *it)
{
	uint16_t new = it->sets;
	bool is_inverse = skip(it, '^');
	uint32_t *bits = sets[new % SETS];

	if (new == SETS) {
		it->failed = true;
		return single(it, ANY, 0);
	}
	it->sets++;
	memset(bits, 0, sizeof(sets[0]));
	do {
		int first = escaped(it), last = first;

		if (it->at + 1 < it->end && it->at[0] == '-' && it->at[1] != ']') {
			it->at++;
			last = escaped(it);
		}
		if (first < 0 || last < first) {
			it->failed = true;
			break;
		}
		for (int i = first; i <= last; i++)
			bits[i / 32] |= 1u << i % 32;
	} while (!skip(it, ']'));
	for (int i = 0; i < 8 && is_inverse; i++)
		bits[i] = ~bits[i];
	return single(it, SET, (uint8_t)new);
}

static struct part atom(struct parser *it)
{
	struct part part;
	int character;

	if (skip(it, '.'))
		return single(it, ANY, 0);
	if (skip(it, '['))
		return set(it);
	if (skip(it, '(')) {
		if (++it->depth > DEEPEST) {
			it->failed = true;
			return single(it, ANY, 0);
		}
		part = alternatives(it);
		it->depth--;
		it->failed |= !skip(it, ')');
		return part;
	}
	/* What repeats something has to stand behind it. */
	if (*it->at == '*' || *it->at == '+' || *it->at == '?' || *it->at == ']')
		it->failed = true;
	character = escaped(it);
	it->failed |= character < 0;
	return single(it, CHARACTER, (uint8_t)character);
}

static struct part repeated(struct parser *it)
{
	struct part part = atom(it);

	while (it->at < it->end && !it->failed) {
		bool again = *it->at == '*' || *it->at == '+';
		bool maybe = *it->at == '*' || *it->at == '?';
		uint16_t end, split;

		if (!again && !maybe)
			break;
		it->at++;
		end = state(it, JOIN, 0, 0);
		split = state(it, SPLIT, part.begin, end);
		states[part.end].next = again ? split : end;
		part = (struct part){ maybe ? split : part.begin, end };
	}
	return part;
}

static struct part sequence(struct parser *it)
{
	uint16_t begin = state(it, JOIN, 0, 0);
	struct part all = { begin, begin };

	while (it->at < it->end && *it->at != '|' && *it->at != ')' && !it->failed) {
		struct part part = repeated(it);

		states[all.end].next = part.begin;
		all.end = part.end;
	}
	return all;
}

static struct part alternatives(struct parser *it)
{
	struct part all = sequence(it);

	while (skip(it, '|') && !it->failed) {
		struct part part = sequence(it);
		uint16_t end = state(it, JOIN, 0, 0);

		states[all.end].next = end;
		states[part.end].next = end;
		all = (struct part){ state(it, SPLIT, all.begin, part.begin), end };
	}
	return all;
}

/* Whether the last character is a `$` that does not stand for itself. */
static bool ends_text(const char *from, const char *end)
{
	const char *before = end - 1;

	if (from == end || *before != '$')
		return false;
	while (before > from && before[-1] == '\\')
		before--;
	return (end - 1 - before) % 2 == 0;
}

/* False if it is no pattern, or too large a one. */
static bool compile(struct pattern *to, const char *from, size_t size)
{
	struct parser parser = { .at = from, .end = from + size };
	struct part all;

	to->from_begin = skip(&parser, '^');
	to->to_end = ends_text(parser.at, parser.end);
	parser.end -= to->to_end;
	all = alternatives(&parser);
	states[all.end].next = state(&parser, END, 0, 0);
	to->begin = all.begin;
	return !parser.failed && parser.at == parser.end;
}

#endif
