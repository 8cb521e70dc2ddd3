// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair state machine: InfiniBand specification, volume 1, section
 * 10.3 (states) and 11.2.5.2 (attributes that each transition needs or takes).
 */
#include "vt.h"

/**
 * struct rig - a queue pair in some state, with attributes that fit its peer
 * @o: options
 * @cq: completion queue
 * @qp: queue pair under test, on end a
 * @peer: the one it would talk to, on end b
 */
struct rig {
	struct vt_opt o;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp *peer;
};

static const char *const state_name[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR",
};

static struct rig rig_make(struct vt *t, enum ibv_qp_type type)
{
	struct rig r = { .o = { .type = type } };

	vt_opt_defaults(t, &r.o);
	r.cq = vt_cq(&t->a, 256, NULL);
	r.qp = vt_qp(&t->a, &r.o, r.cq, r.cq, NULL, NULL);
	r.peer = vt_qp(&t->b, &r.o, vt_cq(&t->b, 256, NULL),
		       vt_cq(&t->b, 256, NULL), NULL, NULL);
	return r;
}

/* Attributes for a transition to @to, and the mask of the required ones. */
static struct ibv_qp_attr attr_for(struct vt *t, const struct rig *r,
				   enum ibv_qp_state to, int *mask)
{
	struct ibv_qp_attr a = {
		.qp_state = to, .port_num = VT_PORT, .qkey = VT_QKEY,
		.qp_access_flags = r->o.type == IBV_QPT_RC ? VT_ALL :
				   IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = r->o.mtu, .dest_qp_num = r->peer->qp_num,
		.rq_psn = 100, .sq_psn = 200, .max_dest_rd_atomic = 4,
		.max_rd_atomic = 4, .min_rnr_timer = 12, .timeout = 14,
		.retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = {
			.is_global = 1, .port_num = VT_PORT,
			.grh = { .dgid = t->b.gid, .hop_limit = 64,
				 .sgid_index = t->a.gid_idx },
		},
	};
	bool rc = r->o.type == IBV_QPT_RC, ud = r->o.type == IBV_QPT_UD;

