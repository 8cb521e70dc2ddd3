// SPDX-License-Identifier: GPL-2.0
/*
 * Write commands. Each is built as its old form wants it; the extended form
 * and UVERBS_METHOD_INVOKE_WRITE carry the same bytes.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "vt_calls.h"

#define EXTENDED	0x80000000u
#define MAX_CMD		sizeof(((struct room *)0)->core)

/**
 * struct command - one command, being built
 * @nr: its number, perhaps with EXTENDED
 * @len: bytes of @core
 * @out_len: bytes of its answer, without driver data
 * @makes: kind of object that it makes, whose handle comes first
 * @breaks: kind of the handle that it may end, unused otherwise
 * @core: as uverbs wants it
 */
struct command {
	uint32_t nr;
	size_t len;
	size_t out_len;
	enum kind makes;
	union {
		struct ib_uverbs_create_ah ah;
		struct ib_uverbs_reg_mr mr;
		struct ib_uverbs_rereg_mr rereg;
		struct ib_uverbs_alloc_mw mw;
		struct ib_uverbs_create_cq cq;
		struct ib_uverbs_ex_create_cq ex_cq;
		struct ib_uverbs_resize_cq resize;
		struct ib_uverbs_create_qp qp;
		struct ib_uverbs_ex_create_qp ex_qp;
		struct ib_uverbs_open_qp open_qp;
		struct ib_uverbs_query_qp query_qp;
		struct ib_uverbs_ex_modify_qp modify;
		struct ib_uverbs_create_srq srq;
		struct ib_uverbs_create_xsrq xsrq;
		struct ib_uverbs_modify_srq modify_srq;
		struct ib_uverbs_open_xrcd xrcd;
		struct ib_uverbs_attach_mcast mcast;
		struct ib_uverbs_query_port port;
		unsigned char bytes[MAX_CMD];
		uint32_t w[MAX_CMD / 4];
		uint64_t q[MAX_CMD / 8];
	} *core;
};

static void fill_ah(struct caller *c, struct ib_uverbs_ah_attr *a)
{
	memcpy(a->grh.dgid, c->shared->gid, 16);
	a->grh.sgid_index = c->shared->gid_index;
	a->grh.hop_limit = 64;
	a->is_global = 1;
	a->port_num = 1;
}

static uint64_t some_address(struct caller *c)
{
	return (uintptr_t)c->shared->buf + calls_rand(c) % CALLS_BUF;
}

static void build_ah(struct caller *c, struct command *m)
{
	m->len = sizeof(m->core->ah);
	m->out_len = 4;
	m->makes = KIND_AH;
	m->core->ah.pd_handle = calls_handle(c, KIND_PD);
	fill_ah(c, &m->core->ah.attr);
}

static void build_mr(struct caller *c, struct command *m)
{
	m->len = sizeof(m->core->mr);
	m->out_len = 12;
	m->makes = KIND_MR;
	m->core->mr.start = some_address(c);
	m->core->mr.length = calls_rand(c) % (CALLS_BUF / 4);
	m->core->mr.hca_va = m->core->mr.start;
	m->core->mr.pd_handle = calls_handle(c, KIND_PD);
	m->core->mr.access_flags = calls_access(c);
	if (calls_chance(c, 16)) {
		m->core->mr.start = m->core->mr.hca_va = 0;
		m->core->mr.length = UINT64_MAX;
	}
}

static void build_rereg(struct caller *c, struct command *m)
{
	m->len = sizeof(m->core->rereg);
	m->out_len = 8;
	m->core->rereg.mr_handle = calls_handle(c, KIND_MR);
	m->core->rereg.flags = calls_rand(c) % 8;
	m->core->rereg.start = some_address(c);
	m->core->rereg.length = calls_rand(c) % (CALLS_BUF / 4);
	m->core->rereg.hca_va = m->core->rereg.start;
	m->core->rereg.pd_handle = calls_handle(c, KIND_PD);
	m->core->rereg.access_flags = calls_access(c);
}

static void build_cq(struct caller *c, struct command *m)
{
	int channel = calls_chance(c, 3) ?
		c->shared->fds[calls_rand(c) % CALLS_FDS] : -1;

	m->makes = KIND_CQ;
	if (m->nr & EXTENDED) {
		m->len = sizeof(m->core->ex_cq);
		m->out_len = sizeof(struct ib_uverbs_ex_create_cq_resp);
		m->core->ex_cq.cqe = calls_size(c);
		m->core->ex_cq.comp_channel = channel;
		m->core->ex_cq.flags = calls_rand(c) % 4;
	} else {
		m->len = sizeof(m->core->cq);
		m->out_len = 8;
		m->core->cq.cqe = calls_size(c);
		m->core->cq.comp_channel = channel;
	}
}

