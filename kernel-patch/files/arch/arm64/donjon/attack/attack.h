/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the attacks have in common. Everything here is what a kernel can do that
 * belongs to an attacker: read any memory that is mapped, store anywhere, call
 * the inner domain with any arguments.
 */
#ifndef __DONJON_ATTACK_H
#define __DONJON_ATTACK_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/donjon.h>
#include <asm/page.h>

/* One way to carry an attack out. It says how it went, once, or the last counts. */
struct attempt {
	const char *attack, *name;
	void (*run)(void);
};

/*
 * Registers an attempt; names as the host's table of attacks has them. All are in
 * one section, whose ends the module's linker script defines.
 */
#define DONJON_ATTACK(attack_name, attempt_name, function)		\
	static const struct attempt __UNIQUE_ID(attempt)		\
	__used __section("donjon_attempts")				\
	__aligned(__alignof__(struct attempt))				\
	__attribute__((no_reorder)) =					\
		{ attack_name, attempt_name, function }

/* attempts.lds: all that is registered */
extern const struct attempt donjon_attempts_start[], donjon_attempts_end[];

/* From now on this attempt is the running one. */
void attack_begin(const struct attempt *attempt);
/* Say how the running attempt went, with its name in front. */
void __printf(1, 2) attack_succeeded(const char *format, ...);
void __printf(1, 2) attack_stopped(const char *format, ...);
/* It could not be tried, which counts as an error of the test. */
void __printf(1, 2) attack_untried(const char *format, ...);

/* The answer to a list: of a refusal the reason alone, as for a single entry. */
struct donjon_result without_index(struct donjon_result result);

/* Words for a refusal. */
const char *attack_why(struct donjon_result result);

/* Addresses of functions that are not exported, from /proc/kallsyms. */
extern unsigned long attack_set_fixmap, attack_ioremap;

/* What an attempt is about, by a parameter: an address, or a value of a register. */
extern unsigned long attack_value;

/* common/undo.c: what has been changed is put back after the audit, last first. */
void undo_later(void (*undo)(u64 first, u64 second), u64 first, u64 second);
void undo_all(void);

/* Write a table entry; put back later what stood there. */
struct donjon_result write_entry(u64 entry, u64 value);
/* Put an entry back later to `value`, after a plain store changed it. */
void restore_entry_later(u64 entry, u64 value);

/* common/walk.c: a table walk by software. */
struct step {
	u64 entry;	/* physical address of the last entry read */
	u64 value;
	int level;	/* of its table, 0 to 3 */
};

u64 kernel_root(void);
/* Down to a leaf, an invalid entry, or the given level. */
struct step walk_to(u64 root, unsigned long va, int level);
/* The frame that the kernel's address is mapped to. */
u64 frame_of(unsigned long va);
/* An invalid entry in the same table; 0 if there is none. */
u64 free_entry(u64 entry);

/* One access each; false if it faulted. */
bool try_load(const u64 *from, u64 *value);
bool try_store(u64 *to, u64 value);
/* Replace the word by itself, so that a store that succeeds breaks nothing. */
bool try_touch(u64 *word);

/* First byte of the inner domain's memory. */
u64 inner_memory(void);

/* common/console.c: the page with the console's registers, which is no memory. */
u64 console_page(void);

/* common/window.c: a page of address space whose entry of level 3 has become invalid. */
struct window {
	unsigned long va;
	u64 entry;	/* physical address */
	u64 old;	/* what was mapped */
};

/* False if there is none, and attack_untried() has been called. */
bool open_window(struct window *window);

/* Descriptors for them. */
u64 kernel_page(u64 pa);
u64 user_page(u64 pa);

/*
 * common/hole.c: an address of this process at which Linux has mapped nothing, and a
 * table of the attacker's own to fill the inner domain's from.
 */
struct hole {
	unsigned long va;
	u64 *descriptor;	/* the word of that table which is for the address */
};

/* False if there is none, and attack_untried() has been called. */
bool open_hole(struct hole *hole);
/* What the inner domain knows this process by. */
u64 this_process(void);
/* Have a descriptor taken over, from its place or from any. */
struct donjon_result fill_hole(const struct hole *hole, u64 descriptor);
struct donjon_result fill_hole_from(const struct hole *hole, u64 source);
/*
 * Show the filled hole in a process that does nothing, where the auditor finds it.
 * In this process the next fork has the descriptor read again.
 */
void show_hole(const struct hole *hole);
/* One access each as user mode would make it; false if it faulted. */
bool try_user_load(const struct hole *hole, u64 *value);
bool try_user_store(const struct hole *hole, u64 value);

/*
 * tables/linux_functions.c: a page by Linux's own means, which are not told of a
 * refusal.
 * 0 if Linux has none, and for all but the first attack_untried() has been called.
 */
u64 *map_by_vmap(u64 pa);
u64 *map_by_fixmap(u64 pa);
u64 *map_by_ioremap(u64 pa);
unsigned long map_for_process(u64 pa);

/* common/text.c: instructions. */
struct word {
	const char *name;
	u32 word;
};

/* MSR, with x0 */
#define MSR(register)		(0xd5000000U | (register))
#define SCRATCH_WORDS		256

extern __le32 donjon_attack_scratch[];
/* A place in the module's text; every place is a NOP, and a RET follows. */
unsigned long scratch(unsigned int index);
unsigned long run_scratch(unsigned long x0);
/* TEXT_POKE while all other CPUs wait inside for it. */
struct donjon_result poke_stopped(unsigned long va, u64 source, size_t bytes, u64 kind);
/* Poke one word in this way; put back later what stood there. */
struct donjon_result poke_word(unsigned long va, u32 word);
/* Undo a change of the scratch. */
void put_nops(u64 va, u64 bytes);
/* Each of the words, up to one without a name, into text of this module. */
void try_to_poke(const struct word *words);
/* Each of the words, up to one without a name, into a page that becomes text. */
void try_to_seal(const struct word *words);
/* common/reply.c: a call that gives something back writes it where the attacker says. */
struct donjon_result reply_refusal(u64 pa, u64 words);
struct donjon_result reply_log(u64 pa);
/* What a refusal's record has before the two words of its caller's choice. */
#define REPLY_HEADER	(sizeof(struct donjon_reply_header) +			\
			 offsetof(struct donjon_refusal_record, a1))

/* Make the page at this address text. */
struct donjon_result seal_page(unsigned long va);
/* A whole page of one word. */
void seal_page_of(u32 word);

/*
 * common/beside.c: a function that another CPU calls again and again, until it has
 * been ended. False if there is no other CPU, and attack_untried() has been called.
 */
bool begin_beside(void (*function)(void), unsigned int seconds);
/* Whether there is time left: the host may forget the other CPU for a while. */
bool is_beside(void);
void end_beside(void);
/* Turn other CPUs than these two off, for now. */
bool leave_two_cpus(void);

#define PAGE_OF(pa)		((pa) & 0x0000fffffffff000UL)
#define DESCRIPTOR_VALID	BIT(0)
#define DESCRIPTOR_TABLE	3UL

#endif /* __DONJON_ATTACK_H */
