// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions over dma-bufs: of a device that lets them move when told so
 * (selftests/exporter), and of udmabuf.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/udmabuf.h>

#include "../exporter/hroce_exporter.h"
#include "vt.h"

#define BUF_BYTES	(1u << 20)
#define IOVA		0x700000000000ull

static int exporter(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/hroce_exporter", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		vt_skip("no /dev/hroce_exporter");
	return fd;
}

static int buf_new(unsigned int flags)
{
	struct hroce_exporter_create req = {
		.size = BUF_BYTES, .flags = flags,
	};

	VT_EQ(ioctl(exporter(), HROCE_EXPORTER_CREATE, &req), 0);
	return req.fd;
}

static void buf_copy(int fd, bool write, size_t off, void *addr, size_t len)
{
	struct hroce_exporter_copy req = {
		.fd = fd, .write = write, .offset = off, .len = len,
		.addr = (uintptr_t)addr,
	};

	VT_OK(!ioctl(exporter(), HROCE_EXPORTER_COPY, &req), "%s",
	      strerror(errno));
}

static void buf_fill(int fd, size_t off, size_t len, uint32_t seed)
{
	struct vt_mem m = { .buf = malloc(len), .len = len };

	vt_fill(&m, 0, len, seed);
	buf_copy(fd, true, off, m.buf, len);
	free(m.buf);
}

static void buf_verify(int fd, size_t off, size_t len, uint32_t seed)
{
	struct vt_mem m = { .buf = malloc(len), .len = len };

	buf_copy(fd, false, off, m.buf, len);
	vt_verify(&m, 0, len, seed);
	free(m.buf);
}

static void buf_move(int fd)
{
	VT_OK(!ioctl(exporter(), HROCE_EXPORTER_MOVE, &fd), "%s",
	      strerror(errno));
}

/* All of @fd from @off on, at IOVA. */
static struct vt_mem buf_reg(struct vt_end *e, int fd, size_t off, int access)
{
	struct vt_mem m = {
		.buf = (unsigned char *)(IOVA + off % 4096),
		.len = BUF_BYTES - off,
	};

	m.mr = ibv_reg_dmabuf_mr(e->pd, off, m.len, IOVA + off % 4096, fd,
				 access);
	VT_OK(m.mr, "%s", strerror(errno));
	return m;
}

static void remote_access(struct vt *t)
{
	const size_t off = 4096 * 3 + 100, len = 100000;
	int fd = buf_new(t->arg);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem d = buf_reg(&t->b, fd, off, VT_ALL);
	uint64_t before = 41, after;

	vt_fill(m, 0, len, 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = len, .remote = &d,
		.roff = 5 }), IBV_WC_SUCCESS);
	buf_verify(fd, off + 5, len, 1);
	buf_fill(fd, off, len, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = len, .remote = &d }), IBV_WC_SUCCESS);
	vt_verify(m, 0, len, 2);
	buf_copy(fd, true, off + 4, &before, 8);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.local = m, .len = 8, .remote = &d, .roff = 4,
		.compare = 1 }), IBV_WC_SUCCESS);
	buf_copy(fd, false, off + 4, &after, 8);
	VT_EQ(after, 42);
	/* Exact to the byte at its end. */
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = 2, .remote = &d,
		.roff = d.len - 1 }), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	close(fd);
}

static void local_access(struct vt *t)
{
	const size_t len = 100000;
	int fd = buf_new(0);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->b, len, VT_ALL);
	struct vt_mem s = buf_reg(&t->a, fd, 0, IBV_ACCESS_LOCAL_WRITE);
	struct vt_mem r = buf_reg(&t->b, fd, 0, IBV_ACCESS_LOCAL_WRITE);

	buf_fill(fd, 0, len, 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = &s, .len = len, .remote = m }),
	      IBV_WC_SUCCESS);
	vt_verify(m, 0, len, 1);
	vt_fill(m, 0, len, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = &s,
		.off = 7, .len = len, .remote = m }), IBV_WC_SUCCESS);
	buf_verify(fd, 7, len, 2);
	buf_fill(fd, 0, len, 3);
	vt_recv(p->qp[1], 9, &r, len, len);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = &s,
		.len = len }), IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 9, IBV_WC_SUCCESS);
	buf_verify(fd, len, len, 3);
	VT_EQ(ibv_dereg_mr(s.mr), 0);
	VT_EQ(ibv_dereg_mr(r.mr), 0);
	close(fd);
}

