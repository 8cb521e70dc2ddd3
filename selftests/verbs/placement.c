// SPDX-License-Identifier: GPL-2.0
/*
 * Extensions for the placement of memory (IBTA A19): ATOMIC WRITE and FLUSH.
 * libibverbs 44 has no call for the latter: the entry of a WRITE becomes one in
 * the mapped queue, before it is handed over.
 */
#include <fcntl.h>
#include <rdma/hroce-abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vt.h"

/* Not in libibverbs 44; those of the kernel's rdma/ib_user_verbs.h. */
#define CAP_FLUSH_GLOBAL	(1ull << 38)
#define CAP_FLUSH_PERSISTENT	(1ull << 39)
#define CAP_ATOMIC_WRITE	(1ull << 40)
#define ACCESS_FLUSH_GLOBAL	(1 << 8)
#define ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define WC_FLUSH		8

#define EX_OPS	(IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_READ)

/**
 * struct duo - an extended pair with memory
 * @p: pair
 * @x: extended view of a's queue pair
 * @s: memory on a
 * @d: memory on b
 */
struct duo {
	struct vt_pair *p;
	struct ibv_qp_ex *x;
	struct vt_mem *s;
	struct vt_mem *d;
};

static uint64_t caps(const struct vt_end *e)
{
	struct ibv_device_attr_ex attr;

	VT_EQ(ibv_query_device_ex(e->ctx, NULL, &attr), 0);
	return attr.device_cap_flags_ex;
}

static struct duo duo_make(struct vt *t, int qp_access, int mr_access)
{
	struct vt_opt o = { .ex_ops = EX_OPS, .access = qp_access };
	struct duo u;

	u.p = vt_pair(t, &o);
	u.x = ibv_qp_to_qp_ex(u.p->qp[0]);
	VT_OK(u.x, "no extended view");
	u.s = vt_mem(&t->a, 64, VT_ALL);
	u.d = vt_mem(&t->b, 4096, mr_access);
	memset(u.d->buf, 0, u.d->len);
	return u;
}

static uint64_t *word(const struct duo *u, int i)
{
	return (uint64_t *)u->d->buf + i;
}

static void post_word(const struct duo *u, uint64_t id, uint32_t rkey,
		      const void *at, uint64_t value)
{
	ibv_wr_start(u->x);
	u->x->wr_id = id;
	u->x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(u->x, rkey, (uintptr_t)at, &value);
	VT_EQ(ibv_wr_complete(u->x), 0);
}

static void words_are_written(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	struct ibv_wc wc;

	VT_OK(caps(&t->a) & CAP_ATOMIC_WRITE, "not offered");
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t value = i * 0x0123456789abcdefull;

		post_word(&u, i, u.d->mr->rkey, word(&u, 1 + i % 8), value);
		wc = vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		VT_EQ(wc.opcode, IBV_WC_ATOMIC_WRITE);
		VT_OK(*word(&u, 1 + i % 8) == value, "word %d", (int)i);
	}
	VT_EQ(*word(&u, 0), 0);
	VT_EQ(*word(&u, 9), 0);
	vt_verify_guards(u.d);
}

static int post_plain(const struct duo *u, size_t len, unsigned int flags)
{
	return vt_try_send(u->p->qp[0], &(struct vt_wr){
		.op = IBV_WR_ATOMIC_WRITE, .id = 1, .local = u->s, .len = len,
		.remote = u->d, .roff = 8, .flags = IBV_SEND_SIGNALED | flags });
}

static void words_from_memory_and_inline(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	for (int i = 0; i < 2; i++) {
		vt_fill(u.s, 0, 8, i + 1);
		VT_EQ(post_plain(&u, 8, i ? IBV_SEND_INLINE : 0), 0);
		VT_EQ(vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS).byte_len, 8);
		VT_OK(!memcmp(word(&u, 1), u.s->buf, 8), "wrong word");
	}
}

static void only_8_bytes(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	VT_EQ(post_plain(&u, t->arg, 0), 0);
	vt_expect(u.p->scq[0], 1, IBV_WC_LOC_LEN_ERR);
}

