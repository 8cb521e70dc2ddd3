// SPDX-License-Identifier: GPL-2.0
/* Absurd attributes get a precise errno, limits hold exactly. */
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "vt.h"

static void cq_sizes(struct vt *t)
{
	struct ibv_context *ctx = t->a.ctx;
	struct ibv_cq *cq;

	VT_NULL(ibv_create_cq(ctx, 0, NULL, NULL, 0), EINVAL);
	VT_NULL(ibv_create_cq(ctx, -1, NULL, NULL, 0), EINVAL);
	VT_NULL(ibv_create_cq(ctx, INT_MAX, NULL, NULL, 0), EINVAL);
	VT_NULL(ibv_create_cq(ctx, t->a.dev.max_cqe + 1, NULL, NULL, 0),
		EINVAL);
	cq = vt_cq(&t->a, 1, NULL);
	VT_OK(cq->cqe >= 1, "%d", cq->cqe);
	cq = vt_cq(&t->a, t->a.dev.max_cqe, NULL);
	VT_OK(cq->cqe >= t->a.dev.max_cqe, "%d", cq->cqe);
}

static void limit_memory(long kb)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = {};
	struct rlimit lim = { kb << 10, kb << 10 };

	VT_EQ(setrlimit(RLIMIT_MEMLOCK, &lim), 0);
	VT_EQ(syscall(SYS_capset, &head, caps), 0);
}

/* Queues count as pinned memory of the process, as long as they are there. */
static void queues_are_pinned(struct vt *t)
{
	long before = vt_pinned_kb(), after;
	struct ibv_cq *cq[8];
	int n;

	if (!vt_is_hroce(&t->a))
		vt_skip("hroce's queues");
	/* 64 bytes an entry: 1 MB each, of which 7 and others fit. */
	limit_memory(before + (8 << 10) - 64);
	for (n = 0; n < 8; n++) {
		cq[n] = ibv_create_cq(t->a.ctx, 16384, NULL, NULL, 0);
		if (!cq[n])
			break;
	}
	VT_EQ(errno, ENOMEM);
	VT_EQ(n, 7);
	after = vt_pinned_kb();
	VT_OK(after >= before + (7 << 10), "%ld KB", after - before);
	VT_EQ(ibv_resize_cq(cq[0], 32768), ENOMEM);
	/* One goes, one can come, over and over. */
	for (int i = 0; i < 20; i++) {
		VT_EQ(ibv_destroy_cq(cq[i % 7]), 0);
		cq[i % 7] = ibv_create_cq(t->a.ctx, 16384, NULL, NULL, 0);
		VT_OK(cq[i % 7], "%s", strerror(errno));
	}
	/* To be resized they need both for a moment. */
	for (int i = 0; i < 4; i++)
		VT_EQ(ibv_destroy_cq(cq[i]), 0);
	VT_EQ(ibv_resize_cq(cq[4], 32768), 0);
	VT_EQ(ibv_resize_cq(cq[4], 65536 / 4), 0);
	VT_EQ(ibv_resize_cq(cq[4], 32768), 0);
	for (int i = 4; i < 7; i++)
		VT_EQ(ibv_destroy_cq(cq[i]), 0);
	/* The last is looked at again with the next. */
	cq[0] = ibv_create_cq(t->a.ctx, 1, NULL, NULL, 0);
	VT_OK(cq[0], "%s", strerror(errno));
	VT_EQ(ibv_destroy_cq(cq[0]), 0);
	after = vt_pinned_kb();
	VT_OK(after <= before + 64, "%ld KB are left", after - before);
}

