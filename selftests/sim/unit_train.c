// SPDX-License-Identifier: GPL-2.0
/* Requester: short messages that share a burst. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "proto/e2e.h"
#include "rig.h"
#include "tap.h"

#define LEN	60u

static struct hrp_req *const req = &rig.qp.req;
static struct hrp_burst *const b = &rig.burst;

/* A message with memory and headers of its own. */
static struct hroce_sq_wqe *post(u8 opcode, u32 len, u32 flags)
{
	struct hroce_sq_wqe *wqe = rig_slot(opcode);
	struct hroce_sge *sge = (void *)(wqe + 1);
	u32 idx = rig.hdr.prod;

	wqe->flags |= flags;
	wqe->rdma.remote_addr = 0x200000 + 0x1000 * idx;
	wqe->rdma.rkey = 100 + idx;
	wqe->imm_data = 200 + idx;
	wqe->srqn = 300 + idx;
	if (flags & HROCE_WRF_INLINE) {
		wqe->inline_len = len;
		memset(sge, idx, len);
		rig_post(wqe, 0);
		return wqe;
	}
	rig_post(wqe, len);
	sge->addr = 0x10000 * (idx + 1);
	return wqe;
}

static void post_list(u32 nr, u32 len)
{
	while (nr--)
		post(HROCE_WR_SEND, len, 0);
}

static enum hrp_next next(void)
{
	return hrp_req_next(&rig.qp, rig.now_ns, b);
}

/* Headers of the message of entry @idx, as post() has made them. */
static void expect_headers(const struct hrp_pkt *pkt, u32 idx)
{
	if (pkt->info & HRP_OI_RETH) {
		tap_eq(pkt->va, 0x200000 + 0x1000 * idx);
		tap_eq(pkt->rkey, 100 + idx);
		tap_eq(pkt->dmalen, pkt->payload_len);
	}
	if (pkt->info & HRP_OI_IMM)
		tap_eq((__force u32)pkt->imm, 200 + idx);
	if (pkt->info & HRP_OI_INV)
		tap_eq(pkt->inv_rkey, 200 + idx);
	if (pkt->info & HRP_OI_XRCETH)
		tap_eq(pkt->srqn, 300 + idx);
}

/* Payload of message @i of the burst, that of entry @idx. */
static void expect_memory(u32 i, u32 idx, u32 len)
{
	const struct hrp_mem *mem = &b->mem;

	if (mem->bytes) {
		tap_eq(mem->one.length, len);
		tap_eq(((const u8 *)mem->bytes)[i * mem->stride], (u8)idx);
		return;
	}
	tap_eq(hrp_mem_sge(mem, i)->addr, 0x10000 * (idx + 1));
	tap_eq(hrp_mem_sge(mem, i)->length, len);
}

/* The next burst has messages from entry @idx on, as many as its PSNs. */
static void expect(u32 idx, u32 psn, u32 nr)
{
	struct hrp_pkt pkt;
	u32 i;

	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, psn);
	tap_eq(b->nr_pkts, nr);
	tap_eq(!!b->msgs, nr > 1);
	if (b->nr_pkts != nr || nr == 1)
		return;
	tap_eq(b->mem.nr_sges, nr);
	for (i = 0; i < nr; i++) {
		hrp_burst_pkt(b, i, &pkt);
		tap_eq(pkt.opcode, b->first.opcode);
		tap_eq(pkt.psn, hrp_psn_add(psn, i));
		tap_eq(pkt.payload_len, b->mem.len / nr);
		tap_eq(pkt.pad, -pkt.payload_len & 3);
		tap_eq(pkt.ackreq, i == nr - 1 && b->ackreq_last);
		tap_eq(pkt.se, i == nr - 1 && b->se_last);
		/* Delivered at once, they would be one message. */
		tap_eq(hrp_burst_run(b, i), 1);
		expect_headers(&pkt, idx + i);
		expect_memory(i, idx + i, pkt.payload_len);
	}
}

static void lists_share_a_burst(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0xfffffe);
	post_list(5, LEN + 1);
	expect(0, 0xfffffe, 5);
	tap_ok(b->ackreq_last);
	tap_eq(b->more, 0);
	tap_eq(req->psn, 3);
	tap_eq(req->sq.ssn, 5);
	for (i = 0; i < 5; i++)
		tap_eq(hrp_sq_wqe(&req->sq, i)->unasked, i < 4);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	/* Each completes by itself. */
	rig_ack(0xffffff, HRP_SYN_ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
	rig_ack(2, HRP_SYN_ACK);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_expect_cqe(3, HROCE_WC_SUCCESS);
	rig_expect_cqe(4, HROCE_WC_SUCCESS);
	tap_eq(req->timer, HRP_TIMER_OFF);
	rig_end();
}

