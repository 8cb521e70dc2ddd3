// SPDX-License-Identifier: GPL-2.0
/* One random call: what is common to all, and use of what calls have made. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "vt_calls.h"

/* splitmix64 */
uint32_t calls_rand(struct caller *c)
{
	uint64_t z = c->rand += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z >> 32;
}

bool calls_chance(struct caller *c, unsigned int one_in)
{
	return calls_rand(c) % one_in == 0;
}

/* Nearly always a handle of that kind, if there is one. */
uint32_t calls_handle(struct caller *c, enum kind kind)
{
	uint32_t from = calls_rand(c) % CALLS_HANDLES;

	if (calls_chance(c, 64))
		return calls_rand(c);
	if (calls_chance(c, 32))
		return from % 64;
	for (uint32_t i = 0; i < CALLS_HANDLES; i++) {
		uint32_t h = (from + i) % CALLS_HANDLES;

		if (c->shared->kind[h] == kind)
			return h;
	}
	return from % 16;
}

void calls_learn(struct caller *c, enum kind kind, uint32_t handle)
{
	if (handle < CALLS_HANDLES)
		c->shared->kind[handle] = kind;
	calls_made(kind);
}

/* The oldest one goes, if no other thread was faster. */
void calls_learn_fd(struct caller *c, int fd)
{
	struct shared *s = c->shared;
	unsigned int at;
	int old;

	if (fd < 0)
		return;
	calls_made(KIND_FD);
	at = __atomic_fetch_add(&s->nr_fds, 1, __ATOMIC_RELAXED) % CALLS_FDS;
	old = __atomic_exchange_n(&s->fds[at], fd, __ATOMIC_RELAXED);
	if (old > 0)
		close(old);
}

/* Driver data of an answer begins with a ring, or with two. */
void calls_learn_rings(struct caller *c, const void *udata, size_t len)
{
	const struct hroce_ring_info *ring = udata;
	unsigned int at;

	for (; len >= sizeof(*ring); len -= sizeof(*ring), ring++) {
		if (!ring->mmap_size)
			continue;
		at = calls_rand(c) % CALLS_RINGS;
		c->shared->ring[at].offset = ring->mmap_offset;
		c->shared->ring[at].size = ring->mmap_size;
	}
}

/* Entries, elements: mostly few, rarely absurd. */
uint32_t calls_size(struct caller *c)
{
	if (calls_chance(c, 200))
		return calls_rand(c);
	if (calls_chance(c, 50))
		return calls_rand(c) % 5000;
	return calls_rand(c) % 40;
}

uint32_t calls_access(struct caller *c)
{
	unsigned int access = IBV_ACCESS_LOCAL_WRITE;

	if (calls_chance(c, 16))
		return calls_rand(c);
	access |= calls_rand(c) & (IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_MW_BIND);
	if (calls_chance(c, 4))
		access |= IBV_ACCESS_ON_DEMAND;
	if (calls_chance(c, 16))
		access |= calls_rand(c) & IBV_ACCESS_ZERO_BASED;
	return access;
}

/* What the driver may want to hear: words that are small, or anything. Returns bytes, a multiple of 8. */
size_t calls_udata(struct caller *c)
{
	size_t len = calls_rand(c) % 4 * 8;
	uint64_t word;

	for (size_t i = 0; i < len; i += 8) {
		switch (calls_rand(c) % 6) {
		case 0:
			word = calls_rand(c) % 4;
			break;
		case 1:
			word = (uintptr_t)c->shared->buf +
			       calls_rand(c) % CALLS_BUF;
			break;
		case 2:
			word = (uint64_t)calls_rand(c) << 32 | calls_rand(c);
			break;
		default:
			word = 0;
		}
		memcpy(c->room->udata + i, &word, 8);
	}
	return len;
}

/* Damage some of the bytes, now and then. */
void calls_break(struct caller *c, unsigned char *p, size_t len)
{
	if (!len || !calls_chance(c, 8))
		return;
	for (int n = calls_rand(c) % 3; n >= 0; n--) {
		size_t at = calls_rand(c) % len;

		if (calls_chance(c, 2))
			p[at] = calls_rand(c);
		else
			p[at] ^= 1 << calls_rand(c) % 8;
	}
}

static void find_gid(struct shared *s, const char *dev)
{
	char path[256], line[64];
	unsigned int w[8];

	for (int i = 0; i < 16; i++) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gids/%d", dev, i);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f) &&
		    sscanf(line, "%x:%x:%x:%x:%x:%x:%x:%x", &w[0], &w[1], &w[2],
			   &w[3], &w[4], &w[5], &w[6], &w[7]) == 8 && w[6]) {
			for (int k = 0; k < 8; k++) {
				s->gid[2 * k] = w[k] >> 8;
				s->gid[2 * k + 1] = w[k];
			}
			s->gid_index = i;
		}
		fclose(f);
	}
}