/* The memory of a queue that is gone may be that of a region. */
static void queues_leave_room_for_regions(struct vt *t)
{
	const size_t len = 1536 << 10;
	long before = vt_pinned_kb();
	struct ibv_mr *mr, *small;
	struct ibv_cq *cq;
	char *buf = NULL;

	VT_EQ(posix_memalign((void **)&buf, getpagesize(), len), 0);
	/* A CQ of 1 MB fits, and either region does when that is gone. */
	limit_memory(before + (2 << 10) - 64);
	cq = ibv_create_cq(t->a.ctx, 16384, NULL, NULL, 0);
	VT_OK(cq, "%s", strerror(errno));
	VT_NULL(ibv_reg_mr(t->a.pd, buf, len, IBV_ACCESS_LOCAL_WRITE), ENOMEM);
	VT_EQ(ibv_destroy_cq(cq), 0);
	mr = ibv_reg_mr(t->a.pd, buf, len, IBV_ACCESS_LOCAL_WRITE);
	VT_OK(mr, "%s", strerror(errno));
	VT_EQ(ibv_dereg_mr(mr), 0);
	small = ibv_reg_mr(t->a.pd, buf, 1, IBV_ACCESS_LOCAL_WRITE);
	VT_OK(small, "%s", strerror(errno));
	cq = ibv_create_cq(t->a.ctx, 16384, NULL, NULL, 0);
	VT_OK(cq, "%s", strerror(errno));
	VT_EQ(ibv_destroy_cq(cq), 0);
	VT_EQ(ibv_rereg_mr(small, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, buf,
			   len, 0), 0);
	VT_EQ(ibv_dereg_mr(small), 0);
	free(buf);
}

/* And that of queues of another context of the process. */
static void queues_leave_room_for_other_contexts(struct vt *t)
{
	const size_t len = 1536 << 10;
	long before = vt_pinned_kb();
	char *buf = NULL;
	struct ibv_cq *cq;
	struct ibv_mr *mr;

	VT_EQ(posix_memalign((void **)&buf, getpagesize(), len), 0);
	limit_memory(before + (2 << 10) - 64);
	for (int i = 0; i < 4; i++) {
		struct ibv_context *ctx = i % 2 ? t->b.ctx : t->a.ctx;

		/* 64 bytes an entry: 1 MB each. */
		cq = ibv_create_cq(ctx, 16384, NULL, NULL, 0);
		VT_OK(cq, "%d: %s", i, strerror(errno));
		VT_EQ(ibv_destroy_cq(cq), 0);
	}
	mr = ibv_reg_mr(t->a.pd, buf, len, IBV_ACCESS_LOCAL_WRITE);
	VT_OK(mr, "%s", strerror(errno));
	VT_EQ(ibv_dereg_mr(mr), 0);
	free(buf);
}

/* Pages that were allocated on this machine since it began. */
static long long pages_allocated(void)
{
	FILE *f = fopen("/proc/vmstat", "r");
	long long number, sum = 0;
	char line[128];

	VT_OK(f, "%s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "pgalloc_%*[a-z0-9] %lld", &number) == 1)
			sum += number;
	fclose(f);
	return sum;
}

/* What the limit forbids is not allocated first, but the array of its pages. */
static void beyond_limit_costs_nothing(struct vt *t)
{
	/* 64 bytes an entry: 4,096 pages. */
	const int nr = 4096 * 64;
	long long before;
	long pinned;

	if (!vt_is_hroce(&t->a))
		vt_skip("hroce's queues");
	pinned = vt_pinned_kb();
	limit_memory(pinned + 1024);
	before = pages_allocated();
	VT_NULL(ibv_create_cq(t->a.ctx, nr, NULL, NULL, 0), ENOMEM);
	before = pages_allocated() - before;
	VT_OK(before < 2048, "%lld pages", before);
	VT_EQ(vt_pinned_kb(), pinned);
}

static void cq_comp_vector_out_of_range(struct vt *t)
{
	struct ibv_context *ctx = t->a.ctx;

	VT_NULL(ibv_create_cq(ctx, 8, NULL, NULL, ctx->num_comp_vectors),
		EINVAL);
	VT_NULL(ibv_create_cq(ctx, 8, NULL, NULL, 1 << 20), EINVAL);
}

static struct ibv_qp *try_qp(struct vt *t, struct ibv_cq *cq,
			     enum ibv_qp_type type, uint32_t sq, uint32_t rq,
			     uint32_t ssge, uint32_t rsge, uint32_t inl)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { sq, rq, ssge, rsge, inl },
	};

	return ibv_create_qp(t->a.pd, &attr);
}