static void build_qp(struct caller *c, struct command *m)
{
	static const uint8_t types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
		IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_RAW_PACKET,
	};
	bool extended = m->nr & EXTENDED;
	struct ib_uverbs_ex_create_qp *q = &m->core->ex_qp;

	/* The old form has the same fields behind the address of the answer. */
	if (!extended)
		q = (void *)&m->core->qp.user_handle;
	m->makes = KIND_QP;
	m->len = extended ? sizeof(m->core->ex_qp) : sizeof(m->core->qp);
	m->out_len = extended ? sizeof(struct ib_uverbs_ex_create_qp_resp) :
				sizeof(struct ib_uverbs_create_qp_resp);
	q->qp_type = types[calls_rand(c) % sizeof(types)];
	q->pd_handle = calls_handle(c, q->qp_type == IBV_QPT_XRC_RECV ?
				       KIND_XRCD : KIND_PD);
	q->send_cq_handle = calls_handle(c, KIND_CQ);
	q->recv_cq_handle = calls_handle(c, KIND_CQ);
	q->max_send_wr = calls_size(c);
	q->max_recv_wr = calls_size(c);
	q->max_send_sge = calls_rand(c) % 8;
	q->max_recv_sge = calls_rand(c) % 8;
	q->max_inline_data = calls_chance(c, 4) ? calls_size(c) : 0;
	q->sq_sig_all = calls_rand(c) % 2;
	q->is_srq = calls_chance(c, 3);
	if (q->is_srq)
		q->srq_handle = calls_handle(c, KIND_SRQ);
}

static void build_open_qp(struct caller *c, struct command *m)
{
	m->len = sizeof(m->core->open_qp);
	m->out_len = sizeof(struct ib_uverbs_create_qp_resp);
	m->makes = KIND_QP;
	m->core->open_qp.pd_handle = calls_handle(c, KIND_XRCD);
	m->core->open_qp.qpn = c->shared->qpns[calls_rand(c) % 16];
	m->core->open_qp.qp_type = IBV_QPT_XRC_RECV;
}

/* Mostly a step that some state allows. */
static void build_modify(struct caller *c, struct command *m)
{
	struct ib_uverbs_modify_qp *q = &m->core->modify.base;

	m->len = m->nr & EXTENDED ? sizeof(m->core->modify) : sizeof(*q);
	m->out_len = m->nr & EXTENDED ? 8 : 0;
	q->qp_handle = calls_handle(c, KIND_QP);
	q->qp_state = calls_rand(c) % 8;
	q->port_num = 1;
	q->path_mtu = 1 + calls_rand(c) % 5;
	q->dest_qp_num = c->shared->qpns[calls_rand(c) % 16];
	q->max_rd_atomic = calls_rand(c) % 5;
	q->max_dest_rd_atomic = calls_rand(c) % 5;
	q->timeout = 10 + calls_rand(c) % 4;
	q->retry_cnt = calls_rand(c) % 3;
	q->rnr_retry = calls_rand(c) % 3;
	q->qp_access_flags = calls_access(c) & 15;
	memcpy(q->dest.dgid, c->shared->gid, 16);
	q->dest.sgid_index = c->shared->gid_index;
	q->dest.hop_limit = 64;
	q->dest.is_global = 1;
	q->dest.port_num = 1;
	q->attr_mask = IBV_QP_STATE;
	switch (q->qp_state) {
	case IBV_QPS_INIT:
		q->attr_mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			(calls_chance(c, 4) ? IBV_QP_QKEY :
					      IBV_QP_ACCESS_FLAGS);
		break;
	case IBV_QPS_RTR:
		q->attr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU |
				IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
		if (!calls_chance(c, 4))
			q->attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER;
		break;
	case IBV_QPS_RTS:
		q->attr_mask |= IBV_QP_SQ_PSN;
		if (!calls_chance(c, 4))
			q->attr_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					IBV_QP_RNR_RETRY |
					IBV_QP_MAX_QP_RD_ATOMIC;
		break;
	default:
		break;
	}
	if (calls_chance(c, 16))
		q->attr_mask ^= 1u << calls_rand(c) % 26;
	if (m->nr & EXTENDED && calls_chance(c, 4))
		m->core->modify.rate_limit = calls_rand(c);
}

