// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of the model (IBTA 9.7.4, 9.7.5; A19 for ATOMIC WRITE and FLUSH):
 * executes the expected packet, sends one NAK for a gap, answers duplicates again.
 * Answers go out in the order in which their requests came, a packet at a time.
 */
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

static void add_answer(struct sim_qp *qp, const struct sim_spec_answer *a)
{
	struct sim_spec_resp *resp = &qp->spec->resp;

	if (resp->end - resp->head == SIM_SPEC_ANSWERS)
		return;
	resp->answers[resp->end++ % SIM_SPEC_ANSWERS] = *a;
	plan_answer(qp);
}

/* 9.7.7.2: receive entries for messages behind the MSN */
static u8 ack_syndrome(const struct sim_qp *qp)
{
	const struct sim_spec_resp *resp = &qp->spec->resp;
	u32 entries = qp->rq->tail - qp->rq->head;

	if (!resp->tells || qp->hrp.resp.srq)
		return HRP_SYN_ACK | SIM_CREDIT_INVALID;
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
		.opcode = answer_opcode(a),
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
	sim_net_send_pkt(qp, &pkt, bytes);
	if (++a->sent == a->nr_pkts)
		resp->head++;
	if (resp->head != resp->end)
		plan_answer(qp);
}

static u32 read_pkts(const struct sim_qp *qp, u32 len)
{
	return len ? (len + qp->hrp.mtu - 1) / qp->hrp.mtu : 1;
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

/* The expected packet has an answer of its own. */
static void execute_rd(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct sim *sim = qp->node->sim;
	struct sim_spec_answer a = {
		.request = hrp_opcode_op(pkt->opcode),
		.syndrome = ack_syndrome(qp),
		.psn = pkt->psn,
		.nr_pkts = 1,
	};

	sim_check(sim, !resp->in_msg);
	switch (a.request) {
	case HRP_OP_READ_REQ:
		a.va = pkt->va;
		a.rkey = pkt->rkey;
		a.len = pkt->dmalen;
		a.nr_pkts = read_pkts(qp, a.len);
		break;
	case HRP_OP_ATOMIC_WRITE:
		sim_check(sim, !atomic_write(qp, pkt, payload));
		break;
	case HRP_OP_FLUSH:
		sim_check(sim, may_flush(qp, pkt, HRW_FETH_GLOBAL,
					 HRP_ACCESS_FLUSH_GLOBAL));
		sim_check(sim, may_flush(qp, pkt, HRW_FETH_PERSISTENT,
					 HRP_ACCESS_FLUSH_PERSISTENT));
		break;
	default:
		sim_check(sim, !hrp_env_atomic(&qp->hrp, pkt->rkey, pkt->va,
					       a.request == HRP_OP_CMP_SWAP,
					       pkt->compare, pkt->swap_add,
					       &a.orig));
	}
	resp->msn = hrp_psn_add(resp->msn, 1);
	a.msn = resp->msn;
	resp->psn = hrp_psn_add(resp->psn, a.nr_pkts);
	resp->nak_sent = false;
	resp->rd[resp->nr_rd++ % qp->hrp.resp.max_dest_rd_atomic] = a;
	add_answer(qp, &a);
}

/* Where the payload of a SEND or WRITE goes. */
static void place(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload)
{
	const struct hrp_rwqe *rwqe = qp->hrp.resp.rwqe;
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct hrp_mem mem;

	hrp_mem_begin(&mem);
	if (resp->in_msg == HRP_OI_SEND) {
		mem.sges = rwqe->sges;
		mem.nr_sges = rwqe->nr_sges;
		mem.access = HRP_ACCESS_LOCAL_WRITE;
	} else {
		mem.one.addr = resp->write_va;
		mem.one.length = resp->write_len;
		mem.one.lkey = resp->write_rkey;
		mem.access = HRP_ACCESS_REMOTE_WRITE;
	}
	mem.offset = resp->offset;
	mem.len = pkt->payload_len;
	sim_check(qp->node->sim, !sim_mem_copy(qp->node, &mem, payload, true));
	resp->offset += pkt->payload_len;
}

static void receive_done(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct hroce_cqe cqe = {
		.wr_id = qp->hrp.resp.rwqe->wr_id,
		.byte_len = resp->offset,
		.qpn = qp->hrp.qpn,
		.status = HROCE_WC_SUCCESS,
		.opcode = pkt->info & HRP_OI_WRITE ? HROCE_WC_RECV_WRITE_IMM :
						     HROCE_WC_RECV,
	};

	if (pkt->info & HRP_OI_IMM) {
		cqe.flags = HROCE_WCF_IMM;
		cqe.imm_data = (__force u32)pkt->imm;
	}
	if (pkt->info & HRP_OI_INV) {
		cqe.flags = HROCE_WCF_INV;
		cqe.imm_data = pkt->inv_rkey;
		sim_check(qp->node->sim,
			  hrp_env_invalidate(&qp->hrp, pkt->inv_rkey));
	}
	sim_recv_done(qp, &cqe, pkt->se);
}

/* 9.7.4.1.6: full packets, but for the last */
static bool length_is_right(const struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	if (!(pkt->info & HRP_OI_LAST))
		return pkt->payload_len == qp->hrp.mtu;
	return pkt->payload_len <= qp->hrp.mtu &&
	       (pkt->payload_len || pkt->info & HRP_OI_FIRST);
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
	sim_check(sim, length_is_right(qp, pkt));
	if (takes && !hrp_env_recv_take(&qp->hrp, qp->hrp.resp.rwqe)) {
		resp->nak_sent = true;
		add_ack(qp, HRP_SYN_RNR | qp->hrp.resp.min_rnr_timer, pkt->psn);
		return;
	}
	if (first) {
		resp->in_msg = kind;
		resp->offset = 0;
		resp->write_va = pkt->va;
		resp->write_rkey = pkt->rkey;
		resp->write_len = pkt->dmalen;
	}
	place(qp, pkt, payload);
	resp->psn = hrp_psn_add(resp->psn, 1);
	resp->nak_sent = false;
	if (last) {
		if (kind == HRP_OI_WRITE)
			sim_check(sim, resp->offset == resp->write_len);
		resp->in_msg = 0;
		resp->msn = hrp_psn_add(resp->msn, 1);
		if (kind == HRP_OI_SEND || takes)
			receive_done(qp, pkt);
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

void sim_spec_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
		      u8 *payload)
{
	u32 rd = pkt->info & HRP_OI_RESOURCE;
	struct sim_spec_resp *resp = &qp->spec->resp;
	s32 ahead = hrp_psn_diff(pkt->psn, resp->psn);

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
	} else if (rd) {
		execute_rd(qp, pkt, payload);
	} else {
		execute_msg(qp, pkt, payload);
	}
}