static void qp_caps_too_big(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	uint32_t wr = t->a.dev.max_qp_wr + 1;
	uint32_t sge = t->a.dev.max_sge + 1;

	VT_NULL(try_qp(t, cq, IBV_QPT_RC, wr, 4, 1, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, wr, 1, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, sge, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, 1, sge, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, 1, 1, 1 << 20), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, UINT_MAX, 4, 1, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, UINT_MAX, 1, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, UINT_MAX, 1, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, 1, UINT_MAX, 0), EINVAL);
	VT_NULL(try_qp(t, cq, IBV_QPT_RC, 4, 4, 1, 1, UINT_MAX), EINVAL);
}

static void qp_caps_largest(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	struct vt_opt o = {
		.sq = t->a.dev.max_qp_wr, .rq = t->a.dev.max_qp_wr,
		.sge = 1,
	};
	struct vt_opt s = { .sq = 16, .rq = 16, .sge = t->a.dev.max_sge };
	struct vt_opt i = { .sq = 16, .rq = 16, .sge = 1, .inl = 512 };

	vt_opt_defaults(t, &o);
	vt_qp(&t->a, &o, cq, cq, NULL, NULL);
	vt_opt_defaults(t, &s);
	vt_qp(&t->a, &s, cq, cq, NULL, NULL);
	vt_opt_defaults(t, &i);
	vt_qp(&t->a, &i, cq, cq, NULL, NULL);
}

static void qp_caps_zero(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	struct ibv_qp *qp;

	qp = try_qp(t, cq, IBV_QPT_RC, 0, 8, 0, 1, 0);
	VT_OK(qp, "no send queue: %s", strerror(errno));
	VT_EQ(ibv_destroy_qp(qp), 0);
	qp = try_qp(t, cq, IBV_QPT_RC, 8, 0, 1, 0, 0);
	VT_OK(qp, "no receive queue: %s", strerror(errno));
	VT_EQ(ibv_destroy_qp(qp), 0);
}

static void qp_types_unknown(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	static const int types[] = { 0, 1, 7, 100, 254 };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		errno = 0;
		VT_OK(!try_qp(t, cq, types[i], 4, 4, 1, 1, 0), "type %d",
		      types[i]);
		VT_OK(errno == EINVAL || errno == EOPNOTSUPP ||
		      errno == EPERM, "type %d: errno %d", types[i], errno);
	}
}

static void srq_sizes(struct vt *t)
{
	struct ibv_srq_init_attr a = {};

	a.attr.max_sge = 1;
	a.attr.max_wr = 0;
	VT_NULL(ibv_create_srq(t->a.pd, &a), EINVAL);
	a.attr.max_wr = t->a.dev.max_srq_wr + 1;
	VT_NULL(ibv_create_srq(t->a.pd, &a), EINVAL);
	a.attr.max_wr = UINT_MAX;
	VT_NULL(ibv_create_srq(t->a.pd, &a), EINVAL);
	a.attr.max_wr = 4;
	a.attr.max_sge = t->a.dev.max_srq_sge + 1;
	VT_NULL(ibv_create_srq(t->a.pd, &a), EINVAL);
	a.attr.max_sge = UINT_MAX;
	VT_NULL(ibv_create_srq(t->a.pd, &a), EINVAL);
	vt_srq(&t->a, t->a.dev.max_srq_wr, 1, 0);
	vt_srq(&t->a, 16, t->a.dev.max_srq_sge, 0);
}

static void srq_limit_range(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->a, 8, 1, 0);
	struct ibv_srq_attr attr = { .srq_limit = 1 << 30 };

	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	attr.srq_limit = 4;
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.srq_limit, 4);
	VT_OK(attr.max_wr >= 8, "%u", attr.max_wr);
}