static void build_srq(struct caller *c, struct command *m)
{
	m->out_len = sizeof(struct ib_uverbs_create_srq_resp);
	m->makes = KIND_SRQ;
	if (m->nr == IB_USER_VERBS_CMD_CREATE_SRQ) {
		m->len = sizeof(m->core->srq);
		m->core->srq.pd_handle = calls_handle(c, KIND_PD);
		m->core->srq.max_wr = calls_size(c);
		m->core->srq.max_sge = calls_rand(c) % 8;
	} else {
		m->len = sizeof(m->core->xsrq);
		m->core->xsrq.srq_type = calls_rand(c) % 3;
		m->core->xsrq.pd_handle = calls_handle(c, KIND_PD);
		m->core->xsrq.max_wr = calls_size(c);
		m->core->xsrq.max_sge = calls_rand(c) % 8;
		m->core->xsrq.xrcd_handle = calls_handle(c, KIND_XRCD);
		m->core->xsrq.cq_handle = calls_handle(c, KIND_CQ);
	}
}

static void build_modify_srq(struct caller *c, struct command *m)
{
	m->len = sizeof(m->core->modify_srq);
	m->core->modify_srq.srq_handle = calls_handle(c, KIND_SRQ);
	m->core->modify_srq.attr_mask = 1 + calls_rand(c) % 3;
	m->core->modify_srq.max_wr = calls_size(c);
	m->core->modify_srq.srq_limit = calls_rand(c) % 8;
}

static void build_mcast(struct caller *c, struct command *m)
{
	static const uint8_t group[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 239,
	};

	m->len = sizeof(m->core->mcast);
	memcpy(m->core->mcast.gid, group, 16);
	m->core->mcast.gid[15] = calls_rand(c) % 4;
	m->core->mcast.qp_handle = calls_handle(c, KIND_QP);
}

/* Commands that begin with the address of the answer, if any, and a handle. */
static void build_simple(struct caller *c, struct command *m, bool answers,
			 enum kind kind, size_t len, size_t out_len)
{
	m->len = len;
	m->out_len = out_len;
	m->core->w[answers ? 2 : 0] = calls_handle(c, kind);
}

