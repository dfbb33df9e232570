/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a call begins. The stack pointer and the arguments are there, everything else is zero. */
	.section .text.donjon_start, "ax"
	.global _start
_start:
	bl	donjon_call
	svc	#0
	.section .note.GNU-stack, "", %progbits
