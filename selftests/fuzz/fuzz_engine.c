// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes one queue pair. The input plays a hostile peer, who sends whatever
 * can be built, and a hostile application, who writes into the mapped ring
 * what it likes. Whatever they do: work is bounded, indices stay in order,
 * bursts are sound, and payload goes where it is allowed to go.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proto/ahead.h"
#include "proto/cc.h"
#include "proto/hold.h"
#include "proto/mtu.h"
#include "proto/sack.h"
#include "proto/second.h"
#include "../sim/kept.h"
#include "fuzz_engine.h"

/* Calls of the surroundings that one call of the engine may make. */
#define MAX_ENV_CALLS	(4 * FUZZ_SQ_ENTRIES + FUZZ_MAX_RQ + 16)
#define MAX_PKTS	64

struct fuzz fuzz;

static struct hrp_second second;

/* Over all inputs: packets received, 32-bit words of ring entries written. */
static u64 nr_packets, nr_words;

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static u32 take(u32 nr_bytes)
{
	u32 v = 0;

	while (nr_bytes--) {
		v = v << 8 | (fuzz.len ? *fuzz.data : 0);
		if (fuzz.len) {
			fuzz.data++;
			fuzz.len--;
		}
	}
	return v;
}

/* Mostly something near @base, sometimes anything. */
static u32 take_near(u32 base)
{
	u32 how = take(1);

	if (how == 0xff)
		return take(4);
	if (how < 0xc0)
		return base;
	return base + (s32)(how & 0x3f) - 32;
}

static u64 mem_room(const struct hrp_mem *mem)
{
	u64 room = 0;
	u32 i;

	if (!mem->sges)
		return mem->one.length;
	for (i = 0; i < mem->nr_sges; i++)
		room += hrp_mem_sge(mem, i)->length;
	return room;
}

static void check_mem(const struct hrp_mem *mem)
{
	fuzz_demand(mem->len <= HRP_MAX_MESSAGE);
	if (mem->len && !mem->bytes)
		fuzz_demand((u64)mem->offset + mem->len <= mem_room(mem));
	if (mem->bytes)
		fuzz_demand(mem->offset + mem->len <=
			    max_t(u32, FUZZ_MAX_INLINE, HRP_MTU_MAX));
}

static void check_burst(const struct hrp_burst *b, u32 burst_pkts)
{
	struct hrp_pkt pkt;
	u32 i, done = 0;

	fuzz_demand(b->mtu <= hrp_mtu_max(&fuzz.qp));
	fuzz_demand(b->nr_pkts && b->nr_pkts <= burst_pkts);
	check_mem(&b->mem);
	for (i = 0; i < b->nr_pkts; i++) {
		hrp_burst_pkt(b, i, &pkt);
		fuzz_demand(pkt.info == hrp_opcode_info(pkt.opcode));
		fuzz_demand(pkt.info & HRP_OI_VALID);
		fuzz_demand(pkt.payload_len <= b->mtu && pkt.pad < 4);
		fuzz_demand(i + 1 == b->nr_pkts || pkt.payload_len == b->mtu);
		fuzz_demand(!(pkt.psn & ~HRP_PSN_MASK));
		done += pkt.payload_len;
	}
	fuzz_demand(done == b->mem.len);
}

