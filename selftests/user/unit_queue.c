// SPDX-License-Identifier: GPL-2.0
/* What posting writes, what it refuses, and what polling reads. */
#include "fixture.h"

static char buffer[256];

static struct ibv_sge sges[MAX_SGES + 1] = {
	{ .addr = 0x1000, .length = 16, .lkey = 1 },
	{ .addr = 0x2000, .length = 0, .lkey = 2 },
	{ .addr = 0x3000, .length = 0x80000000, .lkey = 3 },
	{ .addr = 0x4000, .length = 4, .lkey = 4 },
};

/* The whole entry but its data, so that reserved fields are checked too. */
static bool wqe_is(const struct hroce_sq_wqe *got,
		   const struct hroce_sq_wqe *want)
{
	return !memcmp(got, want, sizeof(*want));
}

/* Fill the slots with rubbish: whatever is not written will show. */
static void soil_sq(void)
{
	uint32_t idx;

	for (idx = 0; idx < fake.sq.nr_entries; idx++)
		memset(sent(idx), 0xa5, fake.sq.stride);
}

static void post_send_writes_entries(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr wr[3] = {}, *bad;

	wr[0] = (struct ibv_send_wr) {
		.wr_id = 11,
		.next = &wr[1],
		.sg_list = sges,
		.num_sge = 3,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
		.imm_data = htobe32(0x01020304),
	};
	wr[1] = (struct ibv_send_wr) {
		.wr_id = 12,
		.next = &wr[2],
		.sg_list = sges,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_FENCE,
		.wr.rdma = { .remote_addr = 0xabcd, .rkey = 7 },
	};
	wr[2] = (struct ibv_send_wr) {
		.wr_id = 13,
		.sg_list = &sges[3],
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = 8, .compare_add = 1,
			       .swap = 2, .rkey = 9 },
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, wr, &bad), 0);
	tap_eq(sq_hdr()->prod, 3);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 11,
		.opcode = HROCE_WR_SEND_IMM,
		.flags = HROCE_WRF_SIGNALED | HROCE_WRF_SOLICITED,
		.nr_sges = 3,
		.imm_data = htobe32(0x01020304),
	}));
	tap_ok(!memcmp(sent(0) + 1, sges, 3 * sizeof(sges[0])));
	tap_ok(wqe_is(sent(1), &(struct hroce_sq_wqe) {
		.wr_id = 12,
		.opcode = HROCE_WR_READ,
		.flags = HROCE_WRF_FENCE,
		.nr_sges = 1,
		.rdma = { .remote_addr = 0xabcd, .rkey = 7 },
	}));
	tap_ok(wqe_is(sent(2), &(struct hroce_sq_wqe) {
		.wr_id = 13,
		.opcode = HROCE_WR_CMP_SWAP,
		.nr_sges = 1,
		.rdma = { .remote_addr = 8, .compare_add = 1, .swap = 2,
			  .rkey = 9 },
	}));
	fixture_close(&f);
}

static void post_send_writes_keys_and_no_data(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sges,
		.num_sge = 1,
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = 0x55,
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_LOCAL_INV,
		.imm_data = 0x55,
	}));
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.num_sge = 0;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(1), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_SEND_INV,
		.imm_data = 0x55,
	}));
	fixture_close(&f);
}

/* The window is that of mw, the low byte of its new key that of rkey. */
static void post_send_binds_the_window_named(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_mr mr = { .lkey = 9 };
	struct ibv_mw mw = { .rkey = 0xabcdef01, .type = IBV_MW_TYPE_2 };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = &mw, .rkey = 0x12345678, .bind_info = {
			.mr = &mr, .addr = 10, .length = 11,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ } },
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_BIND_MW,
		.bind = { .addr = 10, .length = 11, .key = 0xabcdef78,
			  .lkey = 9, .access = HROCE_MW_REMOTE_READ },
	}));
	wr.bind_mw.mw = NULL;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	tap_ok(bad == &wr);
	fixture_close(&f);
}

/* XRC: the number of the peer's SRQ stands in each entry. */
static void post_send_names_the_srq(void)
{
	struct fixture f = fixture_open(IBV_QPT_XRC_SEND, 0);
	struct ibv_recv_wr *bad_recv, recv = {};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = 5, .rkey = 6 },
		.qp_type.xrc.remote_srqn = 0x123456,
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 7,
		.opcode = HROCE_WR_WRITE,
		.rdma = { .remote_addr = 5, .rkey = 6 },
		.srqn = 0x123456,
	}));
	tap_eq(ibv_post_recv(f.qp, &recv, &bad_recv), EINVAL);
	fixture_close(&f);
}