static void build(struct caller *c, struct command *m)
{
	switch (m->nr & ~EXTENDED) {
	case IB_USER_VERBS_CMD_GET_CONTEXT:
		m->len = 8;
		m->out_len = 8;
		break;
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
		m->len = 8;
		m->out_len = m->nr & EXTENDED ? 304 : 176;
		break;
	case IB_USER_VERBS_CMD_QUERY_PORT:
		m->len = 16;
		m->out_len = sizeof(struct ib_uverbs_query_port_resp);
		m->core->port.port_num = !calls_chance(c, 8);
		break;
	case IB_USER_VERBS_CMD_ALLOC_PD:
		m->len = 8;
		m->out_len = 4;
		m->makes = KIND_PD;
		break;
	case IB_USER_VERBS_CMD_DEALLOC_PD:
		build_simple(c, m, false, KIND_PD, 4, 0);
		break;
	case IB_USER_VERBS_CMD_CREATE_AH:
		build_ah(c, m);
		break;
	case IB_USER_VERBS_CMD_DESTROY_AH:
		build_simple(c, m, false, KIND_AH, 4, 0);
		break;
	case IB_USER_VERBS_CMD_REG_MR:
		build_mr(c, m);
		break;
	case IB_USER_VERBS_CMD_REREG_MR:
		build_rereg(c, m);
		break;
	case IB_USER_VERBS_CMD_DEREG_MR:
		build_simple(c, m, false, KIND_MR, 4, 0);
		break;
	case IB_USER_VERBS_CMD_ALLOC_MW:
		m->len = sizeof(m->core->mw);
		m->out_len = 8;
		m->makes = KIND_MW;
		m->core->mw.pd_handle = calls_handle(c, KIND_PD);
		m->core->mw.mw_type = 1 + calls_rand(c) % 2;
		break;
	case IB_USER_VERBS_CMD_DEALLOC_MW:
		build_simple(c, m, false, KIND_MW, 4, 0);
		break;
	case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
		m->len = 8;
		m->out_len = 4;
		m->makes = KIND_FD;
		break;
	case IB_USER_VERBS_CMD_CREATE_CQ:
		build_cq(c, m);
		break;
	case IB_USER_VERBS_CMD_RESIZE_CQ:
		build_simple(c, m, true, KIND_CQ, 16, 8);
		m->core->resize.cqe = calls_size(c);
		break;
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		build_simple(c, m, true, KIND_CQ, 16, 8);
		break;
	case IB_USER_VERBS_CMD_POLL_CQ:
	case IB_USER_VERBS_CMD_PEEK_CQ:
		build_simple(c, m, true, KIND_CQ, 16, 256);
		m->core->w[3] = calls_rand(c) % 5;
		break;
	case IB_USER_VERBS_CMD_REQ_NOTIFY_CQ:
		build_simple(c, m, false, KIND_CQ, 8, 0);
		break;
	case IB_USER_VERBS_CMD_CREATE_QP:
		build_qp(c, m);
		break;
	case IB_USER_VERBS_CMD_OPEN_QP:
		build_open_qp(c, m);
		break;
	case IB_USER_VERBS_CMD_QUERY_QP:
		build_simple(c, m, true, KIND_QP, 16, 128);
		m->core->w[3] = calls_rand(c);
		break;
	case IB_USER_VERBS_CMD_MODIFY_QP:
		build_modify(c, m);
		break;
	case IB_USER_VERBS_CMD_DESTROY_QP:
		build_simple(c, m, true, KIND_QP, 16, 4);
		break;
	case IB_USER_VERBS_CMD_POST_SEND:
	case IB_USER_VERBS_CMD_POST_RECV:
		build_simple(c, m, true, KIND_QP, 64, 4);
		m->core->w[3] = calls_rand(c) % 3;
		break;
	case IB_USER_VERBS_CMD_POST_SRQ_RECV:
		build_simple(c, m, true, KIND_SRQ, 64, 4);
		m->core->w[3] = calls_rand(c) % 3;
		break;
	case IB_USER_VERBS_CMD_ATTACH_MCAST:
	case IB_USER_VERBS_CMD_DETACH_MCAST:
		build_mcast(c, m);
		break;
	case IB_USER_VERBS_CMD_CREATE_SRQ:
	case IB_USER_VERBS_CMD_CREATE_XSRQ:
		build_srq(c, m);
		break;
	case IB_USER_VERBS_CMD_MODIFY_SRQ:
		build_modify_srq(c, m);
		break;
	case IB_USER_VERBS_CMD_QUERY_SRQ:
		build_simple(c, m, true, KIND_SRQ, 16, 16);
		break;
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		build_simple(c, m, true, KIND_SRQ, 16, 4);
		break;
	case IB_USER_VERBS_CMD_OPEN_XRCD:
		m->len = sizeof(m->core->xrcd);
		m->out_len = 4;
		m->makes = KIND_XRCD;
		m->core->xrcd.fd = -1;
		m->core->xrcd.oflags = 0100;	/* O_CREAT */
		break;
	case IB_USER_VERBS_CMD_CLOSE_XRCD:
		build_simple(c, m, false, KIND_XRCD, 4, 0);
		break;
	default:
		/* Flows, work queues, and what no kernel knows. */
		m->len = calls_rand(c) % 16 * 8;
		m->out_len = calls_rand(c) % 4 * 8;
		for (size_t i = 0; i < m->len; i++)
			m->core->bytes[i] = calls_chance(c, 2) ? calls_rand(c) % 4 : 0;
	}
}