static void check_state(void)
{
	const struct hrp_resp *resp = &fuzz.qp.resp;
	const struct hrp_req *req = &fuzz.qp.req;
	const struct hrp_sq *sq = &req->sq;
	bool error, sq_error;

	fuzz_demand(fuzz.env_calls <= MAX_ENV_CALLS);
	fuzz.env_calls = 0;
	fuzz_demand(sq->head - sq->tail <= sq->nr_entries);
	fuzz_demand(sq->next - sq->tail <= sq->head - sq->tail);
	fuzz_demand(((req->psn - req->psn_una) & HRP_PSN_MASK) <=
		    ((req->psn_max - req->psn_una) & HRP_PSN_MASK));
	fuzz_demand(resp->rd_head - resp->rd_reply <= resp->nr_rd);
	fuzz_demand(!(resp->psn & ~HRP_PSN_MASK));
	fuzz_demand(resp->held < HRP_HOLD_MAX);
	fuzz_demand(!resp->kept == !resp->keep);
	fuzz_demand(!resp->kept || resp->keep->nr <= HRP_KEEP_PKTS);
	fuzz_demand(resp->hold_max && resp->hold_max <= HRP_HOLD_MAX);
	fuzz_demand(!resp->held == !(fuzz.qp.pending & BIT(HRP_PENDING_HELD)));
	fuzz_demand(!req->pace || !req->pace->limit_kbps ||
		    req->pace->own.credit <= req->pace->own.max_credit);
	fuzz_demand(req->gated == (!hrp_qp_sends(&fuzz.qp) ||
				   hrp_pace_limits(req)));
	fuzz_demand(!resp->have_rwqe || resp->in_msg != HRP_OI_SEND ||
		    resp->offset <= resp->rwqe->length);
	fuzz_demand(resp->in_msg != HRP_OI_WRITE ||
		    resp->offset <= resp->write_len);
	if (test_and_clear_bit(HRP_PENDING_SPREAD, &fuzz.qp.pending) &&
	    hrp_pace_wants_spread(&fuzz.qp)) {
		if (!req->pace)
			hrp_pace_start(&fuzz.qp, &fuzz.pace, &fuzz.rp,
				       fuzz.now_ns, 0);
		hrp_pace_spread(&fuzz.qp, fuzz.now_ns);
	}
	if (test_and_clear_bit(HRP_PENDING_UNPACED, &fuzz.qp.pending) &&
	    !hrp_pace_is_on(req))
		hrp_pace_stop(&fuzz.qp);
	error = test_and_clear_bit(HRP_PENDING_ERROR, &fuzz.qp.pending);
	sq_error = test_and_clear_bit(HRP_PENDING_SQ_ERROR, &fuzz.qp.pending);
	if (error)
		fuzz_demand(fuzz.qp.state == HRP_ERR);
	else
		fuzz_demand(fuzz.qp.state ==
			    (sq_error ? HRP_SQE : fuzz.state_seen));
	fuzz_demand(!(fuzz.qp.pending >> HRP_PENDING_NR));
	fuzz.state_seen = fuzz.qp.state;
}

static u8 take_status(void)
{
	switch (take(1)) {
	case 0x5a:
		return HROCE_WC_LOC_PROT_ERR;
	case 0x5b:
		return HROCE_WC_REM_ACCESS_ERR;
	case 0x5c:
		return HRP_MEM_FAULT;
	}
	return HROCE_WC_SUCCESS;
}

/* The holder of the token reports what became of the burst. */
static void op_sent(void)
{
	u32 nr_pkts = fuzz.burst.nr_pkts;
	u8 status;

	if (!nr_pkts)
		return;
	status = take_status();
	if (status != HROCE_WC_SUCCESS) {
		hrp_pace_give_back(&fuzz.qp, &fuzz.burst, nr_pkts / 2);
		hrp_burst_cut(&fuzz.burst, nr_pkts / 2);
	}
	hrp_req_sent(&fuzz.qp, &fuzz.burst, status);
	fuzz.burst.nr_pkts = 0;
}

static void flush(void)
{
	struct hrp_sq *sq = &fuzz.qp.req.sq;

	if (fuzz.qp.state != HRP_ERR && fuzz.qp.state != HRP_SQE)
		return;
	op_sent();
	hrp_req_flush(&fuzz.qp, U32_MAX);
	fuzz_demand(sq->head == sq->tail && sq->next == sq->head);
	fuzz_demand(!hrp_req_deadline(&fuzz.qp.req));
	if (fuzz.qp.state == HRP_ERR) {
		fuzz_keep_end();
		hrp_resp_flush(&fuzz.qp, U32_MAX);
		fuzz_demand(!fuzz.qp.resp.have_rwqe);
	}
}

static const u8 second_addrs[][HRP_SECOND_ADDR_BYTES] = {
	{ [10] = 0xff, 0xff, 10, 0, 0, 1 },
	{ 0xfd, [15] = 1 },
};

