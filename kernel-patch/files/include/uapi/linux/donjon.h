/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/donjon/compartment: a compartment for each file that is open. It is
 * gone when the file is closed.
 */
#ifndef _UAPI_LINUX_DONJON_H
#define _UAPI_LINUX_DONJON_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Access to pages of a compartment */
#define DONJON_COMPARTMENT_READ		0
#define DONJON_COMPARTMENT_WRITE	1
#define DONJON_COMPARTMENT_EXECUTE	2

/* Why a compartment was left */
#define DONJON_COMPARTMENT_RETURNED	1
#define DONJON_COMPARTMENT_INTERRUPTED	2	/* by a signal: run it again */
#define DONJON_COMPARTMENT_CALLED_OUT	3
#define DONJON_COMPARTMENT_ENDED	4
#define DONJON_COMPARTMENT_FAULTED	5
#define DONJON_COMPARTMENT_LOG_FULL	6	/* commit, then run it again */

struct donjon_compartment_create {
	__u64 frames;		/* that it may have, its tables included */
};

/* Whole pages, copied and measured */
struct donjon_compartment_add {
	__u64 va;		/* in the compartment */
	__u64 source;		/* in this process */
	__u64 bytes;
	__u64 access;
};

/* Whole pages of this process, which both read and write */
struct donjon_compartment_share {
	__u64 va;		/* in the compartment */
	__u64 address;		/* in this process */
	__u64 bytes;
};

struct donjon_compartment_seal {
	__u64 entry;
	__u64 stack;		/* its end */
};

struct donjon_compartment_run {
	__u64 arguments[4];	/* the first one answers a call to the host */
	__u64 exit;		/* DONJON_COMPARTMENT_* */
	__u64 value;
};

/* A channel to the compartment of another open file of this device */
struct donjon_compartment_connect {
	__s32 other;
	__u32 end;		/* its number here */
	__u32 other_end;	/* and there */
};

/*
 * Flow attestation of a compartment that is sealed and has not run: arguments of its
 * only call, and whole pages of this process for its log, which stay shared
 */
struct donjon_compartment_flow {
	__u8 nonce[32];
	__u64 arguments[4];
	__u64 log;		/* in this process */
	__u64 bytes;
};

/* A message of the transcript; to commit, with the digest of the log's new words */
struct donjon_compartment_message {
	__u8 bytes[96];
	__u8 digest[32];
};

struct donjon_compartment_flow_report {
	__u8 record[192];
};

struct donjon_compartment_info {
	__u64 frames;
	__u64 limit;
	__u64 phase;
	__u8 measurement[32];
};

#define DONJON_COMPARTMENT_IOCTL	0xd0
#define DONJON_COMPARTMENT_CREATE \
	_IOW(DONJON_COMPARTMENT_IOCTL, 0, struct donjon_compartment_create)
#define DONJON_COMPARTMENT_ADD \
	_IOW(DONJON_COMPARTMENT_IOCTL, 1, struct donjon_compartment_add)
#define DONJON_COMPARTMENT_SHARE \
	_IOW(DONJON_COMPARTMENT_IOCTL, 2, struct donjon_compartment_share)
#define DONJON_COMPARTMENT_SEAL \
	_IOW(DONJON_COMPARTMENT_IOCTL, 3, struct donjon_compartment_seal)
#define DONJON_COMPARTMENT_RUN \
	_IOWR(DONJON_COMPARTMENT_IOCTL, 4, struct donjon_compartment_run)
#define DONJON_COMPARTMENT_INFO \
	_IOR(DONJON_COMPARTMENT_IOCTL, 5, struct donjon_compartment_info)
/*
 * Makes bytes free for compartments, within what this one may have and has not yet
 * (EDQUOT). What is missing comes from Linux.
 */
#define DONJON_COMPARTMENT_RESERVE	_IOW(DONJON_COMPARTMENT_IOCTL, 6, __u64)

/* Another open file of this device, whose compartment is sealed and has not run */
#define DONJON_COMPARTMENT_CLONE	_IOW(DONJON_COMPARTMENT_IOCTL, 7, __s32)

#define DONJON_COMPARTMENT_CONNECT \
	_IOWR(DONJON_COMPARTMENT_IOCTL, 8, struct donjon_compartment_connect)

#define DONJON_COMPARTMENT_FLOW \
	_IOW(DONJON_COMPARTMENT_IOCTL, 9, struct donjon_compartment_flow)
#define DONJON_COMPARTMENT_COMMIT \
	_IOWR(DONJON_COMPARTMENT_IOCTL, 10, struct donjon_compartment_message)
#define DONJON_COMPARTMENT_FLOW_END \
	_IOR(DONJON_COMPARTMENT_IOCTL, 11, struct donjon_compartment_message)
#define DONJON_COMPARTMENT_FLOW_REPORT \
	_IOR(DONJON_COMPARTMENT_IOCTL, 12, struct donjon_compartment_flow_report)

#endif /* _UAPI_LINUX_DONJON_H */
