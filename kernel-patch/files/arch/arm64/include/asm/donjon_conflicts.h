/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that rewrite the registers and tables on which the Donjon gate
 * depends. asm-offsets.c includes this, so a conflict ends the build at once.
 */
#ifndef __ASM_DONJON_CONFLICTS_H
#define __ASM_DONJON_CONFLICTS_H

#ifdef CONFIG_DONJON

#ifndef CONFIG_ARM64_VA_BITS_47
#error "CONFIG_DONJON needs CONFIG_ARM64_VA_BITS_47"
#endif
#ifdef CONFIG_ARM64_SW_TTBR0_PAN
#error "CONFIG_DONJON needs CONFIG_ARM64_SW_TTBR0_PAN=n: software PAN rewrites TTBR0_EL1 and TTBR1_EL1 around each user access"
#endif
#ifdef CONFIG_RANDOMIZE_BASE
#error "CONFIG_DONJON needs CONFIG_RANDOMIZE_BASE=n: KASLR makes kernel mappings non-global, and only the ASID separates the views on a TLB hit"
#endif
#ifdef CONFIG_ARM_SDE_INTERFACE
#error "CONFIG_DONJON needs CONFIG_ARM_SDE_INTERFACE=n: SDEI handlers ignore PSTATE.DAIF and would interrupt the gate"
#endif
#ifdef CONFIG_ARM64_PSEUDO_NMI
#error "CONFIG_DONJON needs CONFIG_ARM64_PSEUDO_NMI=n: the gate masks interrupts with PSTATE.DAIF alone"
#endif
#ifdef CONFIG_ARM64_POE
#error "CONFIG_DONJON needs CONFIG_ARM64_POE=n: it needs TCR2_EL1 and POR_EL1"
#endif
#ifdef CONFIG_ARM64_PTR_AUTH_KERNEL
#error "CONFIG_DONJON needs CONFIG_ARM64_PTR_AUTH_KERNEL=n: the kernel's own key would be written at each exception"
#endif
#ifdef CONFIG_SUSPEND
#error "CONFIG_DONJON needs CONFIG_SUSPEND=n: a CPU that resumes rewrites TCR_EL1 and VBAR_EL1, and may come back at EL2"
#endif
#ifdef CONFIG_ARM64_MTE
#error "CONFIG_DONJON needs CONFIG_ARM64_MTE=n: it needs TCR_EL1, MAIR_EL1 and SCTLR_EL1 bits of its own"
#endif
#ifdef CONFIG_KVM
#error "CONFIG_DONJON needs CONFIG_KVM=n: the hypervisor would own EL2, which the boot image closes"
#endif
#ifdef CONFIG_KEXEC_CORE
#error "CONFIG_DONJON needs CONFIG_KEXEC_CORE=n: the next kernel would start without the inner domain"
#endif
#ifdef CONFIG_CRASH_DUMP
#error "CONFIG_DONJON needs CONFIG_CRASH_DUMP=n: the next kernel would start without the inner domain"
#endif
#ifdef CONFIG_HIBERNATION
#error "CONFIG_DONJON needs CONFIG_HIBERNATION=n: the image would restore tables and registers from disk"
#endif
#ifdef CONFIG_ARM64_VA_BITS_52
#error "CONFIG_DONJON needs CONFIG_ARM64_VA_BITS_52=n: the outer view has 47 bits"
#endif
#ifdef CONFIG_ARM64_LPA2
#error "CONFIG_DONJON needs CONFIG_ARM64_LPA2=n: descriptors would have another format"
#endif
#ifdef CONFIG_ARM64_PA_BITS_52
#error "CONFIG_DONJON needs CONFIG_ARM64_PA_BITS_52=n: TTBR fields would have another format"
#endif
#ifdef CONFIG_ARM64_ACPI_PARKING_PROTOCOL
#error "CONFIG_DONJON needs CONFIG_ARM64_ACPI_PARKING_PROTOCOL=n: CPUs would start at Linux's own entry"
#endif
#ifdef CONFIG_MEMORY_HOTPLUG
#error "CONFIG_DONJON needs CONFIG_MEMORY_HOTPLUG=n: the linear map would grow behind the inner domain's back"
#endif
#ifdef CONFIG_RODATA_FULL_DEFAULT_ENABLED
#error "CONFIG_DONJON needs CONFIG_RODATA_FULL_DEFAULT_ENABLED=n: the linear map would be split into pages while it is live"
#endif
#ifdef CONFIG_KFENCE
#error "CONFIG_DONJON needs CONFIG_KFENCE=n: it changes the linear map at each allocation"
#endif
#ifdef CONFIG_DEBUG_PAGEALLOC
#error "CONFIG_DONJON needs CONFIG_DEBUG_PAGEALLOC=n: it changes the linear map at each allocation"
#endif
#ifdef CONFIG_ARM64_HAFT
#error "CONFIG_DONJON needs CONFIG_ARM64_HAFT=n: hardware would update table descriptors"
#endif
#ifdef CONFIG_NUMA_EMU
#error "CONFIG_DONJON needs CONFIG_NUMA_EMU=n: tables come from one pool, whatever the node"
#endif
#ifdef CONFIG_MEMORY_FAILURE
#error "CONFIG_DONJON needs CONFIG_MEMORY_FAILURE=n: a frame of a pool cannot be taken off line"
#endif
#ifdef CONFIG_KASAN
#error "CONFIG_DONJON needs CONFIG_KASAN=n: its shadow needs other table layouts and TCR_EL1 bits"
#endif
#ifdef CONFIG_ARM_SPE_PMU
#error "CONFIG_DONJON needs CONFIG_ARM_SPE_PMU=n: statistical profiling writes memory behind the tables"
#endif
#ifdef CONFIG_CORESIGHT
#error "CONFIG_DONJON needs CONFIG_CORESIGHT=n: trace buffers are written behind the tables"
#endif
#ifdef CONFIG_SHADOW_CALL_STACK
#error "CONFIG_DONJON needs CONFIG_SHADOW_CALL_STACK=n: it needs x18, too"
#endif
#ifdef CONFIG_XEN
#error "CONFIG_DONJON needs CONFIG_XEN=n: there would be a second user of the addresses and of HVC"
#endif
#ifdef CONFIG_MITIGATE_SPECTRE_BRANCH_HISTORY
#error "CONFIG_DONJON needs CONFIG_MITIGATE_SPECTRE_BRANCH_HISTORY=n: it moves VBAR_EL1 to vectors without the TCR_EL1 check"
#endif
#ifdef CONFIG_CAVIUM_ERRATUM_27456
#error "CONFIG_DONJON needs CONFIG_CAVIUM_ERRATUM_27456=n: its work-around must follow each TTBR0_EL1 write"
#endif
#ifdef CONFIG_QCOM_FALKOR_ERRATUM_1003
#error "CONFIG_DONJON needs CONFIG_QCOM_FALKOR_ERRATUM_1003=n: ASID and root must not change in one write there"
#endif
#ifndef CONFIG_STRICT_KERNEL_RWX
#error "CONFIG_DONJON needs CONFIG_STRICT_KERNEL_RWX: the hand-over takes kernel text and constants as final"
#endif
#if defined(CONFIG_MODULES) && !defined(CONFIG_STRICT_MODULE_RWX)
#error "CONFIG_DONJON needs CONFIG_STRICT_MODULE_RWX: text of modules becomes executable page by page, apart from their data"
#endif
#ifdef CONFIG_ARMV8_DEPRECATED
#error "CONFIG_DONJON needs CONFIG_ARMV8_DEPRECATED=n: its sysctls change SCTLR_EL1 while the system runs"
#endif
#ifdef CONFIG_BPF_JIT_ALWAYS_ON
#error "CONFIG_DONJON needs CONFIG_BPF_JIT_ALWAYS_ON=n: before the hand-over programs run in the interpreter"
#endif
#ifdef CONFIG_PREEMPT_RT
#error "CONFIG_DONJON needs CONFIG_PREEMPT_RT=n: an access with page faults disabled tries the locks of page tables, which sleep there"
#endif
#ifdef CONFIG_BOOT_CONFIG
#error "CONFIG_DONJON needs CONFIG_BOOT_CONFIG=n: the initramfs, which is not measured, would add kernel parameters before the hand-over"
#endif
#ifdef CONFIG_KGDB
#error "CONFIG_DONJON needs CONFIG_KGDB=n: a debugger would write text and registers from outside"
#endif

#endif /* CONFIG_DONJON */

#endif /* __ASM_DONJON_CONFLICTS_H */
