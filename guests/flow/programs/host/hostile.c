// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Writes inputs for ../protocol.c to the standard output:
 *
 *	hostile good                a session of a guest, without the planted bugs
 *	hostile admin               a session of an administrator, who opens the door
 *	hostile data                a guest who becomes an administrator by a note's last byte
 *	hostile return ADDRESS      an echo that returns to an address (hexadecimal)
 *	hostile pointer ADDRESS     a note that puts another function to the session's end
 *
 * A third word of the last two is the place of the address in the message, by default 72 and 24.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTER = 1, BEGIN, OPERAND, FINISH, NOTE, ECHO, DOOR, LEAVE };

static void message(int kind, const void *bytes, size_t size)
{
	putchar(kind);
	putchar((int)(size & 255));
	putchar((int)(size >> 8));
	fwrite(bytes, 1, size, stdout);
}

static void empty(int kind)
{
	message(kind, "", 0);
}

static void guest(void)
{
	message(ENTER, "guest\0welcome", 14);
}

static void good(void)
{
	message(ENTER, "guest\0wrong", 12);
	empty(DOOR);
	guest();
	message(BEGIN, "+", 1);
	for (uint8_t i = 1; i <= 20; i++)
		message(OPERAND, (uint8_t[]){ i, i, 0, 0 }, 4);
	empty(FINISH);
	message(BEGIN, "*", 1);
	for (uint8_t i = 2; i <= 9; i++)
		message(OPERAND, (uint8_t[]){ i, 0, 0, 0 }, 4);
	empty(FINISH);
	message(NOTE, "\0sixteen letters.", 17);
	message(ECHO, "a short text", 12);
	empty(DOOR);
	empty(LEAVE);
}

/* Zeros and the address behind them. */
static size_t addressed(uint8_t *to, size_t place, uint64_t address)
{
	memset(to, 0, place);
	for (int i = 0; i < 8; i++)
		to[place + (size_t)i] = (uint8_t)(address >> 8 * i);
	return place + 8;
}

static void echo_to(uint64_t address, size_t place)
{
	uint8_t bytes[1024];

	guest();
	message(ECHO, bytes, addressed(bytes, place, address));
	empty(LEAVE);
}

/* The first byte is the offset 0 of the note. */
static void end_at(uint64_t address, size_t place)
{
	uint8_t bytes[1025] = { 0 };

	guest();
	message(NOTE, bytes, 1 + addressed(bytes + 1, place, address));
	empty(LEAVE);
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	uint64_t address = count > 2 ? strtoull(words[2], NULL, 16) : 0;
	size_t place = count > 3 ? strtoull(words[3], NULL, 10) : 0;

	if (place > 1000) {
		fprintf(stderr, "the place %s is above 1000\n", words[3]);
		return 2;
	}
	if (!strcmp(what, "good")) {
		good();
	} else if (!strcmp(what, "admin")) {
		message(ENTER, "admin\0correct horse", 20);
		empty(DOOR);
		empty(LEAVE);
	} else if (!strcmp(what, "data")) {
		guest();
		message(NOTE, "\20\1", 2);
		empty(DOOR);
		empty(LEAVE);
	} else if (!strcmp(what, "return") && count > 2) {
		echo_to(address, place ? place : 72);
	} else if (!strcmp(what, "pointer") && count > 2) {
		end_at(address, place ? place : 24);
	} else {
		fprintf(stderr, "hostile good|admin|data|return ADDRESS [PLACE]|"
				"pointer ADDRESS [PLACE]\n");
		return 2;
	}
	return 0;
}