	*mask = IBV_QP_STATE;
	if (to == IBV_QPS_INIT)
		*mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			 (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (to == IBV_QPS_RTR && !ud)
		*mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			 IBV_QP_RQ_PSN;
	if (to == IBV_QPS_RTR && rc)
		*mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (to == IBV_QPS_RTS)
		*mask |= IBV_QP_SQ_PSN;
	if (to == IBV_QPS_RTS && rc)
		*mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return a;
}

static int step(struct vt *t, struct rig *r, enum ibv_qp_state to)
{
	int mask;
	struct ibv_qp_attr a = attr_for(t, r, to, &mask);

	return ibv_modify_qp(r->qp, &a, mask);
}

/* Leaving SQD is allowed once the send queue has drained. */
static void wait_drained(struct ibv_qp *qp)
{
	uint64_t end = vt_deadline_us();
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	unsigned int spins = 0;

	for (;;) {
		VT_EQ(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
		if (!a.sq_draining)
			return;
		VT_OK(vt_now_us() < end, "still draining");
		vt_pause(&spins);
	}
}

/* Brings the queue pair from RESET to @to by legal steps. */
static void walk(struct vt *t, struct rig *r, enum ibv_qp_state to)
{
	vt_to(r->qp, IBV_QPS_RESET);
	if (to == IBV_QPS_RESET)
		return;
	if (to == IBV_QPS_ERR) {
		VT_EQ(step(t, r, IBV_QPS_INIT), 0);
		vt_to(r->qp, IBV_QPS_ERR);
		return;
	}
	for (int s = IBV_QPS_INIT; s <= IBV_QPS_RTS && s <= (int)to; s++)
		VT_EQ(step(t, r, s), 0);
	if (to == IBV_QPS_SQD) {
		vt_to(r->qp, IBV_QPS_SQD);
		wait_drained(r->qp);
	}
	VT_EQ(vt_state(r->qp), to);
}

/* Every pair of states; what the specification's figure lacks is refused. */
static void transitions(struct vt *t)
{
	/* INIT may be repeated; RTS to RTS and SQD take optional attributes. */
	static const unsigned char legal[7][7] = {
		[IBV_QPS_RESET] = { 1, 1, 0, 0, 0, 0, 0 },
		[IBV_QPS_INIT] = { 1, 1, 1, 0, 0, 0, 1 },
		[IBV_QPS_RTR] = { 1, 0, 0, 1, 0, 0, 1 },
		[IBV_QPS_RTS] = { 1, 0, 0, 2, 1, 0, 1 },
		[IBV_QPS_SQD] = { 1, 0, 0, 2, 2, 0, 1 },
		[IBV_QPS_ERR] = { 1, 0, 0, 0, 0, 0, 1 },
	};
	struct rig r = rig_make(t, t->arg);

	for (int from = 0; from <= IBV_QPS_ERR; from++) {
		if (from == IBV_QPS_SQE)
			continue;
		for (int to = 0; to <= IBV_QPS_ERR; to++) {
			int mask, rc;
			struct ibv_qp_attr a = attr_for(t, &r, to, &mask);

			if (to == IBV_QPS_SQE)
				continue;
			walk(t, &r, from);
			if (legal[from][to] == 2)
				mask = IBV_QP_STATE;
			a.cur_qp_state = from;
			rc = ibv_modify_qp(r.qp, &a, mask);
			VT_OK(rc == (legal[from][to] ? 0 : EINVAL),
			      "%s to %s: %d", state_name[from],
			      state_name[to], rc);
			VT_OK((int)vt_state(r.qp) == (rc ? from : to),
			      "%s to %s: now %s", state_name[from],
			      state_name[to], state_name[vt_state(r.qp)]);
		}
	}
}

/* Leaving out any one required attribute is refused and changes nothing. */
static void required_attributes(struct vt *t)
{
	struct rig r = rig_make(t, t->arg);

	for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		int mask;
		struct ibv_qp_attr a = attr_for(t, &r, to, &mask);

		walk(t, &r, to - 1);
		for (int bit = 0; bit < 26; bit++) {
			int m = mask & ~(1 << bit);

			if (m == mask || (1 << bit) == IBV_QP_STATE)
				continue;
			VT_OK(ibv_modify_qp(r.qp, &a, m) == EINVAL,
			      "to %s without attribute 0x%x",
			      state_name[to], 1 << bit);
			VT_EQ(vt_state(r.qp), to - 1);
		}
		VT_EQ(ibv_modify_qp(r.qp, &a, mask), 0);
	}
}

/* Attributes that a transition does not take are refused. */
static void foreign_attributes(struct vt *t)
{
	static const struct {
		enum ibv_qp_state to;
		int extra;
	} bad[] = {
		{ IBV_QPS_INIT, IBV_QP_PATH_MTU },
		{ IBV_QPS_INIT, IBV_QP_SQ_PSN },
		{ IBV_QPS_INIT, IBV_QP_DEST_QPN },
		{ IBV_QPS_RTR, IBV_QP_SQ_PSN },
		{ IBV_QPS_RTR, IBV_QP_TIMEOUT },
		{ IBV_QPS_RTR, IBV_QP_QKEY },
		{ IBV_QPS_RTS, IBV_QP_RQ_PSN },
		{ IBV_QPS_RTS, IBV_QP_PATH_MTU },
		{ IBV_QPS_RTS, IBV_QP_DEST_QPN },
		{ IBV_QPS_RTS, IBV_QP_PORT },
	};
	struct rig r = rig_make(t, IBV_QPT_RC);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int mask;
		struct ibv_qp_attr a = attr_for(t, &r, bad[i].to, &mask);

		walk(t, &r, bad[i].to - 1);
		VT_OK(ibv_modify_qp(r.qp, &a, mask | bad[i].extra) == EINVAL,
		      "to %s with attribute 0x%x", state_name[bad[i].to],
		      bad[i].extra);
	}
}

