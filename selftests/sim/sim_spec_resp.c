// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of the model (IBTA 9.7.4, 9.7.5; A19 for ATOMIC WRITE and FLUSH):
 * executes the expected packet, sends one NAK for a gap, answers duplicates again.
 * Answers go out in the order in which their requests came, a packet at a time.
 * After a request that it refuses it drops all, and the NAK is the last answer.
 */
#include "sim_junk.h"
#include "sim_spec.h"

static void send_answer(void *ctx);

static void plan_answer(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (qp->spec->resp.busy)
		return;
	qp->spec->resp.busy = true;
	sim_at(sim, 100 + sim_below(&sim->rng, 400), send_answer, qp);
}

/* The last answer goes before the one before, now and then. */
static void swap_last(struct sim_qp *qp)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct sim_spec_answer *a, *b, last;

	if (resp->end - resp->head < 2)
		return;
	a = &resp->answers[(resp->end - 2) % SIM_SPEC_ANSWERS];
	b = &resp->answers[(resp->end - 1) % SIM_SPEC_ANSWERS];
	if (a->sent || !sim_junk_swaps(qp))
		return;
	last = *b;
	*b = *a;
	*a = last;
}

static void add_answer(struct sim_qp *qp, const struct sim_spec_answer *a)
{
	struct sim_spec_resp *resp = &qp->spec->resp;

	if (resp->end - resp->head == SIM_SPEC_ANSWERS)
		return;
	resp->answers[resp->end++ % SIM_SPEC_ANSWERS] = *a;
	swap_last(qp);
	plan_answer(qp);
}

/* 9.7.7.2: receive entries for messages behind the MSN */
static u8 ack_syndrome(const struct sim_qp *qp)
{
	const struct sim_spec_resp *resp = &qp->spec->resp;
	u32 entries;

	if (!resp->tells || qp->hrp.resp.srq)
		return HRP_SYN_ACK | SIM_CREDIT_INVALID;
	entries = qp->rq->tail - qp->rq->head;
	if (resp->tells_own && resp->in_msg == HRP_OI_SEND)
		entries++;
	return HRP_SYN_ACK | sim_credit_code(min(entries, resp->most));
}

static void add_ack(struct sim_qp *qp, u8 syndrome, u32 psn)
{
	struct sim_spec_answer a = {
		.request = HRP_OP_SEND_ONLY,
		.syndrome = syndrome,
		.psn = psn,
		.msn = qp->spec->resp.msn,
		.nr_pkts = 1,
	};

	add_answer(qp, &a);
}

static u8 answer_opcode(const struct sim_spec_answer *a)
{
	bool last = a->sent + 1 == a->nr_pkts;

	switch (a->request) {
	case HRP_OP_SEND_ONLY:
		return HRP_OP_ACK;
	case HRP_OP_CMP_SWAP:
	case HRP_OP_FETCH_ADD:
		return HRP_OP_ATOMIC_ACK;
	}
	/* A19.4: ATOMIC WRITE and FLUSH, too */
	if (!a->sent)
		return last ? HRP_OP_READ_RESP_ONLY : HRP_OP_READ_RESP_FIRST;
	return last ? HRP_OP_READ_RESP_LAST : HRP_OP_READ_RESP_MIDDLE;
}