/* What a modify of the queue pair does. */
static void restart(void)
{
	struct hrp_qp *qp = &fuzz.qp;

	op_sent();
	fuzz_keep_end();
	qp->req.asks = HRP_SACK_ASKS;
	qp->req.spray = 1 + take(1) % HRP_SPRAY_PATHS;
	hrp_second_begin(&second, second_addrs[take(1) & 1], 17);
	qp->req.mtu_asks = HRP_MTU_ASKS;
	qp->resp.own_mtu = take(1) % (HRP_MTU_MAX / HRP_MTU_UNIT + 1);
	if (qp->resp.own_mtu * HRP_MTU_UNIT <= qp->mtu)
		qp->resp.own_mtu = 0;
	if (!qp->resp.own_mtu)
		qp->req.mtu_asks = 0;
	qp->state = HRP_RESET;
	hrp_req_reset(qp);
	hrp_resp_reset(qp);
	qp->state = HRP_RTR;
	hrp_resp_start(qp, take(3));
	if (take(1) & 1) {
		qp->state = HRP_RTS;
		hrp_req_start(qp, take(3));
	}
	fuzz.state_seen = qp->state;
}

/* An entry that makes sense, but for some bytes. */
static void op_post(void)
{
	struct hrp_sq *sq = &fuzz.qp.req.sq;
	u32 slot = (take(1) + sq->head) % sq->nr_entries;
	u8 *entry = (u8 *)sq->ring + slot * sq->stride;
	struct hroce_sq_wqe *wqe = (void *)entry;
	struct hroce_sge *sge = (void *)(wqe + 1);
	u32 n;

	memset(entry, 0, sq->stride);
	wqe->opcode = take(1) % (HROCE_WR_NR + 1);
	wqe->flags = take(1);
	wqe->rdma.remote_addr = take(1) * 8;
	wqe->rdma.rkey = take(1);
	if (wqe->flags & HROCE_WRF_INLINE) {
		wqe->inline_len = take_near(16);
	} else {
		wqe->nr_sges = take(1) % (FUZZ_MAX_SGES + 1);
		for (n = 0; n < wqe->nr_sges; n++)
			sge[n].length = take_near(take(2));
	}
	if (wqe->opcode == HROCE_WR_CMP_SWAP ||
	    wqe->opcode == HROCE_WR_FETCH_ADD ||
	    wqe->opcode == HROCE_WR_MASKED_CMP_SWAP ||
	    wqe->opcode == HROCE_WR_MASKED_FETCH_ADD ||
	    wqe->opcode == HROCE_WR_ATOMIC_WRITE)
		sge[0].length = 8;
	if (wqe->opcode == HROCE_WR_FLUSH) {
		wqe->flush.placement = take(1) & 3;
		wqe->nr_sges = 0;
	}
	for (n = take(1) & 3; n && take(1) > 0x80; n--)
		entry[take(2) % sq->stride] = take(1);
	sq->hdr->prod = take_near(sq->hdr->prod + 1);
	nr_words += sq->stride / 4 + 1;
}

/* A burst takes one of several paths. */
static enum hrp_next next_burst(void)
{
	struct hrp_req *req = &fuzz.qp.req;
	u8 burst_pkts = req->burst_pkts;
	enum hrp_next next;
	int path;

	while ((path = hrp_spray_evict(req)) >= 0)
		fuzz_demand(path < (int)HRP_SPRAY_PATHS);
	if (hrp_spray_is_on(req))
		req->burst_pkts = hrp_spray_pkts(req, burst_pkts);
	fuzz_demand(req->burst_pkts && req->burst_pkts <= burst_pkts);
	next = hrp_req_next(&fuzz.qp, fuzz.now_ns, &fuzz.burst);
	if (next == HRP_NEXT_BURST && hrp_spray_is_on(req))
		hrp_spray_sport(req, &fuzz.burst);
	req->burst_pkts = burst_pkts;
	return next;
}