/* Values out of range are refused and leave the state as it was. */
static void values_out_of_range(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_attr a;
	int mask, rc, wrong = 0;

#define REFUSED(to, field, value) \
	do { \
		walk(t, &r, (to) - 1); \
		a = attr_for(t, &r, to, &mask); \
		a.field = value; \
		rc = ibv_modify_qp(r.qp, &a, mask); \
		if (rc != EINVAL || vt_state(r.qp) != (to) - 1) { \
			vt_note(#field " = " #value ": %d", rc); \
			wrong++; \
		} \
	} while (0)

	REFUSED(IBV_QPS_INIT, port_num, 0);
	REFUSED(IBV_QPS_INIT, port_num, 2);
	REFUSED(IBV_QPS_INIT, pkey_index, 1000);
	REFUSED(IBV_QPS_RTR, path_mtu, 0);
	REFUSED(IBV_QPS_RTR, path_mtu, 6);
	REFUSED(IBV_QPS_RTR, min_rnr_timer, 32);
	REFUSED(IBV_QPS_RTR, max_dest_rd_atomic, 255);
	REFUSED(IBV_QPS_RTR, ah_attr.is_global, 0);
	REFUSED(IBV_QPS_RTR, ah_attr.port_num, 2);
	REFUSED(IBV_QPS_RTS, timeout, 32);
	REFUSED(IBV_QPS_RTS, retry_cnt, 8);
	REFUSED(IBV_QPS_RTS, rnr_retry, 8);
	REFUSED(IBV_QPS_RTS, max_rd_atomic, 255);
#undef REFUSED
	VT_EQ(wrong, 0);
}

/* The core answers an empty GID index with an error of its own. */
static void empty_gid_index_refused(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_attr a;
	int mask;

	walk(t, &r, IBV_QPS_INIT);
	a = attr_for(t, &r, IBV_QPS_RTR, &mask);
	a.ah_attr.grh.sgid_index = 255;
	VT_OK(ibv_modify_qp(r.qp, &a, mask), "accepted");
	VT_EQ(vt_state(r.qp), IBV_QPS_INIT);
}

static void mtu_above_port_refused(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_attr a;
	int mask;

	if (t->a.port.active_mtu == IBV_MTU_4096)
		vt_skip("port runs at the largest MTU");
	walk(t, &r, IBV_QPS_INIT);
	a = attr_for(t, &r, IBV_QPS_RTR, &mask);
	a.path_mtu = t->a.port.active_mtu + 1;
	VT_EQ(ibv_modify_qp(r.qp, &a, mask), EINVAL);
}

static void query_tells_the_truth(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	walk(t, &r, IBV_QPS_RTS);
	VT_EQ(ibv_query_qp(r.qp, &a, (1 << 21) - 1, &init), 0);
	VT_EQ(a.qp_state, IBV_QPS_RTS);
	VT_EQ(a.cur_qp_state, IBV_QPS_RTS);
	VT_EQ(a.path_mtu, r.o.mtu);
	VT_EQ(a.dest_qp_num, r.peer->qp_num);
	VT_EQ(a.rq_psn, 100);
	VT_EQ(a.sq_psn, 200);
	VT_EQ(a.qp_access_flags & VT_REMOTE, VT_REMOTE);
	VT_EQ(a.port_num, VT_PORT);
	VT_EQ(a.pkey_index, 0);
	VT_EQ(a.max_rd_atomic, 4);
	VT_EQ(a.max_dest_rd_atomic, 4);
	VT_EQ(a.min_rnr_timer, 12);
	VT_EQ(a.timeout, 14);
	VT_EQ(a.retry_cnt, 7);
	VT_EQ(a.rnr_retry, 7);
	VT_EQ(a.ah_attr.is_global, 1);
	VT_EQ(a.ah_attr.grh.sgid_index, t->a.gid_idx);
	VT_EQ(a.ah_attr.grh.hop_limit, 64);
	VT_OK(!memcmp(&a.ah_attr.grh.dgid, &t->b.gid, 16), "dgid");
	VT_OK(a.cap.max_send_wr >= (uint32_t)r.o.sq, "%u", a.cap.max_send_wr);
	VT_OK(a.cap.max_recv_wr >= (uint32_t)r.o.rq, "%u", a.cap.max_recv_wr);
	VT_EQ(init.qp_type, IBV_QPT_RC);
	VT_EQ(init.sq_sig_all, 0);
	VT_OK(init.send_cq == r.cq && init.recv_cq == r.cq, "CQ");
}

static void optional_attributes_take_effect(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .min_rnr_timer = 20,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
	};

	walk(t, &r, IBV_QPS_RTS);
	VT_EQ(ibv_modify_qp(r.qp, &a, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER |
			    IBV_QP_ACCESS_FLAGS), 0);
	VT_EQ(ibv_query_qp(r.qp, &a, IBV_QP_MIN_RNR_TIMER |
			   IBV_QP_ACCESS_FLAGS, &init), 0);
	VT_EQ(a.min_rnr_timer, 20);
	VT_EQ(a.qp_access_flags & VT_REMOTE, IBV_ACCESS_REMOTE_READ);
}

