// SPDX-License-Identifier: GPL-2.0
/* One queue pair with a ring and a recorder, see rig.h. */
#include <linux/kernel.h>
#include <linux/unaligned.h>
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "rig.h"
#include "tap.h"

#define NR_ENTRIES	16
#define MAX_SGES	4
#define MAX_INLINE	128

struct rig rig;

void rig_begin(enum hrp_type type, u32 psn)
{
	struct hrp_req *req = &rig.qp.req;
	struct hrp_sq *sq = &req->sq;

	memset(&rig, 0, sizeof(rig));
	rig.now_ns = 1000;
	rig.credit_code = HRP_SYN_CREDIT_INVALID;
	rig.qp.type = type;
	rig.qp.state = HRP_RTS;
	rig.qp.mtu = 1024;
	rig.qp.pkey = 0xffff;
	rig.qp.qpn = RIG_QPN;
	rig.qp.dest_qpn = RIG_PEER_QPN;
	rig.qp.qkey = 0x11111111;
	rig.qp.stats = &rig.counts;

	sq->hdr = &rig.hdr;
	sq->nr_entries = NR_ENTRIES;
	sq->max_sges = MAX_SGES;
	sq->max_inline = MAX_INLINE;
	sq->stride = hrp_sq_stride(MAX_SGES, MAX_INLINE);
	sq->copy_stride = hrp_sq_copy_stride(sq->stride);
	/* Exact sizes, so that the sanitizer sees every step beyond. */
	rig.ring = calloc(NR_ENTRIES, sq->stride);
	sq->ring = rig.ring;
	sq->copies = malloc(NR_ENTRIES * sq->copy_stride);

	req->window_pkts = 64;
	req->burst_pkts = 16;
	req->max_rd_atomic = 4;
	req->retry_cnt = 3;
	req->rnr_retry = 2;
	req->timeout = RIG_TIMEOUT;
	hrp_req_reset(&rig.qp);
	hrp_req_start(&rig.qp, psn);
	/* A window that a test sets is what it would be after a loss. */
	req->cc_start = 0;
}

void rig_end(void)
{
	rig_expect_no_cqe();
	tap_eq(kept_free(hrp_ahead_close(&rig.qp)), 0);
	kept_close_sack(&rig.qp.req);
	free(rig.ring);
	free(rig.qp.req.sq.copies);
}

struct hroce_sq_wqe *rig_slot(u8 opcode)
{
	const struct hrp_sq *sq = &rig.qp.req.sq;
	struct hroce_sq_wqe *wqe;

	wqe = rig.ring + (rig.hdr.prod & (NR_ENTRIES - 1)) * sq->stride;
	memset(wqe, 0, sq->stride);
	wqe->wr_id = rig.hdr.prod;
	wqe->opcode = opcode;
	wqe->flags = HROCE_WRF_SIGNALED;
	return wqe;
}

void rig_post(struct hroce_sq_wqe *wqe, u32 len)
{
	struct hroce_sge *sges = (void *)(wqe + 1);

	if (len) {
		sges[0].addr = 0x10000;
		sges[0].length = len;
		sges[0].lkey = 5;
		wqe->nr_sges = 1;
	}
	rig.hdr.prod++;
}

void rig_post_op(u8 opcode, u32 len)
{
	struct hroce_sq_wqe *wqe = rig_slot(opcode);

	wqe->rdma.remote_addr = 0x200000;
	wqe->rdma.rkey = 9;
	rig_post(wqe, len);
}

enum hrp_next rig_next(void)
{
	enum hrp_next ret = hrp_req_next(&rig.qp, rig.now_ns, &rig.burst);

	pending_take(&rig.pending, &rig.qp);
	if (ret == HRP_NEXT_BURST)
		hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_SUCCESS);
	return ret;
}

u32 rig_drain(void)
{
	u32 nr_pkts = 0;

	while (rig_next() == HRP_NEXT_BURST)
		nr_pkts += rig.burst.nr_pkts;
	return nr_pkts;
}

static u8 rig_keep(const struct hrp_pkt *pkt)
{
	struct hrp_req *req = &rig.qp.req;

	if (!rig.keeps_answers)
		return HROCE_WC_GENERAL_ERR;
	kept_open_sack(req);
	kept_put_answer(req, pkt);
	return HROCE_WC_SUCCESS;
}

/* What is to be resent leaves at once: the requester is woken. */
static bool rig_commit(const struct hrp_pkt *pkt, const struct hrp_rx *rx,
		       u8 status)
{
	bool wakes = hrp_comp_commit(&rig.qp, pkt, rx, rig.now_ns, status);
	const struct hrp_req *req = &rig.qp.req;

	tap_ok(wakes || !req->troubled || !req->rtx_pkts);
	return wakes;
}

/* What the engine does with a kept answer whose turn it is. */
static void rig_replay(struct hrp_kept *kept)
{
	struct hrp_rx rx;

	tap_eq(kept->pkt.psn, rig.qp.req.psn_una);
	hrp_comp_begin(&rig.qp, &kept->pkt, &rx);
	if (tap_ok(rx.verdict != HRP_RX_DROP))
		rig_commit(&kept->pkt, &rx, HROCE_WC_SUCCESS);
	free(kept);
}

