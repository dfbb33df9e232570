/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What compartments of the attacker's execute. Requests are SVC: 0 the call is
 * over, 1 ask the host, 2 more heap, 3 less, 5 send, 6 receive, 7 who is there,
 * 8 random bytes, 9 a report, 10 whether one is genuine, 11 a key.
 */
	.section .rodata, "a"
	.arch_extension fp
	.arch_extension simd

/* x0 says what to do, as `enum what` has it; x1 to x3 are its arguments. */
	.balign	8
	.global	attack_program
attack_program:
	adr	x9, 10f
	ldr	w10, [x9, x0, lsl #2]
	add	x9, x9, x10
	mov	x0, x1
	br	x9
10:	.word	0f - 10b, 1f - 10b, 2f - 10b, 3f - 10b
	.word	4f - 10b, 5f - 10b, 6f - 10b, 7f - 10b
	.word	8f - 10b, 9f - 10b, 16f - 10b
0:	svc	#0
1:	ldr	x0, [x0]
	svc	#0
2:	str	x2, [x0]
	svc	#0
3:	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	dup	v\n\().2d, x1
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	dup	v\n\().2d, x1
	.endr
	mov	w3, #0x1f			// each exception of FP has been
	msr	fpsr, x3
	adr	x30, 14f
	add	x30, x30, x2, lsl #3
	.irp	n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
	mov	x\n, x1
	.endr
	.irp	n, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	mov	x\n, x1
	.endr
	br	x30
14:	svc	#0
	nop
15:	b	15b
	nop
	ldr	x0, [x1]			// no address
	nop
	svc	#1
	nop
4:	mov	x20, #0
11:	mov	x0, #1
	svc	#2
	add	x20, x20, x0
	cbnz	x0, 11b
	mov	x0, x20
	svc	#0
5:	movz	x2, #0x30, lsl #32
	mov	x3, #1
	ldr	x4, [x2, #8]
	cmp	x4, x3
	mov	x0, #1
	b.eq	13f
	str	x3, [x2, #8]
12:	subs	x1, x1, #1
	b.ne	12b
	str	xzr, [x2, #8]
	mov	x0, #0
13:	svc	#0
6:	mov	x0, x3
	svc	#5
	svc	#0
7:	mov	x0, x3
	svc	#6
	svc	#0
8:	svc	#2
	svc	#0
9:	svc	#3
	svc	#0
16:	svc	#7
	svc	#8
	svc	#9
	svc	#10
	svc	#11
	svc	#0
	.global	attack_program_end
attack_program_end:

/*
 * Every request but the one that ends it, with what its host has given for
 * arguments. The last one ends the call.
 */
	.balign	8
	.global	fuzz_requests
fuzz_requests:
	mov	x20, x0
	mov	x21, x1
	mov	x22, x2
	mov	x23, x3
	.irp	n, 2, 8, 5, 6, 7, 9, 10, 11, 3, 1, 0
	and	x0, x23, #3
	mov	x1, x22
	and	x2, x21, #0xfff
	mov	x9, x20
	svc	#\n
	eor	x20, x20, x1, ror #7
	eor	x21, x21, x2, ror #13
	eor	x23, x23, x0
	.endr
	.global	fuzz_requests_end
fuzz_requests_end:
