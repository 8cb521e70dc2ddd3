// SPDX-License-Identifier: GPL-2.0
/*
 * XRC: domains, SRQs that packets name, initiators, targets that several
 * processes share, and what becomes of wrong numbers.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

/**
 * struct xrc - an initiator on @a connected to a target on @b
 * @xrcd: domain on @b
 * @ini: initiator
 * @tgt: target
 * @cq: completions of the initiator
 * @opt: of both
 */
struct xrc {
	struct ibv_xrcd *xrcd;
	struct ibv_qp *ini;
	struct ibv_qp *tgt;
	struct ibv_cq *cq;
	struct vt_opt opt;
};

/* An XRC SRQ, its completions and its number. */
struct xsrq {
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	uint32_t number;
};

static int undo_xrcd(void *obj)
{
	return ibv_close_xrcd(obj);
}

static int undo_srq(void *obj)
{
	return ibv_destroy_srq(obj);
}

static int undo_qp(void *obj)
{
	return ibv_destroy_qp(obj);
}

static int undo_pd(void *obj)
{
	return ibv_dealloc_pd(obj);
}

/* @fd: a file that stands for the domain; -1: a domain of one's own. */
static struct ibv_xrcd *try_xrcd(struct ibv_context *ctx, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = oflags,
	};

	return ibv_open_xrcd(ctx, &attr);
}

static struct ibv_xrcd *make_xrcd(struct vt_end *e, int fd)
{
	struct ibv_xrcd *xrcd = try_xrcd(e->ctx, fd, O_CREAT);

	VT_OK(xrcd, "%s", strerror(errno));
	vt_defer(undo_xrcd, xrcd, "XRC domain");
	return xrcd;
}

static struct ibv_srq *try_xsrq(struct ibv_context *ctx, struct ibv_pd *pd,
				struct ibv_xrcd *xrcd, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 64, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	return ibv_create_srq_ex(ctx, &attr);
}

static struct xsrq make_xsrq(struct vt_end *e, struct ibv_pd *pd,
			     struct ibv_xrcd *xrcd,
			     struct ibv_comp_channel *chan)
{
	struct xsrq s = { .cq = vt_cq(e, 64, chan) };

	s.srq = try_xsrq(e->ctx, pd, xrcd, s.cq);
	VT_OK(s.srq, "%s", strerror(errno));
	vt_defer(undo_srq, s.srq, "XRC SRQ");
	VT_EQ(ibv_get_srq_num(s.srq, &s.number), 0);
	VT_OK(s.number && !(s.number >> 24), "number %#x", s.number);
	return s;
}

static struct ibv_qp *make_tgt(struct vt_end *e, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(e->ctx, &attr);

	VT_OK(qp, "%s", strerror(errno));
	vt_defer(undo_qp, qp, "target");
	return qp;
}

static void connect_xrc(struct vt *t, struct xrc *x)
{
	vt_to_init(&t->a, x->ini, &x->opt);
	vt_to_init(&t->b, x->tgt, &x->opt);
	vt_to_rtr(&t->a, x->ini, &x->opt, &t->b.gid, x->tgt->qp_num, 77);
	vt_to_rtr(&t->b, x->tgt, &x->opt, &t->a.gid, x->ini->qp_num, 0xfffffe);
	vt_to_rts(x->ini, &x->opt, 0xfffffe);
	vt_to_rts(x->tgt, &x->opt, 77);
}

/* @fd and @ex_ops as above and in struct vt_opt. */
static struct xrc make_xrc(struct vt *t, int fd, uint64_t ex_ops)
{
	struct xrc x = {
		.opt = { .type = IBV_QPT_XRC_SEND, .ex_ops = ex_ops },
	};

	vt_opt_defaults(t, &x.opt);
	x.xrcd = make_xrcd(&t->b, fd);
	x.cq = vt_cq(&t->a, 128, NULL);
	x.ini = vt_qp(&t->a, &x.opt, x.cq, NULL, NULL, NULL);
	x.tgt = make_tgt(&t->b, x.xrcd);
	connect_xrc(t, &x);
	return x;
}