static void rig_drain_answers(void)
{
	struct hrp_kept *kept;

	while (hrp_ahead_of(&rig.qp.req)) {
		while ((kept = hrp_ahead_take_stale(&rig.qp)))
			free(kept);
		kept = hrp_ahead_next(&rig.qp);
		if (!kept)
			break;
		rig_replay(kept);
	}
	if (hrp_ahead_of(&rig.qp.req) && !hrp_ahead_nr(&rig.qp.req))
		kept_free(hrp_ahead_close(&rig.qp));
}

static bool rig_receive(struct hrp_pkt *pkt, u8 opcode, u32 psn, u8 *verdict)
{
	u8 status = HROCE_WC_SUCCESS;
	struct hrp_rx rx;
	bool progress;

	pkt->opcode = opcode;
	pkt->info = hrp_opcode_info(opcode);
	pkt->psn = psn & 0xffffff;
	pkt->msn = rig.msn;
	if ((pkt->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK)
		pkt->syndrome |= rig.credit_code;
	hrp_comp_begin(&rig.qp, pkt, &rx);
	*verdict = rx.verdict;
	if (rx.verdict == HRP_RX_DROP) {
		rig.counts.v[rx.drop]++;
		return false;
	}
	if (rx.mem.len)
		tap_eq(rx.mem.access, HRP_ACCESS_LOCAL_WRITE);
	if (rx.verdict == HRP_RX_KEEP)
		status = rig_keep(pkt);
	progress = rig_commit(pkt, &rx, status);
	rig_drain_answers();
	pending_take(&rig.pending, &rig.qp);
	return progress;
}

bool rig_ack(u32 psn, u8 syndrome)
{
	struct hrp_pkt pkt = { .syndrome = syndrome };
	u8 verdict;

	return rig_receive(&pkt, HRP_OP_ACK, psn, &verdict);
}

u8 rig_sack(u32 psn, const u8 *map, u32 len)
{
	struct hrp_pkt pkt = {
		.opcode = HRP_OPCODE_SACK,
		.info = hrp_opcode_info(HRP_OPCODE_SACK),
		.psn = psn,
		.syndrome = HRP_NAK_PSN_SEQ,
		.payload_len = len,
	};
	struct hrp_rx rx;

	hrp_comp_begin(&rig.qp, &pkt, &rx);
	kept_open_sack(&rig.qp.req);
	hrp_sack_heard(&rig.qp, &pkt, map, rig.now_ns);
	if (rx.verdict == HRP_RX_DROP)
		return rx.verdict;
	hrp_sack_take(&rig.qp, &pkt, map, rig.now_ns);
	rig_commit(&pkt, &rx, HROCE_WC_SUCCESS);
	return rx.verdict;
}

void rig_tell_again(u32 psn, u32 nr)
{
	struct hrp_pkt pkt = {
		.opcode = HRP_OPCODE_SACK,
		.info = hrp_opcode_info(HRP_OPCODE_SACK),
		.psn = hrp_psn_add(rig.qp.req.psn_una, HRP_PSN_MASK),
		.syndrome = HRP_SYN_CREDIT_INVALID,
		.payload_len = HRP_SACK_AGAIN_BYTES,
	};
	u8 payload[HRP_SACK_AGAIN_BYTES];

	put_unaligned_be32(psn, payload);
	put_unaligned_be32(nr, payload + 4);
	hrp_sack_heard(&rig.qp, &pkt, payload, rig.now_ns);
}

u8 rig_read_resp(u8 opcode, u32 psn, u32 len)
{
	struct hrp_pkt pkt = { .payload_len = len };
	u8 verdict;

	rig_receive(&pkt, opcode, psn, &verdict);
	return verdict;
}

u8 rig_atomic_resp(u32 psn, u64 orig)
{
	struct hrp_pkt pkt = { .orig = orig };
	u8 verdict;

	rig_receive(&pkt, HRP_OP_ATOMIC_ACK, psn, &verdict);
	return verdict;
}

void rig_expect_cqe(u64 wr_id, u8 status)
{
	const struct hroce_cqe *cqe = &rig.cqes[rig.seen_cqes];

	if (!tap_ok(rig.seen_cqes < rig.nr_cqes))
		return;
	rig.seen_cqes++;
	tap_eq(cqe->wr_id, wr_id);
	tap_eq(cqe->status, status);
	tap_eq(cqe->qpn, RIG_QPN);
}

void rig_expect_no_cqe(void)
{
	tap_eq(rig.nr_cqes, rig.seen_cqes);
}

void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe)
{
	if (rig.cq_overrun) {
		qp->state = HRP_ERR;
		return;
	}
	if (rig.nr_cqes < RIG_MAX_CQES)
		rig.cqes[rig.nr_cqes++] = *cqe;
}

u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe)
{
	rig.local_ops++;
	if (rig.posts_left) {
		rig.posts_left--;
		rig_post_op(HROCE_WR_LOCAL_INV, 0);
	}
	return rig.local_status;
}

u32 rig_pending(enum hrp_pending what)
{
	return pending_count(&rig.pending, &rig.qp, what);
}
