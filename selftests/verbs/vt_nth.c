// SPDX-License-Identifier: GPL-2.0
/*
 * The n-th allocation that a call causes inside hroce fails, for n from 1
 * until the call meets no failure any more. The call either succeeds, as it
 * can do without, or fails with ENOMEM; then it works at once without
 * failures, and what it was made from can be destroyed: nothing of it is left.
 *
 * Needs a kernel with fault injection, aimed at hroce by selftests/faults.
 * That nothing leaks is seen by kmemleak, and by "rdma resource" afterwards.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vt.h"

#define MAX_NTH		20000
#define BIG		(16ul << 20)
#define HUGE_CQE	3000

/**
 * struct nth - what the calls of a case work with
 * @t: ends
 * @obj: what the call made
 * @qp: queue pair that is modified
 * @cq: completion queue
 * @srq: shared receive queue
 * @xrcd: XRC domain
 * @mem: memory that is registered, or moved
 * @far: the peer's
 * @pair: connected queue pairs
 * @op: of a transfer
 * @type: of a queue pair
 * @access: of a region
 * @size: of what is made
 */
struct nth {
	struct vt *t;
	void *obj;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_xrcd *xrcd;
	struct vt_mem *mem;
	struct vt_mem *far;
	struct vt_pair *pair;
	enum ibv_wr_opcode op;
	enum ibv_qp_type type;
	int access;
	size_t size;
};

/**
 * struct call - one call to be failed
 * @prepare: before each attempt, without failures; may be NULL
 * @fn: the call; 0 or an errno
 * @undo: after each attempt that succeeded; may be NULL
 * @discard: after each attempt; may be NULL
 */
struct call {
	void (*prepare)(struct nth *x);
	int (*fn)(struct nth *x);
	void (*undo)(struct nth *x);
	void (*discard)(struct nth *x);
};

static int nth_fd = -1;

static void set_nth(int n)
{
	char s[16];
	int len = snprintf(s, sizeof(s), "%d", n);

	VT_EQ(pwrite(nth_fd, s, len, 0), len);
}

static int left_of_nth(void)
{
	char s[16] = "";

	VT_OK(pread(nth_fd, s, sizeof(s) - 1, 0) > 0, "fail-nth");
	return atoi(s);
}

/* Returns whether the call met a failure. */
static bool attempt(struct nth *x, const struct call *c, int n, int *err)
{
	long pinned;
	int left;

	if (c->prepare)
		c->prepare(x);
	pinned = vt_pinned_kb();
	set_nth(n);
	*err = c->fn(x);
	left = left_of_nth();
	set_nth(0);
	if (*err)
		VT_OK(vt_pinned_kb() <= pinned, "n = %d: %ld KB stay pinned", n,
		      vt_pinned_kb() - pinned);
	if (!*err && c->undo)
		c->undo(x);
	if (c->discard)
		c->discard(x);
	return n && !left;
}

static void fail_each(struct nth *x, const struct call *c)
{
	int n, err, failures = 0;

	attempt(x, c, 0, &err);
	VT_OK(!err, "fails by itself: %s", strerror(err));
	for (n = 1; attempt(x, c, n, &err); n++) {
		VT_OK(!err || err == ENOMEM, "n = %d: %s", n, strerror(err));
		failures += !!err;
		attempt(x, c, 0, &err);
		VT_OK(!err, "after n = %d: %s", n, strerror(err));
		VT_OK(n < MAX_NTH, "no end of it");
	}
	VT_OK(!err, "n = %d, no failure met: %s", n, strerror(err));
	if (n == 1)
		vt_skip("no allocation was met");
	vt_note("%d allocations, %d failures seen", n - 1, failures);
}

static void begin(struct nth *x, struct vt *t)
{
	memset(x, 0, sizeof(*x));
	x->t = t;
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		vt_skip("the kernel cannot inject faults");
}

static int made(struct nth *x, void *obj)
{
	x->obj = obj;
	return obj ? 0 : errno ? errno : EIO;
}

/* ---- contexts, protection domains, windows, address handles ---- */

static int call_open(struct nth *x)
{
	return made(x, ibv_open_device(x->t->a.ctx->device));
}

static void undo_open(struct nth *x)
{
	VT_EQ(ibv_close_device(x->obj), 0);
}

static int call_pd(struct nth *x)
{
	return made(x, ibv_alloc_pd(x->t->a.ctx));
}

static void undo_pd(struct nth *x)
{
	VT_EQ(ibv_dealloc_pd(x->obj), 0);
}

static int call_mw(struct nth *x)
{
	return made(x, ibv_alloc_mw(x->t->a.pd, IBV_MW_TYPE_1));
}