static void lkey_is_checked(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	struct ibv_mr mr = { .lkey = ~u.s->mr->lkey };
	struct vt_mem fake = { .buf = u.s->buf, .len = u.s->len, .mr = &mr };
	struct duo v = u;

	v.s = &fake;
	post_word(&u, 7, u.d->mr->rkey, word(&u, 0), 5);
	VT_EQ(post_plain(&v, 8, 0), 0);
	vt_expect(u.p->scq[0], 7, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], 1, IBV_WC_LOC_PROT_ERR);
	VT_EQ(*word(&u, 0), 5);
}

static void misaligned(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	post_word(&u, 1, u.d->mr->rkey, u.d->buf + 4, ~0ull);
	vt_expect(u.p->scq[0], 1, IBV_WC_REM_INV_REQ_ERR);
	VT_EQ(*word(&u, 0) | *word(&u, 1), 0);
}

static void needs_rights(struct vt *t)
{
	int all = VT_ALL & ~(t->arg ? IBV_ACCESS_REMOTE_WRITE : 0);
	struct duo u = duo_make(t, t->arg == 1 ? all : VT_ALL,
				t->arg == 2 ? all : VT_ALL);

	post_word(&u, 1, u.d->mr->rkey ^ (t->arg ? 0 : ~0u), word(&u, 0), 1);
	vt_expect(u.p->scq[0], 1, t->arg == 1 ? IBV_WC_REM_INV_REQ_ERR :
						IBV_WC_REM_ACCESS_ERR);
	VT_EQ(*word(&u, 0), 0);
}