static void current_state_must_match(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD,
	};

	walk(t, &r, IBV_QPS_RTS);
	VT_EQ(ibv_modify_qp(r.qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE),
	      EINVAL);
	a.cur_qp_state = IBV_QPS_RTS;
	VT_EQ(ibv_modify_qp(r.qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
}

/* A request that is too long, or of memory that is none. */
static void break_send_queue(struct vt_pair *p, struct vt_mem *m)
{
	struct vt_wr w = { .op = IBV_WR_SEND, .id = 77, .local = m, .len = 8,
			   .off = 1 << 20, .flags = IBV_SEND_SIGNALED };

	if (p->opt.type == IBV_QPT_UD) {
		w.ah = p->ah[0];
		w.qpn = p->qp[1]->qp_num;
	}
	vt_send(p->qp[0], &w);
	w.off = 0;
	w.id = 78;
	vt_send(p->qp[0], &w);
	vt_expect(p->scq[0], 77, IBV_WC_LOC_PROT_ERR);
	vt_expect(p->scq[0], 78, IBV_WC_WR_FLUSH_ERR);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_SQE);
}

static void send_8(struct vt_pair *p, int from, struct vt_mem *m, uint64_t id)
{
	struct vt_wr w = { .op = IBV_WR_SEND, .id = id, .local = m, .len = 8,
			   .flags = IBV_SEND_SIGNALED };

	if (p->opt.type == IBV_QPT_UD) {
		w.ah = p->ah[from];
		w.qpn = p->qp[!from]->qp_num;
	}
	vt_send(p->qp[from], &w);
}

/* UC and UD: the send queue has failed, and the receive queue goes on. */
static void send_queue_error(struct vt *t)
{
	struct vt_opt o = { .type = t->arg };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *m[2] = { vt_mem(&t->a, 128, VT_ALL),
				vt_mem(&t->b, 128, VT_ALL) };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTS,
				 .cur_qp_state = IBV_QPS_RTS };

	for (int i = 0; i < 3; i++) {
		vt_recv(p->qp[0], 1, m[0], 0, 64);
		vt_recv(p->qp[1], 2, m[1], 0, 64);
		break_send_queue(p, m[0]);
		send_8(p, 1, m[1], 3);
		vt_expect(p->scq[1], 3, IBV_WC_SUCCESS);
		vt_expect(p->rcq[0], 1, IBV_WC_SUCCESS);
		send_8(p, 0, m[0], 4);
		vt_expect(p->scq[0], 4, IBV_WC_WR_FLUSH_ERR);
		VT_EQ(ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE |
				    IBV_QP_CUR_STATE), EINVAL);
		vt_to(p->qp[0], IBV_QPS_RTS);
		send_8(p, 0, m[0], 5);
		vt_expect(p->scq[0], 5, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS);
	}
	vt_recv(p->qp[0], 6, m[0], 0, 64);
	break_send_queue(p, m[0]);
	vt_quiet(p->rcq[0], 20);
	vt_to(p->qp[0], IBV_QPS_ERR);
	vt_expect(p->rcq[0], 6, IBV_WC_WR_FLUSH_ERR);
}

static void posting_by_state(struct vt *t)
{
	struct rig r = rig_make(t, t->arg);
	struct vt_mem *m = vt_mem(&t->a, 128, VT_ALL);
	struct vt_wr w = { .op = IBV_WR_SEND, .local = m, .len = 8 };

	if (t->arg == IBV_QPT_UD) {
		w.ah = vt_ah(&t->a, &t->b.gid);
		w.qpn = r.peer->qp_num;
	}
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_RTS; s++) {
		int rc;

		walk(t, &r, s);
		rc = vt_try_recv(r.qp, 1, m, 0, 128);
		VT_OK(rc == (s == IBV_QPS_RESET ? EINVAL : 0),
		      "receive in %s: %d", state_name[s], rc);
		rc = vt_try_send(r.qp, &w);
		VT_OK(rc == (s < IBV_QPS_RTS ? EINVAL : 0),
		      "send in %s: %d", state_name[s], rc);
	}
}