static void op_kick(void)
{
	u32 n;

	for (n = 0; n < 8; n++) {
		enum hrp_next next;

		op_sent();
		next = next_burst();
		check_state();
		if (next == HRP_NEXT_WAIT && fuzz.qp.state == HRP_RTS)
			fuzz_demand(fuzz.qp.req.timer != HRP_TIMER_OFF ||
				    hrp_req_deadline(&fuzz.qp.req));
		if (next != HRP_NEXT_BURST) {
			fuzz.burst.nr_pkts = 0;
			return;
		}
		check_burst(&fuzz.burst, fuzz.qp.req.burst_pkts);
		/* Much may happen while the burst is on its way. */
		if (take(1) & 1)
			return;
	}
}

/* Other packets like this one may have come with it. */
static void take_more(struct hrp_pkt *pkt, struct hrp_rx *rx)
{
	u32 more = min((u32)take(1), rx->more);

	fuzz_demand(!rx->more || rx->verdict == HRP_RX_ACCEPT);
	rx->nr_pkts += more;
	pkt->psn = hrp_psn_add(pkt->psn, more);
}

static u8 request_status(const struct hrp_pkt *pkt, u8 verdict)
{
	if (verdict == HRP_RX_KEEP)
		return take(1) == 0x5d ? HROCE_WC_GENERAL_ERR : fuzz_keep(pkt);
	return verdict == HRP_RX_ACCEPT ? take_status() : HROCE_WC_SUCCESS;
}

static void receive_request(struct hrp_pkt *pkt)
{
	struct hrp_rx rx;

	hrp_resp_begin(&fuzz.qp, pkt, &rx);
	check_mem(&rx.mem);
	fuzz_demand(!rx.mem.len || rx.mem.len == pkt->payload_len);
	fuzz_demand(!rx.fuse || rx.verdict == HRP_RX_ACCEPT);
	take_more(pkt, &rx);
	rx.hold = pkt->psn & 0xf;
	/* Damaged now and then, unless that has been seen before. */
	if (rx.verdict != HRP_RX_DROP &&
	    (hrp_resp_is_delicate(pkt) || take(1) != 0xa5))
		hrp_resp_commit(&fuzz.qp, pkt, &rx,
				request_status(pkt, rx.verdict));
}

/* The payload is random in one of two ways. */
static void take_map(const struct hrp_pkt *pkt)
{
	u32 i, len = min(pkt->payload_len, (u32)HRP_SACK_MAP_BYTES);
	u8 map[HRP_SACK_MAP_BYTES], fill = take(1);
	struct hrp_pkt told = *pkt;

	told.payload_len = len;
	for (i = 0; i < len; i++)
		map[i] = fill & 1 ? take(1) : fill;
	kept_open_sack(&fuzz.qp.req);
	hrp_sack_heard(&fuzz.qp, &told, map, fuzz.now_ns);
	if (kept_start_spray(&fuzz.qp)) {
		for (i = 0; i < HRP_SPRAY_PATHS; i++)
			fuzz.qp.req.sack->spray->sport[i] = i;
	}
	hrp_sack_take(&fuzz.qp, &told, map, fuzz.now_ns);
}

static void ask(void)
{
	static const u8 right[] = { 'h', 'r', 'o', 'c', 1, 3, 0, 0 };
	u8 wrong[sizeof(right)];
	u32 i;

	/* Others are not told of it, see datapath/sack.c. */
	if (!hrp_qp_is_reliable(&fuzz.qp))
		return;
	for (i = 0; i < sizeof(wrong); i++)
		wrong[i] = take(1) & 1 ? right[i] : take(1);
	hrp_sack_asked(&fuzz.qp, take(1) & 1 ? right : wrong,
		       take(1) & 1 ? sizeof(right) : take(1) % sizeof(right));
}

/* Longer packets, and answers to that. */
static void agree(const struct hrp_pkt *pkt)
{
	u8 magic[HRP_MTU_MAGIC_BYTES] = { 'h', 'r', 'o', 'c', 1 };
	u8 wrong = take(1);

	if (!hrp_qp_is_reliable(&fuzz.qp))
		return;
	if (wrong & 0x80)
		magic[wrong % sizeof(magic)] ^= wrong;
	if (pkt->info & HRP_OI_RESPONSE)
		hrp_mtu_answered(&fuzz.qp, pkt, magic);
	else
		hrp_mtu_asked(&fuzz.qp, pkt, magic);
}

