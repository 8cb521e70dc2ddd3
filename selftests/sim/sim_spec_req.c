// SPDX-License-Identifier: GPL-2.0
/*
 * Requester of the model (IBTA 9.7.2, 9.7.3, 9.7.5.1, 9.7.6, 9.7.7.2; 9.8):
 * sends what the window and credits allow, one packet at a time. After a NAK, an
 * implied NAK or a local ACK timeout, it sends all again from the oldest packet
 * that is not acknowledged, as long as it has retries. Other NAKs fail the request
 * that they name, and all behind it are flushed (9.9.2).
 */
#include <asm/barrier.h>
#include "sim_junk.h"
#include "sim_spec.h"

#define ACK_EVERY	4	/* asks for an ACK within a message, too */

static const struct hroce_sq_wqe *entry(const struct sim_qp *qp, u32 idx)
{
	const struct hrp_sq *sq = &qp->hrp.req.sq;

	return (void *)((u8 *)sq->ring +
			(size_t)(idx & (sq->nr_entries - 1)) * sq->stride);
}

static u32 entry_len(const struct hroce_sq_wqe *wqe)
{
	const struct hroce_sge *sges = (void *)(wqe + 1);
	u32 i, len = wqe->inline_len;

	for (i = 0; i < wqe->nr_sges; i++)
		len += sges[i].length;
	return len;
}

/* Does it have an answer of its own? */
static bool is_answered(const struct hroce_sq_wqe *wqe)
{
	const u32 answered = 1u << HROCE_WR_READ | 1u << HROCE_WR_CMP_SWAP |
			     1u << HROCE_WR_FETCH_ADD | 1u << HROCE_WR_FLUSH |
			     1u << HROCE_WR_ATOMIC_WRITE;

	return answered >> wqe->opcode & 1;
}

static u32 distance(u32 psn, u32 from)
{
	return (psn - from) & HRP_PSN_MASK;
}

static void send_next(void *ctx);

static void plan_send(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (qp->spec->req.busy || qp->spec->failed)
		return;
	qp->spec->req.busy = true;
	sim_at(sim, 100 + sim_below(&sim->rng, 400), send_next, qp);
}

/* The oldest entry is complete. Errors are told in any case. */
static void complete(struct sim_qp *qp, u8 status)
{
	static const u8 wc[HROCE_WR_NR] = {
		[HROCE_WR_WRITE] = HROCE_WC_WRITE,
		[HROCE_WR_WRITE_IMM] = HROCE_WC_WRITE,
		[HROCE_WR_READ] = HROCE_WC_READ,
		[HROCE_WR_CMP_SWAP] = HROCE_WC_CMP_SWAP,
		[HROCE_WR_FETCH_ADD] = HROCE_WC_FETCH_ADD,
		[HROCE_WR_ATOMIC_WRITE] = HROCE_WC_ATOMIC_WRITE,
		[HROCE_WR_FLUSH] = HROCE_WC_FLUSH,
		/* The rest is HROCE_WC_SEND. */
	};
	struct sim_spec_req *req = &qp->spec->req;
	const struct hroce_sq_wqe *wqe = entry(qp, req->tail);
	bool told = wqe->flags & HROCE_WRF_SIGNALED ||
		    status != HROCE_WC_SUCCESS;
	struct hroce_cqe cqe = {
		.wr_id = wqe->wr_id,
		.byte_len = entry_len(wqe),
		.qpn = qp->hrp.qpn,
		.status = status,
		.opcode = wc[wqe->opcode],
	};

	req->tail++;
	/* The entry is not read after that. */
	smp_store_release(&qp->hdr->cons, req->tail);
	if (told)
		sim_send_done(qp, &cqe);
}

void sim_spec_flush(struct sim_qp *qp)
{
	struct sim_spec_req *req = &qp->spec->req;

	if (!hrp_qp_sends(&qp->hrp))
		return;
	req->deadline_ns = 0;
	req->una = req->max;
	/* The index before the entry. */
	while (req->tail != smp_load_acquire(&qp->hdr->prod))
		complete(qp, HROCE_WC_WR_FLUSH_ERR);
	req->next = req->tail;
}

/* The oldest entry has failed. Answers that are not sent yet are dropped, too. */
static void fail(struct sim_qp *qp, u8 status)
{
	struct sim_spec *spec = qp->spec;

	spec->failed = true;
	spec->resp.head = spec->resp.end;
	complete(qp, status);
	sim_spec_flush(qp);
}

void sim_spec_kick(struct sim_qp *qp)
{
	if (qp->spec->failed)
		sim_spec_flush(qp);
	else
		plan_send(qp);
}

static void timer_fired(void *ctx);

static void start_timer(struct sim_qp *qp)
{
	struct sim_spec_req *req = &qp->spec->req;
	struct sim *sim = qp->node->sim;
	u64 timeout_ns = 4096ull << qp->hrp.req.timeout;

	req->deadline_ns = sim->now_ns + timeout_ns;
	if (req->timer_planned)
		return;
	req->timer_planned = true;
	sim_at(sim, timeout_ns, timer_fired, qp);
}

static void timer_fired(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim_spec_req *req = &qp->spec->req;
	struct sim *sim = qp->node->sim;

	req->timer_planned = false;
	if (!req->deadline_ns || qp->spec->failed)
		return;
	if (sim->now_ns < req->deadline_ns) {
		req->timer_planned = true;
		sim_at(sim, req->deadline_ns - sim->now_ns, timer_fired, qp);
		return;
	}
	req->timeouts++;
	if (!req->retries) {
		fail(qp, HROCE_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries--;
	req->went_back = false;
	req->psn = req->una;
	start_timer(qp);
	plan_send(qp);
}

static void go_back(struct sim_qp *qp)
{
	struct sim_spec_req *req = &qp->spec->req;

	if (req->went_back)
		return;
	req->went_back = true;
	req->psn = req->una;
	start_timer(qp);
	plan_send(qp);
}

static void delay_over(void *ctx)
{
	plan_send(ctx);
}

/* 9.7.5.2.8 */
static void wait_ready(struct sim_qp *qp, u8 code)
{
	struct sim_spec_req *req = &qp->spec->req;
	struct sim *sim = qp->node->sim;
	u64 delay_ns;

	if (sim->now_ns < req->rnr_ns)
		return;
	sim_check(sim, code == qp->peer->hrp.resp.min_rnr_timer);
	if (!req->rnr_retries) {
		fail(qp, HROCE_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (req->rnr_retries != HRP_INFINITE_RNR_RETRY)
		req->rnr_retries--;
	delay_ns = sim_spec_rnr_us(sim, code) * SIM_US;
	req->psn = req->una;
	req->went_back = false;
	req->deadline_ns = 0;
	req->rnr_ns = sim->now_ns + delay_ns;
	sim_at(sim, delay_ns, delay_over, qp);
}

/* Requests with answers that are not complete. */
static u32 unanswered(const struct sim_qp *qp)
{
	const struct sim_spec_req *req = &qp->spec->req;
	u32 i, nr = 0;

	for (i = req->tail; i != req->next; i++)
		nr += is_answered(entry(qp, i));
	return nr;
}

/* Return: false if there is no entry, or if it has to wait. */
static bool begin_entry(struct sim_qp *qp)
{
	struct sim_spec_req *req = &qp->spec->req;
	const struct hroce_sq_wqe *wqe = entry(qp, req->next);
	u32 slot = req->next % SIM_SPEC_ENTRIES;
	u32 len;

	/* The index before the entry. */
	if (req->next == smp_load_acquire(&qp->hdr->prod))
		return false;
	if (wqe->flags & HROCE_WRF_FENCE && unanswered(qp))
		return false;
	if (is_answered(wqe) && unanswered(qp) >= qp->hrp.req.max_rd_atomic)
		return false;
	len = entry_len(wqe);
	req->first_psn[slot] = req->psn;
	req->nr_pkts[slot] = len ? (len + qp->hrp.mtu - 1) / qp->hrp.mtu : 1;
	req->end = hrp_psn_add(req->psn, req->nr_pkts[slot]);
	req->next++;
	req->entry_ssn[slot] = ++req->ssn;
	return true;
}

/* Does it take a receive entry? */
static bool takes_entry(const struct hroce_sq_wqe *wqe)
{
	return wqe->opcode == HROCE_WR_SEND ||
	       wqe->opcode == HROCE_WR_SEND_IMM ||
	       wqe->opcode == HROCE_WR_SEND_INV ||
	       wqe->opcode == HROCE_WR_WRITE_IMM;
}

/* Messages that an entry is beyond the limit, if it has to care. */
static u16 beyond_limit(const struct sim_qp *qp, u32 idx)
{
	const struct sim_spec_req *req = &qp->spec->req;
	s16 beyond = req->entry_ssn[idx % SIM_SPEC_ENTRIES] - req->lsn;

	if (!req->obeys || !req->told || beyond < 0 ||
	    !takes_entry(entry(qp, idx)))
		return 0;
	return beyond;
}

/*
 * 9.7.7.2: of the first message beyond the limit a single packet is sent. If that
 * brings no credits, a packet at a time.
 */
static bool may_send(const struct sim_qp *qp, u32 idx, u32 i)
{
	const struct sim_spec_req *req = &qp->spec->req;
	u16 beyond = beyond_limit(qp, idx);

	return !beyond || (beyond == 1 && !i) || req->psn == req->una;
}

static u8 opcode_of(const struct hroce_sq_wqe *wqe, bool first, bool last)
{
	bool imm = wqe->opcode == HROCE_WR_SEND_IMM ||
		   wqe->opcode == HROCE_WR_WRITE_IMM;
	bool inv = wqe->opcode == HROCE_WR_SEND_INV;
	u8 write = 0;

	if (wqe->opcode == HROCE_WR_WRITE || wqe->opcode == HROCE_WR_WRITE_IMM)
		write = HRP_OP_WRITE_FIRST - HRP_OP_SEND_FIRST;
	switch (wqe->opcode) {
	case HROCE_WR_READ:
		return HRP_OP_READ_REQ;
	case HROCE_WR_CMP_SWAP:
		return HRP_OP_CMP_SWAP;
	case HROCE_WR_FETCH_ADD:
		return HRP_OP_FETCH_ADD;
	case HROCE_WR_ATOMIC_WRITE:
		return HRP_OP_ATOMIC_WRITE;
	case HROCE_WR_FLUSH:
		return HRP_OP_FLUSH;
	}
	if (!last)
		return write + (first ? HRP_OP_SEND_FIRST : HRP_OP_SEND_MIDDLE);
	if (inv)
		return first ? HRP_OP_SEND_ONLY_INV : HRP_OP_SEND_LAST_INV;
	if (first)
		return write + (imm ? HRP_OP_SEND_ONLY_IMM : HRP_OP_SEND_ONLY);
	return write + (imm ? HRP_OP_SEND_LAST_IMM : HRP_OP_SEND_LAST);
}

static void entry_mem(const struct hroce_sq_wqe *wqe, struct hrp_mem *mem,
		      u8 access)
{
	hrp_mem_begin(mem);
	if (wqe->flags & HROCE_WRF_INLINE)
		mem->bytes = wqe + 1;
	else
		mem->sges = (void *)(wqe + 1);
	mem->nr_sges = wqe->nr_sges;
	mem->access = access;
}

/* Packet @i of an entry. A READ that is partly answered asks for the rest. */
static void send_packet(struct sim_qp *qp, u32 idx, u32 i)
{
	const struct hroce_sq_wqe *wqe = entry(qp, idx);
	struct sim_spec_req *req = &qp->spec->req;
	u32 nr = req->nr_pkts[idx % SIM_SPEC_ENTRIES];
	u32 rest = entry_len(wqe) - i * qp->hrp.mtu;
	bool reliable = hrp_qp_is_reliable(&qp->hrp);
	bool last = i + 1 == nr || wqe->opcode == HROCE_WR_READ;
	struct hrp_pkt pkt = {
		.opcode = hrp_qp_service(&qp->hrp) |
			  opcode_of(wqe, !i, last),
		.psn = req->psn,
		.dqpn = qp->peer->hrp.qpn,
		.pkey = qp->hrp.pkey,
		.migreq = true,
		.ackreq = reliable && (last || !((i + 1) % ACK_EVERY) ||
				       beyond_limit(qp, idx)),
		.se = last && wqe->flags & HROCE_WRF_SOLICITED,
		.srqn = wqe->srqn,
		.va = wqe->rdma.remote_addr,
		.rkey = wqe->rdma.rkey,
		.dmalen = rest,
		.qkey = wqe->ud.qkey,
		.sqpn = qp->hrp.qpn,
		.imm = (__force __be32)wqe->imm_data,
		.inv_rkey = wqe->imm_data,
		.compare = wqe->rdma.compare_add,
		.swap_add = wqe->opcode == HROCE_WR_FETCH_ADD ?
			    wqe->rdma.compare_add : wqe->rdma.swap,
	};
	u8 bytes[HRP_MTU_MAX];
	struct hrp_mem mem;

	pkt.info = hrp_opcode_info(pkt.opcode);
	if (wqe->opcode == HROCE_WR_READ) {
		pkt.va += i * qp->hrp.mtu;
	} else if (wqe->opcode == HROCE_WR_FLUSH) {
		pkt.va = wqe->flush.remote_addr;
		pkt.rkey = wqe->flush.rkey;
		pkt.dmalen = wqe->flush.length;
		pkt.feth = wqe->flush.placement |
			   wqe->flush.selectivity << HRW_FETH_SEL_SHIFT;
	}
	if (pkt.info & HRP_OI_PAYLOAD && rest) {
		entry_mem(wqe, &mem, HRP_ACCESS_LOCAL_READ);
		mem.offset = i * qp->hrp.mtu;
		mem.len = min_t(u32, rest, qp->hrp.mtu);
		sim_check(qp->node->sim, !sim_mem_copy(qp->node, &mem, bytes,
						       false));
		pkt.payload_len = mem.len;
		pkt.pad = -mem.len & 3;
	}
	if (sim_wrong_request(qp, wqe->wr_id, i, &pkt))
		sim_net_send_pkt(qp, &pkt, bytes);
	sim_junk_send(qp, &pkt, bytes);
	req->psn = hrp_psn_add(req->psn, wqe->opcode == HROCE_WR_READ ?
					 nr - i : 1);
}

static void progress(struct sim_qp *qp, u32 nr_pkts)
{
	struct sim_spec_req *req = &qp->spec->req;
	u32 slot = req->tail % SIM_SPEC_ENTRIES;

	req->una = hrp_psn_add(req->una, nr_pkts);
	if (distance(req->una, req->first_psn[slot]) == req->nr_pkts[slot])
		complete(qp, HROCE_WC_SUCCESS);
	if (hrp_psn_diff(req->psn, req->una) < 0)
		req->psn = req->una;
	req->went_back = false;
	req->retries = qp->hrp.req.retry_cnt;
	req->rnr_retries = qp->hrp.req.rnr_retry;
	if (req->una == req->max)
		req->deadline_ns = 0;
	else if (qp->node->sim->now_ns >= req->rnr_ns)
		start_timer(qp);
	plan_send(qp);
}

static void send_next(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim_spec_req *req = &qp->spec->req;
	u32 idx = req->tail, i;

	req->busy = false;
	if (qp->spec->failed || qp->node->sim->now_ns < req->rnr_ns ||
	    distance(req->psn, req->una) >= req->window)
		return;
	if (req->psn == req->end && !begin_entry(qp))
		return;
	for (;; idx++) {
		i = distance(req->psn, req->first_psn[idx % SIM_SPEC_ENTRIES]);
		if (i < req->nr_pkts[idx % SIM_SPEC_ENTRIES])
			break;
	}
	sim_check(qp->node->sim, req->next - idx <= SIM_SPEC_ENTRIES);
	if (!may_send(qp, idx, i)) {
		req->limited++;
		return;
	}
	send_packet(qp, idx, i);
	if (hrp_psn_diff(req->psn, req->max) > 0)
		req->max = req->psn;
	/* 9.8: what is sent is done. */
	if (!hrp_qp_is_reliable(&qp->hrp)) {
		progress(qp, 1);
		return;
	}
	if (!req->deadline_ns)
		start_timer(qp);
	plan_send(qp);
}

/*
 * All before @psn has been executed. Return: false if the answer to a READ or
 * atomic is missing there, which is an implied NAK.
 */
static bool acknowledge(struct sim_qp *qp, u32 psn)
{
	struct sim_spec_req *req = &qp->spec->req;

	while (req->una != psn) {
		u32 slot = req->tail % SIM_SPEC_ENTRIES;
		u32 end = req->first_psn[slot] + req->nr_pkts[slot];

		if (is_answered(entry(qp, req->tail)))
			return false;
		progress(qp, min(distance(psn, req->una),
				 distance(end, req->una)));
	}
	return true;
}

/* The next packet that answers the oldest entry. */
static void take_answer(struct sim_qp *qp, const struct hrp_pkt *pkt,
			u8 *payload)
{
	struct sim_spec_req *req = &qp->spec->req;
	const struct hroce_sq_wqe *wqe = entry(qp, req->tail);
	u32 slot = req->tail % SIM_SPEC_ENTRIES;
	u32 i = distance(req->una, req->first_psn[slot]);
	struct sim *sim = qp->node->sim;
	u64 orig = pkt->orig;
	struct hrp_mem mem;

	sim_check(sim, is_answered(wqe));
	entry_mem(wqe, &mem, HRP_ACCESS_LOCAL_WRITE);
	if (wqe->opcode == HROCE_WR_CMP_SWAP ||
	    wqe->opcode == HROCE_WR_FETCH_ADD) {
		sim_check(sim, pkt->info & HRP_OI_ATOMIC);
		payload = (u8 *)&orig;
		mem.len = 8;
	} else if (wqe->opcode == HROCE_WR_READ) {
		sim_check(sim, pkt->info & HRP_OI_READ);
		mem.offset = i * qp->hrp.mtu;
		mem.len = min_t(u32, entry_len(wqe) - mem.offset, qp->hrp.mtu);
		sim_check(sim, pkt->payload_len == mem.len);
		sim_check(sim, !!(pkt->info & HRP_OI_LAST) ==
			       (i + 1 == req->nr_pkts[slot]));
	} else {
		/* A19.4: ATOMIC WRITE and FLUSH */
		sim_check(sim, hrp_opcode_op(pkt->opcode) ==
				       HRP_OP_READ_RESP_ONLY &&
			       !pkt->payload_len);
	}
	if (mem.len)
		sim_check(sim, !sim_mem_copy(qp->node, &mem, payload, true));
	progress(qp, 1);
}

/* The higher limit holds, as answers overtake each other. */
static void take_credits(struct sim_spec_req *req, const struct hrp_pkt *pkt)
{
	u16 lsn;

	if (!(pkt->info & HRP_OI_AETH) ||
	    (pkt->syndrome & HRP_SYN_TYPE_MASK) != HRP_SYN_ACK ||
	    !sim_credit_limit(pkt, &lsn) ||
	    (req->told && (s16)(lsn - req->lsn) <= 0))
		return;
	req->told = true;
	req->lsn = lsn;
}

/* 9.7.5.2, table 44: the oldest request is the one that is meant. */
static void take_nak(struct sim_qp *qp, u8 syndrome)
{
	switch (syndrome) {
	case HRP_NAK_PSN_SEQ:
		go_back(qp);
		break;
	case HRP_NAK_INV_REQ:
		fail(qp, HROCE_WC_REM_INV_REQ_ERR);
		break;
	case HRP_NAK_REM_ACCESS:
		fail(qp, HROCE_WC_REM_ACCESS_ERR);
		break;
	case HRP_NAK_REM_OP:
		fail(qp, HROCE_WC_REM_OP_ERR);
		break;
	default:
		sim_check(qp->node->sim, !"a syndrome that is reserved");
	}
}

void sim_spec_response(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload)
{
	struct sim_spec_req *req = &qp->spec->req;
	u8 type = pkt->syndrome & HRP_SYN_TYPE_MASK;
	u32 psn = pkt->psn;

	if (qp->spec->failed ||
	    distance(psn, req->una) >= distance(req->max, req->una))
		return;		/* late */
	take_credits(req, pkt);
	if (pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC)) {
		if (acknowledge(qp, psn))
			take_answer(qp, pkt, payload);
		else
			go_back(qp);
		return;
	}
	if (type == HRP_SYN_ACK)
		psn = hrp_psn_add(psn, 1);
	if (!acknowledge(qp, psn))
		go_back(qp);
	else if (type == HRP_SYN_RNR)
		wait_ready(qp, pkt->syndrome & HRP_SYN_VALUE_MASK);
	else if (type == HRP_SYN_NAK)
		take_nak(qp, pkt->syndrome);
}
