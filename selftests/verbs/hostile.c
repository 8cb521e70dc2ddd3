// SPDX-License-Identifier: GPL-2.0
/*
 * A process that plays foul with everything it can reach: the queues mapped
 * into it, the command descriptor, its own life. What must not change: the
 * traffic of a neighbour, and what the device holds once the process is gone.
 * (That the kernel logs nothing is seen by whoever runs the guest.)
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/hroce-abi.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "vt.h"

#define MAX_RINGS	64
#define ATTACK_US	1000000ull

/**
 * struct ring - one mapping of the device in this process
 * @base: start
 * @len: bytes
 */
struct ring {
	unsigned char *base;
	size_t len;
};

/**
 * struct attacker - what a foul process works with
 * @end: its devices
 * @pairs: connected queue pairs
 * @rings: everything mapped
 * @nr_rings: how many
 * @fds: descriptors that may be the kick descriptor
 * @nr_fds: how many
 */
struct attacker {
	struct vt end;
	struct vt_pair *pairs[4];
	struct ring rings[MAX_RINGS];
	int nr_rings;
	int fds[16];
	int nr_fds;
};

static void need_hroce(struct vt *t)
{
	if (!vt_is_hroce(&t->a) || !vt_is_hroce(&t->b))
		vt_skip("needs hroce devices");
}

static void round_trip(struct vt_pair *p, struct vt_mem *s, struct vt_mem *d,
		       uint32_t seed)
{
	vt_fill(s, 0, s->len, seed);
	vt_recv(p->qp[1], seed, d, 0, d->len);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = seed, .local = s, .len = s->len,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], seed, IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], seed, IBV_WC_SUCCESS);
	vt_verify(d, 0, d->len, seed);
}

/* Mapped queues, as /proc/self/maps shows them. */
static void find_rings(struct attacker *x)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	VT_OK(f, "no /proc/self/maps");
	while (fgets(line, sizeof(line), f) && x->nr_rings < MAX_RINGS) {
		if (!strstr(line, "infiniband") && !strstr(line, "uverbs"))
			continue;
		if (strstr(line, ".so"))
			continue;
		if (sscanf(line, "%lx-%lx rw", &from, &to) != 2)
			continue;
		x->rings[x->nr_rings].base = (unsigned char *)from;
		x->rings[x->nr_rings++].len = to - from;
	}
	fclose(f);
	VT_OK(x->nr_rings, "no queue is mapped");
}

/* Anonymous descriptors: the kick descriptor is among them. */
static void find_fds(struct attacker *x)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *de;
	char link[256];

	VT_OK(dir, "no /proc/self/fd");
	while ((de = readdir(dir)) && x->nr_fds < 16) {
		ssize_t n = readlinkat(dirfd(dir), de->d_name, link,
				       sizeof(link) - 1);

		if (n <= 0)
			continue;
		link[n] = 0;
		if (strstr(link, "anon_inode") || strstr(link, "uverbs"))
			x->fds[x->nr_fds++] = atoi(de->d_name);
	}
	closedir(dir);
}

static void kick_everything(struct attacker *x)
{
	for (int i = 0; i < x->nr_fds; i++)
		for (size_t j = 0; j < ARRAY_SIZE(x->pairs); j++)
			for (int k = 0; k < 2; k++)
				ioctl(x->fds[i], HROCE_IOC_KICK,
				      x->pairs[j]->qp[k]->qp_num);
}

static void attacker_make(struct attacker *x)
{
	struct vt_opt o = { .inl = 128 };

	memset(x, 0, sizeof(*x));
	vt_open(&x->end.a, vt_dev_name(0), 4);
	vt_open(&x->end.b, vt_dev_name(1), 4);
	for (size_t i = 0; i < ARRAY_SIZE(x->pairs); i++) {
		struct vt_mem *s, *d;

		o.type = i == 2 ? IBV_QPT_UC : i == 3 ? IBV_QPT_UD :
							IBV_QPT_RC;
		o.srq[1] = i == 1 ? vt_srq(&x->end.b, 64, 4, 0) : NULL;
		x->pairs[i] = vt_pair(&x->end, &o);
		s = vt_mem(&x->end.a, 4096, VT_ALL);
		d = vt_mem(&x->end.b, 4096, VT_ALL);
		if (!i)
			for (int n = 0; n < 10; n++)
				round_trip(x->pairs[i], s, d, n);
	}
	find_rings(x);
	find_fds(x);
}