static void post_send_copies_inline_data(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_sge list[3] = {
		{ .addr = (uintptr_t)buffer, .length = 10 },
		{ .addr = 0, .length = 0 },
		{ .addr = (uintptr_t)buffer + 10, .length = MAX_INLINE - 10 },
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = list,
		.num_sge = 3,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE,
		.wr.rdma = { .remote_addr = 5, .rkey = 6 },
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_WRITE,
		.flags = HROCE_WRF_INLINE,
		.rdma = { .remote_addr = 5, .rkey = 6 },
		.inline_len = MAX_INLINE,
	}));
	tap_ok(!memcmp(sent(0) + 1, buffer, MAX_INLINE));

	list[1] = (struct ibv_sge) { .addr = (uintptr_t)buffer, .length = 1 };
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	list[1].length = UINT32_MAX;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	tap_eq(sq_hdr()->prod, 1);
	fixture_close(&f);
}

static void post_send_names_the_ud_peer(void)
{
	struct fixture f = fixture_open(IBV_QPT_UD, 0);
	struct ibv_ah_attr ah_attr = {};
	struct ibv_ah *ah = hroce_create_ah(f.pd, &ah_attr);
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ah, .remote_qpn = 21, .remote_qkey = 22 },
	};

	soil_sq();
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_ok(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_SEND,
		.nr_sges = 1,
		.ud = { .ah = 4711, .qpn = 21, .qkey = 22 },
	}));
	wr.wr.ud.ah = NULL;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	tap_eq(hroce_destroy_ah(ah), 0);
	fixture_close(&f);
}

/* Which service has which operation: the specification's table again. */
static const struct {
	enum ibv_wr_opcode opcode;
	bool rc, uc, ud;
} services[] = {
	{ IBV_WR_SEND, true, true, true },
	{ IBV_WR_SEND_WITH_IMM, true, true, true },
	{ IBV_WR_SEND_WITH_INV, true, false, false },
	{ IBV_WR_RDMA_WRITE, true, true, false },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, true, true, false },
	{ IBV_WR_RDMA_READ, true, false, false },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, true, false, false },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, true, false, false },
	{ IBV_WR_LOCAL_INV, true, true, false },
	{ IBV_WR_BIND_MW, true, true, false },
	{ IBV_WR_TSO, false, false, false },
	{ IBV_WR_DRIVER1, false, false, false },
	{ 255, false, false, false },
};

static void try_services(enum ibv_qp_type type)
{
	struct fixture f = fixture_open(type, 0);
	struct hroce_ah ah = { .id = 1 };
	struct ibv_send_wr *bad;
	bool allowed;
	size_t idx;

	for (idx = 0; idx < sizeof(services) / sizeof(services[0]); idx++) {
		struct ibv_send_wr wr = { .opcode = services[idx].opcode };
		struct ibv_mw mw = {};

		allowed = type == IBV_QPT_RC ? services[idx].rc :
			  type == IBV_QPT_UC ? services[idx].uc :
			  services[idx].ud;
		if (type == IBV_QPT_UD)
			wr.wr.ud.ah = &ah.ah;
		if (wr.opcode == IBV_WR_BIND_MW)
			wr.bind_mw.mw = &mw;
		bad = NULL;
		tap_eq(ibv_post_send(f.qp, &wr, &bad), allowed ? 0 : EINVAL);
		tap_ok(allowed ? !bad : bad == &wr);
		sq_hdr()->cons = sq_hdr()->prod;
	}
	fixture_close(&f);
}

static void post_send_knows_services(void)
{
	try_services(IBV_QPT_RC);
	try_services(IBV_QPT_UC);
	try_services(IBV_QPT_UD);
}

static void post_send_refuses_bad_requests(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges,
		.num_sge = MAX_SGES + 1,
		.opcode = IBV_WR_SEND,
	};

	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	wr.num_sge = -1;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_IP_CSUM;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	wr.send_flags = IBV_SEND_INLINE;
	wr.opcode = IBV_WR_RDMA_READ;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), EINVAL);
	tap_eq(sq_hdr()->prod, 0);
	tap_eq(fake.nr_kicks, 0);
	fixture_close(&f);
}

static void post_send_minds_the_state(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int state;

	for (state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++) {
		f.qp->state = state;
		bad = NULL;
		tap_eq(ibv_post_send(f.qp, &wr, &bad),
		       state < IBV_QPS_RTS ? EINVAL : 0);
		tap_ok(state < IBV_QPS_RTS ? bad == &wr : !bad);
	}
	fixture_close(&f);
}