/* A SEND of @len bytes to @s arrives, and all is well. */
static void exchange(const struct xrc *x, const struct xsrq *s,
		     struct vt_mem *from, struct vt_mem *to, size_t len,
		     uint32_t id)
{
	struct ibv_wc wc;

	vt_fill(from, 0, len, id);
	vt_srq_recv(s->srq, id, to, 0, len);
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = id, .local = from, .len = len,
		.flags = IBV_SEND_SIGNALED, .srqn = s->number });
	vt_expect(x->cq, id, IBV_WC_SUCCESS);
	wc = vt_expect(s->cq, id, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, IBV_WC_RECV);
	VT_EQ(wc.byte_len, len);
	VT_EQ(wc.qp_num, x->tgt->qp_num);
	vt_verify(to, 0, len, id);
}

static void messages_go_where_they_name(struct vt *t)
{
	static const size_t len[] = { 1, 4096, 5000, 40000, 17 };
	struct vt_mem *from = vt_mem(&t->a, 40000, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 40000, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s[3];

	VT_OK(t->b.dev.device_cap_flags & IBV_DEVICE_XRC, "no flag");
	for (int i = 0; i < 3; i++)
		s[i] = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	VT_OK(s[0].number != s[1].number, "the same number");
	for (int i = 0; i < 30; i++)
		exchange(&x, &s[i % 3], from, to, len[i % ARRAY_SIZE(len)], i);
	for (int i = 0; i < 3; i++)
		vt_quiet(s[i].cq, 1);
}

/* The initiator may have a rate, the target sends nothing. */
static void rate_of_initiator(struct vt *t)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 50000 };
	struct vt_mem *from = vt_mem(&t->a, 500000, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 500000, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	uint64_t start = vt_now_us(), us;

	VT_EQ(ibv_modify_qp_rate_limit(x.ini, &attr), 0);
	exchange(&x, &s, from, to, 500000, 1);
	us = vt_now_us() - start;
	/* 500000 bytes at 50 Mbit/s, less a burst of 1 ms */
	VT_OK(us >= 79000, "%llu us", (unsigned long long)us);
	VT_EQ(ibv_modify_qp_rate_limit(x.tgt, &attr), EOPNOTSUPP);
}

/* Time for so many SENDs, in microseconds. */
static uint64_t time_to_send(const struct xrc *x, const struct xsrq *s,
			     struct vt_mem *from, struct vt_mem *to,
			     size_t len, int nr)
{
	uint64_t start = vt_now_us();

	for (int i = 0; i < nr; i++) {
		vt_srq_recv(s->srq, i, to, 0, len);
		vt_send(x->ini, &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = from, .len = len,
			.flags = IBV_SEND_SIGNALED, .srqn = s->number });
		vt_expect(x->cq, i, IBV_WC_SUCCESS);
		vt_expect(s->cq, i, IBV_WC_SUCCESS);
	}
	return vt_now_us() - start;
}

/* The lowest static rate. A machine that is slower without one shows nothing. */
static void static_rate_of_initiator(struct vt *t)
{
	enum { MSG = 1000000, NR = 80, MBPS = 2500, BURST_US = 1000 };
	const uint64_t least_us = MSG * 8ull * NR / MBPS - BURST_US;
	struct vt_mem *from = vt_mem(&t->a, MSG, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, MSG, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	uint64_t free_us, us;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	free_us = time_to_send(&x, &s, from, to, MSG, NR);
	vt_to(x.ini, IBV_QPS_SQD);
	VT_EQ(ibv_query_qp(x.ini, &attr, IBV_QP_AV, &init), 0);
	attr.ah_attr.static_rate = IBV_RATE_2_5_GBPS;
	VT_EQ(ibv_modify_qp(x.ini, &attr, IBV_QP_AV), 0);
	vt_to(x.ini, IBV_QPS_RTS);
	us = time_to_send(&x, &s, from, to, MSG, NR);
	VT_OK(us >= least_us, "%llu us", (unsigned long long)us);
	if (free_us >= least_us)
		vt_skip("this machine is slower");
}

/* An SRQ that a target is created with means nothing: packets name theirs. */
static void srq_of_a_target(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct xrc x = make_xrc(t, -1, 0);
	struct ibv_cq *cq = vt_cq(&t->b, 16, NULL);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);

	attr.srq = try_xsrq(t->b.ctx, t->b.pd, x.xrcd, cq);
	VT_OK(attr.srq, "%s", strerror(errno));
	attr.xrcd = x.xrcd;
	x.ini = vt_qp(&t->a, &x.opt, x.cq, NULL, NULL, NULL);
	x.tgt = ibv_create_qp_ex(t->b.ctx, &attr);
	VT_OK(x.tgt, "%s", strerror(errno));
	vt_defer(undo_qp, x.tgt, "target");
	connect_xrc(t, &x);
	exchange(&x, &s, from, to, 64, 1);
	VT_EQ(ibv_destroy_srq(attr.srq), 0);
	for (int i = 2; i < 20; i++)
		exchange(&x, &s, from, to, 64, i);
}

