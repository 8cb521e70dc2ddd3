// SPDX-License-Identifier: GPL-2.0
/*
 * Responder resources (IBTA 9.4.4, 9.4.5).
 *
 * A ring holds the last READs and atomics accepted. Entries from @rd_reply to
 * @rd_head are answered in order; those with @sent == @end have been answered
 * and are skipped. A duplicate sets @rd_reply back to its entry, and the
 * entry's answer to the part requested this time.
 *
 * An atomic is never executed again: its entry keeps the result. Nor is ATOMIC
 * WRITE or FLUSH (A19): they are answered like an empty READ. A READ is
 * executed again, as the specification allows: its entry keeps only the range,
 * so that a duplicate cannot reach anything else.
 *
 * A duplicate that asks for a part, while the answer is being sent, is answered
 * first, and what was left of the answer follows, as if nothing had come between.
 */
#include <linux/math.h>
#include <linux/minmax.h>
#include "mtu.h"
#include "psn.h"
#include "rdres.h"
#include "resp_priv.h"

static struct hrp_rdres *rdres_at(const struct hrp_resp *resp, u32 idx)
{
	return &resp->rd[idx & (resp->nr_rd - 1)];
}

static u32 rdres_mtu(const struct hrp_rdres *res)
{
	return res->mtu_units * HRP_MTU_UNIT;
}

/* Response packets for @len bytes; an empty READ takes one. */
static u32 rdres_pkts(const struct hrp_rdres *res, u32 len)
{
	return len > rdres_mtu(res) ? DIV_ROUND_UP(len, rdres_mtu(res)) : 1;
}

/*
 * The first entry still to be answered if one more is added: @rd_reply, unless
 * the peer would then have more outstanding than granted. Entries that were
 * answered before are not outstanding.
 */
static u32 rdres_reply_from(const struct hrp_resp *resp)
{
	u32 idx = resp->rd_reply;

	while (idx != resp->rd_head &&
	       resp->rd_head - idx >= resp->max_dest_rd_atomic) {
		const struct hrp_rdres *res = rdres_at(resp, idx);

		if (res->sent != res->end && !res->replay)
			break;
		idx++;
	}
	return idx;
}

bool hrp_rdres_room(const struct hrp_resp *resp)
{
	return resp->rd_head - rdres_reply_from(resp) <
	       resp->max_dest_rd_atomic;
}

u32 hrp_rdres_add(struct hrp_qp *qp, const struct hrp_pkt *pkt, u64 orig)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_rdres *res;

	resp->rd_reply = rdres_reply_from(resp);
	res = rdres_at(resp, resp->rd_head++);
	*res = (struct hrp_rdres) {
		.psn = pkt->psn,
		.nr_pkts = 1,
		.msn = resp->msn,
		.orig = orig,
		.opcode = hrp_opcode_op(pkt->opcode),
		.mtu_units = hrp_mtu_of_peer(qp, pkt) / HRP_MTU_UNIT,
		.sport = resp->follows ? pkt->sport : 0,
	};
	if (pkt->info & HRP_OI_READ) {
		res->va = pkt->va;
		res->rkey = pkt->rkey;
		res->len = pkt->dmalen;
		res->srqn = resp->srqn;
		res->stop = pkt->dmalen;
		res->nr_pkts = rdres_pkts(res, pkt->dmalen);
	}
	res->end = res->nr_pkts;
	return res->nr_pkts;
}

/* Does a duplicate READ request the rest of @res, or a part of that? */
static bool rdres_covers(const struct hrp_rdres *res, const struct hrp_pkt *pkt)
{
	u32 skip = (pkt->psn - res->psn) & HRP_PSN_MASK;
	u32 from = skip * rdres_mtu(res);

	/* @skip is less than nr_pkts, so that @from is not more than @len. */
	return pkt->rkey == res->rkey && pkt->va == res->va + from &&
	       pkt->dmalen <= res->len - from &&
	       (pkt->dmalen || !res->len);
}

/* Find the latest entry with a PSN, and its index; NULL: there is none. */
static struct hrp_rdres *rdres_find(const struct hrp_resp *resp, u32 psn,
				    u32 *idx)
{
	struct hrp_rdres *res;
	u32 n;

	for (n = 1; n <= resp->nr_rd; n++) {
		*idx = resp->rd_head - n;
		res = rdres_at(resp, *idx);
		if (((psn - res->psn) & HRP_PSN_MASK) < res->nr_pkts)
			return res;
	}
	return NULL;
}

