// SPDX-License-Identifier: GPL-2.0
/*
 * kernel/proto alone: what does the protocol cost per message and per packet?
 * To be run under callgrind with --toggle-collect='step_*', by run-proto.
 *
 * One queue pair sends to another one. Headers are built and parsed, payload
 * is left out. Each step_*() is what one part of the module asks of the
 * engine; all else that happens here is not counted.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>
#include <linux/types.h>
#include <linux/overflow.h>
#include "proto/env.h"
#include "proto/req.h"
#include "proto/resp.h"

#define NR_ENTRIES	128
#define MAX_SGES	4
#define MAX_INLINE	64
#define MAX_PKTS	64
#define MTU	4096
#define WARM_MSGS	256
#define COUNT_MSGS	1024
#define ADDRESS		0x7f0000000000ull

#define step	static __attribute__((__noinline__))

/**
 * struct scenario - what is measured
 * @name: in the table
 * @opcode: enum hroce_wr_op
 * @size: bytes of a message
 * @list: messages posted at a time; the last one is signalled
 */
struct scenario {
	const char *name;
	u8 opcode;
	u32 size;
	u32 list;
};

static const struct scenario scenarios[] = {
	{ "write", HROCE_WR_WRITE, 65536, 1 },
	{ "read", HROCE_WR_READ, 65536, 1 },
	{ "write", HROCE_WR_WRITE, 64, 1 },
	{ "send", HROCE_WR_SEND, 64, 1 },
	{ "send_list", HROCE_WR_SEND, 64, 32 },
	{ "write_list", HROCE_WR_WRITE, 64, 32 },
};

struct end {
	struct hrp_qp qp;
	struct hroce_sq_hdr hdr;
};

/* Headers of packets that are on the wire. */
struct wire {
	u32 buf[MAX_PKTS][HRW_MAX_HDR_LEN / sizeof(u32) + 1];
	u32 udp_len[MAX_PKTS];
	u32 nr;
};

static struct end sender, receiver;
static struct hroce_stats counters;
static u64 now_ns;
static u32 completed;

/* What the engine asks of its surroundings. */

void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe)
{
	if (cqe->status != HROCE_WC_SUCCESS)
		errx(1, "a request failed with status %u", cqe->status);
	completed++;
}

void hrp_env_recv_done(struct hrp_qp *qp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	if (cqe->status != HROCE_WC_SUCCESS)
		errx(1, "a receive request failed");
}

bool hrp_env_recv_take(struct hrp_qp *qp, struct hrp_rwqe *rwqe)
{
	rwqe->wr_id = 0;
	rwqe->length = 4096;
	rwqe->nr_sges = 1;
	rwqe->sges[0] = (struct hroce_sge) { .addr = ADDRESS, .length = 4096,
					     .lkey = 1 };
	return true;
}

u32 hrp_env_recv_avail(const struct hrp_qp *qp)
{
	return 128;
}

bool hrp_env_srq_find(struct hrp_qp *qp, u32 srqn)
{
	return true;
}

bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, u8 access)
{
	return true;
}

u8 hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	return HROCE_WC_REM_ACCESS_ERR;
}

bool hrp_env_flush(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	return false;
}

bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey)
{
	return false;
}

u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe)
{
	return HROCE_WC_LOC_QP_OP_ERR;
}

/* What is counted. */

step bool step_request(struct hrp_burst *b)
{
	return hrp_req_next(&sender.qp, now_ns, b) == HRP_NEXT_BURST;
}

step void step_sent(const struct hrp_burst *b)
{
	hrp_req_sent(&sender.qp, b, HROCE_WC_SUCCESS);
}

step u32 step_build(const struct hrp_burst *b, u32 i, void *buf)
{
	struct hrp_pkt pkt;

	hrp_burst_pkt(b, i, &pkt);
	return hrp_pkt_build(&pkt, buf) + pkt.payload_len + pkt.pad +
	       HRW_ICRC_LEN;
}

step int step_parse(struct hrp_pkt *pkt, const void *buf, u32 udp_len)
{
	return hrp_pkt_parse(pkt, buf, HRW_MAX_HDR_LEN, udp_len);
}

step u8 step_respond(const struct hrp_pkt *pkt)
{
	struct hrp_rx rx;

	hrp_resp_begin(&receiver.qp, pkt, &rx);
	if (rx.verdict == HRP_RX_ACCEPT)
		hrp_resp_commit(&receiver.qp, pkt, &rx, HROCE_WC_SUCCESS);
	return rx.verdict;
}

step bool step_answer(struct hrp_burst *b)
{
	return hrp_resp_next(&receiver.qp, b);
}

step void step_answered(const struct hrp_burst *b)
{
	hrp_resp_sent(&receiver.qp, b, HROCE_WC_SUCCESS);
}

step u8 step_complete(const struct hrp_pkt *pkt)
{
	struct hrp_rx rx;

	hrp_comp_begin(&sender.qp, pkt, &rx);
	if (rx.verdict == HRP_RX_ACCEPT)
		hrp_comp_commit(&sender.qp, pkt, &rx, now_ns,
				HROCE_WC_SUCCESS);
	return rx.verdict;
}

/* What is not. */