/* A list fails in the middle: what comes before it is sent. */
static void post_send_stops_at_the_bad_one(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr wr[3] = {}, *bad = NULL;

	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[0].opcode = IBV_WR_SEND;
	wr[1].opcode = IBV_WR_TSO;
	wr[2].opcode = IBV_WR_SEND;
	tap_eq(ibv_post_send(f.qp, wr, &bad), EINVAL);
	tap_ok(bad == &wr[1]);
	tap_eq(sq_hdr()->prod, 1);
	tap_eq(fake.nr_kicks, 1);
	fixture_close(&f);
}

static void post_send_until_full(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int nr;

	for (nr = 0; nr < MAX_WR; nr++)
		tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	bad = NULL;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), ENOMEM);
	tap_ok(bad == &wr);
	sq_hdr()->cons = 2;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_eq(ibv_post_send(f.qp, &wr, &bad), ENOMEM);
	tap_eq(sq_hdr()->prod, MAX_WR + 2);
	fixture_close(&f);
}

/* Indices run over 2^32, which is no multiple of the granted number. */
static void post_send_across_index_wrap(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct hroce_prod_ring *ring = &to_hqp(f.qp)->sq.ring;
	uint32_t idx = UINT32_MAX - 2;
	int nr;

	ring->prod = idx;
	ring->cons = idx;
	sq_hdr()->prod = idx;
	sq_hdr()->cons = idx;
	for (nr = 0; nr < MAX_WR; nr++) {
		wr.wr_id = nr + 1;
		tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
		tap_eq(sent(idx + nr)->wr_id, nr + 1);
	}
	tap_eq(ibv_post_send(f.qp, &wr, &bad), ENOMEM);
	tap_eq(sq_hdr()->prod, idx + MAX_WR);
	fixture_close(&f);
}

static void post_send_kicks_once_a_list(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr wr[2] = {}, *bad;

	wr[0].next = &wr[1];
	wr[0].opcode = IBV_WR_SEND;
	wr[1].opcode = IBV_WR_SEND;
	tap_eq(ibv_post_send(f.qp, wr, &bad), 0);
	tap_eq(fake.nr_kicks, 1);
	tap_eq(fake.kicked_qpn, f.qp->qp_num);
	sq_hdr()->need_kick = 0;
	tap_eq(ibv_post_send(f.qp, wr, &bad), 0);
	tap_eq(fake.nr_kicks, 1);
	tap_eq(ibv_post_send(f.qp, NULL, &bad), 0);
	tap_eq(sq_hdr()->prod, 4);
	fixture_close(&f);
}

static void post_send_signals_all(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f.qp);
	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	attr.sq_sig_all = 1;
	f.qp = hroce_create_qp_ex(f.context, &attr);
	f.qp->state = IBV_QPS_RTS;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_eq(sent(0)->flags, HROCE_WRF_SIGNALED);
	fixture_close(&f);
}

static void post_recv_writes_and_refuses(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_recv_wr *bad = NULL, wr = {
		.wr_id = 31,
		.sg_list = sges,
		.num_sge = 2,
	};
	struct hroce_rq_wqe want = { .wr_id = 31, .nr_sges = 2 };
	int nr;

	memset(fake_entry(&fake.rq, 0), 0xa5, fake.rq.stride);
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), 0);
	tap_eq(rq_hdr()->prod, 1);
	tap_ok(!memcmp(fake_entry(&fake.rq, 0), &want, sizeof(want)));
	tap_ok(!memcmp((char *)fake_entry(&fake.rq, 0) + sizeof(want), sges,
		       2 * sizeof(sges[0])));

	wr.num_sge = MAX_SGES + 1;
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), EINVAL);
	wr.num_sge = -1;
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), EINVAL);
	wr.num_sge = 0;
	for (nr = 1; nr < MAX_WR; nr++)
		tap_eq(ibv_post_recv(f.qp, &wr, &bad), 0);
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), ENOMEM);
	tap_ok(bad == &wr);
	f.qp->state = IBV_QPS_RESET;
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), EINVAL);
	fixture_close(&f);
}

/* In the error state the kernel wants to flush what comes. */
static void post_recv_kicks_if_asked(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_recv_wr *bad, wr = {};

	tap_eq(ibv_post_recv(f.qp, &wr, &bad), 0);
	tap_eq(fake.nr_kicks, 0);
	rq_hdr()->need_kick = 1;
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), 0);
	tap_eq(fake.nr_kicks, 1);
	fixture_close(&f);
}