bool hrp_rdres_known(const struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	const struct hrp_rdres *res;
	u32 idx;

	res = rdres_find(&qp->resp, pkt->psn, &idx);
	return res && res->opcode == hrp_opcode_op(pkt->opcode) &&
	       (!(pkt->info & HRP_OI_READ) || rdres_covers(res, pkt));
}

/* Where in the range an answer ends with packet @end - 1. */
static u32 rdres_stop(const struct hrp_rdres *res, u32 end)
{
	return min((u64)end * rdres_mtu(res), (u64)res->len);
}

static bool rest_is_empty(const struct hrp_rdres_rest *rest)
{
	return rest->from == rest->end;
}

/* What waits behind a part that was asked for goes on. */
static void rdres_go_on(struct hrp_rdres *res)
{
	struct hrp_rdres_rest *rest = NULL;
	u32 i;

	if (res->opcode != HRP_OP_READ_REQ)
		return;
	for (i = 0; i < HRP_RDRES_RESTS; i++) {
		if (!rest_is_empty(&res->rest[i]) &&
		    (!rest || res->rest[i].from < rest->from))
			rest = &res->rest[i];
	}
	if (!rest)
		return;
	res->sent = rest->from;
	res->first = rest->from - rest->begun;
	res->end = rest->end;
	res->stop = rdres_stop(res, rest->end);
	res->replay = rest->replay;
	rest->from = rest->end;
}

/* Let packets [@from, @end) wait. Return: false if there is no room. */
static bool rdres_put(struct hrp_rdres *res, u32 from, u32 end, bool replay,
		      bool begun)
{
	u32 i;

	for (i = 0; i < HRP_RDRES_RESTS; i++) {
		if (!rest_is_empty(&res->rest[i]))
			continue;
		res->rest[i] = (struct hrp_rdres_rest) {
			.from = from,
			.end = end,
			.replay = replay,
			.begun = begun,
		};
		return true;
	}
	return false;
}

/* Nothing waits that packets [@from, @end) bring, too. */
static void rdres_cover(struct hrp_rdres *res, u32 from, u32 end)
{
	struct hrp_rdres_rest *rest;
	u32 i;

	if (res->opcode != HRP_OP_READ_REQ)
		return;
	for (i = 0; i < HRP_RDRES_RESTS; i++) {
		rest = &res->rest[i];
		if (rest->from >= from && rest->end <= end)
			rest->from = rest->end;
	}
}

/* What is being sent waits, unless it ends within a packet. */
static void rdres_yield(struct hrp_rdres *res)
{
	if (res->stop == rdres_stop(res, res->end) &&
	    rdres_put(res, res->sent, res->end, res->replay,
		      res->sent != res->first))
		res->end = res->sent;
}

/*
 * Packets [@from, @end), to the offset @stop, are wanted before all that was
 * wanted has been sent. Return: true if they will be sent in their turn; false if
 * they are next, with what is left in @res.
 */
static bool rdres_queue(struct hrp_rdres *res, u32 from, u32 end, u32 stop)
{
	if (from > res->sent)
		return end <= res->end ||
		       (stop == rdres_stop(res, end) &&
			rdres_put(res, from, end, true, false));
	if (end < res->end)
		rdres_yield(res);
	return false;
}

enum hrp_again hrp_rdres_replay(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	enum hrp_again again = HRP_AGAIN_PART;
	struct hrp_resp *resp = &qp->resp;
	u32 first, stop = 0, end, idx;
	struct hrp_rdres *res;

	res = rdres_find(resp, pkt->psn, &idx);
	first = (pkt->psn - res->psn) & HRP_PSN_MASK;
	end = res->nr_pkts;
	if (pkt->info & HRP_OI_READ) {
		stop = first * rdres_mtu(res) + pkt->dmalen;
		end = rdres_pkts(res, stop);
	}
	if ((s32)(resp->rd_reply - idx) > 0)
		resp->rd_reply = idx;
	res->waits = 0;
	if (res->sent == res->end)
		res->answered = 1;
	if (resp->follows)
		res->sport = pkt->sport;
	rdres_cover(res, first, end);
	if (end == res->nr_pkts)
		again = first || res->sent < HRP_MUTE_PKTS ? HRP_AGAIN_END :
							     HRP_AGAIN_FLIGHT;
	if (res->sent != res->end && rdres_queue(res, first, end, stop))
		return again;
	/* What could not wait becomes a part of this answer. */
	if (res->sent != res->end) {
		first = min_t(u32, first, res->sent);
		stop = max(stop, res->stop);
		end = max(end, res->end);
		rdres_cover(res, first, end);
	}
	res->first = first;
	res->sent = first;
	res->stop = stop;
	res->end = end;
	res->replay = 1;
	return again;
}

