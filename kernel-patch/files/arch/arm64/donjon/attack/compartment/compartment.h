/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A compartment of the attacker's own, with a secret that this module has put
 * there, but a module that came later would not have.
 */
#ifndef __DONJON_ATTACK_COMPARTMENT_H
#define __DONJON_ATTACK_COMPARTMENT_H

#include <linux/build_bug.h>

#include "attack.h"

/* Where its code and its data are. Linux maps nothing at the second one */
#define CODE		0x400000UL
#define DATA		0x3000000000UL
/* As the program has it */
static_assert(DATA == 0x30UL << 32);
/* Frames that each may have, and a large one. The first one has the lowest of the block */
#define FRAMES		16
#define LARGE		140

/* Two instructions that are allowed, so that text could be made of them */
#define SECRET		0xd503201fd503201fUL

/* programs.S: its code */
extern const u32 attack_program[], attack_program_end[];

/* What a compartment does in a call, by its first argument; the others are x, y, z. */
enum what {
	GIVE_BACK,	/* x */
	LOAD,		/* gives back the word at x */
	STORE,		/* y at x */
	FILL,		/* all registers but x0, x30 and sp with x; then as y says */
	GROW,		/* as far as it may, gives back how many pages */
	STAY,		/* for x rounds; 1 if it is in there twice */
	SEND,		/* y bytes at x by end z; what SVC SEND gives */
	RECEIVE,	/* y bytes at x by end z; what SVC RECEIVE gives */
	GROW_BY,	/* by x pages in one request, gives back how many there were */
	SHRINK_BY,	/* by x pages in one request, gives back how many there were */
	ASK,		/* who is there, random bytes, a report, whether it is genuine, a key */
	FILL_LOG,	/* with x, under flow attestation */
	ASK_HOST,	/* x; then ends its run under flow attestation */
	REPORT_LIMIT,	/* gives back the limit in a report of its own */
};

/* How a compartment that is told to FILL its registers is left. */
enum leave {
	BY_RETURN,
	BY_INTERRUPT,
	BY_FAULT,
	BY_REQUEST,
};

struct donjon_result compartment_call(u64 function, u64 a1, u64 a2, u64 a3, u64 a4);
/* Again while there is more to do. */
struct donjon_result compartment_call_whole(u64 function, u64 a1, u64 a2, u64 a3, u64 a4);
/* Offer a block as private memory. One that waits becomes private with the next. */
struct donjon_result make_private(u64 block, bool waits);
/* A call into it, again after each interrupt. Interrupts are on. */
struct donjon_result run_compartment(u64 handle, enum what what, u64 x, u64 y, u64 z);

/* The one with the secret at DATA, in a block that has nothing else. */
bool prepare_compartment(void);
/* Its handle, and a frame of the block. */
u64 prepared_compartment(void);
u64 private_frame(unsigned int index);
/* Its memory as it comes back to Linux, or NULL. */
struct page *take_block_back(void);
/* Prepare the compartment in a block of the caller's, which is given away. */
bool prepare_compartment_in(struct page *page);

/*
 * Others in the same block, which is prepared first; 0 if there is none to be had,
 * and attack_untried() has been called. A building one has code and waits for its
 * data and its seal.
 */
u64 make_compartment(void);
u64 make_building_compartment(void);
/* With any limit. The result of its making is the caller's to judge, as no handle is. */
u64 make_compartment_with_limit(u64 limit, struct donjon_result *result);
u64 make_large_building_compartment(void);
void destroy_compartment(u64 handle);
bool add_page(u64 handle, u64 va, u64 access, u64 pa);
bool seal_compartment(u64 handle);

/* Two that are joined, each with the number of its end. */
struct channel {
	u64 from, to;
	u32 from_end, to_end;
};

/* False if they cannot be joined, and attack_untried() has been called. */
bool connect_compartments(struct channel *channel);
/* Make two compartments and connect them. */
bool open_channel(struct channel *channel);
/* Move up to `bytes` bytes, from or to an address of the sender or receiver. */
struct donjon_result send_message(const struct channel *channel, u64 va, u64 bytes);
struct donjon_result receive_message(const struct channel *channel, u64 va, u64 bytes);
/* Whether `bytes` bytes were moved. */
bool message_has(struct donjon_result result, u64 bytes);

/*
 * The frame that the next page of text gets, as the linear map shows it, or NULL;
 * and a page at `pa` that is on its way there. attack_untried() has been called
 * if that does not work.
 */
const u64 *next_text_frame(const struct window *window, u64 pa);
bool begin_seal(const struct window *window, u64 pa);

#endif /* __DONJON_ATTACK_COMPARTMENT_H */