static void post_srq_recv_feeds_only_the_srq(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_srq_init_attr srq_attr = {
		.attr.max_wr = 2,
		.attr.max_sge = 1,
	};
	struct ibv_srq *srq = hroce_create_srq(f.pd, &srq_attr);
	struct ibv_recv_wr *bad, wr = { .wr_id = 5 };
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f.qp);
	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	attr.srq = srq;
	f.qp = hroce_create_qp_ex(f.context, &attr);
	f.qp->state = IBV_QPS_RTS;
	tap_eq(ibv_post_recv(f.qp, &wr, &bad), EINVAL);

	tap_eq(ibv_post_srq_recv(srq, &wr, &bad), 0);
	tap_eq(((struct hroce_rq_wqe *)fake_entry(&fake.srq, 0))->wr_id, 5);
	tap_eq(ibv_post_srq_recv(srq, &wr, &bad), 0);
	tap_eq(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	hroce_destroy_qp(f.qp);
	tap_eq(hroce_destroy_srq(srq), 0);

	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	f.qp = hroce_create_qp_ex(f.context, &attr);
	fixture_close(&f);
}

static void queues_of_size_zero_are_full(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad_send, send = { .opcode = IBV_WR_SEND };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_recv_wr *bad_recv, recv = {};
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f.qp);
	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	attr.cap = (struct ibv_qp_cap) {};
	f.qp = hroce_create_qp_ex(f.context, &attr);
	f.qp->state = IBV_QPS_RTS;
	tap_eq(ibv_post_send(f.qp, &send, &bad_send), ENOMEM);
	tap_eq(ibv_post_recv(f.qp, &recv, &bad_recv), ENOMEM);
	tap_eq(hroce_modify_qp(f.qp, &reset, IBV_QP_STATE), 0);
	fixture_close(&f);
}

