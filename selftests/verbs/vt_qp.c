// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: making, connecting, posting. */
#include <rdma/hroce-abi.h>

#include "vt.h"

static int undo_qp(void *obj)
{
	return ibv_destroy_qp(obj);
}

static int undo_ah(void *obj)
{
	return ibv_destroy_ah(obj);
}

static int undo_free(void *obj)
{
	free(obj);
	return 0;
}

/* Zero is the default of a field, -1 its zero. */
static int fallback(int v, int def)
{
	if (v < 0)
		return 0;
	return v ? v : def;
}

void vt_opt_defaults(struct vt *t, struct vt_opt *o)
{
	enum ibv_mtu mtu = t->a.port.active_mtu;

	if (t->b.port.active_mtu < mtu)
		mtu = t->b.port.active_mtu;
	o->type = o->type ? o->type : IBV_QPT_RC;
	o->sq = fallback(o->sq, 64);
	o->rq = fallback(o->rq, 64);
	o->sge = fallback(o->sge, 4);
	o->cqe = fallback(o->cqe, o->sq + o->rq);
	o->mtu = o->mtu ? o->mtu : mtu;
	o->timeout = fallback(o->timeout, 16);
	o->retry = fallback(o->retry, 7);
	o->rnr = fallback(o->rnr, 7);
	o->rnr_timer = fallback(o->rnr_timer, 1);
	o->rd = fallback(o->rd, 4);
	o->access = fallback(o->access, VT_ALL);
}

static struct ibv_qp *qp_create_ex(struct vt_end *e, const struct vt_opt *o,
				   struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = o->ex_ops,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(e->ctx, &ex);

	attr->cap = ex.cap;
	return qp;
}

struct ibv_qp *vt_qp(struct vt_end *e, const struct vt_opt *o,
		     struct ibv_cq *scq, struct ibv_cq *rcq,
		     struct ibv_srq *srq, struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = scq,
		.recv_cq = rcq,
		.srq = srq,
		.cap = {
			.max_send_wr = o->sq,
			.max_recv_wr = srq ? 0 : o->rq,
			.max_send_sge = o->sge,
			.max_recv_sge = srq ? 0 : o->sge,
			.max_inline_data = o->inl,
		},
		.qp_type = o->type,
		.sq_sig_all = o->sig_all,
	};
	struct ibv_qp *qp;

	if (o->ex_ops)
		qp = qp_create_ex(e, o, &attr);
	else
		qp = ibv_create_qp(e->pd, &attr);
	VT_OK(qp, "type %d: %s", o->type, strerror(errno));
	VT_OK(attr.cap.max_send_wr >= (uint32_t)o->sq, "%u granted",
	      attr.cap.max_send_wr);
	VT_OK(attr.cap.max_inline_data >= (uint32_t)o->inl, "%u granted",
	      attr.cap.max_inline_data);
	if (cap)
		*cap = attr.cap;
	vt_defer(undo_qp, qp, "QP");
	return qp;
}

void vt_to_init(struct vt_end *e, struct ibv_qp *qp, const struct vt_opt *o)
{
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = VT_PORT,
		.qp_access_flags = o->access,
		.qkey = VT_QKEY,
	};

	(void)e;
	if (o->type == IBV_QPT_UD)
		mask |= IBV_QP_QKEY;
	else
		mask |= IBV_QP_ACCESS_FLAGS;
	if (o->type == IBV_QPT_UC)
		attr.qp_access_flags &= IBV_ACCESS_LOCAL_WRITE |
					IBV_ACCESS_REMOTE_WRITE;
	VT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