/* WRITE, ATOMIC WRITE and READ of one queue pair take effect in order. */
static void keeps_its_place(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	uint64_t *src = (uint64_t *)u.s->buf;

	for (uint64_t i = 1; i <= 50; i++) {
		src[0] = src[1] = i;
		vt_send(u.p->qp[0], &(struct vt_wr){
			.local = u.s, .len = 16, .remote = u.d });
		post_word(&u, i, u.d->mr->rkey, word(&u, 1), ~i);
		vt_send(u.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = i, .local = u.s,
			.off = 16, .len = 16, .remote = u.d,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		VT_OK(src[2] == i && src[3] == ~i, "round %d", (int)i);
	}
}

/* As many as are posted, however few may be outstanding. */
static void many_at_once(struct vt *t)
{
	struct vt_opt o = { .ex_ops = EX_OPS, .rd = 1 };
	struct duo u = {
		.p = vt_pair(t, &o), .d = vt_mem(&t->b, 4096, VT_ALL),
	};

	u.x = ibv_qp_to_qp_ex(u.p->qp[0]);
	for (int i = 0; i < 60; i++)
		post_word(&u, i, u.d->mr->rkey, word(&u, i), i);
	for (int i = 0; i < 60; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
	for (int i = 0; i < 60; i++)
		VT_EQ(*word(&u, i), i);
}

/* FLUSH. */

/* Return: wr_id, different from all before, which may still be in the queue. */
static uint64_t post_flush(const struct duo *u, uint32_t rkey, const void *at,
			   uint32_t len, uint8_t placement, uint8_t level)
{
	static uint64_t id = 0x666c757368000000;
	struct hroce_sq_wqe *wqe;

	ibv_wr_start(u->x);
	u->x->wr_id = ++id;
	u->x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(u->x, rkey, (uintptr_t)at);
	wqe = vt_find_entry(id);
	wqe->opcode = HROCE_WR_FLUSH;
	wqe->flush.length = len;
	wqe->flush.placement = placement;
	wqe->flush.selectivity = level;
	VT_EQ(ibv_wr_complete(u->x), 0);
	return id;
}

static struct duo flush_make(struct vt *t, int qp_access, int mr_access)
{
	if (!vt_is_hroce(&t->a))
		vt_skip("the queue has another form");
	if (!(caps(&t->b) & CAP_FLUSH_GLOBAL))
		vt_skip("this kernel does not let memory be registered for it");
	return duo_make(t, qp_access, mr_access);
}

#define FLUSHABLE	(VT_ALL | ACCESS_FLUSH_GLOBAL)

static void written_is_flushed(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	struct vt_mem *big = vt_mem(&t->a, 4096, VT_ALL);
	struct ibv_wc wc;
	uint64_t id;

	for (int i = 0; i < 20; i++) {
		vt_fill(big, 0, 4096, i);
		vt_send(u.p->qp[0], &(struct vt_wr){
			.local = big, .len = 4096, .remote = u.d });
		if (i & 1)
			id = post_flush(&u, u.d->mr->rkey, NULL, 0,
					HROCE_FLUSH_GLOBAL, HROCE_FLUSH_MR);
		else
			id = post_flush(&u, u.d->mr->rkey, u.d->buf + i,
					4096 - i, HROCE_FLUSH_GLOBAL,
					HROCE_FLUSH_RANGE);
		wc = vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
		VT_EQ((int)wc.opcode, WC_FLUSH);
		vt_verify(u.d, 0, 4096, i);
	}
}

/*
 * Regions with on-demand paging. The pages have never been used, and are taken
 * away before each request. arg: of all memory
 */
static void on_demand(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	unsigned char *buf = vt_map_shared(4096);
	struct vt_mem d = { .buf = buf, .len = 4096 };
	struct vt_mem *big = vt_mem(&t->a, 4096, VT_ALL);
	long long before = vt_counter(&t->b, "memory_faults");
	uint64_t id;

	d.mr = ibv_reg_mr(t->b.pd, t->arg ? NULL : buf,
			  t->arg ? SIZE_MAX : d.len,
			  FLUSHABLE | IBV_ACCESS_ON_DEMAND);
	VT_OK(d.mr, "%s", strerror(errno));
	u.d = &d;
	for (int i = 0; i < 20; i++) {
		VT_EQ(vt_spoil_drop(buf, d.len), 0);
		post_word(&u, i, d.mr->rkey, word(&u, i), ~0ull / (i + 1));
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		VT_OK(*word(&u, i) == ~0ull / (i + 1), "word %d", i);

		vt_fill(big, 0, 4096, i);
		VT_EQ(vt_spoil_drop(buf, d.len), 0);
		vt_send(u.p->qp[0], &(struct vt_wr){
			.local = big, .len = 4096, .remote = &d });
		id = post_flush(&u, d.mr->rkey, buf, 4096, HROCE_FLUSH_GLOBAL,
				i & 1 ? HROCE_FLUSH_MR : HROCE_FLUSH_RANGE);
		vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
		vt_verify(&d, 0, 4096, i);

		VT_EQ(vt_spoil_drop(buf, d.len), 0);
		id = post_flush(&u, d.mr->rkey, buf, 4096, HROCE_FLUSH_GLOBAL,
				HROCE_FLUSH_RANGE);
		vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
		vt_verify(&d, 0, 4096, i);
	}
	VT_OK(vt_settled(&t->b, "memory_faults") > before, "no faults");
	VT_EQ(ibv_dereg_mr(d.mr), 0);
}

static void flush_needs_rights(struct vt *t)
{
	struct duo u = flush_make(t, t->arg == 1 ? VT_ALL : FLUSHABLE,
				  t->arg == 2 ? VT_ALL : FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey ^ (t->arg ? 0 : ~0u), u.d->buf, 8,
			HROCE_FLUSH_GLOBAL, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, t->arg == 1 ? IBV_WC_REM_INV_REQ_ERR :
						 IBV_WC_REM_ACCESS_ERR);
}

static void flush_beyond_the_end(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey, u.d->buf + 1, 4096,
			HROCE_FLUSH_GLOBAL, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, IBV_WC_REM_ACCESS_ERR);
}

/* Where no memory can be made persistent, it is not even offered. */
static int volatile_errno(const struct vt_end *e)
{
	return caps(e) & CAP_FLUSH_PERSISTENT ? EINVAL : EOPNOTSUPP;
}

/* Usual memory can neither be registered so nor flushed. */
static void memory_is_volatile(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE | t->arg, FLUSHABLE);
	int access = VT_ALL | ACCESS_FLUSH_PERSISTENT;
	uint64_t id;

	VT_NULL(ibv_reg_mr(t->b.pd, u.d->buf, 4096, access),
		volatile_errno(&t->b));
	VT_EQ(ibv_rereg_mr(u.d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   access), IBV_REREG_MR_ERR_CMD);
	VT_EQ(errno, volatile_errno(&t->b));
	VT_NULL(ibv_reg_mr(t->b.pd, u.d->buf, 4096,
			   access | IBV_ACCESS_ON_DEMAND), EOPNOTSUPP);
	id = post_flush(&u, u.d->mr->rkey, u.d->buf, 8,
			HROCE_FLUSH_PERSISTENT, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, t->arg ? IBV_WC_REM_ACCESS_ERR :
					    IBV_WC_REM_INV_REQ_ERR);
}

