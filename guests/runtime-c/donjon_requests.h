/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Requests to the inner domain, for programs in C. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef DONJON_REQUESTS_H
#define DONJON_REQUESTS_H

/* Numbers of SVC */
#define DONJON_SVC_RETURN 0
#define DONJON_SVC_CALL_OUT 1
#define DONJON_SVC_GROW 2
#define DONJON_SVC_SHRINK 3
#define DONJON_SVC_EXIT 4
#define DONJON_SVC_SEND 5
#define DONJON_SVC_RECEIVE 6
#define DONJON_SVC_PEER 7
#define DONJON_SVC_RANDOM 8
#define DONJON_SVC_REPORT 9
#define DONJON_SVC_VERIFY 10
#define DONJON_SVC_KEY 11
#define DONJON_SVC_FLOW_END 12

/* Name and number of each request that has a function */
#define DONJON_REQUESTS(it) \
	it(call_out, 1) \
	it(grow, 2) \
	it(shrink, 3) \
	it(exit, 4) \
	it(send, 5) \
	it(receive, 6) \
	it(peer, 7) \
	it(random, 8) \
	it(report, 9) \
	it(verify, 10) \
	it(key, 11)

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

/* Registers hold bytes as big-endian words (request.c). */
void donjon_to_bytes(uint8_t *to, const uint64_t *from, size_t words);
void donjon_to_words(uint64_t *to, const uint8_t *from, size_t words);
/* Fills with zeros what may have been a secret. */
void donjon_wipe(void *from, size_t size);

struct donjon_word {
	/* The word. */
	uint64_t word;
};

struct donjon_pages {
	/* The number of pages. */
	uint64_t pages;
};

struct donjon_resized {
	/* Pages that were added or taken away. */
	uint64_t pages;
	/* Pages that the heap has now. */
	uint64_t all;
};

struct donjon_transfer {
	/* The end of a channel, 0 to 3. */
	uint64_t end;
	/* Where the bytes are in the program's memory. */
	uint64_t address;
	/* The number of bytes; 1024 move at most. */
	uint64_t size;
};

struct donjon_transferred {
	/* Bytes that moved; -1 without such an end or memory. */
	uint64_t bytes;
	/* 1 as long as the other compartment is there. */
	uint64_t is_open;
};

struct donjon_end {
	/* The end's number, 0 to 3. */
	uint64_t end;
};

struct donjon_peer_reply {
	/*
	 * 1; 0 if the other compartment is not there any more; -1 without such
	 * an end.
	 */
	uint64_t found;
	/* The other compartment's measurement. */
	uint8_t measurement[32];
};

struct donjon_random_reply {
	/* 1; 0 if this machine has no source of random bytes. */
	uint64_t found;
	/* The bytes. */
	uint8_t bytes[32];
};

struct donjon_report_arguments {
	/* Bytes of the program's choice. */
	uint8_t data[64];
};

struct donjon_report_reply {
	/* 1; 0 if this boot has no secret. */
	uint64_t found;
	/* The code that authenticates the report. */
	uint8_t code[32];
	/* The compartment's measurement. */
	uint8_t measurement[32];
	/* Frames that the compartment may have. */
	uint64_t limit;
	/* Digest of what was started: inner domain and Linux. */
	uint8_t started[32];
	/* Version of the inner domain. */
	uint64_t version;
	/* Bits that tell a build which leaves out a check. */
	uint64_t weakened;
	/* Where the machine's identity comes from. */
	uint64_t identity;
};

struct donjon_verify_arguments {
	/* The code of the report. */
	uint8_t code[32];
	/* The measurement in the report. */
	uint8_t measurement[32];
	/* The limit in the report. */
	uint64_t limit;
	/* The bytes that the other compartment chose. */
	uint8_t data[64];
};

struct donjon_verify_reply {
	/* 1 if the report was made in this boot. */
	uint64_t found;
	/* Digest of what was started: inner domain and Linux. */
	uint8_t started[32];
	/* Version of the inner domain. */
	uint64_t version;
	/* Bits that tell a build which leaves out a check. */
	uint64_t weakened;
	/* Where the machine's identity comes from. */
	uint64_t identity;
	/*
	 * Zeros: a program of interface 4, which looks for these facts here,
	 * accepts none.
	 */
	uint8_t zeros[72];
};

struct donjon_purpose {
	/* A number of the program's choice: each gives another key. */
	uint64_t purpose;
};

struct donjon_key_reply {
	/* 1; 0 if this boot has no secret. */
	uint64_t found;
	/* The key. */
	uint8_t key[32];
};

void donjon_registers_call_out(uint64_t *x);

