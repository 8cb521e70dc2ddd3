// SPDX-License-Identifier: GPL-2.0
/* Responder, UC and UD: what is dropped, and what is not. */
#include "resp_rig.h"

static void uc_drops_up_to_the_next_message(void)
{
	rr_begin(HRP_TYPE_UC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 2, 5), HRP_RX_IGNORE);
	tap_eq(rr.counts.v[HROCE_DROP_SEQUENCE], 1);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 3, 5), HRP_RX_IGNORE);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 4, 6), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.byte_len, 6);
	tap_eq(rr.cqe.wr_id, 0);		/* the entry was kept */
	rr_expect_nothing();
	tap_eq(rr.qp.state, HRP_RTS);
}

/* Others may wait for an entry of an SRQ. */
static void uc_ends_a_shared_entry_that_is_too_short(void)
{
	u32 n;

	rr_begin(HRP_TYPE_UC);
	rr.qp.resp.srq = 1;
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	for (n = 1; n < ROOM / MTU; n++)
		tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, n, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, n, MTU), HRP_RX_IGNORE);
	tap_eq(rr.counts.v[HROCE_DROP_LENGTH], 1);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.wr_id, 0);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_LEN_ERR);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, n + 1, 1), HRP_RX_IGNORE);
	tap_eq(rr.counts.v[HROCE_DROP_SEQUENCE], 1);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, n + 2, 6), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 2);
	tap_eq(rr.cqe.wr_id, 1);
	tap_eq(rr.cqe.status, HROCE_WC_SUCCESS);
	/* It is not the entry's fault that a packet is missing. */
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, n + 3, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, n + 5, 5), HRP_RX_IGNORE);
	tap_eq(rr.nr_cqes, 2);
	tap_eq(rr.qp.state, HRP_RTS);
	rr_expect_nothing();
}

static void uc_begins_anew_at_any_first(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_ok(rr.rx.fuse);
	/* One that turns out damaged must leave the message alone. */
	pkt = rr_request(HRP_OP_SEND_FIRST, 1, MTU);
	hrp_resp_begin(&rr.qp, &pkt, &rr.rx);
	tap_ok(!rr.rx.fuse);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 1, 1), HRP_RX_ACCEPT);
	tap_eq(rr.cqe.byte_len, MTU + 1);

	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 9, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 10, MTU), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, 0);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 11, 2), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 2);
	tap_eq(rr.cqe.byte_len, MTU + 2);
}

static void uc_write_is_not_fused(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UC);
	pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = MTU + 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_WRITE_LAST, 1, 1), HRP_RX_ACCEPT);
	tap_ok(!rr.rx.fuse);
	tap_eq(rr.rx.mem.offset, MTU);
}

static void uc_faults_are_silent(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 0, 4);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr.counts.v[HROCE_DROP_ACCESS], 1);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1, MTU + 1), HRP_RX_IGNORE);
	tap_eq(rr.counts.v[HROCE_DROP_LENGTH], 1);
	rr.nr_recvs = 0;
	rr.qp.resp.have_rwqe = 0;
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_IGNORE);
	tap_eq(rr.counts.v[HROCE_DROP_NO_WQE], 1);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr.qp.state, HRP_RTS);
	rr_expect_nothing();
}

static void ud_message_follows_its_header(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UD);
	pkt = rr_request(HRP_OP_SEND_ONLY_IMM, 0, 100);
	pkt.imm = (__be32)9;
	pkt.se = 1;
	pkt.sl = HROCE_SL_UDP_IPV4;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(rr.rx.grh && rr.rx.fuse);
	tap_eq(rr.rx.mem.offset, HRW_GRH_LEN);
	tap_eq(rr.rx.mem.len, 100);
	tap_eq(rr.cqe.byte_len, HRW_GRH_LEN + 100);
	tap_eq(rr.cqe.flags, HROCE_WCF_GRH | HROCE_WCF_IMM);
	tap_eq(rr.cqe.src_qpn, PEER_QPN);
	tap_eq(rr.cqe.sl, HROCE_SL_UDP_IPV4);
	tap_ok(rr.solicited);
	/* PSNs mean nothing. */
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1000, 0), HRP_RX_ACCEPT);
	tap_eq(rr.cqe.byte_len, HRW_GRH_LEN);
	rr_expect_nothing();
}

static void ud_drops_what_does_not_fit(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UD);
	rr.qp.mtu = 4096;
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 1);
	pkt.qkey ^= 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_QKEY);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 4097), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_LENGTH);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, ROOM - HRW_GRH_LEN + 1), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_LENGTH);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, ROOM - HRW_GRH_LEN), HRP_RX_ACCEPT);
	tap_eq(rr.cqe.wr_id, 0);
	rr.nr_recvs = 0;
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_NO_WQE);
}

static void ud_entry_without_memory_is_an_error(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_UD);
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 1);
	rr_arrive_status(&pkt, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rr.qp.state, HRP_ERR);
	tap_eq(rr_pending(HRP_PENDING_ERROR), 1);
	rr_expect_nothing();
}

int main(void)
{
	tap_plan(8);
	tap_run(uc_drops_up_to_the_next_message);
	tap_run(uc_ends_a_shared_entry_that_is_too_short);
	tap_run(uc_begins_anew_at_any_first);
	tap_run(uc_write_is_not_fused);
	tap_run(uc_faults_are_silent);
	tap_run(ud_message_follows_its_header);
	tap_run(ud_drops_what_does_not_fit);
	tap_run(ud_entry_without_memory_is_an_error);
	return tap_exit();
}
