/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Firmware calls without SMC and HVC: the inner domain makes those that are
 * on its list. Three arguments arrive, one result comes back.
 */
#ifndef __ASM_DONJON_FIRMWARE_H
#define __ASM_DONJON_FIRMWARE_H

struct arm_smccc_res;

void donjon_smccc(unsigned long id, unsigned long a1, unsigned long a2,
		  unsigned long a3, struct arm_smccc_res *res);

/* By the number of arguments, the last of which is the result */
#define __donjon_smccc_2(a0, res)					\
	donjon_smccc((u32)(a0), 0, 0, 0, res)
#define __donjon_smccc_3(a0, a1, res)					\
	donjon_smccc((u32)(a0), (unsigned long)(a1), 0, 0, res)
#define __donjon_smccc_4(a0, a1, a2, res)				\
	donjon_smccc((u32)(a0), (unsigned long)(a1),			\
		     (unsigned long)(a2), 0, res)
#define __donjon_smccc_5(a0, a1, a2, a3, res)				\
	donjon_smccc((u32)(a0), (unsigned long)(a1),			\
		     (unsigned long)(a2), (unsigned long)(a3), res)
#define __donjon_smccc_6(a0, a1, a2, a3, a4, res)			\
	((void)(a4), __donjon_smccc_5(a0, a1, a2, a3, res))
#define __donjon_smccc_7(a0, a1, a2, a3, a4, a5, res)			\
	((void)(a5), __donjon_smccc_6(a0, a1, a2, a3, a4, res))
#define __donjon_smccc_8(a0, a1, a2, a3, a4, a5, a6, res)		\
	((void)(a6), __donjon_smccc_7(a0, a1, a2, a3, a4, a5, res))
#define __donjon_smccc_9(a0, a1, a2, a3, a4, a5, a6, a7, res)		\
	((void)(a7), __donjon_smccc_8(a0, a1, a2, a3, a4, a5, a6, res))

#define donjon_smccc_1_1(...)						\
	CONCATENATE(__donjon_smccc_, COUNT_ARGS(__VA_ARGS__))(__VA_ARGS__)

#endif /* __ASM_DONJON_FIRMWARE_H */