static void put32(struct ring *r, size_t off, uint32_t v)
{
	if (off + 4 <= r->len)
		*(volatile uint32_t *)(r->base + off) = v;
}

/* Values that are likelier than chance to hurt. */
static uint32_t nasty(void)
{
	static const uint32_t v[] = {
		0, 1, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		0xfffffffe, 64, 0x10000, 0x00ffffff,
	};

	return vt_rand() % 3 ? v[vt_rand() % ARRAY_SIZE(v)] : vt_rand();
}

/* Header words of either producer: both sides' indices, arm, need_kick. */
static void scribble_headers(struct attacker *x)
{
	struct ring *r = &x->rings[vt_rand() % x->nr_rings];

	put32(r, vt_rand() % 2 ? 4 * (vt_rand() % 4) :
	      HROCE_CACHE_LINE + 4 * (vt_rand() % 4), nasty());
}

static void scribble_entries(struct attacker *x)
{
	struct ring *r = &x->rings[vt_rand() % x->nr_rings];
	size_t space = r->len - HROCE_RING_ENTRIES_OFFSET;

	put32(r, HROCE_RING_ENTRIES_OFFSET + (vt_rand() % space & ~3u),
	      nasty());
}

/* Well-formed but for some fields, then the producer moves by a few. */
static void post_garbage(struct attacker *x)
{
	struct ring *r = &x->rings[vt_rand() % x->nr_rings];
	size_t space = r->len - HROCE_RING_ENTRIES_OFFSET;
	uint32_t prod = *(volatile uint32_t *)r->base;

	for (int i = 0; i < 8; i++) {
		struct hroce_sq_wqe w = {
			.wr_id = vt_rand(),
			.opcode = vt_rand() % (HROCE_WR_NR + 2),
			.flags = vt_rand() % 20,
			.nr_sges = vt_rand() % 4 ? vt_rand() % 5 : nasty(),
			.inline_len = vt_rand() % 4 ? 0 : nasty(),
		};
		size_t off = (vt_rand() % space) & ~63ul;

		if (off + sizeof(w) > space)
			continue;
		w.rdma.remote_addr = vt_rand();
		w.rdma.rkey = nasty();
		memcpy(r->base + HROCE_RING_ENTRIES_OFFSET + off, &w,
		       sizeof(w));
	}
	put32(r, 0, prod + vt_rand() % 4);
}

/* One foul process; ends by itself, or by the signal it has earned. */
static void attack_rings(long how, uint32_t seed)
{
	static struct attacker x;
	uint64_t end;

	attacker_make(&x);
	vt_srand(seed);
	end = vt_now_us() + ATTACK_US;
	while (vt_now_us() < end) {
		for (int i = 0; i < 50; i++) {
			if (how == 0 || (how == 3 && vt_rand() % 8 == 0))
				scribble_headers(&x);
			if (how == 1 || how == 3)
				scribble_entries(&x);
			if (how == 2 || how == 3)
				post_garbage(&x);
		}
		kick_everything(&x);
	}
	_exit(0);
}

/* What the devices hold, as one line of text. */
static void resources(char *text, size_t len)
{
	char cmd[256];
	size_t n;
	FILE *f;

	snprintf(cmd, sizeof(cmd),
		 "rdma resource show %s; rdma resource show %s",
		 vt_dev_name(0), vt_dev_name(1));
	f = popen(cmd, "r");
	VT_OK(f, "rdma");
	n = fread(text, 1, len - 1, f);
	text[n] = 0;
	pclose(f);
}

/* After the foul process is gone, nothing of it may be left. */
static void nothing_left(const char *before)
{
	uint64_t end = vt_deadline_us();
	unsigned int spins = 1000;
	char now[1024];

	for (;;) {
		resources(now, sizeof(now));
		if (!strcmp(before, now))
			return;
		VT_OK(vt_now_us() < end, "left behind: %s before: %s", now,
		      before);
		vt_pause(&spins);
	}
}