/* Several targets of a domain share its SRQs, in the order of arrival. */
static void targets_share_srqs(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0), y = x;
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);

	y.ini = vt_qp(&t->a, &y.opt, y.cq, NULL, NULL, NULL);
	y.tgt = make_tgt(&t->b, y.xrcd);
	connect_xrc(t, &y);
	for (int i = 0; i < 20; i++)
		exchange(i % 3 ? &x : &y, &s, from, to, 64, i);
}

/* Each operation once, with 20000 bytes at both ends. */
static void operate(const struct xrc *x, const struct xsrq *s,
		    struct vt_mem *l, struct vt_mem *r)
{
	uint64_t *word = (uint64_t *)r->buf;
	struct ibv_wc wc;

	vt_fill(l, 0, 20000, 1);
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE, .id = 1, .local = l, .len = 20000,
		.remote = r, .flags = IBV_SEND_SIGNALED, .srqn = s->number });
	vt_expect(x->cq, 1, IBV_WC_SUCCESS);
	vt_verify(r, 0, 20000, 1);

	vt_srq_recv(s->srq, 2, r, 0, 64);
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE_WITH_IMM, .id = 2, .local = l,
		.len = 9000, .remote = r, .imm = 0xabcd,
		.flags = IBV_SEND_SIGNALED, .srqn = s->number });
	vt_expect(x->cq, 2, IBV_WC_SUCCESS);
	wc = vt_expect(s->cq, 2, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	VT_EQ(be32toh(wc.imm_data), 0xabcd);
	VT_EQ(wc.byte_len, 9000);

	vt_fill(r, 0, 20000, 3);
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_READ, .id = 3, .local = l, .len = 20000,
		.remote = r, .flags = IBV_SEND_SIGNALED, .srqn = s->number });
	wc = vt_expect(x->cq, 3, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, IBV_WC_RDMA_READ);
	vt_verify(l, 0, 20000, 3);

	*word = 40;
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_ATOMIC_FETCH_AND_ADD, .id = 4, .local = l,
		.len = 8, .remote = r, .compare = 2,
		.flags = IBV_SEND_SIGNALED, .srqn = s->number });
	vt_expect(x->cq, 4, IBV_WC_SUCCESS);
	VT_EQ(*(uint64_t *)l->buf, 40);
	vt_send(x->ini, &(struct vt_wr){
		.op = IBV_WR_ATOMIC_CMP_AND_SWP, .id = 5, .local = l,
		.len = 8, .remote = r, .compare = 42, .swap = 7,
		.flags = IBV_SEND_SIGNALED, .srqn = s->number });
	vt_expect(x->cq, 5, IBV_WC_SUCCESS);
	VT_EQ(*(uint64_t *)l->buf, 42);
	VT_EQ(*word, 7);
}

static void all_operations(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct vt_mem *l = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 20000, VT_ALL);
	const char *file = getenv("HROCE_WHILE");

	/* Again and again as long as there is that file, see net/second.sh. */
	do {
		operate(&x, &s, l, r);
	} while (file && !access(file, F_OK));
}

