/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a call begins. The stack pointer and the arguments are there, everything else is zero. */
#include <donjon_requests.h>

	.section .text.donjon_start, "ax"
	.global _start
_start:
	bl	donjon_call
	svc	#DONJON_SVC_RETURN
	.section .note.GNU-stack, "", %progbits