/* Runs @fn in a child while a neighbour's traffic goes on and is checked. */
static void beside_neighbour(struct vt *t, void (*fn)(long how, uint32_t seed),
			     int rounds)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 9000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 9000, VT_ALL);
	char before[1024];
	uint32_t seq = 0;

	resources(before, sizeof(before));
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();
		int status;

		VT_OK(pid >= 0, "fork");
		if (!pid) {
			fn(t->arg, 1000 * t->arg + i + 1);
			_exit(0);
		}
		while (!waitpid(pid, &status, WNOHANG))
			round_trip(p, s, d, seq++);
		VT_OK(!WIFEXITED(status) || !WEXITSTATUS(status),
		      "the foul process could not start");
	}
	for (int i = 0; i < 10; i++)
		round_trip(p, s, d, seq++);
	nothing_left(before);
}

static void ring_attack(struct vt *t)
{
	need_hroce(t);
	beside_neighbour(t, attack_rings, 2);
}

/* Legacy commands with bodies of chance. */
static void fuzz_write(int fd)
{
	uint32_t buf[64];
	struct ib_uverbs_cmd_hdr *h = (void *)buf;

	for (size_t i = 0; i < ARRAY_SIZE(buf); i++)
		buf[i] = vt_rand() % 4 ? vt_rand() % 8 : nasty();
	h->command = vt_rand() % 64 | (vt_rand() % 8 ? 0 : 0x80000000);
	h->in_words = vt_rand() % 65;
	h->out_words = vt_rand() % 65;
	if (write(fd, buf, 4 * (vt_rand() % 2 ? h->in_words :
				vt_rand() % 65)) < 0)
		return;
}

static void fuzz_ioctl(int fd)
{
	static char data[4096];
	struct {
		struct ib_uverbs_ioctl_hdr h;
		struct ib_uverbs_attr a[12];
	} c = {};

	for (size_t i = 0; i < sizeof(data); i += 4)
		*(uint32_t *)(data + i) = vt_rand() % 4 ? vt_rand() % 8 :
							   nasty();
	c.h.object_id = vt_rand() % 20 | (vt_rand() % 8 ? 0 : 1 << 12);
	c.h.method_id = vt_rand() % 10 | (vt_rand() % 8 ? 0 : 1 << 12);
	c.h.num_attrs = vt_rand() % 13;
	c.h.length = sizeof(c.h) + c.h.num_attrs * sizeof(c.a[0]);
	c.h.driver_id = vt_rand() % 2 ? HROCE_DRIVER_ID : vt_rand() % 30;
	for (int i = 0; i < c.h.num_attrs; i++) {
		c.a[i].attr_id = vt_rand() % 24 |
				 (vt_rand() % 6 ? 0 : 1 << 12);
		c.a[i].len = vt_rand() % 4 ? 4 * (vt_rand() % 20) : nasty();
		c.a[i].flags = vt_rand() % 2;
		c.a[i].data = vt_rand() % 2 ? (uintptr_t)data : nasty();
	}
	ioctl(fd, RDMA_VERBS_IOCTL, &c);
}

static void fuzz_mmap(int fd)
{
	size_t len = 4096 * (1 + vt_rand() % 64);
	off_t off = (off_t)(vt_rand() % 2 ? vt_rand() % 4096 : nasty()) << 12;
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE | (vt_rand() & 4),
		       vt_rand() % 4 ? MAP_SHARED : MAP_PRIVATE, fd, off);

	if (p != MAP_FAILED)
		munmap(p, len);
}

static void fuzz_modify(struct attacker *x)
{
	struct vt_pair *p = x->pairs[vt_rand() % ARRAY_SIZE(x->pairs)];
	struct ibv_qp_attr a;
	unsigned char *b = (unsigned char *)&a;

	for (size_t i = 0; i < sizeof(a); i++)
		b[i] = vt_rand() % 3 ? vt_rand() % 8 : vt_rand();
	a.qp_state = vt_rand() % 8;
	ibv_modify_qp(p->qp[vt_rand() % 2], &a,
		      (vt_rand() & vt_rand() & 0x1ffffff) | IBV_QP_STATE);
}

static void fuzz_create(struct attacker *x)
{
	struct ibv_qp_init_attr a = {
		.send_cq = x->pairs[0]->scq[0], .recv_cq = x->pairs[0]->rcq[0],
		.cap = { nasty(), nasty(), nasty(), nasty(), nasty() },
		.qp_type = vt_rand() % 10, .sq_sig_all = nasty(),
	};
	struct ibv_qp *qp = ibv_create_qp(x->end.a.pd, &a);
	struct ibv_cq *cq = ibv_create_cq(x->end.a.ctx, nasty() & 0x3ffff,
					  NULL, NULL, 0);
	struct ibv_mr *mr = ibv_reg_mr(x->end.a.pd, x->end.a.pd + nasty(),
				       nasty(), nasty());

	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
	if (mr)
		ibv_dereg_mr(mr);
}