static void send_answer(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct sim_spec_answer *a =
		&resp->answers[resp->head % SIM_SPEC_ANSWERS];
	struct hrp_pkt pkt = {
		.opcode = hrp_qp_service(&qp->hrp) | answer_opcode(a),
		.psn = hrp_psn_add(a->psn, a->sent),
		.dqpn = qp->peer->hrp.qpn,
		.pkey = qp->hrp.pkey,
		.migreq = true,
		.syndrome = a->syndrome,
		.msn = a->msn,
		.orig = a->orig,
	};
	u8 bytes[HRP_MTU_MAX];
	struct hrp_mem mem;

	resp->busy = false;
	if (resp->head == resp->end)
		return;
	pkt.info = hrp_opcode_info(pkt.opcode);
	if (a->len) {
		hrp_mem_begin(&mem);
		mem.one.addr = a->va;
		mem.one.length = a->len;
		mem.one.lkey = a->rkey;
		mem.offset = a->sent * qp->hrp.mtu;
		mem.len = min_t(u32, a->len - mem.offset, qp->hrp.mtu);
		mem.access = HRP_ACCESS_REMOTE_READ;
		sim_check(qp->node->sim, !sim_mem_copy(qp->node, &mem, bytes,
						       false));
		pkt.payload_len = mem.len;
		pkt.pad = -mem.len & 3;
	}
	if (a->wrong)
		sim_wrong_answer(qp, a, &pkt);
	sim_net_send_pkt(qp, &pkt, bytes);
	sim_junk_send(qp, &pkt, bytes);
	if ((a->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_RNR)
		resp->rnr_ns = qp->node->sim->now_ns;
	if (++a->sent == a->nr_pkts)
		resp->head++;
	if (resp->head != resp->end)
		plan_answer(qp);
}

static u32 read_pkts(const struct sim_qp *qp, u32 len)
{
	return len ? (len + qp->hrp.mtu - 1) / qp->hrp.mtu : 1;
}

/* 9.7.5.2, table 44: the request is refused, and this is the end. */
static void refuse(struct sim_qp *qp, u8 syndrome)
{
	add_ack(qp, syndrome, qp->spec->resp.psn);
	sim_spec_fail(qp);
}

/* A19.4: 8 bytes at once */
static u8 atomic_write(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload)
{
	struct hrp_mem mem;

	sim_check(qp->node->sim, pkt->payload_len == 8 && pkt->dmalen == 8);
	hrp_mem_begin(&mem);
	mem.one.addr = pkt->va;
	mem.one.length = 8;
	mem.one.lkey = pkt->rkey;
	mem.len = 8;
	mem.access = HRP_ACCESS_REMOTE_WRITE;
	return sim_mem_copy(qp->node, &mem, payload, true);
}

/* All is visible at once here. */
static bool may_flush(struct sim_qp *qp, const struct hrp_pkt *pkt, u32 type,
		      u8 access)
{
	bool all = pkt->feth & HRW_FETH_SEL_MR;

	return !(pkt->feth & type) ||
	       hrp_env_flush(&qp->hrp, pkt->rkey, pkt->va, pkt->dmalen, all,
			     access);
}

/* Return: the NAK that it draws, 0 if it was executed; @a is its answer. */
static u8 try_rd(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload,
		 struct sim_spec_answer *a)
{
	bool cas = a->request == HRP_OP_CMP_SWAP;
	bool ok;

	switch (a->request) {
	case HRP_OP_READ_REQ:
		a->va = pkt->va;
		a->rkey = pkt->rkey;
		a->len = pkt->dmalen;
		a->nr_pkts = read_pkts(qp, a->len);
		ok = sim_spec_may_access(qp, pkt, HRP_ACCESS_REMOTE_READ);
		break;
	case HRP_OP_ATOMIC_WRITE:
		ok = !atomic_write(qp, pkt, payload);
		break;
	case HRP_OP_FLUSH:
		ok = may_flush(qp, pkt, HRW_FETH_GLOBAL,
			       HRP_ACCESS_FLUSH_GLOBAL) &&
		     may_flush(qp, pkt, HRW_FETH_PERSISTENT,
			       HRP_ACCESS_FLUSH_PERSISTENT);
		break;
	default:
		/* 9.4.5: natural alignment */
		if (pkt->va & 7)
			return HRP_NAK_INV_REQ;
		ok = !hrp_env_atomic(&qp->hrp, pkt->rkey, pkt->va, cas,
				     pkt->compare, pkt->swap_add, &a->orig);
	}
	return ok ? 0 : HRP_NAK_REM_ACCESS;
}

/* The request that it names is not executed, and nothing else is answered. */
static void answer_wrongly(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	struct sim_spec_answer a = {
		.request = HRP_OP_SEND_ONLY,
		.wrong = sim_fault_wrong(qp->peer),
		.syndrome = ack_syndrome(qp),
		.psn = pkt->psn,
		.msn = qp->spec->resp.msn,
		.nr_pkts = 1,
	};

	if (pkt->info & HRP_OI_RESOURCE)
		a.request = hrp_opcode_op(pkt->opcode);
	if (pkt->info & HRP_OI_READ) {
		a.va = pkt->va;
		a.rkey = pkt->rkey;
		a.len = pkt->dmalen;
		a.nr_pkts = read_pkts(qp, a.len);
	}
	add_answer(qp, &a);
	sim_spec_fail(qp);
}

/* The expected packet has an answer of its own. */
static void execute_rd(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct sim_spec_answer a = {
		.request = hrp_opcode_op(pkt->opcode),
		.psn = pkt->psn,
		.nr_pkts = 1,
	};
	u8 nak;

	sim_check(qp->node->sim, !resp->in_msg);
	nak = try_rd(qp, pkt, payload, &a);
	if (nak) {
		refuse(qp, nak);
		return;
	}
	resp->msn = hrp_psn_add(resp->msn, 1);
	a.msn = resp->msn;
	a.syndrome = ack_syndrome(qp);
	resp->psn = hrp_psn_add(resp->psn, a.nr_pkts);
	resp->nak_sent = false;
	resp->rnr_row = 0;
	resp->rd[resp->nr_rd++ % qp->hrp.resp.max_dest_rd_atomic] = a;
	add_answer(qp, &a);
}

/*
 * Return: false if the receive request cannot take a packet of a SEND. The message
 * is too long: an invalid request; or the own memory is to blame.
 */
static bool place_send(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	u8 status;

	if (resp->offset + pkt->payload_len > qp->hrp.resp.rwqe->length) {
		sim_spec_receive_done(qp, pkt, HROCE_WC_LOC_LEN_ERR);
		refuse(qp, HRP_NAK_INV_REQ);
		return false;
	}
	status = sim_spec_place(qp, pkt, payload);
	if (status) {
		sim_spec_receive_done(qp, pkt, status);
		refuse(qp, HRP_NAK_REM_OP);
		return false;
	}
	/* 9.9.6.3: a fault of class J draws no NAK. */
	if (pkt->info & HRP_OI_INV &&
	    !hrp_env_invalidate(&qp->hrp, pkt->inv_rkey)) {
		sim_spec_receive_done(qp, pkt, HROCE_WC_MW_BIND_ERR);
		sim_spec_fail(qp);
		return false;
	}
	return true;
}

static bool place_write(struct sim_qp *qp, const struct hrp_pkt *pkt,
			u8 *payload)
{
	if (pkt->info & HRP_OI_FIRST &&
	    !sim_spec_may_access(qp, pkt, HRP_ACCESS_REMOTE_WRITE)) {
		refuse(qp, HRP_NAK_REM_ACCESS);
		return false;
	}
	sim_check(qp->node->sim, !sim_spec_place(qp, pkt, payload));
	return true;
}

static void not_ready(struct sim_qp *qp)
{
	struct sim_spec_resp *resp = &qp->spec->resp;

	resp->nak_sent = true;
	resp->rnr_row++;
	add_ack(qp, HRP_SYN_RNR | qp->hrp.resp.min_rnr_timer, resp->psn);
}

/* The expected packet is one of a SEND or WRITE. */
static void execute_msg(struct sim_qp *qp, const struct hrp_pkt *pkt,
			u8 *payload)
{
	u32 kind = pkt->info & (HRP_OI_SEND | HRP_OI_WRITE);
	struct sim_spec_resp *resp = &qp->spec->resp;
	bool first = pkt->info & HRP_OI_FIRST;
	bool takes = kind == HRP_OI_SEND ? first : pkt->info & HRP_OI_IMM;
	bool last = pkt->info & HRP_OI_LAST;
	struct sim *sim = qp->node->sim;

	sim_check(sim, first ? !resp->in_msg : resp->in_msg == kind);
	sim_check(sim, sim_spec_length_is_right(qp, pkt));
	if (takes && !hrp_env_recv_take(&qp->hrp, qp->hrp.resp.rwqe)) {
		not_ready(qp);
		return;
	}
	if (first)
		sim_spec_begin_msg(resp, pkt);
	if (!(kind == HRP_OI_SEND ? place_send(qp, pkt, payload) :
				    place_write(qp, pkt, payload)))
		return;
	resp->psn = hrp_psn_add(resp->psn, 1);
	resp->nak_sent = false;
	resp->rnr_row = 0;
	if (last) {
		if (kind == HRP_OI_WRITE)
			sim_check(sim, resp->offset == resp->write_len);
		resp->in_msg = 0;
		resp->msn = hrp_psn_add(resp->msn, 1);
		if (kind == HRP_OI_SEND || takes)
			sim_spec_receive_done(qp, pkt, HROCE_WC_SUCCESS);
	}
	if (pkt->ackreq)
		add_ack(qp, ack_syndrome(qp), pkt->psn);
}

/* 9.4.4: what was executed is answered again, from the PSN asked for on. */
static void duplicate_rd(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	u32 i, nr = min_t(u32, resp->nr_rd, qp->hrp.resp.max_dest_rd_atomic);

	for (i = 0; i < nr; i++) {
		struct sim_spec_answer a = resp->rd[i];
		u32 skip = (pkt->psn - a.psn) & HRP_PSN_MASK;

		if (skip >= a.nr_pkts ||
		    a.request != hrp_opcode_op(pkt->opcode))
			continue;
		if (pkt->info & HRP_OI_READ) {
			u32 from = skip * qp->hrp.mtu;

			if (pkt->rkey != a.rkey || pkt->va != a.va + from ||
			    pkt->dmalen > a.len - from)
				continue;
			a.va = pkt->va;
			a.len = pkt->dmalen;
			a.psn = pkt->psn;
			a.nr_pkts = read_pkts(qp, a.len);
		}
		add_answer(qp, &a);
		return;
	}
}

/*
 * A14: each packet names an SRQ, and all of a message the same one. Return:
 * false if there is none of that number: an invalid request.
 */
static bool select_srq(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	struct sim *sim = qp->node->sim;

	if (!(pkt->info & HRP_OI_XRCETH))
		return true;
	sim_check(sim, !qp->spec->resp.in_msg ||
		       pkt->srqn == qp->hrp.resp.srqn);
	if (!hrp_env_srq_find(&qp->hrp, pkt->srqn)) {
		refuse(qp, HRP_NAK_INV_REQ);
		return false;
	}
	qp->hrp.resp.srqn = pkt->srqn;
	return true;
}

/*
 * 9.7.5.2.8: the requester has waited as long as it was asked to. Where nothing is
 * late, what comes is not a packet of before.
 */
static void check_rnr_delay(const struct sim_qp *qp)
{
	const struct sim_spec_resp *resp = &qp->spec->resp;
	struct sim *sim = qp->node->sim;
	const struct sim_opts *opts = &sim->opts;
	u32 wait_us = sim_spec_rnr_us(sim, qp->hrp.resp.min_rnr_timer);

	if (resp->rnr_row && resp->rnr_ns && !opts->junk && !opts->drop_ppm &&
	    !opts->dup_ppm && !opts->reorder_ppm)
		sim_check(sim, sim->now_ns >= resp->rnr_ns + wait_us * SIM_US);
}

void sim_spec_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
		      u8 *payload)
{
	u32 rd = pkt->info & HRP_OI_RESOURCE;
	struct sim_spec_resp *resp = &qp->spec->resp;
	s32 ahead = hrp_psn_diff(pkt->psn, resp->psn);

	if (qp->spec->failed)
		return;
	if (!ahead)
		check_rnr_delay(qp);
	if (ahead > 0) {
		if (!resp->nak_sent)
			add_ack(qp, HRP_NAK_PSN_SEQ, resp->psn);
		resp->nak_sent = true;
	} else if (ahead < 0 && rd) {
		duplicate_rd(qp, pkt);
	} else if (ahead < 0) {
		/* C9-105: with the PSN of what was executed last. */
		add_ack(qp, ack_syndrome(qp),
			hrp_psn_add(resp->psn, HRP_PSN_MASK));
	} else if (!select_srq(qp, pkt)) {
		return;
	} else if (sim_wrong_is_answer(qp)) {
		answer_wrongly(qp, pkt);
	} else if (rd) {
		execute_rd(qp, pkt, payload);
	} else {
		execute_msg(qp, pkt, payload);
	}
}