/* Persistent memory, where run.sh has found some. */

#define PMEM_LEN	(2u << 20)
#define DURABLE		(FLUSHABLE | ACCESS_FLUSH_PERSISTENT)

static int undo_pmem(void *obj)
{
	struct vt_mem *m = obj;

	return (m->mr ? ibv_dereg_mr(m->mr) : 0) | munmap(m->buf, PMEM_LEN);
}

static struct vt_mem *pmem(struct vt_end *e, size_t len, int access)
{
	const char *path = getenv("VT_PMEM");
	struct vt_mem *m;
	int fd;

	if (!path)
		vt_skip("no persistent memory: VT_PMEM is not set");
	fd = open(path, O_RDWR);
	VT_OK(fd >= 0, "%s: %m", path);
	m = calloc(1, sizeof(*m));
	m->len = len;
	m->buf = mmap(NULL, PMEM_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	VT_OK(m->buf != MAP_FAILED, "%s: %m", path);
	close(fd);
	vt_defer(undo_pmem, m, "persistent memory");
	m->mr = ibv_reg_mr(e->pd, m->buf, len, access);
	VT_OK(m->mr, "register %zu bytes, access 0x%x: %m", len, access);
	memset(m->buf, 0, len);
	return m;
}

static struct duo pmem_make(struct vt *t, int mr_access)
{
	struct duo u = flush_make(t, DURABLE, FLUSHABLE);

	VT_OK(!getenv("VT_PMEM") || caps(&t->b) & CAP_FLUSH_PERSISTENT,
	      "not offered");
	u.d = pmem(&t->b, PMEM_LEN, mr_access);
	return u;
}

#define TRACING	"/sys/kernel/tracing/"
#define PROBE	"hroce_write_back"

static void trace_write(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_APPEND);

	VT_OK(fd >= 0, "%s: %m", name);
	VT_OK(write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	      "%s to %s: %m", text, name);
	close(fd);
}

static int undo_probe(void *obj)
{
	(void)obj;
	trace_write(TRACING "events/kprobes/" PROBE "/enable", "0");
	trace_write(TRACING "kprobe_events", "-:" PROBE "\n");
	return 0;
}

/* From now on it is recorded what the kernel writes back from caches. */
static void write_backs_begin(void)
{
	trace_write(TRACING "kprobe_events", "p:" PROBE
		    " arch_wb_cache_pmem addr=$arg1:u64 size=$arg2:u64\n");
	trace_write(TRACING "events/kprobes/" PROBE "/enable", "1");
	vt_defer(undo_probe, (void *)PROBE, "probe");
	close(open(TRACING "trace", O_WRONLY | O_TRUNC));
}

/* It must have been these bytes up to now, of memory in one piece. */
static void write_backs_are(uint64_t len)
{
	uint64_t from = UINT64_MAX, to = 0, sum = 0, addr, size;
	char line[512];
	const char *at;
	FILE *f;

	f = fopen(TRACING "trace", "r");
	VT_OK(f, "no trace");
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "addr=");
		if (!at || sscanf(at, "addr=%lu size=%lu", &addr, &size) != 2)
			continue;
		from = addr < from ? addr : from;
		to = addr + size > to ? addr + size : to;
		sum += size;
	}
	fclose(f);
	if (!sum)
		from = to;
	VT_OK(to - from == len && sum >= len,
	      "%lu bytes within %lu, expected %lu", sum, to - from, len);
}