/* A second way: some bytes are as they should be. */
static void receive_second(const struct hrp_pkt *pkt)
{
	u8 payload[HRP_SECOND_BYTES] = { 'h', 'r', 'o', 'c', 1 };
	enum hrp_way way = take(1) & 1;
	u32 n;

	memcpy(payload + 8, second_addrs[take(1) & 1], sizeof(second_addrs[0]));
	payload[8 + 15] = 2;
	payload[27] = 18;
	for (n = 0; n < sizeof(u64); n++)
		payload[39 - n] = second.token[way] >> 8 * n;
	for (n = take(1) & 3; n && take(1) > 0x80; n--)
		payload[take(1) % sizeof(payload)] = take(1);
	if (!(pkt->info & HRP_OI_RESPONSE))
		hrp_second_asked(&second, payload, way, fuzz.now_ns);
	else if (hrp_second_answered(&second, payload, way) != HRP_SECOND_BAD)
		fuzz_demand(second.agreed && second.peer_qpn);
	fuzz_demand(!second.valid || second.agreed);
	fuzz_demand(second.tries <= HRP_SECOND_ASKS);
}

/* Time passes, the way is changed, or what is due is sent. */
static void op_second(void)
{
	u8 payload[HRP_SECOND_BYTES], how = take(1);
	struct hrp_burst b;
	enum hrp_way way;
	u32 n = 0;

	if (how & 1)
		hrp_second_tick(&second);
	if (how & 2)
		hrp_second_want(&second);
	if (how & 4)
		second.away = second.valid && how & 8;
	while (hrp_second_next(&second, &fuzz.qp, take(1), payload, &b, &way)) {
		fuzz_demand(++n <= 2 * HRP_WAY_NR);
		fuzz_demand(way == HRP_WAY_FIRST || second.agreed);
		check_burst(&b, 1);
	}
}

static u8 answer_status(const struct hrp_pkt *pkt, u8 verdict)
{
	if (verdict != HRP_RX_KEEP)
		return take_status();
	return take(1) == 0x5d ? HROCE_WC_GENERAL_ERR : fuzz_keep_answer(pkt);
}

static void receive_response(struct hrp_pkt *pkt)
{
	struct hrp_rx rx;

	hrp_comp_begin(&fuzz.qp, pkt, &rx);
	check_mem(&rx.mem);
	fuzz_demand(!rx.mem.len || rx.mem.len == pkt->payload_len ||
		    (pkt->info & HRP_OI_ATOMIC));
	take_more(pkt, &rx);
	if (rx.verdict != HRP_RX_DROP && pkt->info & HRP_OI_EXT)
		take_map(pkt);
	if (rx.verdict != HRP_RX_DROP && take(1) != 0xa5)
		hrp_comp_commit(&fuzz.qp, pkt, &rx, fuzz.now_ns,
				answer_status(pkt, rx.verdict));
}

/* Kept answers whose turn it is, or some of them; all are lost now and then. */
static void drain_answers(void)
{
	struct hrp_req *req = &fuzz.qp.req;
	u32 max = take(1) & 31;
	struct hrp_kept *kept;

	if (!max)
		fuzz_ahead_end();
	while (max-- && hrp_ahead_of(req)) {
		while ((kept = hrp_ahead_take_stale(&fuzz.qp)))
			free(kept);
		kept = hrp_ahead_next(&fuzz.qp);
		if (!kept)
			break;
		fuzz_demand(kept->pkt.psn == req->psn_una);
		receive_response(&kept->pkt);
		free(kept);
	}
	if (hrp_ahead_of(req) && !hrp_ahead_nr(req))
		fuzz_ahead_end();
}

/* Kept requests whose turn it is, or some of them. */
static void op_drain(void)
{
	struct hrp_resp *resp = &fuzz.qp.resp;
	u32 max = take(1) & 15;
	struct hrp_kept *kept;

	if (hrp_ahead_of(&fuzz.qp.req))
		drain_answers();
	if (!resp->kept)
		return;
	while (max--) {
		kept = hrp_keep_take_stale(&fuzz.qp);
		if (!kept) {
			kept = hrp_resp_next_kept(&fuzz.qp);
			if (!kept)
				break;
			fuzz_demand(kept->pkt.psn == resp->psn);
			receive_request(&kept->pkt);
		}
		free(kept);
	}
	if (hrp_keep_is_over(resp))
		fuzz_keep_end();
}

