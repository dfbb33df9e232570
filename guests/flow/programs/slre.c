// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A small matcher for regular expressions that tries and goes back: characters, `.`, `\d`, `\w`,
 * `\s`, sets, groups that are captured, `|` in groups, and `*`, `+`, `?` behind what is no group.
 * Made-up lines of a log are searched.
 */
#include "repeated.h"

#define LINES 24
#define GROUPS 4

struct match {
	const char *text_end;
	/* Of the groups that were met, the last of them may be open */
	const char *begins[GROUPS], *ends[GROUPS];
	int groups;
};

static const char *here(struct match *it, const char *pattern, const char *text);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_of_class(char class, char c)
{
	if (class == 'd')
		return is_digit(c);
	if (class == 'w')
		return is_digit(c) || is_letter(c);
	if (class == 's')
		return c == ' ' || c == '\t';
	return class == c;
}

/* Behind the element that begins here: a character, an escape or a set. */
static const char *behind(const char *pattern)
{
	if (*pattern == '\\')
		return pattern + 2;
	if (*pattern != '[')
		return pattern + 1;
	while (*++pattern != ']')
		;
	return pattern + 1;
}

static bool is_in_set(const char *set, char c)
{
	bool is_inverse = *++set == '^', found = false;

	for (set += is_inverse; *set != ']'; set++) {
		if (set[1] == '-' && set[2] != ']') {
			found |= c >= set[0] && c <= set[2];
			set += 2;
		} else {
			found |= c == *set;
		}
	}
	return found != is_inverse;
}

static bool takes(const char *pattern, char c)
{
	if (*pattern == '.')
		return true;
	if (*pattern == '\\')
		return is_of_class(pattern[1], c);
	if (*pattern == '[')
		return is_in_set(pattern, c);
	return *pattern == c;
}

/* As many as there are, then less and less, until the rest is found. */
static const char *repeated(struct match *it, const char *element, const char *rest,
			    const char *text, int least, int most)
{
	int count = 0;

	while (count < most && text < it->text_end && takes(element, *text)) {
		text++;
		count++;
	}
	for (; count >= least; count--, text--) {
		const char *end = here(it, rest, text);

		if (end)
			return end;
	}
	return NULL;
}

/* The bracket that closes the group behind its opening one; groups have none in them. */
static const char *closing(const char *pattern)
{
	while (*pattern != ')')
		pattern = behind(pattern);
	return pattern;
}

/* Tries each way through a group, with what is behind the group. */
static const char *group(struct match *it, const char *pattern, const char *text)
{
	int number = it->groups++;
	const char *close = closing(pattern);

	for (;;) {
		const char *end;

		it->begins[number] = text;
		end = here(it, pattern, text);
		if (end)
			return end;
		it->groups = number + 1;
		while (pattern < close && *pattern != '|')
			pattern = behind(pattern);
		if (pattern == close)
			break;
		pattern++;
	}
	it->groups = number;
	return NULL;
}

/* Where the rest of a pattern ends that begins here; NULL if it does not. */
static const char *here(struct match *it, const char *pattern, const char *text)
{
	const char *rest;

	if (!*pattern)
		return text;
	if (*pattern == '$' && !pattern[1])
		return text == it->text_end ? text : NULL;
	if (*pattern == '(')
		return it->groups < GROUPS ? group(it, pattern + 1, text) : NULL;
	if (*pattern == ')' || *pattern == '|') {
		int number = it->groups - 1;
		const char *old = it->ends[number], *end;

		it->ends[number] = text;
		end = here(it, closing(pattern) + 1, text);
		if (!end)
			it->ends[number] = old;
		return end;
	}
	rest = behind(pattern);
	if (*rest == '*')
		return repeated(it, pattern, rest + 1, text, 0, INT32_MAX);
	if (*rest == '+')
		return repeated(it, pattern, rest + 1, text, 1, INT32_MAX);
	if (*rest == '?')
		return repeated(it, pattern, rest + 1, text, 0, 1);
	if (text < it->text_end && takes(pattern, *text))
		return here(it, rest, text + 1);
	return NULL;
}

/* The first place where a pattern is found. */
static const char *search(struct match *it, const char *pattern, const char *text, size_t size)
{
	it->text_end = text + size;
	if (*pattern == '^') {
		it->groups = 0;
		return here(it, pattern + 1, text) ? text : NULL;
	}
	for (; text <= it->text_end; text++) {
		it->groups = 0;
		if (here(it, pattern, text))
			return text;
	}
	return NULL;
}

static char *write_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static char *write_number(char *to, uint32_t number)
{
	if (number >= 10)
		to = write_number(to, number / 10);
	*to++ = (char)('0' + number % 10);
	return to;
}

/* As `12:07 GET /index/42 200 1.5s` */
static size_t write_line(char *to, uint64_t *state)
{
	static const char *const words[] = { "GET", "PUT", "POST", "HEAD" };
	static const char *const paths[] = { "/index/", "/pictures/old_", "/x-y/", "/" };
	char *at = to;

	at = write_number(at, 10 + draw(state) % 14);
	*at++ = ':';
	at = write_number(at, 10 + draw(state) % 50);
	*at++ = ' ';
	at = write_text(at, words[draw(state) % 4]);
	*at++ = ' ';
	at = write_text(at, paths[draw(state) % 4]);
	at = write_number(at, draw(state) % 1000);
	*at++ = ' ';
	at = write_number(at, draw(state) % 3 ? 200 : 404);
	*at++ = ' ';
	at = write_number(at, draw(state) % 20);
	at = write_text(at, draw(state) & 1 ? ".5s" : "s");
	return (size_t)(at - to);
}

static uint64_t once(uint64_t sum)
{
	static const char *const patterns[] = {
		"^(\\d\\d):(\\d\\d) (GET|PUT|POST|HEAD)\\s(/.*) ",
		"(/[a-z_/-]+)(\\d+) (404|500)",
		"^.*.*.*s$",
		"[^a-z ]+ (2\\d\\d) (\\d+\\.?\\d*)s$",
		"(old|new)_(\\w+)",
		"x+x+y",
	};
	uint64_t state = seeded(sum);
	struct match match = { 0 };

	if (search(&match, "(b+)(a|bc?)$", "abbbc", 5) == NULL || match.groups != 2 ||
	    match.ends[0] - match.begins[0] != 2)
		return FAILED(1);
	for (int i = 0; i < LINES; i++) {
		char line[80];
		size_t size = write_line(line, &state);

		for (size_t j = 0; j < sizeof(patterns) / sizeof(patterns[0]); j++) {
			const char *at = search(&match, patterns[j], line, size);

			sum = mix(sum, at ? (uint64_t)(at - line) : UINT64_MAX);
			for (int k = 0; at && k < match.groups; k++)
				sum = mix(sum, (uint64_t)(match.ends[k] - match.begins[k]));
			/* Each line ends in a second. */
			if ((j == 2) != (at != NULL) && (j == 2 || j == 5))
				return FAILED(2);
		}
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 8);