/* By the time that the peer knows, it has left the caches. */
static void written_is_persistent(struct vt *t)
{
	const size_t len = 10000, off = 4096 * 3 + 5;
	struct duo u = pmem_make(t, DURABLE);
	struct vt_mem *big = vt_mem(&t->a, len, VT_ALL);
	uint64_t id;

	vt_fill(big, 0, len, 1);
	write_backs_begin();
	vt_send(u.p->qp[0], &(struct vt_wr){
		.local = big, .len = len, .remote = u.d, .roff = off });
	if (t->arg & HROCE_FLUSH_GLOBAL)
		id = post_flush(&u, u.d->mr->rkey, NULL, 0, t->arg,
				HROCE_FLUSH_MR);
	else
		id = post_flush(&u, u.d->mr->rkey, u.d->buf + off, len, t->arg,
				HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
	write_backs_are(len);
	vt_verify(u.d, off, len, 1);
}

/* Whatever places it, for a FLUSH has nothing left to do. */
static void placed_is_persistent(struct vt *t)
{
	struct duo u = pmem_make(t, DURABLE);
	struct vt_wr wr = {
		.op = t->arg, .id = 1, .local = u.s, .len = 8, .remote = u.d,
		.flags = IBV_SEND_SIGNALED,
	};

	write_backs_begin();
	if (t->arg == IBV_WR_SEND) {
		vt_recv(u.p->qp[1], 2, u.d, 64, 8);
		vt_send(u.p->qp[0], &wr);
		vt_expect(u.p->rcq[1], 2, IBV_WC_SUCCESS);
	} else if (t->arg == IBV_WR_RDMA_READ) {
		wr.local = u.d;
		wr.remote = u.s;
		VT_EQ(vt_try_send(u.p->qp[1], &wr), 0);
		vt_expect(u.p->scq[1], 1, IBV_WC_SUCCESS);
		write_backs_are(8);
		return;
	} else if (t->arg == IBV_WR_ATOMIC_WRITE) {
		post_word(&u, 1, u.d->mr->rkey, word(&u, 5), 7);
	} else {
		vt_send(u.p->qp[0], &wr);
	}
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	write_backs_are(8);
}

/* What is written by the key of a window is in the region. */
static void written_by_window_is_persistent(struct vt *t)
{
	struct duo u = pmem_make(t, DURABLE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(t->b.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 9, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = u.d->mr, .addr = (uintptr_t)u.d->buf,
			.length = 4096,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	uint64_t id;

	VT_OK(mw, "no window: %m");
	VT_EQ(ibv_bind_mw(u.p->qp[1], mw, &bind), 0);
	vt_expect(u.p->scq[1], 9, IBV_WC_SUCCESS);
	write_backs_begin();
	post_word(&u, 1, mw->rkey, word(&u, 5), 7);
	ibv_wr_start(u.x);
	u.x->wr_id = 2;
	u.x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(u.x, mw->rkey, (uintptr_t)word(&u, 6));
	ibv_wr_set_sge(u.x, u.s->mr->lkey, (uintptr_t)u.s->buf, 64);
	VT_EQ(ibv_wr_complete(u.x), 0);
	id = post_flush(&u, u.d->mr->rkey, NULL, 0, HROCE_FLUSH_PERSISTENT,
			HROCE_FLUSH_MR);
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], 2, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
	write_backs_are(8 + 64);
	VT_EQ(ibv_dealloc_mw(mw), 0);
}

/* That it could be is not enough: nobody has asked for it. */
static void not_registered_as_persistent(struct vt *t)
{
	struct duo u = pmem_make(t, FLUSHABLE);
	uint64_t id;

	write_backs_begin();
	post_word(&u, 1, u.d->mr->rkey, word(&u, 5), 7);
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	id = post_flush(&u, u.d->mr->rkey, u.d->buf, 8, t->arg,
			HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, IBV_WC_REM_ACCESS_ERR);
	write_backs_are(0);
}

/* Then what was there before is persistent as well. */
static void registered_anew_as_persistent(struct vt *t)
{
	struct duo u = pmem_make(t, FLUSHABLE);

	post_word(&u, 1, u.d->mr->rkey, word(&u, 5), 7);
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	write_backs_begin();
	VT_EQ(ibv_rereg_mr(u.d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   DURABLE), 0);
	write_backs_are(PMEM_LEN);
	post_flush(&u, u.d->mr->rkey, u.d->buf, 8, HROCE_FLUSH_PERSISTENT,
		   HROCE_FLUSH_RANGE);
	VT_EQ(vt_poll(u.p->scq[0]).status, IBV_WC_SUCCESS);
}

/* One page of other memory among persistent ones. */
static void partly_persistent(struct vt *t)
{
	struct vt_mem *d = pmem_make(t, DURABLE).d;
	unsigned char *map, *at;
	int flags = MAP_SHARED | MAP_FIXED, fd;

	map = mmap(NULL, 2 * PMEM_LEN, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VT_OK(map != MAP_FAILED, "%m");
	at = map + (-(uintptr_t)map & (PMEM_LEN - 1));
	fd = open(getenv("VT_PMEM"), O_RDWR);
	VT_OK(at + PMEM_LEN + 4096 <= map + 2 * PMEM_LEN, "no room");
	VT_OK(mmap(at, PMEM_LEN, PROT_READ | PROT_WRITE, flags, fd, 0) == at,
	      "%m");
	close(fd);
	VT_NULL(ibv_reg_mr(t->b.pd, at + PMEM_LEN - 4096, 8192, DURABLE),
		EINVAL);
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   at + PMEM_LEN - 4096, 8192, 0),
	      IBV_REREG_MR_ERR_CMD);
	VT_EQ(errno, EINVAL);
	VT_EQ(munmap(map, 2 * PMEM_LEN), 0);
}

static void kinds_of_flush(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey, u.d->buf, 8, t->arg >> 4,
			t->arg & 15);
	vt_expect(u.p->scq[0], id, IBV_WC_LOC_QP_OP_ERR);
}