/* Objects are made more often than destroyed, the rest at times. */
static uint32_t pick(struct caller *c)
{
	static const uint8_t often[] = {
		IB_USER_VERBS_CMD_ALLOC_PD, IB_USER_VERBS_CMD_CREATE_AH,
		IB_USER_VERBS_CMD_REG_MR, IB_USER_VERBS_CMD_REG_MR,
		IB_USER_VERBS_CMD_ALLOC_MW, IB_USER_VERBS_CMD_CREATE_CQ,
		IB_USER_VERBS_CMD_CREATE_CQ, IB_USER_VERBS_CMD_CREATE_QP,
		IB_USER_VERBS_CMD_CREATE_QP, IB_USER_VERBS_CMD_CREATE_SRQ,
		IB_USER_VERBS_CMD_MODIFY_QP, IB_USER_VERBS_CMD_MODIFY_QP,
		IB_USER_VERBS_CMD_MODIFY_QP, IB_USER_VERBS_CMD_RESIZE_CQ,
		IB_USER_VERBS_CMD_MODIFY_SRQ, IB_USER_VERBS_CMD_OPEN_XRCD,
		IB_USER_VERBS_CMD_CREATE_XSRQ, IB_USER_VERBS_CMD_REREG_MR,
	};
	uint32_t nr = calls_rand(c) % (IB_USER_VERBS_EX_CMD_MODIFY_CQ + 2);

	if (calls_chance(c, 2))
		nr = often[calls_rand(c) % sizeof(often)];
	switch (nr) {
	case IB_USER_VERBS_CMD_OPEN_QP:
		return c->shared->opens ? nr : IB_USER_VERBS_CMD_QUERY_QP;
	case IB_USER_VERBS_CMD_ATTACH_MCAST:
	case IB_USER_VERBS_CMD_DETACH_MCAST:
		return c->shared->opens ? IB_USER_VERBS_CMD_QUERY_QP : nr;
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
	case IB_USER_VERBS_CMD_CREATE_CQ:
	case IB_USER_VERBS_CMD_CREATE_QP:
	case IB_USER_VERBS_CMD_MODIFY_QP:
		return calls_chance(c, 2) ? nr | EXTENDED : nr;
	}
	if (nr >= IB_USER_VERBS_CMD_THRESHOLD || calls_chance(c, 100))
		nr |= EXTENDED;
	return nr;
}

/* The command through write(); the driver's part of the answer is behind that of the core. Returns 0 or errno. */
static int send_write(struct caller *c, struct command *m, size_t ulen,
		      size_t uout_len)
{
	unsigned char buf[sizeof(struct ib_uverbs_cmd_hdr) +
			  sizeof(struct ib_uverbs_ex_cmd_hdr) + MAX_CMD + 64];
	struct ib_uverbs_cmd_hdr hdr = { .command = m->nr };
	unsigned char *out = (void *)c->room->out;
	uint64_t answer = (uintptr_t)out;
	struct ib_uverbs_ex_cmd_hdr ex = { .response = answer };
	size_t len = sizeof(hdr);

	if (m->nr & EXTENDED) {
		hdr.in_words = m->len / 8;
		hdr.out_words = m->out_len / 8;
		ex.provider_in_words = ulen / 8;
		ex.provider_out_words = uout_len / 8;
		memcpy(buf + len, &ex, sizeof(ex));
		len += sizeof(ex);
	} else {
		hdr.in_words = (sizeof(hdr) + m->len + ulen) / 4;
		hdr.out_words = (m->out_len + uout_len) / 4;
		if (m->out_len)
			m->core->q[0] = answer;
	}
	memcpy(buf + len, m->core->bytes, m->len);
	len += m->len;
	memcpy(buf + len, c->room->udata, ulen);
	len += ulen;
	memcpy(buf, &hdr, sizeof(hdr));
	calls_break(c, buf, sizeof(hdr));
	if (calls_chance(c, 64))
		len = calls_rand(c) % (len + 1);
	if (write(c->shared->fd, buf, len) < 0)
		return errno;
	memcpy(c->room->uout, out + m->out_len, uout_len);
	return 0;
}

void calls_write(struct caller *c)
{
	static const size_t uout_lens[] = { 0, 24, 48, 64, 88 };
	struct command m = { .core = (void *)c->room->core };
	size_t ulen = calls_udata(c);
	size_t uout_len = calls_chance(c, 16) ? uout_lens[calls_rand(c) % 5] :
						48;
	uint32_t answer[2];
	int err;

	m.nr = pick(c);
	build(c, &m);
	calls_break(c, m.core->bytes, m.len);
	if (calls_chance(c, 32))
		m.len = calls_rand(c) % 32 * 4;
	if (calls_chance(c, 2))
		err = send_write(c, &m, ulen, uout_len);
	else
		err = calls_invoke(c, m.nr, m.len, m.out_len, ulen, uout_len);
	calls_count(!err);
	if (err || !m.makes)
		return;
	memcpy(answer, c->room->out, sizeof(answer));
	if (m.makes == KIND_FD) {
		calls_learn_fd(c, answer[0]);
		return;
	}
	calls_learn(c, m.makes, answer[0]);
	if (m.makes == KIND_QP)
		c->shared->qpns[calls_rand(c) % 16] = answer[1];
	if (m.makes == KIND_CQ || m.makes == KIND_QP || m.makes == KIND_SRQ)
		calls_learn_rings(c, c->room->uout, uout_len);
}