/* What is behind two messages that are alike. */
static void expect_apart(u8 opcode, u32 len, u32 flags)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(2, LEN);
	post(opcode, len, flags);
	expect(0, 0, 2);
	tap_eq(b->more, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 2);
	tap_ok(!b->msgs);
	tap_ok(b->ackreq_last);
	rig_ack(2, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

static void others_go_apart(void)
{
	struct hroce_sq_wqe *wqe;
	u32 i;

	expect_apart(HROCE_WR_SEND, LEN - 1, 0);
	expect_apart(HROCE_WR_SEND, LEN + 1, 0);
	expect_apart(HROCE_WR_SEND, 0, 0);
	expect_apart(HROCE_WR_SEND, 1025, 0);
	expect_apart(HROCE_WR_SEND, LEN, HROCE_WRF_FENCE);
	expect_apart(HROCE_WR_SEND, LEN, HROCE_WRF_INLINE);
	expect_apart(HROCE_WR_SEND_IMM, LEN, 0);
	expect_apart(HROCE_WR_SEND_INV, LEN, 0);
	expect_apart(HROCE_WR_WRITE, LEN, 0);
	expect_apart(HROCE_WR_WRITE_IMM, LEN, 0);

	/* Messages of two packets. */
	rig_begin(HRP_TYPE_RC, 0);
	post_list(2, 2000);
	for (i = 0; i < 2; i++) {
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_eq(b->first.psn, 2 * i);
		tap_eq(b->nr_pkts, 2);
		tap_ok(!b->msgs);
	}
	rig_end();

	/* Inline data before what is not, and more pieces than one. */
	rig_begin(HRP_TYPE_RC, 0);
	post_list(2, LEN);
	post(HROCE_WR_SEND, LEN, HROCE_WRF_INLINE);
	post_list(2, LEN);
	wqe = post(HROCE_WR_SEND, LEN - 10, 0);
	((struct hroce_sge *)(wqe + 1))[1].length = 10;
	wqe->nr_sges = 2;
	/* A piece without bytes. */
	for (i = 0; i < 2; i++) {
		wqe = post(HROCE_WR_SEND, LEN, 0);
		((struct hroce_sge *)(wqe + 1))->length = 0;
	}
	expect(0, 0, 2);
	expect(2, 2, 1);
	tap_ok(b->mem.bytes);
	expect(3, 3, 2);
	expect(5, 5, 1);
	tap_eq(b->mem.nr_sges, 2);
	tap_eq(b->mem.len, LEN);
	expect(6, 6, 1);
	expect(7, 7, 1);
	rig_ack(7, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

static void other_services_have_none(void)
{
	rig_begin(HRP_TYPE_UC, 0);
	post_list(2, LEN);
	expect(0, 0, 1);
	expect(1, 1, 1);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* Each keeps its address, key, immediate data, key to invalidate and SRQ. */
static void all_kinds(void)
{
	static const u8 ops[] = {
		HROCE_WR_SEND, HROCE_WR_SEND_IMM, HROCE_WR_SEND_INV,
		HROCE_WR_WRITE, HROCE_WR_WRITE_IMM,
	};
	static const u32 lens[] = { 1, 33, 60, 64 };
	u32 i, k;

	for (i = 0; i < 4 * ARRAY_SIZE(ops) * ARRAY_SIZE(lens); i++) {
		u8 op = ops[i / 4 % ARRAY_SIZE(ops)];
		u32 flags = i & 1 ? HROCE_WRF_INLINE : 0;

		rig_begin(i & 2 ? HRP_TYPE_XRC_INI : HRP_TYPE_RC, 0xffffff);
		for (k = 0; k < 5; k++)
			post(op, lens[i / (4 * ARRAY_SIZE(ops))], flags);
		expect(0, 0xffffff, 5);
		tap_eq(!!b->mem.bytes, !!flags);
		tap_eq(req->sq.ssn, 5);
		rig_ack(3, HRP_SYN_ACK);
		rig.seen_cqes = rig.nr_cqes;
		rig_end();
	}
}

/* The bit is on the packet of the message that has it alone. */
static void what_is_solicited_is_the_last(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(2, LEN);
	post(HROCE_WR_SEND, LEN, HROCE_WRF_SOLICITED);
	post_list(2, LEN);
	expect(0, 0, 3);
	tap_ok(b->se_last);
	tap_ok(!b->ackreq_last);
	expect(3, 3, 2);
	tap_ok(!b->se_last);
	tap_ok(b->ackreq_last);
	rig_end();

	/* A WRITE has no such bit. */
	rig_begin(HRP_TYPE_RC, 0);
	post(HROCE_WR_WRITE, LEN, HROCE_WRF_SOLICITED);
	post(HROCE_WR_WRITE, LEN, HROCE_WRF_SOLICITED);
	expect(0, 0, 2);
	tap_ok(!b->se_last);
	rig_end();
}

/* The copies of entries are a ring. */
static void rings_end(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(13, LEN);
	expect(0, 0, 13);
	rig_ack(12, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	post_list(6, LEN);
	expect(13, 13, 3);
	tap_ok(!b->ackreq_last);
	expect(16, 16, 3);
	tap_ok(b->ackreq_last);
	rig_end();
}

static void room_is_kept(void)
{
	u32 i;

	/* Of the window, several times in which the last one asks. */
	rig_begin(HRP_TYPE_RC, 0);
	req->cwnd_pkts = 11;
	post_list(12, LEN);
	for (i = 0; i < 10; i += 2) {
		expect(i, i, 2);
		tap_ok(b->ackreq_last);
	}
	expect(10, 10, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_end();

	/* Some others have not asked. */
	rig_begin(HRP_TYPE_RC, 0);
	req->cwnd_pkts = 24;
	post(HROCE_WR_WRITE, LEN, 0);
	post_list(8, LEN);
	expect(0, 0, 1);
	tap_ok(!b->ackreq_last);
	expect(1, 1, 5);
	tap_ok(b->ackreq_last);
	expect(6, 6, 3);
	rig_end();

	/* Below the queue pair, where each may have a frame. */
	rig_begin(HRP_TYPE_RC, 0);
	req->burst_pkts = 4;
	post_list(7, 128);
	expect(0, 0, 3);
	tap_eq(hrp_burst_room(b), 3 * (128 + 1024));
	expect(3, 3, 3);
	expect(6, 6, 1);
	tap_eq(hrp_burst_room(b), 1024);
	rig_end();
	rig_begin(HRP_TYPE_RC, 0);
	req->burst_pkts = 1;
	post_list(2, 1024);
	expect(0, 0, 1);
	expect(1, 1, 1);
	rig_end();

	/* Half of the window, behind which a packet is sent alone. */
	rig_begin(HRP_TYPE_RC, 0);
	req->cc_times = 1;
	req->cwnd_pkts = 9;
	post_list(7, LEN);
	expect(0, 0, 4);
	tap_ok(!b->ackreq_last);
	rig.now_ns += 1000 * 1000;
	expect(4, 4, 1);
	tap_ok(b->ackreq_last);
	rig_end();
}

/* The peer has two entries. */
static void credits_end_it(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(1, LEN);
	rig_drain();
	rig.msn = 1;
	rig.credit_code = hrp_e2e_code(2);
	rig_ack(0, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	post_list(4, LEN);
	expect(1, 1, 2);
	tap_eq(rig.counts.v[HROCE_EV_E2E_LIMITED], 0);
	expect(3, 3, 1);
	tap_eq(rig.counts.v[HROCE_EV_E2E_LIMITED], 1);
	tap_ok(b->ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_end();
}

/* No message is begun while the queue drains. */
static void draining_begins_none(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(3, LEN);
	rig.qp.state = HRP_SQD;
	hrp_req_drain(&rig.qp, true);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	rig.qp.state = HRP_RTS;
	expect(0, 0, 3);
	rig_end();
}

static void what_is_resent_goes_alone(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(3, LEN);
	expect(0, 0, 3);
	rig.now_ns += RIG_TIMEOUT_NS;
	hrp_req_timeout(&rig.qp, rig.now_ns);
	expect(0, 0, 1);
	tap_ok(b->copy);
	rig_ack(0, HRP_SYN_ACK);
	expect(1, 1, 1);
	expect(2, 2, 1);
	post_list(2, LEN);
	expect(3, 3, 2);
	rig_ack(4, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* The memory of one cannot be read: those before it are executed. */
static void one_of_them_fails(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 7);
	post_list(4, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->nr_pkts, 4);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_RANGE);
	rig_expect_no_cqe();
	tap_eq(req->psn, 7);
	tap_eq(rig.qp.state, HRP_RTS);
	expect(0, 7, 1);
	expect(1, 8, 1);
	tap_ok(!b->ackreq_last);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 9);
	tap_eq(b->nr_pkts, 1);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_RANGE);
	/* It was to ask for those before. */
	expect(0, 7, 1);
	expect(1, 8, 1);
	tap_ok(b->ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(8, HRP_SYN_ACK));
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	for (i = 0; i < 2; i++)
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
	rig_expect_cqe(2, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(3, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

/* The memory is fetched for the one that lacks it, when that goes alone. */
static void one_of_them_is_fetched(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(3, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, b, HRP_MEM_FAULT);
	tap_ok(req->timer != HRP_TIMER_MEM);
	expect(0, 0, 1);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 1);
	hrp_req_sent(&rig.qp, b, HRP_MEM_FAULT);
	tap_eq(req->timer, HRP_TIMER_MEM);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	expect(1, 1, 1);
	expect(2, 2, 1);
	tap_ok(b->ackreq_last);
	rig_ack(2, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* Packets in frames are not sent again, of one message or of several. */
static void the_rest_is_left(void)
{
	rig_begin(HRP_TYPE_RC, 0xfffffe);
	post_list(5, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->nr_pkts, 5);
	hrp_burst_cut(b, 3);
	hrp_req_sent(&rig.qp, b, HRP_MEM_FAULT);
	tap_eq(req->psn, 1);
	expect(3, 1, 1);
	tap_ok(b->copy);
	expect(4, 2, 1);
	tap_ok(b->ackreq_last);
	rig_ack(2, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;

	post(HROCE_WR_WRITE, 5000, 0);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->nr_pkts, 5);
	hrp_burst_cut(b, 3);
	hrp_req_sent(&rig.qp, b, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 6);
	tap_eq(b->first.opcode, HRP_OP_WRITE_MIDDLE);
	tap_eq(b->mem.offset, 3 * 1024);
	tap_eq(b->nr_pkts, 2);
	tap_ok(b->ackreq_last);
	rig_ack(7, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* The first ones are executed, as the one that fails is not. */
static void the_rest_fails(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(4, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	hrp_burst_cut(b, 2);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_RANGE);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 2);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_RANGE);
	/* It was to ask for those before. */
	expect(0, 0, 1);
	expect(1, 1, 1);
	tap_ok(b->ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_ack(1, HRP_SYN_ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(2, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

/* A peer may acknowledge what has not been sent, before the sender has said so. */
static void acknowledged_too_early(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(4, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	rig_ack(1, HRP_SYN_ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_KEY);
	expect(2, 2, 1);
	rig_ack(3, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	post_list(4, LEN);
	tap_eq(next(), HRP_NEXT_BURST);
	rig_ack(3, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_KEY);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.qp.state, HRP_RTS);
	rig_end();
}

/* Nothing follows for some time: the last of them asks. */
static void the_last_asks(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_list(2, LEN);
	post(HROCE_WR_WRITE, LEN, 0);
	tap_eq(next(), HRP_NEXT_BURST);
	tap_eq(b->nr_pkts, 2);
	tap_ok(!b->ackreq_last);
	hrp_req_ask(&rig.qp, b);
	tap_ok(b->ackreq_last);
	hrp_req_sent(&rig.qp, b, HROCE_WC_SUCCESS);
	/* Nobody asks again when what is behind fails. */
	tap_eq(next(), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, b, HROCE_CAUSE_KEY);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	rig_end();
}

int main(void)
{
	tap_plan(16);
	tap_run(lists_share_a_burst);
	tap_run(others_go_apart);
	tap_run(other_services_have_none);
	tap_run(all_kinds);
	tap_run(what_is_solicited_is_the_last);
	tap_run(rings_end);
	tap_run(room_is_kept);
	tap_run(credits_end_it);
	tap_run(draining_begins_none);
	tap_run(what_is_resent_goes_alone);
	tap_run(one_of_them_fails);
	tap_run(one_of_them_is_fetched);
	tap_run(the_rest_is_left);
	tap_run(the_rest_fails);
	tap_run(acknowledged_too_early);
	tap_run(the_last_asks);
	return tap_exit();
}