/* The same by the calls that build a list. */
static void extended_interface(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, IBV_QP_EX_WITH_SEND |
				       IBV_QP_EX_WITH_RDMA_WRITE);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(x.ini);
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 256, VT_ALL);
	struct xsrq s[2];

	for (int i = 0; i < 2; i++) {
		s[i] = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
		vt_srq_recv(s[i].srq, i, to, 64 * i, 64);
	}
	vt_fill(from, 0, 64, 9);
	ibv_wr_start(ex);
	for (int i = 0; i < 2; i++) {
		ex->wr_id = i;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		ibv_wr_set_xrc_srqn(ex, s[i].number);
		ibv_wr_set_sge(ex, from->mr->lkey, (uintptr_t)from->buf, 64);
	}
	ex->wr_id = 2;
	ibv_wr_rdma_write(ex, to->mr->rkey, (uintptr_t)to->buf + 128);
	ibv_wr_set_xrc_srqn(ex, s[0].number);
	ibv_wr_set_sge(ex, from->mr->lkey, (uintptr_t)from->buf, 64);
	VT_EQ(ibv_wr_complete(ex), 0);
	for (int i = 0; i < 3; i++)
		vt_expect(x.cq, i, IBV_WC_SUCCESS);
	for (int i = 0; i < 2; i++)
		vt_expect(s[i].cq, i, IBV_WC_SUCCESS);
	for (int i = 0; i < 3; i++)
		vt_verify(to, 64 * i, 64, 9);
}

/* Keys are those of the protection domain of the SRQ that is named. */
static void keys_of_the_named_srq(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	enum ibv_wr_opcode op = ops[t->arg];
	struct ibv_pd *other = ibv_alloc_pd(t->b.ctx);
	struct xrc x = make_xrc(t, -1, 0);
	struct vt_mem *l = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64, VT_ALL);
	struct xsrq mine, foreign;
	struct vt_wr wr = {
		.op = op, .local = l, .len = 8, .remote = r,
		.flags = IBV_SEND_SIGNALED,
	};

	VT_OK(other, "%s", strerror(errno));
	vt_defer(undo_pd, other, "PD");
	mine = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	foreign = make_xsrq(&t->b, other, x.xrcd, NULL);
	wr.id = 1;
	wr.srqn = mine.number;
	vt_send(x.ini, &wr);
	vt_expect(x.cq, 1, IBV_WC_SUCCESS);
	wr.id = 2;
	wr.srqn = foreign.number;
	vt_send(x.ini, &wr);
	vt_expect(x.cq, 2, IBV_WC_REM_ACCESS_ERR);
	VT_OK(vt_async(&t->b, IBV_EVENT_QP_ACCESS_ERR) == x.tgt, "other QP");
}

static uint32_t no_such_number(const struct xrc *x, struct vt *t)
{
	(void)x;
	(void)t;
	return 0xfffff0;
}

/* One of another domain. */
static uint32_t foreign_number(const struct xrc *x, struct vt *t)
{
	struct ibv_xrcd *other = make_xrcd(&t->b, -1);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, other, NULL);
	struct vt_mem *m = vt_mem(&t->b, 64, VT_ALL);

	(void)x;
	vt_srq_recv(s.srq, 1, m, 0, 64);
	return s.number;
}

/* One that was right until a moment ago. */
static uint32_t former_number(const struct xrc *x, struct vt *t)
{
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x->xrcd, NULL);
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);

	exchange(x, &s, from, to, 64, 7);
	vt_srq_recv(s.srq, 1, to, 0, 64);
	vt_forget(s.srq);
	VT_EQ(ibv_destroy_srq(s.srq), 0);
	return s.number;
}

static void wrong_number(struct vt *t)
{
	static uint32_t (*const wrong[])(const struct xrc *, struct vt *) = {
		no_such_number, foreign_number, former_number,
	};
	struct xrc x = make_xrc(t, -1, 0);
	struct vt_mem *l = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64, VT_ALL);
	uint32_t number = wrong[t->arg](&x, t);

	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = l, .len = 64,
		.srqn = number });
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE, .id = 2, .local = l, .len = 64,
		.remote = r, .srqn = number });
	vt_expect(x.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	vt_expect(x.cq, 2, IBV_WC_WR_FLUSH_ERR);
	VT_OK(vt_async(&t->b, IBV_EVENT_QP_REQ_ERR) == x.tgt, "other QP");
	VT_EQ(vt_state(x.tgt), IBV_QPS_ERR);
	VT_EQ(vt_state(x.ini), IBV_QPS_ERR);
}

