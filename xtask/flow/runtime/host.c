// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs a program for a compartment in a process of Linux: sets the registers of flow attestation
 * from its first four arguments, calls the program, serves what it asks for, and writes how it
 * ended to standard output:
 *
 *	"DONJFLOW", number of the request that ended it, x0 to x4, x28, x22 to x25,
 *	number of words in the log, words of the log
 *
 * as 64-bit words, little-endian. What the program prints goes to standard error.
 *
 * Requests are SVC with numbers that Linux does not look at, so each of them is replaced by BRK,
 * whose signal is caught. Nothing here is instrumented.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	PAGE = 4096,
	SHARED_SIZE = 512 * PAGE,
	LOG_SIZE = 256 << 20,
	/* What of it has memory before the program begins: so the faults are not the program's */
	LOG_READY = 16 << 20,
	/* requests */
	END = 0,
	CALL_OUT = 1,
	GROW = 2,
	SHRINK = 3,
	EXIT = 4,
	RANDOM = 8,
	FLOW_END = 12,
	/* what a host is asked for */
	OUTPUT = 1,
	ERROR = 2,
	INPUT = 3,
};

#define SHARED ((char *)0x2000000000)
#define HEAP 0x4000000000

extern uint32_t flow_text_start[], flow_text_end[];
void host_enter(const uint64_t *state, uint64_t *log, uint64_t a, uint64_t b);

static uint64_t log[LOG_SIZE / 8];
static char signal_stack[65536];
static uint64_t heap_pages;