static const struct vt_case cases[] = {
	VT_CASE(words_are_written),
	VT_CASE(words_from_memory_and_inline),
	VT_CASE_ARG("only_8_bytes_not_7", only_8_bytes, 7),
	VT_CASE_ARG("only_8_bytes_not_16", only_8_bytes, 16),
	VT_CASE(lkey_is_checked),
	VT_CASE(misaligned),
	VT_CASE_ARG("wrong_rkey", needs_rights, 0),
	VT_CASE_ARG("qp_lacks_remote_write", needs_rights, 1),
	VT_CASE_ARG("mr_lacks_remote_write", needs_rights, 2),
	VT_CASE(keeps_its_place),
	VT_CASE(many_at_once),
	VT_CASE(written_is_flushed),
	VT_CASE(on_demand),
	VT_CASE_ARG("on_demand_implicit", on_demand, 1),
	VT_CASE_ARG("flush_wrong_rkey", flush_needs_rights, 0),
	VT_CASE_ARG("flush_qp_lacks_right", flush_needs_rights, 1),
	VT_CASE_ARG("flush_mr_lacks_right", flush_needs_rights, 2),
	VT_CASE(flush_beyond_the_end),
	VT_CASE(memory_is_volatile),
	VT_CASE_ARG("memory_is_volatile_for_willing_qp", memory_is_volatile,
		    ACCESS_FLUSH_PERSISTENT),
	VT_CASE_ARG("written_is_persistent_range", written_is_persistent,
		    HROCE_FLUSH_PERSISTENT),
	VT_CASE_ARG("written_is_persistent_and_visible", written_is_persistent,
		    HROCE_FLUSH_PERSISTENT | HROCE_FLUSH_GLOBAL),
	VT_CASE_ARG("received_is_persistent", placed_is_persistent,
		    IBV_WR_SEND),
	VT_CASE_ARG("read_is_persistent", placed_is_persistent,
		    IBV_WR_RDMA_READ),
	VT_CASE_ARG("fetch_add_is_persistent", placed_is_persistent,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("atomic_write_is_persistent", placed_is_persistent,
		    IBV_WR_ATOMIC_WRITE),
	VT_CASE(written_by_window_is_persistent),
	VT_CASE_ARG("not_registered_as_persistent",
		    not_registered_as_persistent, HROCE_FLUSH_PERSISTENT),
	VT_CASE_ARG("not_registered_as_persistent_but_visible",
		    not_registered_as_persistent,
		    HROCE_FLUSH_PERSISTENT | HROCE_FLUSH_GLOBAL),
	VT_CASE(registered_anew_as_persistent),
	VT_CASE(partly_persistent),
	VT_CASE_ARG("flush_of_no_kind", kinds_of_flush, 0x00),
	VT_CASE_ARG("flush_of_unknown_kind", kinds_of_flush, 0x50),
	VT_CASE_ARG("flush_of_unknown_extent", kinds_of_flush, 0x12),
};

VT_MAIN(cases)