/* RDMA names an SRQ, too, and nothing is done in the name of a wrong one. */
static void wrong_number_of_a_write(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, 0);
	struct vt_mem *l = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64, VT_ALL);

	vt_fill(l, 0, 64, 1);
	vt_fill(r, 0, 64, 2);
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE, .id = 1, .local = l, .len = 64,
		.remote = r, .srqn = 0xfffff0 });
	vt_expect(x.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	vt_verify(r, 0, 64, 2);
}

/* An empty SRQ makes its senders wait, and others that come behind them. */
static void empty_srq_is_waited_for(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, 0);
	struct vt_mem *m = vt_mem(&t->b, 128, VT_ALL);
	struct xsrq s[2];

	for (int i = 0; i < 2; i++)
		s[i] = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	vt_srq_recv(s[1].srq, 1, m, 64, 64);
	for (int i = 0; i < 2; i++)
		vt_send(x.ini, &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED, .srqn = s[i].number });
	vt_quiet(x.cq, 5);
	vt_srq_recv(s[0].srq, 0, m, 0, 64);
	for (int i = 0; i < 2; i++) {
		vt_expect(x.cq, i, IBV_WC_SUCCESS);
		vt_expect(s[i].cq, i, IBV_WC_SUCCESS);
	}
}

static void too_long_for_the_entry(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct vt_mem *l = vt_mem(&t->a, 8192, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 5000, VT_ALL);

	vt_srq_recv(s.srq, 1, r, 0, 5000);
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = l, .len = 8192,
		.srqn = s.number });
	vt_expect(x.cq, 2, IBV_WC_REM_INV_REQ_ERR);
	vt_expect(s.cq, 1, IBV_WC_LOC_LEN_ERR);
}

static void completion_event(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct ibv_comp_channel *chan[2];
	struct xsrq s[2];

	for (int i = 0; i < 2; i++) {
		chan[i] = vt_channel(&t->b);
		s[i] = make_xsrq(&t->b, t->b.pd, x.xrcd, chan[i]);
	}
	for (int i = 0; i < 10; i++) {
		struct xsrq *one = &s[i & 1];

		VT_EQ(ibv_req_notify_cq(one->cq, 0), 0);
		exchange(&x, one, from, to, 64, i);
		VT_OK(vt_cq_event(chan[i & 1]) == one->cq, "other CQ");
		VT_OK(!vt_cq_event_pending(chan[!(i & 1)], 0), "event");
	}
}

static void limit_and_resize(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_srq_attr attr = { .max_wr = 500, .srq_limit = 3 };
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);

	for (int i = 0; i < 3; i++)
		vt_srq_recv(s.srq, i, to, 0, 64);
	VT_EQ(ibv_modify_srq(s.srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .local = from, .len = 64,
		.srqn = s.number });
	vt_expect(s.cq, 0, IBV_WC_SUCCESS);
	VT_OK(vt_async(&t->b, IBV_EVENT_SRQ_LIMIT_REACHED) == s.srq, "object");
	VT_EQ(ibv_query_srq(s.srq, &attr), 0);
	VT_OK(attr.max_wr >= 500, "%u", attr.max_wr);
}

/* In use: everything that something else refers to. */
static void busy_while_in_use(struct vt *t)
{
	struct ibv_xrcd *xrcd = make_xrcd(&t->b, -1);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, xrcd, NULL);
	struct ibv_qp *tgt;

	VT_EQ(ibv_close_xrcd(xrcd), EBUSY);
	VT_EQ(ibv_destroy_cq(s.cq), EBUSY);
	VT_EQ(ibv_dealloc_pd(t->b.pd), EBUSY);
	tgt = make_tgt(&t->b, xrcd);
	vt_forget(s.srq);
	VT_EQ(ibv_destroy_srq(s.srq), 0);
	VT_EQ(ibv_close_xrcd(xrcd), EBUSY);
	vt_forget(tgt);
	VT_EQ(ibv_destroy_qp(tgt), 0);
	vt_forget(xrcd);
	VT_EQ(ibv_close_xrcd(xrcd), 0);
}