static void ah_attributes(struct vt *t)
{
	struct ibv_ah_attr ok = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = t->b.gid, .sgid_index = t->a.gid_idx,
			 .hop_limit = 8, .traffic_class = 0x68 },
	};
	struct ibv_ah_attr a;
	struct ibv_ah *ah;

	ah = ibv_create_ah(t->a.pd, &ok);
	VT_OK(ah, "%s", strerror(errno));
	VT_EQ(ibv_destroy_ah(ah), 0);
	a = ok;
	a.port_num = 2;
	VT_NULL(ibv_create_ah(t->a.pd, &a), EINVAL);
	a.port_num = 0;
	VT_NULL(ibv_create_ah(t->a.pd, &a), EINVAL);
	a = ok;
	a.grh.sgid_index = 255;
	errno = 0;
	VT_OK(!ibv_create_ah(t->a.pd, &a) && errno, "sgid_index 255");
	a = ok;
	a.is_global = 0;
	VT_NULL(ibv_create_ah(t->a.pd, &a), EINVAL);
}

static void post_more_sge_than_granted(struct vt *t)
{
	struct vt_opt o = { .sge = 2 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);
	unsigned int n = p->cap.max_send_sge + 1;
	unsigned int rn = p->cap.max_recv_sge + 1;
	unsigned int most = n > rn ? n : rn;
	struct ibv_sge *sge = calloc(most, sizeof(*sge));
	struct ibv_send_wr *bad = NULL, wr = {
		.opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = n,
	};
	struct ibv_recv_wr *rbad = NULL, rwr = {
		.sg_list = sge, .num_sge = rn,
	};

	for (unsigned int i = 0; i < most; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)m->buf, 1, m->mr->lkey };
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), EINVAL);
	VT_OK(bad == &wr, "bad_wr not set");
	VT_EQ(ibv_post_recv(p->qp[0], &rwr, &rbad), EINVAL);
	VT_OK(rbad == &rwr, "bad_wr not set");
	free(sge);
}

static void post_too_much_inline(struct vt *t)
{
	struct vt_opt o = { .inl = 64 };
	struct vt_pair *p = vt_pair(t, &o);
	size_t len = p->cap.max_inline_data + 1;
	struct vt_mem *m = vt_mem(&t->a, len, VT_ALL);
	struct vt_wr w = {
		.op = IBV_WR_SEND, .local = m, .len = len,
		.flags = IBV_SEND_INLINE,
	};

	VT_EQ(vt_try_send(p->qp[0], &w), EINVAL);
}

static void post_list_stops_at_bad(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);
	struct ibv_sge sge = { (uintptr_t)m->buf, 8, m->mr->lkey };
	struct ibv_send_wr wr[3], *bad = NULL;

	for (int i = 0; i < 3; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 0,
			.next = i < 2 ? &wr[i + 1] : NULL,
		};
	wr[1].num_sge = p->cap.max_send_sge + 1;
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), EINVAL);
	VT_OK(bad == &wr[1], "bad_wr is not the second");
	vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);
	vt_quiet(p->scq[0], 20);
}

static void mcast_attach_rules(struct vt *t)
{
	struct vt_opt ud = { .type = IBV_QPT_UD };
	struct vt_pair *p = vt_pair(t, &ud);
	struct vt_pair *rc = vt_pair(t, NULL);
	union ibv_gid mgid = {
		.raw = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
			 239, 1, 2, 3 },
	};

	VT_OK(ibv_attach_mcast(rc->qp[0], &mgid, 0), "RC QP attached");
	VT_EQ(ibv_attach_mcast(p->qp[0], &mgid, 0), 0);
	VT_EQ(ibv_destroy_qp(p->qp[0]), EBUSY);
	VT_EQ(ibv_detach_mcast(p->qp[0], &mgid, 0), 0);
	VT_OK(ibv_detach_mcast(p->qp[0], &mgid, 0), "detached twice");
}