static void end_init(struct end *end, u32 qpn, u32 peer_qpn)
{
	struct hrp_resp *resp = &end->qp.resp;
	struct hrp_req *req = &end->qp.req;
	struct hrp_sq *sq = &req->sq;

	memset(end, 0, sizeof(*end));
	end->qp.type = HRP_TYPE_RC;
	end->qp.access = HRP_QP_REMOTE_WRITE | HRP_QP_REMOTE_READ;
	end->qp.mtu = MTU;
	end->qp.pkey = 0xffff;
	end->qp.stats = &counters;
	end->qp.qpn = qpn;
	end->qp.dest_qpn = peer_qpn;

	sq->hdr = &end->hdr;
	sq->nr_entries = NR_ENTRIES;
	sq->max_sges = MAX_SGES;
	sq->max_inline = MAX_INLINE;
	sq->stride = hrp_sq_stride(MAX_SGES, MAX_INLINE);
	sq->copy_stride = hrp_sq_copy_stride(sq->stride);
	sq->ring = calloc(NR_ENTRIES, sq->stride);
	sq->copies = calloc(NR_ENTRIES, sq->copy_stride);
	req->window_pkts = 2048;
	req->burst_pkts = MAX_PKTS;
	req->max_rd_atomic = 8;
	req->retry_cnt = 7;
	req->rnr_retry = 7;
	req->timeout = 18;

	resp->rwqe = calloc(1, struct_size(resp->rwqe, sges, 1));
	resp->max_dest_rd_atomic = 8;
	resp->nr_rd = 8;
	resp->rd = calloc(resp->nr_rd, sizeof(*resp->rd));
	resp->burst_pkts = MAX_PKTS;
	if (!sq->ring || !sq->copies || !resp->rwqe || !resp->rd)
		errx(1, "no memory");

	hrp_req_reset(&end->qp);
	hrp_resp_reset(&end->qp);
	end->qp.state = HRP_RTR;
	hrp_resp_start(&end->qp, 0);
	end->qp.state = HRP_RTS;
	hrp_req_start(&end->qp, 0);
}

static void end_free(struct end *end)
{
	free(end->qp.req.sq.ring);
	free(end->qp.req.sq.copies);
	free(end->qp.resp.rwqe);
	free(end->qp.resp.rd);
}

static void post(const struct scenario *s)
{
	const struct hrp_sq *sq = &sender.qp.req.sq;
	struct hroce_sq_wqe *wqe;
	struct hroce_sge *sge;
	u32 i;

	for (i = 1; i <= s->list; i++) {
		wqe = sq->ring +
		      (sender.hdr.prod & (NR_ENTRIES - 1)) * sq->stride;
		memset(wqe, 0, sq->stride);
		wqe->opcode = s->opcode;
		wqe->flags = i == s->list ? HROCE_WRF_SIGNALED : 0;
		wqe->rdma.remote_addr = ADDRESS;
		wqe->rdma.rkey = 1;
		wqe->nr_sges = 1;
		sge = (struct hroce_sge *)(wqe + 1);
		sge->addr = ADDRESS;
		sge->length = s->size;
		sge->lkey = 1;
		sender.hdr.prod++;
	}
}

static void put_on_wire(struct wire *wire, const struct hrp_burst *b)
{
	u32 i;

	if (b->nr_pkts > MAX_PKTS - wire->nr)
		errx(1, "a burst is too long");
	for (i = 0; i < b->nr_pkts; i++, wire->nr++)
		wire->udp_len[wire->nr] = step_build(b, i,
						     wire->buf[wire->nr]);
}

static void take_from_wire(struct wire *wire, u8 (*handle)(const struct hrp_pkt *pkt))
{
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < wire->nr; i++)
		if (step_parse(&pkt, wire->buf[i], wire->udp_len[i]) ||
		    handle(&pkt) != HRP_RX_ACCEPT)
			errx(1, "a packet was not accepted");
	wire->nr = 0;
}

/* One list of messages there, and the answer back. */
static void exchange(const struct scenario *s)
{
	static struct wire there, back;
	struct hrp_burst b;

	post(s);
	now_ns += 1000;
	while (step_request(&b)) {
		put_on_wire(&there, &b);
		step_sent(&b);
	}
	take_from_wire(&there, step_respond);
	while (step_answer(&b)) {
		put_on_wire(&back, &b);
		step_answered(&b);
	}
	take_from_wire(&back, step_complete);
}

static void run(const struct scenario *s)
{
	char name[64];
	u32 i;

	end_init(&sender, 1, 2);
	end_init(&receiver, 2, 1);
	for (i = 0; i < WARM_MSGS; i += s->list)
		exchange(s);
	completed = 0;
	CALLGRIND_ZERO_STATS;
	for (i = 0; i < COUNT_MSGS; i += s->list)
		exchange(s);
	if (completed != COUNT_MSGS / s->list)
		errx(1, "%s: %u completions", s->name, completed);
	if ((sender.qp.pending | receiver.qp.pending) & BIT(HRP_PENDING_ERROR))
		errx(1, "%s: a queue pair is in error", s->name);
	snprintf(name, sizeof(name), "%s %u %u", s->name, s->size, COUNT_MSGS);
	CALLGRIND_DUMP_STATS_AT(name);
	end_free(&sender);
	end_free(&receiver);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		run(&scenarios[i]);
	return 0;
}
