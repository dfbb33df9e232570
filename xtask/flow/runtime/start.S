/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How a call of a program under flow attestation begins and ends. The result is x0, and the 32
 * bytes that the program leaves in donjon_flow_data are x1 to x4, as big-endian words.
 */
	.section .text.donjon_start, "ax"
	.global _start
	.type _start, %function
_start:
	bl	donjon_call
	adrp	x5, donjon_flow_data
	add	x5, x5, :lo12:donjon_flow_data
	ldp	x1, x2, [x5]
	ldp	x3, x4, [x5, #16]
	rev	x1, x1
	rev	x2, x2
	rev	x3, x3
	rev	x4, x4
	svc	#12
	.size _start, .-_start

	.section .bss.donjon_flow_data, "aw", %nobits
	.global donjon_flow_data
	.balign 16
donjon_flow_data:
	.skip 32
	.section .note.GNU-stack, "", %progbits