static int call_mw2(struct nth *x)
{
	return made(x, ibv_alloc_mw(x->t->a.pd, IBV_MW_TYPE_2));
}

static void undo_mw(struct nth *x)
{
	VT_EQ(ibv_dealloc_mw(x->obj), 0);
}

static int call_ah(struct nth *x)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = VT_PORT,
		.grh = { .dgid = x->t->b.gid, .hop_limit = 64,
			 .sgid_index = x->t->a.gid_idx },
	};

	return made(x, ibv_create_ah(x->t->a.pd, &attr));
}

static void undo_ah(struct nth *x)
{
	VT_EQ(ibv_destroy_ah(x->obj), 0);
}

/* ---- completion and shared receive queues ---- */

static int call_cq(struct nth *x)
{
	return made(x, ibv_create_cq(x->t->a.ctx, x->size, NULL, NULL, 0));
}

static void undo_cq(struct nth *x)
{
	VT_EQ(ibv_destroy_cq(x->obj), 0);
}

static int call_cq_ex(struct nth *x)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = x->size,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};

	return made(x, ibv_create_cq_ex(x->t->a.ctx, &attr));
}

static void undo_cq_ex(struct nth *x)
{
	VT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(x->obj)), 0);
}

static int call_resize(struct nth *x)
{
	return ibv_resize_cq(x->cq, x->size);
}

static void undo_resize(struct nth *x)
{
	VT_EQ(ibv_resize_cq(x->cq, 10), 0);
}

static int call_srq(struct nth *x)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = x->size, .max_sge = 4 },
	};

	return made(x, ibv_create_srq(x->t->a.pd, &attr));
}

static int call_srq_xrc(struct nth *x)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = x->size, .max_sge = 4 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC, .xrcd = x->xrcd, .cq = x->cq,
		.pd = x->t->a.pd,
	};

	return made(x, ibv_create_srq_ex(x->t->a.ctx, &attr));
}

static void undo_srq(struct nth *x)
{
	VT_EQ(ibv_destroy_srq(x->obj), 0);
}

static int call_srq_resize(struct nth *x)
{
	struct ibv_srq_attr attr = { .max_wr = x->size };

	return ibv_modify_srq(x->srq, &attr, IBV_SRQ_MAX_WR);
}

static void prepare_srq_resize(struct nth *x)
{
	x->srq = vt_srq(&x->t->a, 16, 2, 0);
}

static void discard_srq(struct nth *x)
{
	vt_forget(x->srq);
	VT_EQ(ibv_destroy_srq(x->srq), 0);
}

static int call_xrcd(struct nth *x)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return made(x, ibv_open_xrcd(x->t->a.ctx, &attr));
}

static void undo_xrcd(struct nth *x)
{
	VT_EQ(ibv_close_xrcd(x->obj), 0);
}

/* ---- queue pairs ---- */

static struct ibv_qp *make_qp(struct nth *x)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = x->type, .send_cq = x->cq, .recv_cq = x->cq,
		.srq = x->srq,
		.cap = { .max_send_wr = x->size, .max_recv_wr = x->size,
			 .max_send_sge = 4, .max_recv_sge = 4 },
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = x->t->a.pd,
	};

	if (x->type == IBV_QPT_XRC_RECV) {
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = x->xrcd;
		attr.send_cq = NULL;
		attr.recv_cq = NULL;
	} else if (x->type == IBV_QPT_XRC_SEND) {
		attr.recv_cq = NULL;
	}
	return ibv_create_qp_ex(x->t->a.ctx, &attr);
}

static int call_qp(struct nth *x)
{
	return made(x, make_qp(x));
}

static void undo_qp(struct nth *x)
{
	VT_EQ(ibv_destroy_qp(x->obj), 0);
}

/* All the way to RTS in one call; what fails may be tried again. */
static int call_modify(struct nth *x)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = VT_PORT,
		.qp_access_flags = VT_ALL,
	};
	int err;

	err = ibv_modify_qp(x->qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			    IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = 17, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = VT_PORT,
			     .grh = { .dgid = x->t->b.gid, .hop_limit = 64,
				      .sgid_index = x->t->a.gid_idx } },
	};
	err = ibv_modify_qp(x->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 4,
	};
	return ibv_modify_qp(x->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void prepare_modify(struct nth *x)
{
	x->qp = make_qp(x);
	VT_OK(x->qp, "%s", strerror(errno));
}

static void discard_qp(struct nth *x)
{
	VT_EQ(ibv_destroy_qp(x->qp), 0);
}

static int call_attach(struct nth *x)
{
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239,
					 [15] = 7 } };

	return ibv_attach_mcast(x->qp, &group, 0);
}