/* Requests posted in SQD wait until the queue pair is back in RTS. */
static void drained_queue_waits(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct vt_wr w = {
		.id = 7, .local = s, .len = 64, .remote = d,
		.flags = IBV_SEND_SIGNALED,
	};

	vt_fill(s, 0, 64, 1);
	VT_EQ(ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE |
			    IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	VT_OK(vt_async(&t->a, IBV_EVENT_SQ_DRAINED) == p->qp[0], "other QP");
	vt_send(p->qp[0], &w);
	vt_quiet(p->scq[0], 30);
	vt_to(p->qp[0], IBV_QPS_RTS);
	vt_expect(p->scq[0], 7, IBV_WC_SUCCESS);
	vt_verify(d, 0, 64, 1);
}

/* What a drained queue holds is flushed by an error, and forgotten by a reset. */
static void drained_queue_ends(struct vt *t)
{
	struct vt_opt o = { .type = t->arg };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};

	VT_EQ(ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE |
			    IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	VT_OK(vt_async(&t->a, IBV_EVENT_SQ_DRAINED) == p->qp[0], "other QP");
	vt_recv(p->qp[0], 1, m, 0, 64);
	for (int i = 0; i < 3; i++)
		send_8(p, 0, m, 10 + i);
	vt_quiet(p->scq[0], 30);
	vt_to(p->qp[0], IBV_QPS_ERR);
	for (int i = 0; i < 3; i++)
		vt_expect(p->scq[0], 10 + i, IBV_WC_WR_FLUSH_ERR);
	vt_expect(p->rcq[0], 1, IBV_WC_WR_FLUSH_ERR);

	p = vt_pair(t, &o);
	vt_to(p->qp[0], IBV_QPS_SQD);
	send_8(p, 0, m, 20);
	vt_to(p->qp[0], IBV_QPS_RESET);
	vt_quiet(p->scq[0], 30);
	VT_OK(!vt_async_pending(&t->a, 0), "event");
}

/* Whatever was under way when SQD was asked for completes first. */
static void drain_finishes_what_runs(struct vt *t)
{
	const size_t len = 256 << 10;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	struct vt_wr w = {
		.local = s, .len = len, .remote = d,
		.flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;
	int done;

	vt_fill(s, 0, len, 2);
	for (w.id = 0; w.id < 4; w.id++)
		vt_send(p->qp[0], &w);
	VT_EQ(ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE |
			    IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	vt_async(&t->a, IBV_EVENT_SQ_DRAINED);
	for (done = 0; ibv_poll_cq(p->scq[0], 1, &wc) == 1; done++) {
		VT_EQ(wc.status, IBV_WC_SUCCESS);
		VT_EQ(wc.wr_id, done);
	}
	vt_to(p->qp[0], IBV_QPS_RTS);
	for (; done < 4; done++)
		vt_expect(p->scq[0], done, IBV_WC_SUCCESS);
	vt_verify(d, 0, len, 2);
}

/* What was sent to the wrong place, itself, is sent again to the right one. */
static void new_path_after_loss(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_SQD,
		.ah_attr = {
			.is_global = 1, .port_num = VT_PORT,
			.grh = { .dgid = t->b.gid, .hop_limit = 64,
				 .sgid_index = t->a.gid_idx },
		},
	};

	vt_to_init(&t->a, r.qp, &r.o);
	vt_to_rtr(&t->a, r.qp, &r.o, &t->a.gid, r.peer->qp_num, 100);
	vt_to_rts(r.qp, &r.o, 200);
	vt_to_init(&t->b, r.peer, &r.o);
	vt_to_rtr(&t->b, r.peer, &r.o, &t->a.gid, r.qp->qp_num, 200);
	vt_to_rts(r.peer, &r.o, 100);
	vt_fill(s, 0, 64, 3);
	vt_send(r.qp, &(struct vt_wr){ .id = 9, .local = s, .len = 64,
		.remote = d, .flags = IBV_SEND_SIGNALED });
	vt_to(r.qp, IBV_QPS_SQD);
	VT_EQ(ibv_modify_qp(r.qp, &a, IBV_QP_STATE | IBV_QP_AV), 0);
	vt_expect(r.cq, 9, IBV_WC_SUCCESS);
	vt_verify(d, 0, 64, 3);
}

static void reset_and_reuse(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	for (int i = 0; i < 20; i++) {
		vt_recv(p->qp[1], i, d, 0, 64);
		vt_fill(s, 0, 64, i);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s, .len = 64,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(d, 0, 64, i);
		if (i % 3 == 2)
			for (int j = 0; j < 2; j++)
				vt_to(p->qp[j], IBV_QPS_ERR);
		for (int j = 0; j < 2; j++)
			vt_to(p->qp[j], IBV_QPS_RESET);
		p->opt.psn = 0xfffff0 + i;
		vt_connect(p);
	}
}

/* Flushed completions that nobody polls take no places of those to come. */
static void reset_returns_places(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, &(struct vt_opt){ .rq = 16, .cqe = 40 });
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 16; k++)
			vt_recv(p->qp[1], k, d, 0, 64);
		vt_to(p->qp[1], IBV_QPS_ERR);
		for (int j = 0; j < 2; j++)
			vt_to(p->qp[j], IBV_QPS_RESET);
		vt_connect(p);
	}
	vt_recv(p->qp[1], 50, d, 0, 64);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 51, .local = s, .len = 64,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 51, IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 50, IBV_WC_SUCCESS);
}

