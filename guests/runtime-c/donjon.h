/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Programs in C for compartments. One has
 *
 *	#include <donjon.h>
 *
 *	uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
 *	{
 *		donjon_print("in a compartment\n");
 *		return 0;
 *	}
 *
 *	DONJON_PROGRAM(64, 1, 4);
 *
 * The function is one call: its stack begins anew each time, and static variables keep what they
 * have. `cargo xtask compartment build` compiles it. There is no C library but memcpy, memmove,
 * memset, memcmp and strlen.
 */
#ifndef DONJON_H
#define DONJON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <donjon_requests.h>

#define DONJON_PAGE	4096
/* Where the heap begins */
#define DONJON_HEAP	((char *)0x4000000000)
/* Where the pages begin that the compartment shares with its host */
#define DONJON_SHARED	((volatile char *)0x2000000000)
/* The answer of a host to a request that failed */
#define DONJON_FAILED	UINT64_MAX

/* The program's */
uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * What the report of a run under flow attestation binds beside the result; zeros unless the program
 * writes it. Only programs of `cargo xtask flow build` have it. The verifier prints the bytes in
 * this order.
 */
extern uint8_t donjon_flow_data[32];

#define DONJON_TEXT_(it) #it
#define DONJON_TEXT(it) DONJON_TEXT_(it)

/*
 * Frames that it may have, its tables included; pages that it shares, at most 512; pages of its
 * stack. Once in a program, all three as plain numbers.
 */
#define DONJON_PROGRAM(limit, shared_pages, stack_pages)			\
	__asm__(								\
		".pushsection .bss.donjon_stack, \"aw\", %nobits\n"		\
		".balign 4096\n"						\
		".skip " DONJON_TEXT(stack_pages) " * 4096\n"			\
		".Ldonjon_stack_end:\n"						\
		".popsection\n"							\
		".pushsection .note.donjon, \"a\", %note\n"			\
		".balign 4\n"							\
		".word 7, 32, 1\n"						\
		".asciz \"Donjon\"\n"						\
		".balign 4\n"							\
		".quad " DONJON_TEXT(limit) ", " DONJON_TEXT(shared_pages) "\n"	\
		".quad .Ldonjon_stack_end, " DONJON_TEXT(stack_pages) " * 4096\n" \
		".popsection\n");						\
	const uint64_t donjon_shared_size = (shared_pages) * 4096ull

extern const uint64_t donjon_shared_size;

/* Asks the host, and gives its answer, which is the attacker's choice. */
uint64_t donjon_call_out(uint64_t word);
/* Ends the compartment for good. */
_Noreturn void donjon_exit(uint64_t word);

/* Pages at the end of the heap; how many were added or taken away. *all, unless NULL, is how many
 * there are.
 */
uint64_t donjon_grow(uint64_t pages, uint64_t *all);
uint64_t donjon_shrink(uint64_t pages, uint64_t *all);

/* How many bytes moved, -1 without such an end of a channel. *is_open, unless NULL, is whether the
 * other compartment is there.
 */
int64_t donjon_send(uint64_t end, const void *from, size_t size, bool *is_open);
int64_t donjon_receive(uint64_t end, void *to, size_t size, bool *is_open);
/* The measurement of the compartment at the other end; false if it is not there. */
bool donjon_peer(uint64_t end, uint8_t measurement[32]);

/* Random bytes; false if this machine has no source of them. */
bool donjon_random(uint8_t bytes[32]);
/* A key that no compartment with another measurement gets; false if this boot has no secret. */
bool donjon_key(uint64_t purpose, uint8_t key[32]);

/* What the inner domain says about a compartment that asked for it. */
struct donjon_report {
	uint8_t code[32];	/* what authenticates it, to compartments of this boot */
	uint8_t measurement[32];
	uint64_t limit;
	uint8_t data[64];	/* what it had reported */
	uint8_t started[32];	/* digest of inner domain and Linux */
	uint64_t version;	/* of the inner domain */
	uint64_t weakened;	/* bits that tell a build which leaves out a check */
	uint64_t identity;	/* where the machine's identity comes from */
};

/* A report about this compartment; false if this boot has no secret. */
bool donjon_report(const uint8_t data[64], struct donjon_report *report);
/*
 * Whether it was made in this boot at the request of the compartment that it is about, and says of
 * the boot what is so.
 */
bool donjon_verify(const struct donjon_report *report);

/* Writes to the standard output of donjon-run, or to its standard error. */
bool donjon_write(const void *from, size_t size);
bool donjon_write_error(const void *from, size_t size);
bool donjon_print(const char *text);
/* Reads from its standard input: how many bytes, 0 at its end, -1 if the host has none. */
int64_t donjon_read(void *to, size_t size);
/*
 * The words behind the image in the command line of donjon-run, with a zero behind each: how many,
 * of the first two arguments of a call; -1 if they do not fit. To be asked for before anything is
 * written or read.
 */
int64_t donjon_arguments(uint64_t a, uint64_t b, char *to, size_t size);

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *text);

#endif