static void poll_reads_all_fields(void)
{
	struct fixture f = fixture_open(IBV_QPT_UD, 0);
	struct hroce_cqe cqe = {
		.wr_id = 1, .byte_len = 2, .imm_data = 3, .qpn = 4,
		.src_qpn = 5, .vendor_err = 6, .pkey_index = 7, .sl = 8,
		.flags = HROCE_WCF_GRH | HROCE_WCF_IMM | (1U << 8),
		.status = HROCE_WC_RNR_RETRY_EXC_ERR,
		.opcode = HROCE_WC_RECV_WRITE_IMM,
	};
	struct ibv_wc wc;

	tap_eq(ibv_poll_cq(f.cq, 1, &wc), 0);
	tap_eq(cq_hdr(0)->cons, 0);
	fake_complete(&fake.cq[0], 0, &cqe);
	memset(&wc, 0xa5, sizeof(wc));
	tap_eq(ibv_poll_cq(f.cq, 1, &wc), 1);
	tap_eq(wc.wr_id, 1);
	tap_eq(wc.byte_len, 2);
	tap_eq(wc.imm_data, 3);
	tap_eq(wc.qp_num, 4);
	tap_eq(wc.src_qp, 5);
	tap_eq(wc.vendor_err, 6);
	tap_eq(wc.pkey_index, 7);
	tap_eq(wc.sl, 8);
	tap_eq(wc.slid, 0);
	tap_eq(wc.dlid_path_bits, 0);
	tap_eq(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	tap_eq(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
	tap_eq(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	tap_eq(cq_hdr(0)->cons, 1);
	fixture_close(&f);
}

/* Several laps, and the free-running index over 2^32, by batches of 3. */
static void poll_across_phase_and_index_wrap(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	uint32_t first = -3U * RING_ENTRIES, produced, polled;
	struct hroce_cqe cqe = {};
	struct ibv_wc wc[3];
	int nr, idx;

	to_hcq(f.cq)->ring.cons = first;
	for (nr = 0; nr < RING_ENTRIES; nr++) {
		/* a lap of phase 0 has just ended there */
		fake_complete(&fake.cq[0], first - RING_ENTRIES + nr, &cqe);
	}
	tap_eq(ibv_poll_cq(f.cq, 3, wc), 0);

	produced = first;
	polled = first;
	while (polled != first + 6 * RING_ENTRIES) {
		while (produced - polled < RING_ENTRIES) {
			cqe.wr_id = produced;
			fake_complete(&fake.cq[0], produced++, &cqe);
		}
		nr = ibv_poll_cq(f.cq, 3, wc);
		tap_eq(nr, 3);
		for (idx = 0; idx < nr; idx++)
			tap_eq(wc[idx].wr_id, polled++);
		tap_eq(cq_hdr(0)->cons, polled);
	}
	fixture_close(&f);
}

static void destroy_qp_forgets_completions(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	uint32_t gone = f.qp->qp_num, stays = gone + 100;
	struct ibv_qp_init_attr_ex attr;
	struct hroce_cqe cqe = {};
	struct ibv_wc wc[4];
	int idx;

	for (idx = 0; idx < RING_ENTRIES; idx++) {
		cqe.wr_id = idx;
		cqe.qpn = idx == 2 || idx == 5 ? stays : gone;
		fake_complete(&fake.cq[0], idx, &cqe);
	}
	tap_eq(ibv_poll_cq(f.cq, 1, wc), 1);
	hroce_destroy_qp(f.qp);
	tap_eq(ibv_poll_cq(f.cq, 4, wc), 2);
	tap_eq(wc[0].wr_id, 2);
	tap_eq(wc[1].wr_id, 5);
	tap_eq(cq_hdr(0)->cons, RING_ENTRIES);

	/* The slots are used again, and their numbers count again. */
	cqe.qpn = gone;
	fake_complete(&fake.cq[0], RING_ENTRIES, &cqe);
	tap_eq(ibv_poll_cq(f.cq, 4, wc), 1);

	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	f.qp = hroce_create_qp_ex(f.context, &attr);
	fixture_close(&f);
}

static void reset_starts_anew(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct hroce_cqe cqe = { .qpn = f.qp->qp_num };
	struct ibv_wc wc;
	int nr;

	for (nr = 0; nr < MAX_WR; nr++)
		tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	fake_complete(&fake.cq[0], 0, &cqe);
	sq_hdr()->cons = sq_hdr()->prod;
	tap_eq(hroce_modify_qp(f.qp, &reset, IBV_QP_STATE), 0);
	tap_eq(ibv_poll_cq(f.cq, 1, &wc), 0);
	tap_eq(cq_hdr(0)->cons, 1);

	f.qp->state = IBV_QPS_RTS;
	for (nr = 0; nr < MAX_WR; nr++)
		tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_eq(ibv_post_send(f.qp, &wr, &bad), ENOMEM);

	/* A kernel that rewinds the indices is understood as well. */
	sq_hdr()->prod = 0;
	sq_hdr()->cons = 0;
	tap_eq(hroce_modify_qp(f.qp, &reset, IBV_QP_STATE), 0);
	f.qp->state = IBV_QPS_RTS;
	tap_eq(ibv_post_send(f.qp, &wr, &bad), 0);
	tap_eq(sq_hdr()->prod, 1);
	fixture_close(&f);
}

static void arm_keeps_the_stronger_request(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);

	tap_eq(ibv_req_notify_cq(f.cq, 1), 0);
	tap_eq(cq_hdr(0)->arm, HROCE_CQ_ARM_SOLICITED);
	tap_eq(ibv_req_notify_cq(f.cq, 0), 0);
	tap_eq(cq_hdr(0)->arm, HROCE_CQ_ARM_NEXT);
	tap_eq(ibv_req_notify_cq(f.cq, 1), 0);
	tap_eq(cq_hdr(0)->arm, HROCE_CQ_ARM_NEXT);
	fixture_close(&f);
}

int main(void)
{
	size_t idx;

	for (idx = 0; idx < sizeof(buffer); idx++)
		buffer[idx] = idx * 7;

	tap_plan(23);
	tap_run(post_send_writes_entries);
	tap_run(post_send_writes_keys_and_no_data);
	tap_run(post_send_binds_the_window_named);
	tap_run(post_send_names_the_srq);
	tap_run(post_send_copies_inline_data);
	tap_run(post_send_names_the_ud_peer);
	tap_run(post_send_knows_services);
	tap_run(post_send_refuses_bad_requests);
	tap_run(post_send_minds_the_state);
	tap_run(post_send_stops_at_the_bad_one);
	tap_run(post_send_until_full);
	tap_run(post_send_across_index_wrap);
	tap_run(post_send_kicks_once_a_list);
	tap_run(post_send_signals_all);
	tap_run(post_recv_writes_and_refuses);
	tap_run(post_recv_kicks_if_asked);
	tap_run(post_srq_recv_feeds_only_the_srq);
	tap_run(queues_of_size_zero_are_full);
	tap_run(poll_reads_all_fields);
	tap_run(poll_across_phase_and_index_wrap);
	tap_run(destroy_qp_forgets_completions);
	tap_run(reset_starts_anew);
	tap_run(arm_keeps_the_stronger_request);
	return tap_exit();
}