static void bad_creations(struct vt *t)
{
	struct ibv_xrcd *xrcd = make_xrcd(&t->b, -1);
	struct ibv_cq *cq = vt_cq(&t->b, 16, NULL);
	struct ibv_srq *plain = vt_srq(&t->b, 16, 1, 0);
	struct ibv_srq *xsrq;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.xrcd = xrcd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp_init_attr rc = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	uint32_t number;

	VT_NULL(ibv_create_qp_ex(t->b.ctx, &attr), EOPNOTSUPP);
	VT_OK(ibv_get_srq_num(plain, &number), "a number");
	xsrq = try_xsrq(t->b.ctx, t->b.pd, xrcd, cq);
	VT_OK(xsrq, "%s", strerror(errno));
	vt_defer(undo_srq, xsrq, "XRC SRQ");
	rc.srq = xsrq;
	VT_NULL(ibv_create_qp(t->b.pd, &rc), EINVAL);
}

/* A target sends nothing, and neither end receives on its own. */
static void posting_where_nothing_is(struct vt *t)
{
	struct xrc x = make_xrc(t, -1, 0);
	struct vt_mem *m = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	VT_EQ(vt_try_send(x.tgt, &(struct vt_wr){ .op = IBV_WR_SEND }), EINVAL);
	VT_EQ(vt_try_recv(x.tgt, 1, m, 0, 64), EINVAL);
	VT_EQ(vt_try_recv(x.ini, 1, m, 0, 64), EINVAL);
	VT_EQ(ibv_query_qp(x.tgt, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
	VT_EQ(attr.qp_state, IBV_QPS_RTS);
	VT_EQ(attr.cap.max_send_wr, 0);
	VT_EQ(attr.cap.max_recv_wr, 0);
	VT_EQ(init.qp_type, IBV_QPT_XRC_RECV);
}

/* A target that ends says so, and leaves what is posted to others. */
static void target_ends(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0), y = x;
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);

	y.ini = vt_qp(&t->a, &y.opt, y.cq, NULL, NULL, NULL);
	y.tgt = make_tgt(&t->b, y.xrcd);
	connect_xrc(t, &y);
	vt_to(x.tgt, IBV_QPS_ERR);
	VT_OK(vt_async(&t->b, IBV_EVENT_QP_LAST_WQE_REACHED) == x.tgt,
	      "other QP");
	vt_quiet(s.cq, 1);
	exchange(&y, &s, from, to, 64, 1);
	vt_to(x.tgt, IBV_QPS_RESET);
	vt_to(x.ini, IBV_QPS_RESET);
	connect_xrc(t, &x);
	exchange(&x, &s, from, to, 64, 2);
}