static u32 take_payload_len(void)
{
	u32 mtu = fuzz.qp.mtu;

	switch (take(1) & 3) {
	case 0:
		return mtu;
	case 1:
		return take(1);
	case 2:
		return take_near(mtu) & 0x1fff;
	case 3:
		return fuzz.qp.resp.agreed_mtu * HRP_MTU_UNIT;
	}
	return 0;
}

/* Anything that can be written as a packet, and read again. */
static void op_packet(bool response)
{
	u8 hdr[HRW_MAX_HDR_LEN] __attribute__((__aligned__(4)));
	struct hrp_pkt pkt = { .dqpn = fuzz.qp.qpn, .pkey = 0xffff };
	u32 len;

	pkt.opcode = take(1);
	if (pkt.opcode == 0xed)
		pkt.opcode = response ? HRP_OPCODE_SECOND :
					HRP_OPCODE_SECOND_ASK;
	else if (pkt.opcode == 0xee)
		pkt.opcode = response ? HRP_OPCODE_MTU : HRP_OPCODE_MTU_ASK;
	else if (pkt.opcode == 0xef)
		pkt.opcode = response ? HRP_OPCODE_SACK : HRP_OPCODE_SACK_ASK;
	else if (pkt.opcode < 0xf0)
		pkt.opcode = hrp_qp_service(&fuzz.qp) | (pkt.opcode & 0x1f);
	pkt.info = hrp_opcode_info(pkt.opcode);
	if (!pkt.info || !!(pkt.info & HRP_OI_RESPONSE) != response)
		return;
	pkt.psn = take_near(response ? fuzz.qp.req.psn_una :
				       fuzz.qp.resp.psn) & HRP_PSN_MASK;
	pkt.sport = pkt.psn;
	len = take(1);
	pkt.ackreq = len & 1;
	pkt.longer = len >> 6 & 1;
	pkt.se = len >> 1 & 1;
	pkt.syndrome = len & 0x80 ? take(1) : HRP_SYN_CREDIT_INVALID;
	pkt.qkey = len & 4 ? fuzz.qp.qkey + 1 : fuzz.qp.qkey;
	pkt.rkey = take(1);
	pkt.va = take(1) * 8 + (len >> 3 & 1);
	pkt.inv_rkey = take(1);
	pkt.srqn = pkt.info & HRP_OI_XRCETH ? take(1) & 7 : 0;
	pkt.feth = pkt.info & HRP_OI_FLUSH ? take(1) & 0x7f : 0;
	if (pkt.info & HRP_OI_PAYLOAD)
		pkt.payload_len = take_payload_len();
	pkt.pad = -pkt.payload_len & 3;
	pkt.dmalen = take_near(pkt.info & HRP_OI_LAST ? pkt.payload_len :
							3 * pkt.payload_len);
	len = hrp_pkt_build(&pkt, hdr);
	if (hrp_pkt_parse(&pkt, hdr, len, len + pkt.payload_len + pkt.pad +
					  HRW_ICRC_LEN))
		return;
	nr_packets++;
	if (hrp_mtu_is_about(&pkt))
		agree(&pkt);
	else if (hrp_second_is_about(&pkt))
		receive_second(&pkt);
	else if (response)
		receive_response(&pkt);
	else if (pkt.info & HRP_OI_EXT)
		ask();
	else
		receive_request(&pkt);
	op_drain();
}

static void fill_map(struct hrp_burst *b)
{
	static u8 map[HRP_SACK_MAP_BYTES];

	fuzz_demand(b->mem.len <= sizeof(map));
	if (b->mem.len)
		hrp_sack_fill(&fuzz.qp.resp, b, map);
	b->mem.bytes = map;
}

static void op_answer(void)
{
	struct hrp_burst b;
	u32 n;

	for (n = 0; n < MAX_PKTS && hrp_resp_next(&fuzz.qp, &b); n++) {
		if (b.first.opcode == HRP_OPCODE_SACK)
			fill_map(&b);
		check_burst(&b, fuzz.qp.resp.burst_pkts);
		check_state();
		hrp_resp_sent(&fuzz.qp, &b, take_status());
	}
}