/* Sum of the numbers that follow @word in @file. */
static long long sum_in(const char *file, const char *word)
{
	long long number, sum = 0;
	FILE *f = fopen(file, "r");
	char line[512];

	VT_OK(f, "no %s", file);
	while (fgets(line, sizeof(line), f)) {
		char *at = line + strspn(line, " ");

		if (!strncmp(at, word, strlen(word)) &&
		    sscanf(at + strlen(word), ": %lld", &number) == 1)
			sum += number;
	}
	fclose(f);
	return sum;
}

static long long meminfo(const char *word)
{
	return 1024 * sum_in("/proc/meminfo", word);
}

/* What the kernel uses for itself. CPUs keep free pages at hand. */
static long long kernel_bytes(void)
{
	long long spare = sum_in("/proc/zoneinfo", "count") * getpagesize();

	return meminfo("MemTotal") - meminfo("MemFree") - spare -
	       meminfo("Buffers") - meminfo("Cached") -
	       meminfo("AnonPages") - meminfo("PageTables");
}

#define MANY_QPS	2048
/* The largest machine that the limits below are for. */
#define MANY_CPUS	256
/* One page each for a small send queue and a small receive queue. */
#define RING_BYTES	(2 * 4096)
#define QP_BYTES	4096
/* What ib_core and the timer add in 7.2 takes it to the next size of slabs. */
#define QP_BYTES_7	5120

static long long qp_bytes(void)
{
	struct utsname name;

	return uname(&name) || atoi(name.release) < 7 ? QP_BYTES : QP_BYTES_7;
}

static void many_queue_pairs(struct vt *t)
{
	struct vt_opt o = { .sq = 1, .rq = 1, .sge = 1, .rd = 16 };
	long long bytes, percpu;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	int i;

	if (!access("/proc/lockdep", F_OK))
		vt_skip("objects are larger on this kernel");
	cq = vt_cq(&t->a, 2 * MANY_QPS, NULL);
	vt_opt_defaults(t, &o);
	bytes = kernel_bytes();
	percpu = meminfo("Percpu");
	for (i = 0; i < MANY_QPS; i++) {
		qp = vt_qp(&t->a, &o, cq, cq, NULL, NULL);
		vt_to_init(&t->a, qp, &o);
		vt_to_rtr(&t->a, qp, &o, &t->b.gid, qp->qp_num, 0);
		vt_to_rts(qp, &o, 0);
	}
	percpu = (meminfo("Percpu") - percpu) / sysconf(_SC_NPROCESSORS_CONF);
	bytes = (kernel_bytes() - bytes) / MANY_QPS - RING_BYTES;
	vt_note("%lld bytes each, %.1f of them for each CPU", bytes,
		(double)percpu / MANY_QPS);
	VT_OK(bytes < qp_bytes(), "%lld bytes each", bytes);
	bytes += percpu * MANY_CPUS / MANY_QPS;
	VT_OK(bytes < qp_bytes(), "%lld bytes each on %d CPUs", bytes,
	      MANY_CPUS);
}

static const struct vt_case cases[] = {
	VT_CASE(cq_sizes),
	VT_CASE(queues_are_pinned),
	VT_CASE(queues_leave_room_for_regions),
	VT_CASE(queues_leave_room_for_other_contexts),
	VT_CASE(beyond_limit_costs_nothing),
	VT_CASE(cq_comp_vector_out_of_range),
	VT_CASE(qp_caps_too_big),
	VT_CASE(qp_caps_largest),
	VT_CASE(qp_caps_zero),
	VT_CASE(qp_types_unknown),
	VT_CASE(srq_sizes),
	VT_CASE(srq_limit_range),
	VT_CASE(ah_attributes),
	VT_CASE(post_more_sge_than_granted),
	VT_CASE(post_too_much_inline),
	VT_CASE(post_list_stops_at_bad),
	VT_CASE(mcast_attach_rules),
	VT_CASE_SLOW(many_queue_pairs, 60),
};

VT_MAIN(cases)