static void attack_commands(long how, uint32_t seed)
{
	static struct attacker x;
	uint64_t end;
	int fd;

	(void)how;
	attacker_make(&x);
	fd = x.end.a.ctx->cmd_fd;
	vt_srand(seed);
	end = vt_now_us() + ATTACK_US;
	while (vt_now_us() < end) {
		fuzz_write(fd);
		fuzz_ioctl(fd);
		fuzz_mmap(fd);
		fuzz_modify(&x);
		if (vt_rand() % 8 == 0)
			fuzz_create(&x);
		for (int i = 0; i < x.nr_fds; i++)
			ioctl(x.fds[i], vt_rand() % 2 ? HROCE_IOC_KICK :
			      vt_rand(), nasty());
	}
	_exit(0);
}

static void command_attack(struct vt *t)
{
	need_hroce(t);
	beside_neighbour(t, attack_commands, 3);
}

/* A child with big transfers under way in all directions, until it dies. */
static void busy_until_killed(void)
{
	const size_t len = 1 << 20;
	struct vt u = {};
	struct vt_pair *p[3];
	struct vt_mem *s, *d;

	vt_open(&u.a, vt_dev_name(0), 4);
	vt_open(&u.b, vt_dev_name(1), 4);
	s = vt_mem(&u.a, len, VT_ALL);
	d = vt_mem(&u.b, len, VT_ALL);
	for (int i = 0; i < 3; i++)
		p[i] = vt_pair(&u, NULL);
	for (int n = 0;; n++) {
		struct ibv_wc wc;
		int i = n % 3;

		vt_try_send(p[i]->qp[0], &(struct vt_wr){
			.op = n & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			.local = s, .len = len, .remote = d,
			.flags = IBV_SEND_SIGNALED });
		while (ibv_poll_cq(p[i]->scq[0], 1, &wc) == 1)
			VT_EQ(wc.status, IBV_WC_SUCCESS);
	}
}

/* Three at a time, killed after a few milliseconds at any point. */
static void kill_at_any_time(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 3000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 3000, VT_ALL);
	uint32_t seq = 0;
	char before[1024];
	pid_t pid[3];

	resources(before, sizeof(before));
	vt_srand(99);
	for (int round = 0; round < 12; round++) {
		uint64_t end = vt_now_us() + vt_rand() % 150000;

		for (int i = 0; i < 3; i++) {
			pid[i] = fork();
			VT_OK(pid[i] >= 0, "fork");
			if (!pid[i])
				busy_until_killed();
		}
		while (vt_now_us() < end)
			round_trip(p, s, d, seq++);
		for (int i = 0; i < 3; i++) {
			int status;

			kill(pid[i], SIGKILL);
			VT_EQ(waitpid(pid[i], &status, 0), pid[i]);
			VT_OK(WIFSIGNALED(status), "child ended by itself");
		}
		round_trip(p, s, d, seq++);
	}
	nothing_left(before);
}

/* The command descriptor closed, the mappings and the kick still there. */
static void close_before_unmapping(struct vt *t)
{
	static struct attacker x;
	int status;
	pid_t pid;

	need_hroce(t);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		attacker_make(&x);
		close(x.end.a.ctx->cmd_fd);
		close(x.end.b.ctx->cmd_fd);
		for (int i = 0; i < 100; i++) {
			post_garbage(&x);
			kick_everything(&x);
		}
		_exit(0);
	}
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_OK(WIFSIGNALED(status) || !WEXITSTATUS(status), "could not start");
	vt_pair(t, NULL);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("scribble_headers", ring_attack, 0),
	VT_CASE_ARG("scribble_entries", ring_attack, 1),
	VT_CASE_ARG("post_garbage", ring_attack, 2),
	VT_CASE_ARG("scribble_everything", ring_attack, 3),
	VT_CASE(command_attack),
	VT_CASE(kill_at_any_time),
	VT_CASE(close_before_unmapping),
};

VT_MAIN(cases)