static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static _Noreturn void leave(int status)
{
	for (;;)
		system_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

static uint64_t length(const char *text)
{
	uint64_t size = 0;

	while (text[size])
		size++;
	return size;
}

static _Noreturn void fail(const char *why)
{
	system_call(SYS_write, 2, (long)why, length(why), 0, 0, 0);
	leave(2);
}

static void put(const void *from, uint64_t size)
{
	const char *at = from;

	while (size) {
		long count = system_call(SYS_write, 1, (long)at, size, 0, 0, 0);

		if (count <= 0)
			leave(2);
		at += count;
		size -= count;
	}
}

static void *map(uint64_t address, uint64_t size)
{
	/* readable, writable; private, fixed, anonymous */
	return (void *)system_call(SYS_mmap, address, size, 3, 0x32, -1, 0);
}

static _Noreturn void end(const struct sigcontext *at, uint64_t request)
{
	uint64_t words = request == FLOW_END ? (at->regs[27] - (uint64_t)log) / 8 : 0;
	uint64_t head[13] = {
		0x574f4c464a4e4f44, request,	  at->regs[0],	at->regs[1],  at->regs[2],
		at->regs[3],	    at->regs[4],  at->regs[28], at->regs[22], at->regs[23],
		at->regs[24],	    at->regs[25], words,
	};

	put(head, sizeof(head));
	put(log, words * 8);
	leave(0);
}

static uint64_t serve(uint64_t word)
{
	uint64_t size = word >> 8;

	if (size > SHARED_SIZE)
		return UINT64_MAX;
	switch (word & 0xff) {
	case OUTPUT:
	case ERROR:
		return system_call(SYS_write, 2, (long)SHARED, size, 0, 0, 0);
	case INPUT:
		return system_call(SYS_read, 0, (long)SHARED, size, 0, 0, 0);
	}
	return UINT64_MAX;
}

static void grow(struct sigcontext *at)
{
	uint64_t pages = at->regs[0];

	if (pages > 1 << 16 || map(HEAP + heap_pages * PAGE, pages * PAGE) == (void *)-12)
		pages = 0;
	heap_pages += pages;
	at->regs[0] = pages;
	at->regs[1] = heap_pages;
}

static void shrink(struct sigcontext *at)
{
	uint64_t pages = at->regs[0] < heap_pages ? at->regs[0] : heap_pages;

	heap_pages -= pages;
	at->regs[0] = pages;
	at->regs[1] = heap_pages;
}

static void on_request(int number, siginfo_t *info, void *context)
{
	struct sigcontext *at = (void *)&((ucontext_t *)context)->uc_mcontext;
	uint64_t request = *(uint32_t *)at->pc >> 5 & 0xffff;

	(void)number;
	(void)info;
	at->pc += 4;
	switch (request) {
	case END:
	case EXIT:
	case FLOW_END:
		end(at, request);
	case CALL_OUT:
		at->regs[0] = serve(at->regs[0]);
		return;
	case GROW:
		grow(at);
		return;
	case SHRINK:
		shrink(at);
		return;
	case RANDOM:
		at->regs[0] = system_call(SYS_getrandom, (long)&at->regs[1], 32, 0, 0, 0, 0) == 32;
		return;
	case 1000:
		fail("the program has stopped at a trap\n");
	}
	at->regs[0] = 0;
}

static void catch_requests(void)
{
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { on_request, SA_SIGINFO | SA_ONSTACK, 0, 0 };
	stack_t stack = { signal_stack, 0, sizeof(signal_stack) };
	uint64_t text = (uint64_t)flow_text_start & -PAGE;

	system_call(SYS_sigaltstack, (long)&stack, 0, 0, 0, 0, 0);
	system_call(SYS_rt_sigaction, SIGTRAP, (long)&action, 0, 8, 0, 0);
	if (system_call(SYS_mprotect, text, (uint64_t)flow_text_end - text, 7, 0, 0, 0))
		fail("the text cannot be made writable\n");
	/* SVC and BRK have their numbers at one place. */
	for (uint32_t *at = flow_text_start; at < flow_text_end; at++) {
		if ((*at & 0xffe0001f) != 0xd4000001)
			continue;
		*at = 0xd4200000 | (*at & 0x1fffe0);
		__asm__ volatile("dc cvau, %0\n\tdsb ish\n\tic ivau, %0\n\tdsb ish\n\tisb"
				 : : "r"(at) : "memory");
	}
}

static uint64_t read_number(const char *text)
{
	uint64_t value = 0;

	for (; *text; text++)
		value = value << 4 | (*text & 15) + (*text > '9' ? 9 : 0);
	return value;
}

/* NAME STATE STATE STATE STATE ARGUMENT [WORD...], numbers in hexadecimal */
__attribute__((used)) static _Noreturn void host_main(const long *stack)
{
	long count = stack[0];
	char **words = (char **)(stack + 1);
	uint64_t state[4], a, b = 0;

	if (count < 6)
		fail("four words of state and an argument are needed\n");
	for (int i = 0; i < 4; i++)
		state[i] = read_number(words[1 + i]);
	a = read_number(words[5]);
	if (map((uint64_t)SHARED, SHARED_SIZE) != SHARED)
		fail("the shared pages cannot be mapped\n");
	for (long i = 6; i < count; i++) {
		uint64_t size = length(words[i]) + 1;

		for (uint64_t j = 0; j < size; j++)
			SHARED[b + j] = words[i][j];
		b += size;
		a = count - 6;
	}
	for (uint64_t at = 0; at < LOG_READY; at += PAGE)
		((volatile char *)log)[at] = 0;
	catch_requests();
	host_enter(state, log, a, b ? b - 1 : 0);
	leave(2);
}

__asm__(".pushsection .text\n"
	".global host_start\n"
	"host_start:\n"
	"	mov	x0, sp\n"
	"	b	host_main\n"
	".global host_enter\n"
	"host_enter:\n"
	"	ldp	x22, x23, [x0]\n"
	"	ldp	x24, x25, [x0, #16]\n"
	"	mov	x27, x1\n"
	"	mov	x28, #1\n"
	"	mov	x0, x2\n"
	"	mov	x1, x3\n"
	"	mov	x2, #0\n"
	"	mov	x3, #0\n"
	"	mov	x29, #0\n"
	"	mov	x30, #0\n"
	"	adrp	x4, flow_stack_end\n"
	"	add	x4, x4, :lo12:flow_stack_end\n"
	"	mov	sp, x4\n"
	"	adrp	x4, _start\n"
	"	add	x4, x4, :lo12:_start\n"
	"	br	x4\n"
	".popsection\n");