static void undo_attach(struct nth *x)
{
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, [12] = 239,
					 [15] = 7 } };

	VT_EQ(ibv_detach_mcast(x->qp, &group, 0), 0);
}

/* ---- regions ---- */

static int call_mr(struct nth *x)
{
	return made(x, ibv_reg_mr(x->t->a.pd, x->mem->buf, x->size, x->access));
}

static int call_mr_implicit(struct nth *x)
{
	return made(x, ibv_reg_mr(x->t->a.pd, NULL, SIZE_MAX, x->access));
}

static void undo_mr(struct nth *x)
{
	VT_EQ(ibv_dereg_mr(x->obj), 0);
}

/* After a failure the region is as before. */
static int call_rereg(struct nth *x)
{
	int err = ibv_rereg_mr(x->obj, IBV_REREG_MR_CHANGE_TRANSLATION |
				       IBV_REREG_MR_CHANGE_ACCESS, NULL,
			       x->mem->buf, x->size, x->access);

	return err ? errno : 0;
}

static void prepare_rereg(struct nth *x)
{
	x->obj = ibv_reg_mr(x->t->a.pd, x->mem->buf, 4096, x->access);
	VT_OK(x->obj, "%s", strerror(errno));
}

static int call_advise(struct nth *x)
{
	struct ibv_mr *mr = x->obj;
	struct ibv_sge sge = { .addr = (uintptr_t)x->mem->buf,
			       .length = x->size, .lkey = mr->lkey };

	return ibv_advise_mr(x->t->a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			     IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
}

static void prepare_advise(struct nth *x)
{
	prepare_rereg(x);
	undo_mr(x);
	VT_EQ(call_mr(x), 0);
}

/* ---- data: a failure costs time, and nothing else ---- */

static int call_transfer(struct nth *x)
{
	enum ibv_wc_status status;

	status = vt_run(x->pair, (struct vt_wr){
		.op = x->op, .local = x->mem, .remote = x->far,
		.len = x->size, .flags = IBV_SEND_SIGNALED,
	});
	VT_EQ(status, IBV_WC_SUCCESS);
	return 0;
}

/* ---- cases ---- */

enum what {
	OPEN, PD, MW, MW2, AH, CQ, CQ_HUGE, CQ_EX, RESIZE, SRQ, SRQ_XRC,
	SRQ_RESIZE, XRCD, QP, MODIFY, MULTICAST, MR, REREG, MR_IMPLICIT, ADVISE,
	TRANSFER,
};

static const struct call calls[] = {
	[OPEN]		= { .fn = call_open, .undo = undo_open },
	[PD]		= { .fn = call_pd, .undo = undo_pd },
	[MW]		= { .fn = call_mw, .undo = undo_mw },
	[MW2]		= { .fn = call_mw2, .undo = undo_mw },
	[AH]		= { .fn = call_ah, .undo = undo_ah },
	[CQ]		= { .fn = call_cq, .undo = undo_cq },
	[CQ_HUGE]	= { .fn = call_cq, .undo = undo_cq },
	[CQ_EX]		= { .fn = call_cq_ex, .undo = undo_cq_ex },
	[RESIZE]	= { .fn = call_resize, .undo = undo_resize },
	[SRQ]		= { .fn = call_srq, .undo = undo_srq },
	[SRQ_XRC]	= { .fn = call_srq_xrc, .undo = undo_srq },
	[SRQ_RESIZE]	= { .prepare = prepare_srq_resize,
			    .fn = call_srq_resize, .discard = discard_srq },
	[XRCD]		= { .fn = call_xrcd, .undo = undo_xrcd },
	[QP]		= { .fn = call_qp, .undo = undo_qp },
	[MODIFY]	= { .prepare = prepare_modify, .fn = call_modify,
			    .discard = discard_qp },
	[MULTICAST]	= { .fn = call_attach, .undo = undo_attach },
	[MR]		= { .fn = call_mr, .undo = undo_mr },
	[REREG]		= { .prepare = prepare_rereg, .fn = call_rereg,
			    .discard = undo_mr },
	[MR_IMPLICIT]	= { .fn = call_mr_implicit, .undo = undo_mr },
	[ADVISE]	= { .prepare = prepare_advise, .fn = call_advise,
			    .discard = undo_mr },
	[TRANSFER]	= { .fn = call_transfer },
};

static void objects(struct vt *t)
{
	static struct nth x;

	begin(&x, t);
	x.size = t->arg == CQ_HUGE || t->arg == RESIZE ? HUGE_CQE : 100;
	x.cq = vt_cq(&t->a, 10, NULL);
	if (t->arg == SRQ_XRC) {
		VT_EQ(call_xrcd(&x), 0);
		x.xrcd = x.obj;
	}
	fail_each(&x, &calls[t->arg]);
	if (x.xrcd)
		VT_EQ(ibv_close_xrcd(x.xrcd), 0);
}

static void queue_pairs(struct vt *t)
{
	static struct nth x;

	begin(&x, t);
	x.size = 100;
	x.type = t->arg & 0xff;
	x.cq = vt_cq(&t->a, 500, NULL);
	if (t->arg & 0x100)
		x.srq = vt_srq(&t->a, 16, 2, 0);
	if (x.type == IBV_QPT_XRC_RECV) {
		VT_EQ(call_xrcd(&x), 0);
		x.xrcd = x.obj;
	}
	fail_each(&x, &calls[QP]);
	if (x.xrcd)
		VT_EQ(ibv_close_xrcd(x.xrcd), 0);
}

static void modify(struct vt *t)
{
	static struct nth x;

	begin(&x, t);
	x.size = 100;
	x.type = t->arg;
	x.cq = vt_cq(&t->a, 500, NULL);
	fail_each(&x, &calls[MODIFY]);
}

static void multicast(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD };
	static struct nth x;

	begin(&x, t);
	x.qp = vt_pair(t, &o)->qp[0];
	fail_each(&x, &calls[MULTICAST]);
}

