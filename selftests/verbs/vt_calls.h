/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of vt_calls: a caller, and what the threads of a process have in common. */
#ifndef HROCE_SELFTESTS_VT_CALLS_H
#define HROCE_SELFTESTS_VT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of objects, which handles are told apart by. */
enum kind {
	KIND_OTHER,
	KIND_PD,
	KIND_AH,
	KIND_MR,
	KIND_MW,
	KIND_CQ,
	KIND_SRQ,
	KIND_QP,
	KIND_XRCD,
	KIND_FD,
	KIND_NR,
};

#define CALLS_HANDLES	256
#define CALLS_FDS	16
#define CALLS_RINGS	16
#define CALLS_BUF	(1ul << 20)
#define CALLS_ATTRS	20
#define CALLS_ROOM	(1ul << 20)

/**
 * struct shared - what the threads of a process know; all of it may be wrong
 * @fd: the context
 * @opens: it opens queue pairs by number; if not, it joins multicast groups.
 *	   Both in one context meet a fault of uverbs, up to Linux 7.3: for a
 *	   queue pair that was opened, the mutex that joining takes is not
 *	   initialized.
 * @kind: of each handle, by what was last heard
 * @fds: descriptors that the kernel has handed out
 * @nr_fds: how many were stored in @fds, which is a ring
 * @qpns: numbers of queue pairs
 * @ring: where rings can be mapped
 * @buf: memory to register
 * @gid: address of the device
 * @gid_index: its index
 */
struct shared {
	int fd;
	bool opens;
	uint8_t kind[CALLS_HANDLES];
	int fds[CALLS_FDS];
	unsigned int nr_fds;
	uint32_t qpns[16];
	struct {
		uint64_t offset;
		uint32_t size;
	} ring[CALLS_RINGS];
	unsigned char *buf;
	uint8_t gid[16];
	int gid_index;
};

/**
 * struct room - memory that the kernel is told to read and to write
 * @core: a command
 * @udata: its driver data
 * @in: attributes that are handed in
 * @out: answers, of a command from the first one on
 * @uout: driver data of the answer
 *
 * Addresses and lengths are damaged on purpose, so the kernel may write in
 * front of it and far behind it: it lies where nothing else is near.
 */
struct room {
	unsigned char core[512];
	unsigned char udata[64];
	unsigned char in[CALLS_ATTRS][64];
	unsigned char out[CALLS_ATTRS][256];
	unsigned char uout[128];
};

/**
 * struct caller - one thread
 * @shared: what it has in common with others
 * @room: what it shares with the kernel
 * @rand: state of its random numbers
 * @dies_at: call at which it kills the process, or -1
 */
struct caller {
	struct shared *shared;
	struct room *room;
	uint64_t rand;
	long dies_at;
};

/* vt_calls.c */
void calls_count(bool good);
void calls_made(enum kind kind);
void calls_made_by_ioctl(enum kind kind);

/* vt_calls_one.c */
void shared_open(struct shared *s, const char *dev, uint32_t seed);
struct room *room_open(unsigned int nr);
uint32_t calls_rand(struct caller *c);
bool calls_chance(struct caller *c, unsigned int one_in);
uint32_t calls_handle(struct caller *c, enum kind kind);
void calls_learn(struct caller *c, enum kind kind, uint32_t handle);
void calls_learn_fd(struct caller *c, int fd);
void calls_learn_rings(struct caller *c, const void *udata, size_t len);
uint32_t calls_size(struct caller *c);
uint32_t calls_access(struct caller *c);
size_t calls_udata(struct caller *c);
void calls_break(struct caller *c, unsigned char *p, size_t len);
void calls_one(struct caller *c);

/* vt_calls_write.c, vt_calls_ioctl.c */
void calls_write(struct caller *c);
void calls_ioctl(struct caller *c);
int calls_invoke(struct caller *c, uint32_t cmd, size_t in_len, size_t out_len,
		 size_t uin_len, size_t uout_len);

#endif