bool hrp_rdres_was_answered(const struct hrp_resp *resp, u32 psn)
{
	const struct hrp_rdres *res;
	u32 idx;

	res = rdres_find(resp, psn, &idx);
	return res && res->answered;
}

u32 hrp_rdres_oldest(const struct hrp_resp *resp)
{
	u32 n = min_t(u32, resp->rd_head, resp->max_dest_rd_atomic);

	return rdres_at(resp, resp->rd_head - n)->psn;
}

bool hrp_rdres_return(struct hrp_resp *resp, u32 psn)
{
	struct hrp_rdres *res;
	u32 idx;

	res = rdres_find(resp, psn, &idx);
	if (!res)
		return false;
	/* A duplicate may have set it back further. */
	res->sent = min_t(u32, res->sent, (psn - res->psn) & HRP_PSN_MASK);
	res->first = min_t(u32, res->first, res->sent);
	res->waits = 1;
	if ((s32)(resp->rd_reply - idx) > 0)
		resp->rd_reply = idx;
	return true;
}

static u8 rdres_opcode(const struct hrp_rdres *res, u32 i)
{
	if (i == res->first)
		return i + 1 == res->end ? HRP_OP_READ_RESP_ONLY :
					   HRP_OP_READ_RESP_FIRST;
	return i + 1 == res->end ? HRP_OP_READ_RESP_LAST :
				   HRP_OP_READ_RESP_MIDDLE;
}

/* Build the next packets of the answer to a READ. */
static void rdres_read(struct hrp_qp *qp, const struct hrp_rdres *res,
		       struct hrp_burst *b)
{
	u8 svc = hrp_qp_service(qp);

	hrp_burst_begin(b, qp, svc | rdres_opcode(res, res->sent),
			hrp_psn_add(res->psn, res->sent));
	b->first.srqn = res->srqn;
	b->nr_pkts = min_t(u32, res->end - res->sent, qp->resp.burst_pkts);
	b->op_middle = svc | HRP_OP_READ_RESP_MIDDLE;
	b->op_last = svc | rdres_opcode(res, res->sent + b->nr_pkts - 1);
	b->mem.one.addr = res->va;
	b->mem.one.length = res->len;
	b->mem.one.lkey = res->rkey;
	b->mtu = rdres_mtu(res);
	b->first.longer = rdres_mtu(res) > qp->mtu;
	b->mem.offset = res->sent * rdres_mtu(res);
	b->mem.len = min(b->nr_pkts * rdres_mtu(res), res->stop - b->mem.offset);
	b->mem.access = HRP_ACCESS_REMOTE_READ;
	b->copy = res->replay;
}

/* The one to answer next; NULL if none waits. */
static struct hrp_rdres *rdres_due(struct hrp_resp *resp)
{
	for (; resp->rd_reply != resp->rd_head; resp->rd_reply++) {
		struct hrp_rdres *res = rdres_at(resp, resp->rd_reply);

		if (res->sent != res->end)
			return res;
	}
	return NULL;
}

bool hrp_rdres_is_read(struct hrp_resp *resp)
{
	const struct hrp_rdres *res = rdres_due(resp);

	return res && res->opcode == HRP_OP_READ_REQ;
}

bool hrp_rdres_waits(struct hrp_resp *resp)
{
	const struct hrp_rdres *res = rdres_due(resp);

	return res && res->waits;
}

bool hrp_rdres_next(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_rdres *res = rdres_due(resp);

	if (!res)
		return false;
	res->waits = 0;
	if (res->opcode == HRP_OP_CMP_SWAP || res->opcode == HRP_OP_FETCH_ADD) {
		hrp_burst_begin(b, qp, hrp_qp_service(qp) | HRP_OP_ATOMIC_ACK,
				res->psn);
		b->first.orig = res->orig;
	} else {
		rdres_read(qp, res, b);
	}
	b->first.sport = res->sport;
	b->first.msn = res->msn;
	b->first.syndrome = hrp_resp_syndrome(qp, res->msn);
	res->sent += b->nr_pkts;
	if (res->sent == res->end)
		rdres_go_on(res);
	if (res->sent == res->end)
		resp->rd_reply++;
	return true;
}