static void regions(struct vt *t)
{
	static struct nth x;
	enum what what = t->arg & 0xff;

	begin(&x, t);
	x.access = VT_ALL;
	x.size = t->arg & 0x100 ? BIG : 8192;
	if (t->arg & 0x200)
		x.access |= IBV_ACCESS_ON_DEMAND;
	x.mem = vt_mem(&t->a, BIG, VT_ALL);
	fail_each(&x, &calls[what]);
}

static void transfer(struct vt *t)
{
	struct vt_opt o = {};
	static struct nth x;

	begin(&x, t);
	x.pair = vt_pair(t, &o);
	x.op = t->arg;
	x.size = t->arg == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 100000;
	x.mem = vt_mem(&t->a, 100000, VT_ALL);
	x.far = vt_mem(&t->b, 100000, VT_ALL);
	fail_each(&x, &calls[TRANSFER]);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("open", objects, OPEN),
	VT_CASE_ARG("alloc_pd", objects, PD),
	VT_CASE_ARG("alloc_mw", objects, MW),
	VT_CASE_ARG("alloc_mw_type_2", objects, MW2),
	VT_CASE_ARG("create_ah", objects, AH),
	VT_CASE_ARG("create_cq", objects, CQ),
	VT_CASE_ARG("create_cq_large", objects, CQ_HUGE),
	VT_CASE_ARG("create_cq_ex", objects, CQ_EX),
	VT_CASE_ARG("resize_cq", objects, RESIZE),
	VT_CASE_ARG("create_srq", objects, SRQ),
	VT_CASE_ARG("create_srq_xrc", objects, SRQ_XRC),
	VT_CASE_ARG("modify_srq_resize", objects, SRQ_RESIZE),
	VT_CASE_ARG("open_xrcd", objects, XRCD),
	VT_CASE_ARG("create_qp_rc", queue_pairs, IBV_QPT_RC),
	VT_CASE_ARG("create_qp_rc_srq", queue_pairs, IBV_QPT_RC | 0x100),
	VT_CASE_ARG("create_qp_uc", queue_pairs, IBV_QPT_UC),
	VT_CASE_ARG("create_qp_ud", queue_pairs, IBV_QPT_UD),
	VT_CASE_ARG("create_qp_xrc_send", queue_pairs, IBV_QPT_XRC_SEND),
	VT_CASE_ARG("create_qp_xrc_recv", queue_pairs, IBV_QPT_XRC_RECV),
	VT_CASE_ARG("modify_qp_rc", modify, IBV_QPT_RC),
	VT_CASE_ARG("attach_mcast", multicast, 0),
	VT_CASE_ARG("reg_mr", regions, MR),
	VT_CASE_ARG("reg_mr_large", regions, MR | 0x100),
	VT_CASE_ARG("rereg_mr", regions, REREG | 0x100),
	VT_CASE_ARG("reg_mr_odp", regions, MR | 0x300),
	VT_CASE_ARG("reg_mr_odp_implicit", regions, MR_IMPLICIT | 0x200),
	VT_CASE_ARG("advise_mr", regions, ADVISE | 0x300),
	VT_CASE_ARG("write", transfer, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("read", transfer, IBV_WR_RDMA_READ),
	VT_CASE_ARG("fetch_add", transfer, IBV_WR_ATOMIC_FETCH_AND_ADD),
};

VT_MAIN(cases)
