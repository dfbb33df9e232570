/* SPDX-License-Identifier: GPL-2.0-only */
/* What compartments of the attacker's execute. */
#include <asm/donjon_abi.h>

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
	.word	8f - 10b, 9f - 10b, 16f - 10b, 17f - 10b
	.word	18f - 10b, 19f - 10b
0:	svc	#DONJON_SVC_RETURN
1:	ldr	x0, [x0]
	svc	#DONJON_SVC_RETURN
2:	str	x2, [x0]
	svc	#DONJON_SVC_RETURN
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
14:	svc	#DONJON_SVC_RETURN
	nop
15:	b	15b
	nop
	ldr	x0, [x1]			// no address
	nop
	svc	#DONJON_SVC_CALL_OUT
	nop
4:	mov	x20, #0
11:	mov	x0, #1
	svc	#DONJON_SVC_GROW
	add	x20, x20, x0
	cbnz	x0, 11b
	mov	x0, x20
	svc	#DONJON_SVC_RETURN
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
13:	svc	#DONJON_SVC_RETURN
6:	mov	x0, x3
	svc	#DONJON_SVC_SEND
	svc	#DONJON_SVC_RETURN
7:	mov	x0, x3
	svc	#DONJON_SVC_RECEIVE
	svc	#DONJON_SVC_RETURN
8:	svc	#DONJON_SVC_GROW
	svc	#DONJON_SVC_RETURN
9:	svc	#DONJON_SVC_SHRINK
	svc	#DONJON_SVC_RETURN
16:	svc	#DONJON_SVC_PEER
	svc	#DONJON_SVC_RANDOM
	svc	#DONJON_SVC_REPORT
	svc	#DONJON_SVC_VERIFY
	svc	#DONJON_SVC_KEY
	svc	#DONJON_SVC_RETURN
17:	str	x0, [x27], #8
	b	17b
18:	svc	#DONJON_SVC_CALL_OUT
	svc	#DONJON_SVC_FLOW_END
19:	svc	#DONJON_SVC_REPORT
	mov	x0, x9
	svc	#DONJON_SVC_RETURN
	.global	attack_program_end
attack_program_end:

/* A request with what its host has given for arguments */
	.macro	fuzz number
	and	x0, x23, #3
	mov	x1, x22
	and	x2, x21, #0xfff
	mov	x9, x20
	svc	#\number
	eor	x20, x20, x1, ror #7
	eor	x21, x21, x2, ror #13
	eor	x23, x23, x0
	.endm

/*
 * Every request behind which a compartment goes on. The heap has pages first.
 * The one that leaves the compartment is the last but one, and the last one ends
 * the call.
 */
	.balign	8
	.global	fuzz_requests
fuzz_requests:
	mov	x20, x0
	mov	x21, x1
	mov	x22, x2
	mov	x23, x3
	fuzz	DONJON_SVC_GROW
	.irp	n, DONJON_SVC_GO_ON
	.if	\n != DONJON_SVC_CALL_OUT
	fuzz	\n
	.endif
	.endr
	fuzz	DONJON_SVC_CALL_OUT
	fuzz	DONJON_SVC_RETURN
	.global	fuzz_requests_end
fuzz_requests_end:
