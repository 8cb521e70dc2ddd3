// SPDX-License-Identifier: GPL-2.0
/* The queue pair that the tests of the responder work on. */
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "resp_rig.h"

struct resp_rig rr;

void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe)
{
}

void hrp_env_recv_done(struct hrp_qp *qp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	rr.cqe = *cqe;
	rr.solicited = solicited;
	rr.nr_cqes++;
}

bool hrp_env_recv_take(struct hrp_qp *qp, struct hrp_rwqe *rwqe)
{
	if (!rr.nr_recvs)
		return false;
	rr.nr_recvs--;
	rr.taken_from = qp->resp.srqn;
	rwqe->wr_id = rr.next_wr_id++;
	rwqe->length = ROOM;
	rwqe->nr_sges = 1;
	rwqe->sges[0].length = ROOM;
	return true;
}

u32 hrp_env_recv_avail(const struct hrp_qp *qp)
{
	return rr.credits ? rr.nr_recvs : HRP_RECV_SHARED;
}

bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, u8 access)
{
	rr.checked_for = qp->resp.srqn;
	return rkey != BAD_KEY;
}

bool hrp_env_srq_find(struct hrp_qp *qp, u32 srqn)
{
	return srqn == SRQN || srqn == SRQN + 1;
}

u8 hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	if (rkey == BAD_KEY)
		return HROCE_WC_REM_ACCESS_ERR;
	if (rkey == AWAY_KEY)
		return HRP_MEM_FAULT;
	rr.nr_atomics++;
	*orig = rr.word;
	if (!cas)
		rr.word += swap_add;
	else if (rr.word == compare)
		rr.word = swap_add;
	return HROCE_WC_SUCCESS;
}

bool hrp_env_flush(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	bool ok = rkey != BAD_KEY && !(rkey == VOLATILE_KEY &&
				       access == HRP_ACCESS_FLUSH_PERSISTENT);

	if (ok)
		rr.flushes[access]++;
	rr.flush_len = all ? ~0u : len;
	return ok;
}

bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey)
{
	rr.nr_invalidated += rkey != BAD_KEY;
	return rkey != BAD_KEY;
}

u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe)
{
	return HROCE_WC_LOC_QP_OP_ERR;
}

u32 rr_pending(enum hrp_pending what)
{
	return pending_count(&rr.pending, &rr.qp, what);
}

void rr_begin(enum hrp_type type)
{
	rr_end();
	memset(&rr, 0, sizeof(rr));
	rr.qp.type = type;
	rr.qp.qpn = QPN;
	rr.qp.dest_qpn = PEER_QPN;
	rr.qp.qkey = 0x80010000;
	rr.qp.stats = &rr.counts;
	rr.qp.mtu = 1024;
	rr.qp.access = HRP_QP_REMOTE_WRITE | HRP_QP_REMOTE_READ |
		      HRP_QP_REMOTE_ATOMIC | HRP_QP_FLUSH_GLOBAL;
	rr.qp.resp.rwqe = &rr.rwqe;
	rr.qp.resp.rd = rr.rd;
	rr.qp.resp.nr_rd = NR_RD;
	rr.qp.resp.max_dest_rd_atomic = 3;
	rr.qp.resp.min_rnr_timer = RNR_CODE;
	rr.qp.resp.burst_pkts = 2;
	rr.nr_recvs = 100;
	hrp_resp_start(&rr.qp, START_PSN);
	rr.qp.state = HRP_RTS;
}


struct hrp_pkt rr_request(enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = {
		.opcode = hrp_qp_service(&rr.qp) | op,
		.psn = hrp_psn_add(START_PSN, n),
		.payload_len = len,
		.dmalen = len,
		.qkey = rr.qp.qkey,
		.sqpn = PEER_QPN,
		.srqn = SRQN,
		.rkey = 1,
		.feth = HRW_FETH_GLOBAL,
		.va = 0x1000,
		.ackreq = 1,
	};

	pkt.info = hrp_opcode_info(pkt.opcode);
	return pkt;
}


u32 rr_nr_kept(void)
{
	return rr.qp.resp.kept ? rr.qp.resp.keep->nr : 0;
}

void rr_keep(u32 room)
{
	rr.qp.resp.keeps = 1;
	rr.keep_room = room;
}

void rr_end(void)
{
	kept_end(&rr.qp);
}

/* Return: status for hrp_resp_commit(). */
static u8 rr_put(const struct hrp_pkt *pkt)
{
	struct hrp_kept *kept;

	if (rr_nr_kept() >= rr.keep_room)
		return HROCE_WC_GENERAL_ERR;
	kept_prepare(&rr.qp, pkt->psn);
	kept = malloc(sizeof(*kept));
	kept->pkt = *pkt;
	hrp_keep_put(rr.qp.resp.keep, kept);
	return HROCE_WC_SUCCESS;
}

/* The result of placing the payload. */
static u8 rr_place(const struct hrp_rx *rx)
{
	if (rx->verdict != HRP_RX_ACCEPT || !rx->mem.len ||
	    rx->mem.access != HRP_ACCESS_REMOTE_WRITE)
		return HROCE_WC_SUCCESS;
	return rx->mem.one.lkey == BAD_KEY ? HROCE_CAUSE_KEY : HROCE_WC_SUCCESS;
}

u32 rr_drain(u32 max)
{
	struct hrp_kept *kept;
	struct hrp_rx rx;
	u32 n = 0;

	if (!rr.qp.resp.kept)
		return 0;
	while ((kept = hrp_keep_take_stale(&rr.qp)))
		free(kept);
	for (; n < max && (kept = hrp_resp_next_kept(&rr.qp)); n++) {
		hrp_resp_begin(&rr.qp, &kept->pkt, &rx);
		tap_ok(rx.verdict == HRP_RX_ACCEPT || rx.verdict == HRP_RX_NAK);
		hrp_resp_commit(&rr.qp, &kept->pkt, &rx,
				kept->pkt.rkey == AWAY_KEY ?
				HRP_MEM_FAULT : rr_place(&rx));
		free(kept);
	}
	if (hrp_keep_is_over(&rr.qp.resp))
		rr_end();
	pending_take(&rr.pending, &rr.qp);
	return n;
}

u8 rr_arrive_status(const struct hrp_pkt *pkt, u8 status)
{
	hrp_resp_begin(&rr.qp, pkt, &rr.rx);
	rr.rx.hold = rr.hold;
	if (rr.rx.verdict == HRP_RX_KEEP)
		status = rr_put(pkt);
	else if (status == HROCE_WC_SUCCESS)
		status = rr_place(&rr.rx);
	if (rr.rx.verdict != HRP_RX_DROP)
		hrp_resp_commit(&rr.qp, pkt, &rr.rx, status);
	pending_take(&rr.pending, &rr.qp);
	return rr.rx.verdict;
}


u8 rr_arrive(const struct hrp_pkt *pkt)
{
	return rr_arrive_status(pkt, HROCE_WC_SUCCESS);
}


u8 rr_ask(enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = rr_request(op, n, len);

	return rr_arrive(&pkt);
}


void rr_expect_ack(u32 n, u8 syndrome, u32 msn)
{
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, hrp_qp_service(&rr.qp) | HRP_OP_ACK);
	tap_eq(rr.burst.first.psn, hrp_psn_add(START_PSN, n));
	tap_eq(rr.burst.first.syndrome, syndrome);
	tap_eq(rr.burst.first.msn, msn);
	tap_eq(rr.burst.first.dqpn, PEER_QPN);
	tap_eq(rr.burst.nr_pkts, 1);
	tap_eq(rr.burst.mem.len, 0);
}


void rr_expect_nothing(void)
{
	struct hrp_burst b;

	tap_ok(!hrp_resp_next(&rr.qp, &b));
}


void rr_expect_read(u32 n, u32 nr_pkts, u8 op, u32 offset, u32 len)
{
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.psn, hrp_psn_add(START_PSN, n));
	tap_eq(rr.burst.nr_pkts, nr_pkts);
	tap_eq(rr.burst.first.opcode, op);
	tap_eq(rr.burst.mem.offset, offset);
	tap_eq(rr.burst.mem.len, len);
	tap_eq(rr.burst.mem.access, HRP_ACCESS_REMOTE_READ);
}


void rr_expect_end(u32 n, u8 syndrome, u32 msn)
{
	tap_eq(rr.qp.state, HRP_ERR);
	tap_eq(rr_pending(HRP_PENDING_ERROR), 1);
	tap_eq(rr.counts.v[HROCE_EV_RESP_ERRORS], 1);
	rr_expect_ack(n, syndrome, msn);
	rr_expect_nothing();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, n, 1), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_QP_STATE);
	rr_expect_nothing();
}