/* The next request after a move finds the memory gone, and goes through. */
static void moved(struct vt *t)
{
	const size_t len = 100000;
	int fd = buf_new(0);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem d = buf_reg(&t->b, fd, 0, VT_ALL);
	struct vt_mem l = buf_reg(&t->a, fd, 0, VT_ALL);
	long long before = vt_counter(&t->b, "memory_faults");
	uint64_t word;

	vt_fill(m, 0, len, 1);
	buf_move(fd);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = len, .remote = &d }),
	      IBV_WC_SUCCESS);
	buf_move(fd);
	buf_verify(fd, 0, len, 1);
	vt_fill(m, 0, len, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = len, .remote = &d }), IBV_WC_SUCCESS);
	vt_verify(m, 0, len, 1);
	buf_move(fd);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.local = m, .len = 8, .remote = &d, .compare = 1 }),
	      IBV_WC_SUCCESS);
	buf_copy(fd, false, 0, &word, 8);
	VT_EQ(word, *(uint64_t *)m->buf + 1);
	buf_fill(fd, 0, len, 3);
	buf_move(fd);
	vt_recv(p->qp[1], 1, &d, len, len);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = &l,
		.len = len }), IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	buf_verify(fd, len, len, 3);
	VT_OK(vt_settled(&t->b, "memory_faults") >= before + 4, "%lld faults",
	      vt_settled(&t->b, "memory_faults") - before);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	VT_EQ(ibv_dereg_mr(l.mr), 0);
	close(fd);
}

/* The answer to a READ comes back to memory that has moved meanwhile. */
static void moved_before_the_answer(struct vt *t)
{
	const size_t len = 100000;
	int fd = buf_new(0);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->b, len, VT_ALL);
	struct vt_mem l = buf_reg(&t->a, fd, 0, IBV_ACCESS_LOCAL_WRITE);

	for (int i = 0; i < 20; i++) {
		vt_fill(m, 0, len, i);
		buf_move(fd);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ,
			.local = &l, .off = i, .len = len, .remote = m }),
		      IBV_WC_SUCCESS);
		buf_verify(fd, i, len, i);
	}
	VT_EQ(ibv_dereg_mr(l.mr), 0);
	close(fd);
}

struct mover {
	pthread_t thread;
	int fd;
	bool stop;
	unsigned int moves;
	int err;
};

static void *mover_thread(void *arg)
{
	struct mover *mv = arg;

	while (!__atomic_load_n(&mv->stop, __ATOMIC_RELAXED)) {
		if (ioctl(exporter(), HROCE_EXPORTER_MOVE, &mv->fd)) {
			mv->err = errno;
			break;
		}
		mv->moves++;
		usleep(200);
	}
	return NULL;
}

