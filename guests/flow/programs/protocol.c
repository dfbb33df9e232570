// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A door that obeys messages from its standard input. A message is its kind, the length of what
 * follows (two bytes, the lower first) and that many bytes. Prints answers; the result is a sum of
 * messages and answers.
 *
 * TWO BUGS ARE PLANTED, for tests of flow attestation: in `reversed_sum` and in `note`. Inputs that
 * do not mean to meet them do not; host/hostile.c writes such that do.
 */
#include <donjon.h>

/* Functions that a test finds by their names, and whose frames are their own */
#if __has_attribute(noipa)
#define KEPT __attribute__((noipa))
#else
#define KEPT __attribute__((noinline))
#endif

enum state {
	LOGIN,
	AUTHENTICATED,
	COMMAND,
	DONE,
	STATES,
};

enum kind {
	/* A name and a password, a zero behind each */
	ENTER = 1,
	/* Begins a command: `+` or `*` */
	BEGIN,
	/* Four bytes, a number for the command */
	OPERAND,
	/* Answers what the command is of its numbers */
	FINISH,
	/* An offset and bytes that are put there in the notes */
	NOTE,
	/* Answers a sum of the bytes from behind */
	ECHO,
	/* Opens the door for an administrator */
	DOOR,
	LEAVE,
	KINDS,
};

/* What a message leads to: the state afterwards. STATES ends it all: the message was bad. */
typedef enum state (*handler)(const uint8_t *bytes, size_t size);
/* What is done at the end, with the bytes that are left */
typedef void (*ending)(size_t size);

static struct {
	uint8_t notes[16];
	/* Behind the notes: what the bug in `note` reaches */
	uint8_t is_admin;
	ending at_end;
	enum state state;
	uint32_t number;
	char command;
} session;

static struct {
	uint8_t bytes[2 * DONJON_PAGE];
	/* What was not handled yet */
	const uint8_t *at;
	size_t left;
} input;

static uint64_t sum;

static KEPT void add(uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15;
	sum = (sum ^ sum >> 31) & INT64_MAX;
}

static KEPT void answer(const char *text)
{
	add(strlen(text));
	donjon_print(text);
	donjon_print("\n");
}

static void answer_number(uint32_t number)
{
	char digits[11];
	int at = 10;

	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	add(number);
	answer(digits + at);
}

static KEPT void open_door(void)
{
	add(DOOR);
	donjon_print("the door opens\n");
}

static void rest(size_t size)
{
	add(size);
}

/* An administrator leaves the door open. */
static KEPT void leave_open(size_t size)
{
	rest(size);
	open_door();
}

static bool is_equal(const char *one, const char *other)
{
	return strlen(one) == strlen(other) && !memcmp(one, other, strlen(one));
}

static enum state enter(const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *name, *password;
		bool is_admin;
		ending at_end;
	} users[] = {
		{ "guest", "welcome", false, rest },
		{ "admin", "correct horse", true, leave_open },
	};
	const char *name = (const char *)bytes, *password;

	if (size < 2 || bytes[size - 1] || strlen(name) + 1 == size)
		return STATES;
	password = name + strlen(name) + 1;
	for (size_t i = 0; i < 2; i++)
		if (is_equal(name, users[i].name) && is_equal(password, users[i].password)) {
			session.is_admin = users[i].is_admin;
			session.at_end = users[i].at_end;
			answer("welcome");
			return AUTHENTICATED;
		}
	answer("no such user");
	return LOGIN;
}

static enum state begin(const uint8_t *bytes, size_t size)
{
	if (size != 1 || (bytes[0] != '+' && bytes[0] != '*'))
		return STATES;
	session.command = (char)bytes[0];
	session.number = session.command == '*';
	return COMMAND;
}

static enum state operand(const uint8_t *bytes, size_t size)
{
	uint32_t number;

	if (size != 4)
		return STATES;
	number = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
		 (uint32_t)bytes[3] << 24;
	if (session.command == '+')
		session.number += number;
	else
		session.number *= number;
	return COMMAND;
}

static enum state finish(const uint8_t *bytes, size_t size)
{
	(void)bytes;
	if (size)
		return STATES;
	answer_number(session.number);
	return AUTHENTICATED;
}

static KEPT void put(uint8_t *to, const uint8_t *from, size_t size)
{
	while (size--)
		*to++ = *from++;
}

/*
 * PLANTED: the offset is checked, but not where the bytes end. One byte at offset 16 makes an
 * administrator, along a legal path; eight at offset 24 are another `at_end`:
 * `leave_open` is a function that may stand there, `open_door` is not.
 */
static enum state note(const uint8_t *bytes, size_t size)
{
	if (size < 2 || bytes[0] > sizeof(session.notes))
		return STATES;
	put(session.notes + bytes[0], bytes + 1, size - 1);
	answer("noted");
	return AUTHENTICATED;
}

/*
 * PLANTED: no check whether the bytes fit. The buffer is all of this function's frame on arm64, and
 * behind it stand x29 and x30 of `echo`: bytes 72 to 79 are where `echo` returns to.
 */
static KEPT uint32_t reversed_sum(const uint8_t *bytes, size_t size)
{
	volatile uint8_t copy[64];
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		copy[i] = bytes[i];
	while (size--)
		sum = sum * 31 + copy[size];
	return sum;
}

static enum state echo(const uint8_t *bytes, size_t size)
{
	answer_number(reversed_sum(bytes, size));
	return AUTHENTICATED;
}

static enum state leave(const uint8_t *bytes, size_t size)
{
	(void)bytes;
	if (size)
		return STATES;
	answer("bye");
	return DONE;
}

static const handler handlers[KINDS] = {
	[ENTER] = enter, [BEGIN] = begin, [OPERAND] = operand, [FINISH] = finish,
	[NOTE] = note,	 [ECHO] = echo,	  [LEAVE] = leave,
};

/* Kinds that a state knows, one bit each */
static const uint16_t allowed[DONE] = {
	[LOGIN] = 1 << ENTER | 1 << LEAVE,
	[AUTHENTICATED] = 1 << BEGIN | 1 << NOTE | 1 << ECHO | 1 << DOOR | 1 << LEAVE,
	[COMMAND] = 1 << OPERAND | 1 << FINISH,
};

/*
 * Handles messages until one ends it. Whether all were good. No value of its own lives across a
 * call, so one that returns to another place of it is not noticed.
 */
static KEPT bool serve(void)
{
	while (session.state < DONE) {
		const uint8_t *bytes = input.at + 3;
		size_t size;
		uint8_t kind;

		if (input.left < 3)
			return false;
		kind = input.at[0];
		size = input.at[1] | (size_t)input.at[2] << 8;
		if (size > input.left - 3 || kind >= KINDS)
			return false;
		input.at += 3 + size;
		input.left -= 3 + size;
		add(kind);
		if (!(allowed[session.state] >> kind & 1) || (kind == DOOR && !session.is_admin))
			answer("refused");
		else if (kind == DOOR)
			open_door();
		else
			session.state = handlers[kind](bytes, size);
	}
	if (session.state != DONE)
		return false;
	session.at_end(input.left);
	return true;
}

uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	int64_t count;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	memset(&session, 0, sizeof(session));
	session.at_end = rest;
	sum = 0;
	input.at = input.bytes;
	input.left = 0;
	while ((count = donjon_read(input.bytes + input.left,
				    sizeof(input.bytes) - input.left)) > 0)
		input.left += (size_t)count;
	if (!serve()) {
		donjon_print("bad message\n");
		return 0xdead000000000001;
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