static void op_time(void)
{
	fuzz.now_ns += take(1) * 100000ull;
	if (hrp_req_timeout(&fuzz.qp, fuzz.now_ns))
		op_kick();
}

/* Memory was fetched, or cannot be, whether somebody waits or not. */
static void op_memory(void)
{
	u8 how = take(1);
	bool ok = how & 4;

	switch (how & 3) {
	case 0:
		if (hrp_req_mem_ready(&fuzz.qp, fuzz.now_ns, ok))
			op_kick();
		break;
	case 1:
		hrp_resp_read_ready(&fuzz.qp, ok);
		break;
	default:
		hrp_resp_place_failed(&fuzz.qp);
	}
}

static void pace_start(u8 how)
{
	if (!fuzz.qp.req.pace)
		hrp_pace_start(&fuzz.qp, &fuzz.pace, &fuzz.rp, fuzz.now_ns,
			       how * 1000);
}

/* Paced, at another rate, or no more. */
static void set_rate(void)
{
	u8 how = take(1);

	if (!hrp_qp_sends(&fuzz.qp))
		return;
	pace_start(how);
	hrp_pace_set(&fuzz.qp, fuzz.now_ns, 8u << how % 28,
		     how & 0x40 ? take(4) : 0);
	if (how & 0x80)
		fuzz_demand(hrp_pace_stop(&fuzz.qp) == &fuzz.pace);
	op_kick();
}

/* The peer may send CNPs at any time. */
static void take_cnp(void)
{
	u8 how = take(1);

	if (!hrp_qp_sends(&fuzz.qp) || !hrp_cc_of(fuzz.qp.req.cc)->cnp)
		return;
	if (hrp_cc_wants_pace(&fuzz.qp) && how & 1)
		pace_start(how);
	hrp_cc_notified(&fuzz.qp, fuzz.now_ns);
	hrp_spray_marked(&fuzz.qp.req, how >> 4, fuzz.now_ns);
}

static void op_modify(void)
{
	switch (take(1) & 7) {
	case 0:
		fuzz.qp.state = HRP_ERR;
		fuzz.state_seen = HRP_ERR;
		flush();
		break;
	case 1:
	case 2:
		if (fuzz.qp.state == HRP_RTS)
			fuzz.qp.state = HRP_SQD;
		else if (fuzz.qp.state == HRP_SQD)
			fuzz.qp.state = HRP_RTS;
		fuzz.state_seen = fuzz.qp.state;
		break;
	case 3:
		set_rate();
		break;
	case 4:
		take_cnp();
		break;
	case 5:
		op_second();
		break;
	default:
		flush();
		if (fuzz.qp.state == HRP_ERR || fuzz.qp.state == HRP_SQE)
			restart();
	}
}

static void step(void)
{
	switch (take(1) & 15) {
	case 0:
	case 1:
	case 2:
		op_post();
		break;
	case 3:
	case 4:
		op_kick();
		break;
	case 5:
		op_sent();
		break;
	case 6:
	case 7:
	case 8:
		op_packet(true);
		break;
	case 9:
		op_answer();
		break;
	case 10:
		op_time();
		break;
	case 11:
		fuzz.rq_avail = min(fuzz.rq_avail + (take(1) & 7),
				    (u32)FUZZ_MAX_RQ);
		break;
	case 12:
		op_modify();
		break;
	case 13:
		op_memory();
		break;
	default:
		op_packet(false);
	}
	check_state();
}

/* In the form of libFuzzer's own statistics. */
static void __attribute__((__destructor__)) print_totals(void)
{
	fprintf(stderr, "stat::packets: %llu\nstat::ring_words: %llu\n",
		(unsigned long long)nr_packets, (unsigned long long)nr_words);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	fuzz.data = data;
	fuzz.len = len;
	fuzz_setup(take(1), take(1));
	restart();
	while (fuzz.len)
		step();
	fuzz.qp.state = HRP_ERR;
	flush();
	fuzz_teardown();
	return 0;
}