/* Both ends in the buffer, which moves all the time. */
static void moves_under_traffic(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	const size_t len = 60000, there = BUF_BYTES / 2;
	struct mover mv = { .fd = buf_new(0) };
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem l = buf_reg(&t->a, mv.fd, 0, VT_ALL);
	struct vt_mem r = buf_reg(&t->b, mv.fd, 0, VT_ALL);

	VT_EQ(pthread_create(&mv.thread, NULL, mover_thread, &mv), 0);
	for (int i = 0; i < 300; i++) {
		struct vt_wr wr = {
			.op = ops[i % ARRAY_SIZE(ops)], .local = &l,
			.len = len, .remote = &r, .roff = there,
		};
		bool read = wr.op == IBV_WR_RDMA_READ;

		buf_fill(mv.fd, read ? there : 0, len, i);
		if (wr.op == IBV_WR_SEND)
			vt_recv(p->qp[1], i, &r, there, len);
		VT_EQ(vt_run(p, wr), IBV_WC_SUCCESS);
		if (wr.op == IBV_WR_SEND)
			vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		buf_verify(mv.fd, read ? 0 : there, len, i);
	}
	__atomic_store_n(&mv.stop, true, __ATOMIC_RELAXED);
	pthread_join(mv.thread, NULL);
	VT_EQ(mv.err, 0);
	vt_note("%u moves", mv.moves);
	VT_OK(mv.moves, "it never moved");
	VT_EQ(ibv_dereg_mr(l.mr), 0);
	VT_EQ(ibv_dereg_mr(r.mr), 0);
	close(mv.fd);
}

/* UC has no way to ask again: the message is lost, the next one is not. */
static void moved_unreliable(struct vt *t)
{
	int fd = buf_new(0);
	struct vt_pair *p = vt_pair(t, &(struct vt_opt){ .type = IBV_QPT_UC });
	struct vt_mem *m = vt_mem(&t->a, 4096, VT_ALL);
	struct vt_mem d = buf_reg(&t->b, fd, 0, VT_ALL);
	long long before = vt_counter(&t->b, "rx_drop_memory");
	unsigned char seen = 0;

	vt_fill(m, 0, m->len, 1);
	buf_move(fd);
	for (int i = 0; i < 1000 && seen != m->buf[0]; i++) {
		VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = m->len,
			.remote = &d }), IBV_WC_SUCCESS);
		usleep(1000);
		buf_copy(fd, false, 0, &seen, 1);
	}
	buf_verify(fd, 0, m->len, 1);
	VT_OK(vt_settled(&t->b, "rx_drop_memory") > before, "nothing was lost");
	VT_EQ(vt_state(p->qp[1]), IBV_QPS_RTS);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	close(fd);
}

/* Where no CPU gets at it, requests fail; each in the way that it should. */
static void moved_out(struct vt *t)
{
	static const struct {
		enum ibv_wr_opcode op;
		bool local;
		enum ibv_wc_status status;
	} step[] = {
		{ IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR },
		{ IBV_WR_RDMA_READ, false, IBV_WC_REM_ACCESS_ERR },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, false, IBV_WC_REM_ACCESS_ERR },
		{ IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR },
		{ IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR },
	};
	int fd = buf_new(0);
	struct vt_mem *m[2] = {
		vt_mem(&t->a, 4096, VT_ALL), vt_mem(&t->b, 4096, VT_ALL),
	};
	struct vt_mem d[2] = {
		buf_reg(&t->a, fd, 0, VT_ALL), buf_reg(&t->b, fd, 0, VT_ALL),
	};
	long long before = vt_counter(&t->b, "memory_faults_failed");

	VT_EQ(ioctl(exporter(), HROCE_EXPORTER_MOVE_OUT, &fd), 0);
	for (size_t i = 0; i < ARRAY_SIZE(step); i++) {
		struct vt_pair *p = vt_pair(t, NULL);
		bool local = step[i].local;

		vt_note("step %zu", i);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = step[i].op,
			.local = local ? &d[0] : m[0],
			.len = step[i].op == IBV_WR_ATOMIC_FETCH_AND_ADD ?
			       8 : 4096,
			.remote = local ? m[1] : &d[1] }), step[i].status);
	}
	VT_OK(vt_settled(&t->b, "memory_faults_failed") > before, "count");
	VT_EQ(ibv_dereg_mr(d[0].mr), 0);
	VT_EQ(ibv_dereg_mr(d[1].mr), 0);
	close(fd);
}