static int open_device(const char *dev)
{
	char path[300], name[64];
	struct dirent *de;
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	int fd = -1;

	while (dir && fd < 0 && (de = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_verbs/%s/ibdev", de->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f)) {
			name[strcspn(name, "\n")] = 0;
			snprintf(path, sizeof(path), "/dev/infiniband/%s",
				 de->d_name);
			if (!strcmp(name, dev))
				fd = open(path, O_RDWR | O_CLOEXEC);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* Its address differs in several bits from those of all else. */
struct room *room_open(unsigned int nr)
{
	void *at = (void *)(0x2a00000000ul + ((unsigned long)nr << 24));
	void *room = mmap(at, CALLS_ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0);

	if (room == MAP_FAILED)
		_exit(1);
	return room;
}

void shared_open(struct shared *s, const char *dev, uint32_t seed)
{
	struct caller c = { .shared = s, .rand = seed };

	s->fd = open_device(dev);
	if (s->fd < 0) {
		fprintf(stderr, "cannot open %s\n", dev);
		_exit(1);
	}
	c.room = room_open(0);
	s->opens = seed / 2 % 2;
	find_gid(s, dev);
	s->buf = mmap(NULL, CALLS_BUF, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->buf == MAP_FAILED)
		_exit(1);
	/* The context comes first; one in 16 processes does without. */
	for (int i = 0; i < 8 && !calls_chance(&c, 16); i++) {
		if (!calls_invoke(&c, IB_USER_VERBS_CMD_GET_CONTEXT, 8, 8, 8,
				  88)) {
			int fd;

			memcpy(&fd, c.room->out, sizeof(fd));
			calls_learn_fd(&c, fd);
			break;
		}
	}
	munmap(c.room, CALLS_ROOM);
}

/* Scribble in a ring. */
static void use_ring(struct caller *c)
{
	unsigned int at = calls_rand(c) % CALLS_RINGS;
	uint64_t offset = c->shared->ring[at].offset;
	uint32_t size = c->shared->ring[at].size;
	uint32_t *word;

	if (calls_chance(c, 8))
		offset += (calls_rand(c) % 16) << 12;
	if (calls_chance(c, 8))
		size += 4096;
	if (!size || size > 1 << 24)
		size = 4096;
	word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    c->shared->fd, offset);
	calls_count(word != MAP_FAILED);
	if (word == MAP_FAILED)
		return;
	for (int n = calls_rand(c) % 8; n; n--) {
		uint32_t i = calls_chance(c, 2) ? calls_rand(c) % 32 :
						  calls_rand(c) % (size / 4);

		if (i < size / 4)
			word[i] = calls_chance(c, 4) ? calls_rand(c) :
				  word[i] + calls_rand(c) % 5 - 1;
	}
	munmap(word, size);
}

/*
 * Read, without waiting for what another thread has read already. Another
 * one may close the descriptor meanwhile, so that its number becomes that of
 * a new file: that one would be waited for.
 */
static void read_events(int fd)
{
	char events[64];
	int own = dup(fd);

	if (own < 0)
		return;
	fcntl(own, F_SETFL, O_NONBLOCK);
	calls_count(read(own, events, sizeof(events)) > 0);
	close(own);
}

/* Read, poll, kick, close. */
static void use_fd(struct caller *c)
{
	unsigned int at = calls_rand(c) % CALLS_FDS;
	int fd = __atomic_load_n(&c->shared->fds[at], __ATOMIC_RELAXED);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd <= 0)
		return;
	switch (calls_rand(c) % 8) {
	case 0:
		if (poll(&p, 1, 0) == 1)
			read_events(fd);
		break;
	case 1:
		if (__atomic_compare_exchange_n(&c->shared->fds[at], &fd, 0,
						false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			calls_count(!close(fd));
		break;
	default:
		calls_count(!ioctl(fd, HROCE_IOC_KICK,
				   c->shared->qpns[calls_rand(c) % 16]));
	}
}

/* Pages that regions may refer to come and go. */
static void use_memory(struct caller *c)
{
	size_t at = calls_rand(c) % CALLS_BUF & ~4095ul;
	size_t len = calls_rand(c) % 64 * 4096;

	if (at + len > CALLS_BUF)
		len = CALLS_BUF - at;
	madvise(c->shared->buf + at, len, MADV_DONTNEED);
}

void calls_one(struct caller *c)
{
	memset(c->room, 0, sizeof(*c->room));
	switch (calls_rand(c) % 16) {
	case 0:
	case 1:
		use_ring(c);
		break;
	case 2:
	case 3:
		use_fd(c);
		break;
	case 4:
		use_memory(c);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		calls_ioctl(c);
		break;
	default:
		calls_write(c);
	}
}