/* A target has no send queue, so that is drained as soon as somebody asks. */
static void target_is_drained(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_SQD };
	struct ibv_qp_init_attr init;

	a.en_sqd_async_notify = 1;
	VT_EQ(ibv_modify_qp(x.tgt, &a, IBV_QP_STATE |
			    IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	VT_OK(vt_async(&t->b, IBV_EVENT_SQ_DRAINED) == x.tgt, "other QP");
	VT_EQ(ibv_query_qp(x.tgt, &a, IBV_QP_STATE, &init), 0);
	VT_EQ(a.qp_state, IBV_QPS_SQD);
	VT_EQ(a.sq_draining, 0);
	vt_to(x.tgt, IBV_QPS_RTS);
	/* Nobody asks. */
	vt_to(x.tgt, IBV_QPS_SQD);
	VT_OK(!vt_async_pending(&t->b, 30), "an event");
	exchange(&x, &s, from, to, 64, 2);
}

static int temporary_file(void)
{
	char name[] = "/tmp/vt-xrc-XXXXXX";
	int fd = mkstemp(name);

	VT_OK(fd >= 0, "%s", strerror(errno));
	unlink(name);
	return fd;
}

static struct ibv_qp *try_open(struct ibv_context *ctx, struct ibv_xrcd *xrcd,
			       uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(ctx, &attr);
}

/* The same file is the same domain, for all contexts of a device. */
static void domain_of_a_file(struct vt *t)
{
	int fd = temporary_file(), other = temporary_file();
	struct ibv_xrcd *again, *xrcd;

	VT_NULL(try_xrcd(t->b.ctx, fd, 0), EAGAIN);
	xrcd = try_xrcd(t->b.ctx, fd, O_CREAT | O_EXCL);
	VT_OK(xrcd, "%s", strerror(errno));
	vt_defer(undo_xrcd, xrcd, "XRC domain");
	VT_NULL(try_xrcd(t->b.ctx, fd, O_CREAT | O_EXCL), EINVAL);
	VT_NULL(try_xrcd(t->b.ctx, other, 0), EAGAIN);
	again = try_xrcd(t->b.ctx, fd, 0);
	VT_OK(again, "%s", strerror(errno));
	VT_EQ(ibv_close_xrcd(again), 0);
	close(fd);
	close(other);
}

/* Another context opens the target, which lives until the last one goes. */
static void opened_by_another_context(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	struct vt_end e = { .gid_idx = t->b.gid_idx };
	int fd = temporary_file();
	struct xrc x = make_xrc(t, fd, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;

	vt_open(&e, ibv_get_device_name(t->b.ctx->device),
		t->b.gid.raw[10] == 0xff ? 4 : 6);
	xrcd = make_xrcd(&e, fd);
	VT_OK(!try_open(e.ctx, make_xrcd(&e, -1), x.tgt->qp_num), "opened");
	qp = try_open(e.ctx, xrcd, x.tgt->qp_num);
	VT_OK(qp, "%s", strerror(errno));
	vt_defer(undo_qp, qp, "opened target");
	VT_EQ(qp->qp_num, x.tgt->qp_num);
	VT_EQ(vt_state(qp), IBV_QPS_RTS);
	exchange(&x, &s, from, to, 64, 1);

	vt_forget(x.tgt);
	VT_EQ(ibv_destroy_qp(x.tgt), 0);
	x.tgt = qp;
	exchange(&x, &s, from, to, 64, 2);
	vt_to(qp, IBV_QPS_ERR);
	VT_EQ(vt_state(qp), IBV_QPS_ERR);
	close(fd);
}

/* What the processes below tell each other. */
struct note {
	uint32_t srqn;
	uint32_t rkey;
	uint64_t addr;
};

/*
 * The other process: an SRQ of its own in the domain of the file, one message,
 * and then it waits to be killed.
 */
static void other_process(const char *dev, int family, int fd, uint32_t qpn,
			  int sock)
{
	struct vt_end e = {};
	struct ibv_xrcd *xrcd;
	struct vt_mem *m;
	struct note note;
	struct xsrq s;

	vt_open(&e, dev, family);
	xrcd = try_xrcd(e.ctx, fd, O_CREAT);
	VT_OK(xrcd && try_open(e.ctx, xrcd, qpn), "%s", strerror(errno));
	m = vt_mem(&e, 128, VT_ALL);
	s = make_xsrq(&e, e.pd, xrcd, NULL);
	vt_srq_recv(s.srq, 5, m, 0, 64);
	note = (struct note){ s.number, m->mr->rkey, (uintptr_t)m->buf + 64 };
	VT_EQ(write(sock, &note, sizeof(note)), sizeof(note));
	vt_expect(s.cq, 5, IBV_WC_SUCCESS);
	vt_verify(m, 0, 64, 3);
	vt_verify(m, 64, 64, 3);
	VT_EQ(write(sock, &note, sizeof(note)), sizeof(note));
	pause();
}

/* Processes receive what one connection brings; the dead leave nothing. */
static void shared_by_processes(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 64, VT_ALL);
	const char *dev = ibv_get_device_name(t->b.ctx->device);
	int family = t->b.gid.raw[10] == 0xff ? 4 : 6;
	int fd = temporary_file(), sock[2], status;
	struct xrc x = make_xrc(t, fd, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct note note;
	struct vt_mem far = {};
	struct ibv_mr mr = {};
	pid_t pid;

	VT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		other_process(dev, family, fd, x.tgt->qp_num, sock[1]);
		_exit(0);
	}
	close(sock[1]);
	VT_EQ(read(sock[0], &note, sizeof(note)), sizeof(note));
	exchange(&x, &s, from, to, 64, 3);
	far.mr = &mr;
	far.buf = (unsigned char *)(uintptr_t)note.addr;
	mr.rkey = note.rkey;
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE, .id = 1, .local = from, .len = 64,
		.remote = &far, .srqn = note.srqn });
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = from, .len = 64,
		.flags = IBV_SEND_SIGNALED, .srqn = note.srqn });
	vt_expect(x.cq, 2, IBV_WC_SUCCESS);
	VT_EQ(read(sock[0], &note, sizeof(note)), sizeof(note));
	VT_EQ(kill(pid, SIGKILL), 0);
	VT_EQ(waitpid(pid, &status, 0), pid);

	/* Its SRQ is gone, the connection is not, until it is asked for. */
	exchange(&x, &s, from, to, 64, 4);
	vt_send(x.ini, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 5, .local = from, .len = 64,
		.srqn = note.srqn });
	vt_expect(x.cq, 5, IBV_WC_REM_INV_REQ_ERR);
	close(sock[0]);
	close(fd);
}