static void refused(struct vt *t)
{
	int bufs[] = {
		buf_new(HROCE_EXPORTER_NO_VMAP), buf_new(HROCE_EXPORTER_IOMEM),
		buf_new(HROCE_EXPORTER_RDONLY), buf_new(0),
	};
	struct ibv_pd *pd = t->a.pd;
	struct ibv_mr *mr;

	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, bufs[0], 0), EOPNOTSUPP);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, bufs[1], 0), EOPNOTSUPP);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, bufs[2],
				  IBV_ACCESS_LOCAL_WRITE), EACCES);
	/* The kernel's command has no windows in it, whatever the driver. */
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, bufs[3],
				  IBV_ACCESS_MW_BIND), EINVAL);
	mr = ibv_reg_dmabuf_mr(pd, 0, 4096, 0, bufs[2],
			       IBV_ACCESS_REMOTE_READ);
	VT_OK(mr, "%s", strerror(errno));
	VT_OK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE), "rights beyond it");
	VT_EQ(ibv_dereg_mr(mr), 0);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, -1, 0), EBADF);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, exporter(), 0), EINVAL);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 0, 0, bufs[3], 0), EINVAL);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, BUF_BYTES + 1, 0, bufs[3], 0), EINVAL);
	VT_NULL(ibv_reg_dmabuf_mr(pd, BUF_BYTES, 1, 0, bufs[3], 0), EINVAL);
	VT_NULL(ibv_reg_dmabuf_mr(pd, -4096ull, 8192, 0, bufs[3], 0), EINVAL);
	VT_NULL(ibv_reg_dmabuf_mr(pd, 0, 8192, -4096ull, bufs[3], 0), EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(bufs); i++)
		close(bufs[i]);
}

/* The region alone keeps the buffer; its descriptor may be closed. */
static void descriptor_closed(struct vt *t)
{
	int fd = buf_new(0);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, 4096, VT_ALL);
	struct vt_mem d = buf_reg(&t->b, fd, 0, VT_ALL);

	close(fd);
	vt_fill(m, 0, 4096, 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = 4096, .remote = &d }),
	      IBV_WC_SUCCESS);
	vt_fill(m, 0, 4096, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = 4096, .remote = &d }), IBV_WC_SUCCESS);
	vt_verify(m, 0, 4096, 1);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
}

static void udmabuf(struct vt *t)
{
	struct udmabuf_create req = { .size = BUF_BYTES };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, 100000, VT_ALL);
	struct vt_mem d, seen = { .len = BUF_BYTES };

	if (dev < 0)
		vt_skip("no /dev/udmabuf");
	req.memfd = memfd_create("vt", MFD_ALLOW_SEALING);
	VT_EQ(ftruncate(req.memfd, BUF_BYTES), 0);
	VT_EQ(fcntl(req.memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	fd = ioctl(dev, UDMABUF_CREATE, &req);
	VT_OK(fd >= 0, "%s", strerror(errno));
	d = buf_reg(&t->b, fd, 4096, VT_ALL);
	seen.buf = mmap(NULL, BUF_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			req.memfd, 0);
	VT_OK(seen.buf != MAP_FAILED, "mmap");
	vt_fill(m, 0, m->len, 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = m->len, .remote = &d,
		.roff = 77 }), IBV_WC_SUCCESS);
	vt_verify(&seen, 4096 + 77, m->len, 1);
	vt_fill(&seen, 4096, m->len, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = m->len, .remote = &d }), IBV_WC_SUCCESS);
	vt_verify(m, 0, m->len, 2);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(seen.buf, BUF_BYTES);
	close(fd);
	close(req.memfd);
	close(dev);
}

static const struct vt_case cases[] = {
	VT_CASE(remote_access),
	VT_CASE_ARG("remote_access_static", remote_access,
		    HROCE_EXPORTER_STATIC),
	VT_CASE(local_access),
	VT_CASE(moved),
	VT_CASE(moved_before_the_answer),
	VT_CASE(moves_under_traffic),
	VT_CASE(moved_unreliable),
	VT_CASE(moved_out),
	VT_CASE(refused),
	VT_CASE(descriptor_closed),
	VT_CASE(udmabuf),
};

VT_MAIN(cases)