void vt_to_rtr(struct vt_end *e, struct ibv_qp *qp, const struct vt_opt *o,
	       const union ibv_gid *dgid, uint32_t dqpn, uint32_t rq_psn)
{
	int mask = IBV_QP_STATE;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = o->mtu,
		.dest_qp_num = dqpn,
		.rq_psn = rq_psn & 0xffffff,
		.max_dest_rd_atomic = o->rd,
		.min_rnr_timer = o->rnr_timer,
		.ah_attr = {
			.is_global = 1,
			.port_num = VT_PORT,
			.grh = {
				.dgid = *dgid,
				.sgid_index = e->gid_idx,
				.flow_label = o->flow_label,
				.hop_limit = 64,
			},
		},
	};

	if (o->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (o->type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	VT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

void vt_to_rts(struct ibv_qp *qp, const struct vt_opt *o, uint32_t sq_psn)
{
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = sq_psn & 0xffffff,
		.timeout = o->timeout,
		.retry_cnt = o->retry,
		.rnr_retry = o->rnr,
		.max_rd_atomic = o->rd,
	};

	if (qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_TIMEOUT;
	if (o->type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	VT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

/* To RESET or ERR, which need nothing but the state. */
void vt_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int rc = ibv_modify_qp(qp, &attr, IBV_QP_STATE);

	VT_OK(!rc, "state %d to %d: %s", vt_state(qp), state, strerror(rc));
}

/* The kernel's view of the state. */
enum ibv_qp_state vt_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	VT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

void vt_wait_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	uint64_t end = vt_deadline_us();
	unsigned int spins = 1000;

	while (vt_state(qp) != state) {
		VT_OK(vt_now_us() < end, "QP state %d, expected %d",
		      vt_state(qp), state);
		vt_pause(&spins);
	}
}

/* RESET to RTS on both sides of a pair. */
void vt_connect(struct vt_pair *p)
{
	for (int i = 0; i < 2; i++)
		vt_to_init(p->end[i], p->qp[i], &p->opt);
	for (int i = 0; i < 2; i++)
		vt_to_rtr(p->end[i], p->qp[i], &p->opt, &p->end[!i]->gid,
			  p->qp[!i]->qp_num, p->opt.psn + (i ? 0 : 77));
	for (int i = 0; i < 2; i++)
		vt_to_rts(p->qp[i], &p->opt, p->opt.psn + (i ? 77 : 0));
}

struct vt_pair *vt_pair(struct vt *t, const struct vt_opt *opt)
{
	struct vt_pair *p = calloc(1, sizeof(*p));
	struct vt_opt *o;

	VT_OK(p, "no memory");
	vt_defer(undo_free, p, "pair");
	o = &p->opt;
	if (opt)
		*o = *opt;
	vt_opt_defaults(t, o);
	p->end[0] = &t->a;
	p->end[1] = &t->b;
	for (int i = 0; i < 2; i++) {
		struct vt_end *e = p->end[i];

		p->scq[i] = o->scq[i] ? o->scq[i] : vt_cq(e, o->cqe, o->chan[i]);
		if (o->one_cq)
			p->rcq[i] = p->scq[i];
		else
			p->rcq[i] = o->rcq[i] ? o->rcq[i] :
						vt_cq(e, o->cqe, o->chan[i]);
		p->qp[i] = vt_qp(e, o, p->scq[i], p->rcq[i], o->srq[i],
				 &p->cap);
	}
	vt_connect(p);
	if (o->type == IBV_QPT_UD)
		for (int i = 0; i < 2; i++)
			p->ah[i] = vt_ah(p->end[i], &p->end[!i]->gid);
	return p;
}

struct ibv_ah *vt_ah(struct vt_end *e, const union ibv_gid *dgid)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VT_PORT,
		.grh = {
			.dgid = *dgid,
			.sgid_index = e->gid_idx,
			.hop_limit = 64,
		},
	};
	struct ibv_ah *ah = ibv_create_ah(e->pd, &attr);

	VT_OK(ah, "%s", strerror(errno));
	vt_defer(undo_ah, ah, "AH");
	return ah;
}

/* Remote addresses count from the IO virtual address of the registration. */
static uint64_t remote_addr(const struct vt_mem *m, size_t off)
{
	return (uintptr_t)m->buf + off;
}

int vt_try_send(struct ibv_qp *qp, const struct vt_wr *w)
{
	struct ibv_send_wr *bad = NULL;
	struct ibv_send_wr wr = {
		.wr_id = w->id,
		.opcode = w->op,
		.send_flags = w->flags,
	};
	struct ibv_sge sge;

	if (w->local) {
		sge.addr = (uintptr_t)w->local->buf + w->off;
		sge.length = w->len;
		sge.lkey = w->local->mr->lkey;
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	if (w->op == IBV_WR_SEND_WITH_INV || w->op == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = w->imm;
	else
		wr.imm_data = htobe32(w->imm);
	if (w->op == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    w->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.compare_add = w->compare;
		wr.wr.atomic.swap = w->swap;
		wr.wr.atomic.remote_addr = remote_addr(w->remote, w->roff);
		wr.wr.atomic.rkey = w->remote->mr->rkey;
	} else if (w->remote) {
		wr.wr.rdma.remote_addr = remote_addr(w->remote, w->roff);
		wr.wr.rdma.rkey = w->remote->mr->rkey;
	}
	if (w->ah) {
		wr.wr.ud.ah = w->ah;
		wr.wr.ud.remote_qpn = w->qpn;
		wr.wr.ud.remote_qkey = w->qkey ? w->qkey : VT_QKEY;
	}
	wr.qp_type.xrc.remote_srqn = w->srqn;
	return ibv_post_send(qp, &wr, &bad);
}

void vt_send(struct ibv_qp *qp, const struct vt_wr *w)
{
	int rc = vt_try_send(qp, w);

	VT_OK(!rc, "post id %llu opcode %d: %s", (unsigned long long)w->id,
	      w->op, strerror(rc));
}

int vt_try_recv(struct ibv_qp *qp, uint64_t id, const struct vt_mem *m,
		size_t off, size_t len)
{
	struct ibv_recv_wr *bad = NULL;
	struct ibv_recv_wr wr = { .wr_id = id };
	struct ibv_sge sge;

	if (m) {
		sge.addr = (uintptr_t)m->buf + off;
		sge.length = len;
		sge.lkey = m->mr->lkey;
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	return ibv_post_recv(qp, &wr, &bad);
}

void vt_recv(struct ibv_qp *qp, uint64_t id, const struct vt_mem *m,
	     size_t off, size_t len)
{
	VT_EQ(vt_try_recv(qp, id, m, off, len), 0);
}

void vt_srq_recv(struct ibv_srq *srq, uint64_t id, const struct vt_mem *m,
		 size_t off, size_t len)
{
	struct ibv_recv_wr *bad = NULL;
	struct ibv_sge sge = {
		.addr = (uintptr_t)m->buf + off,
		.length = len,
		.lkey = m->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	VT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

struct hroce_sq_wqe *vt_find_entry(uint64_t wr_id)
{
	struct hroce_sq_wqe *found = NULL;
	unsigned long from, to, at;
	char line[512];
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	VT_OK(f, "no /proc/self/maps");
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx rw", &from, &to) != 2)
			continue;
		for (at = from + HROCE_RING_ENTRIES_OFFSET; at < to; at += 64)
			if (((struct hroce_sq_wqe *)at)->wr_id == wr_id)
				found = (struct hroce_sq_wqe *)at;
	}
	fclose(f);
	VT_OK(found, "no such entry");
	return found;
}