/* SRQs come and go while messages are on their way to others. */
static void srqs_come_and_go_under_traffic(struct vt *t)
{
	struct vt_mem *from = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *to = vt_mem(&t->b, 20000, VT_ALL);
	struct xrc x = make_xrc(t, -1, 0);
	struct xsrq s = make_xsrq(&t->b, t->b.pd, x.xrcd, NULL);
	struct ibv_cq *cq = vt_cq(&t->b, 16, NULL);

	for (int i = 0; i < 200 * vt_scale(); i++) {
		struct ibv_srq *srq;

		vt_fill(from, 0, 20000, i);
		vt_srq_recv(s.srq, i, to, 0, 20000);
		vt_send(x.ini, &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = from,
			.len = 20000, .flags = IBV_SEND_SIGNALED,
			.srqn = s.number });
		srq = try_xsrq(t->b.ctx, t->b.pd, x.xrcd, cq);
		VT_OK(srq, "%s", strerror(errno));
		VT_EQ(ibv_destroy_srq(srq), 0);
		vt_expect(x.cq, i, IBV_WC_SUCCESS);
		vt_expect(s.cq, i, IBV_WC_SUCCESS);
		vt_verify(to, 0, 20000, i);
	}
}

static const struct vt_case cases[] = {
	VT_CASE(messages_go_where_they_name),
	VT_CASE(rate_of_initiator),
	VT_CASE(static_rate_of_initiator),
	VT_CASE(srq_of_a_target),
	VT_CASE(targets_share_srqs),
	VT_CASE(all_operations),
	VT_CASE(extended_interface),
	VT_CASE_ARG("keys_of_the_named_srq_write", keys_of_the_named_srq, 0),
	VT_CASE_ARG("keys_of_the_named_srq_read", keys_of_the_named_srq, 1),
	VT_CASE_ARG("keys_of_the_named_srq_atomic", keys_of_the_named_srq, 2),
	VT_CASE_ARG("number_of_no_srq", wrong_number, 0),
	VT_CASE_ARG("number_of_another_domain", wrong_number, 1),
	VT_CASE_ARG("number_of_a_destroyed_srq", wrong_number, 2),
	VT_CASE(wrong_number_of_a_write),
	VT_CASE(empty_srq_is_waited_for),
	VT_CASE(too_long_for_the_entry),
	VT_CASE(completion_event),
	VT_CASE(limit_and_resize),
	VT_CASE(busy_while_in_use),
	VT_CASE(bad_creations),
	VT_CASE(posting_where_nothing_is),
	VT_CASE(target_ends),
	VT_CASE(target_is_drained),
	VT_CASE(domain_of_a_file),
	VT_CASE(opened_by_another_context),
	VT_CASE(shared_by_processes),
	VT_CASE(srqs_come_and_go_under_traffic),
};

VT_MAIN(cases)
