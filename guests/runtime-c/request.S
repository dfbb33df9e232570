/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Requests to the inner domain. Each is a function of the address of 17 words: x0 to x16 before
 * and afterwards.
 */
#include <donjon_requests.h>

	.macro	request name, number
	.global	donjon_registers_\name
	.type	donjon_registers_\name, %function
donjon_registers_\name:
	str	x0, [sp, #-16]!
	mov	x17, x0
	ldp	x0, x1, [x17]
	ldp	x2, x3, [x17, #16]
	ldp	x4, x5, [x17, #32]
	ldp	x6, x7, [x17, #48]
	ldp	x8, x9, [x17, #64]
	ldp	x10, x11, [x17, #80]
	ldp	x12, x13, [x17, #96]
	ldp	x14, x15, [x17, #112]
	ldr	x16, [x17, #128]
	svc	#\number
	ldr	x17, [sp], #16
	stp	x0, x1, [x17]
	stp	x2, x3, [x17, #16]
	stp	x4, x5, [x17, #32]
	stp	x6, x7, [x17, #48]
	stp	x8, x9, [x17, #64]
	stp	x10, x11, [x17, #80]
	stp	x12, x13, [x17, #96]
	stp	x14, x15, [x17, #112]
	str	x16, [x17, #128]
	ret
	.endm

	.text
#define REQUEST(name, number) request name, number;
	DONJON_REQUESTS(REQUEST)
	.section .note.GNU-stack, "", %progbits