/* RESET forgets what is queued: no completion, not even a flushed one. */
static void reset_drops_queues(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);

	for (int i = 0; i < 8; i++)
		vt_recv(p->qp[0], i, m, 0, 64);
	for (int i = 0; i < 8; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = m, .len = 64,
			.flags = IBV_SEND_SIGNALED });
	for (int j = 0; j < 2; j++)
		vt_to(p->qp[j], IBV_QPS_RESET);
	vt_quiet(p->scq[0], 20);
	vt_quiet(p->rcq[0], 20);
	vt_connect(p);
	vt_recv(p->qp[1], 50, vt_mem(&t->b, 64, VT_ALL), 0, 64);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 51, .local = m, .len = 64,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 51, IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 50, IBV_WC_SUCCESS);
}

/* The first packet to arrive in RTR tells that the connection stands. */
static void comm_established(struct vt *t)
{
	struct rig r = rig_make(t, IBV_QPT_RC);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *pm = vt_mem(&t->b, 64, VT_ALL);

	walk(t, &r, IBV_QPS_RTR);
	vt_recv(r.qp, 1, m, 0, 64);
	vt_to_init(&t->b, r.peer, &r.o);
	vt_to_rtr(&t->b, r.peer, &r.o, &t->a.gid, r.qp->qp_num, 200);
	vt_to_rts(r.peer, &r.o, 100);
	vt_send(r.peer, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = pm, .len = 64,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(r.cq, 1, IBV_WC_SUCCESS);
	VT_OK(vt_async(&t->a, IBV_EVENT_COMM_EST) == r.qp, "other QP");
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("transitions_rc", transitions, IBV_QPT_RC),
	VT_CASE_ARG("transitions_uc", transitions, IBV_QPT_UC),
	VT_CASE_ARG("transitions_ud", transitions, IBV_QPT_UD),
	VT_CASE_ARG("required_attributes_rc", required_attributes, IBV_QPT_RC),
	VT_CASE_ARG("required_attributes_uc", required_attributes, IBV_QPT_UC),
	VT_CASE_ARG("required_attributes_ud", required_attributes, IBV_QPT_UD),
	VT_CASE(foreign_attributes),
	VT_CASE(values_out_of_range),
	VT_CASE(empty_gid_index_refused),
	VT_CASE(mtu_above_port_refused),
	VT_CASE(query_tells_the_truth),
	VT_CASE(optional_attributes_take_effect),
	VT_CASE(current_state_must_match),
	VT_CASE_ARG("posting_by_state_rc", posting_by_state, IBV_QPT_RC),
	VT_CASE_ARG("posting_by_state_uc", posting_by_state, IBV_QPT_UC),
	VT_CASE_ARG("posting_by_state_ud", posting_by_state, IBV_QPT_UD),
	VT_CASE_ARG("send_queue_error_uc", send_queue_error, IBV_QPT_UC),
	VT_CASE_ARG("send_queue_error_ud", send_queue_error, IBV_QPT_UD),
	VT_CASE(drained_queue_waits),
	VT_CASE_ARG("drained_queue_ends_rc", drained_queue_ends, IBV_QPT_RC),
	VT_CASE_ARG("drained_queue_ends_uc", drained_queue_ends, IBV_QPT_UC),
	VT_CASE_ARG("drained_queue_ends_ud", drained_queue_ends, IBV_QPT_UD),
	VT_CASE(drain_finishes_what_runs),
	VT_CASE(new_path_after_loss),
	VT_CASE(reset_and_reuse),
	VT_CASE(reset_returns_places),
	VT_CASE(reset_drops_queues),
	VT_CASE(comm_established),
};

VT_MAIN(cases)