/* Asks the host, which answers with a word. */
static inline struct donjon_word
donjon_request_call_out(const struct donjon_word *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_word reply;

	x[0] = arguments->word;
	donjon_registers_call_out(x);
	reply.word = x[0];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_grow(uint64_t *x);

/* Adds pages of zeros at the end of the heap. */
static inline struct donjon_resized
donjon_request_grow(const struct donjon_pages *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_resized reply;

	x[0] = arguments->pages;
	donjon_registers_grow(x);
	reply.pages = x[0];
	reply.all = x[1];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_shrink(uint64_t *x);

/* Takes pages away at the end of the heap, wiped. */
static inline struct donjon_resized
donjon_request_shrink(const struct donjon_pages *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_resized reply;

	x[0] = arguments->pages;
	donjon_registers_shrink(x);
	reply.pages = x[0];
	reply.all = x[1];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_exit(uint64_t *x);

/* Ends the compartment for good, with a last word. */
static inline void
donjon_request_exit(const struct donjon_word *arguments)
{
	uint64_t x[17] = { 0 };

	x[0] = arguments->word;
	donjon_registers_exit(x);
}

void donjon_registers_send(uint64_t *x);

/* Sends bytes by an end of a channel. */
static inline struct donjon_transferred
donjon_request_send(const struct donjon_transfer *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_transferred reply;

	x[0] = arguments->end;
	x[1] = arguments->address;
	x[2] = arguments->size;
	donjon_registers_send(x);
	reply.bytes = x[0];
	reply.is_open = x[1];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_receive(uint64_t *x);

/* Receives bytes by an end of a channel. */
static inline struct donjon_transferred
donjon_request_receive(const struct donjon_transfer *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_transferred reply;

	x[0] = arguments->end;
	x[1] = arguments->address;
	x[2] = arguments->size;
	donjon_registers_receive(x);
	reply.bytes = x[0];
	reply.is_open = x[1];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_peer(uint64_t *x);

/* Asks which compartment is at the other end of a channel. */
static inline struct donjon_peer_reply
donjon_request_peer(const struct donjon_end *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_peer_reply reply;

	x[0] = arguments->end;
	donjon_registers_peer(x);
	reply.found = x[0];
	donjon_to_bytes(reply.measurement, x + 1, 4);
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_random(uint64_t *x);

/* Asks for random bytes. */
static inline struct donjon_random_reply
donjon_request_random(void)
{
	uint64_t x[17] = { 0 };
	struct donjon_random_reply reply;

	donjon_registers_random(x);
	reply.found = x[0];
	donjon_to_bytes(reply.bytes, x + 1, 4);
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_report(uint64_t *x);

/* Asks for a report about this compartment. */
static inline struct donjon_report_reply
donjon_request_report(const struct donjon_report_arguments *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_report_reply reply;

	donjon_to_words(x + 0, arguments->data, 8);
	donjon_registers_report(x);
	reply.found = x[0];
	donjon_to_bytes(reply.code, x + 1, 4);
	donjon_to_bytes(reply.measurement, x + 5, 4);
	reply.limit = x[9];
	donjon_to_bytes(reply.started, x + 10, 4);
	reply.version = x[14];
	reply.weakened = x[15];
	reply.identity = x[16];
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_verify(uint64_t *x);

/* Asks whether a report was made in this boot. */
static inline struct donjon_verify_reply
donjon_request_verify(const struct donjon_verify_arguments *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_verify_reply reply;

	donjon_to_words(x + 0, arguments->code, 4);
	donjon_to_words(x + 4, arguments->measurement, 4);
	x[8] = arguments->limit;
	donjon_to_words(x + 9, arguments->data, 8);
	donjon_registers_verify(x);
	reply.found = x[0];
	donjon_to_bytes(reply.started, x + 1, 4);
	reply.version = x[5];
	reply.weakened = x[6];
	reply.identity = x[7];
	donjon_to_bytes(reply.zeros, x + 8, 9);
	donjon_wipe(x, sizeof(x));
	return reply;
}

void donjon_registers_key(uint64_t *x);

/* Asks for a key that no compartment with another measurement gets. */
static inline struct donjon_key_reply
donjon_request_key(const struct donjon_purpose *arguments)
{
	uint64_t x[17] = { 0 };
	struct donjon_key_reply reply;

	x[0] = arguments->purpose;
	donjon_registers_key(x);
	reply.found = x[0];
	donjon_to_bytes(reply.key, x + 1, 4);
	donjon_wipe(x, sizeof(x));
	return reply;
}

#endif /* !__ASSEMBLER__ */

#endif /* DONJON_REQUESTS_H */
