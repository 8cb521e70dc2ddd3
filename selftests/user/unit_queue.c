// SPDX-License-Identifier: GPL-2.0
/* What posting writes, what it refuses, and what polling reads. */
#include "fixture.h"

PROVIDER_FIXTURE(unit_queue)

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

TEST_F(unit_queue, post_send_writes_entries)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
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
	EXPECT_EQ(0, ibv_post_send(f->qp, wr, &bad));
	EXPECT_EQ(3, sq_hdr()->prod);
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 11,
		.opcode = HROCE_WR_SEND_IMM,
		.flags = HROCE_WRF_SIGNALED | HROCE_WRF_SOLICITED,
		.nr_sges = 3,
		.imm_data = htobe32(0x01020304),
	}));
	EXPECT_FALSE(memcmp(sent(0) + 1, sges, 3 * sizeof(sges[0])));
	EXPECT_TRUE(wqe_is(sent(1), &(struct hroce_sq_wqe) {
		.wr_id = 12,
		.opcode = HROCE_WR_READ,
		.flags = HROCE_WRF_FENCE,
		.nr_sges = 1,
		.rdma = { .remote_addr = 0xabcd, .rkey = 7 },
	}));
	EXPECT_TRUE(wqe_is(sent(2), &(struct hroce_sq_wqe) {
		.wr_id = 13,
		.opcode = HROCE_WR_CMP_SWAP,
		.nr_sges = 1,
		.rdma = { .remote_addr = 8, .compare_add = 1, .swap = 2,
			  .rkey = 9 },
	}));
}

TEST_F(unit_queue, post_send_writes_keys_and_no_data)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sges,
		.num_sge = 1,
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = 0x55,
	};

	soil_sq();
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_LOCAL_INV,
		.imm_data = 0x55,
	}));
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.num_sge = 0;
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(1), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_SEND_INV,
		.imm_data = 0x55,
	}));
}

/* The window is that of mw, the low byte of its new key that of rkey. */
TEST_F(unit_queue, post_send_binds_the_window_named)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
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
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 1,
		.opcode = HROCE_WR_BIND_MW,
		.bind = { .addr = 10, .length = 11, .key = 0xabcdef78,
			  .lkey = 9, .access = HROCE_MW_REMOTE_READ },
	}));
	wr.bind_mw.mw = NULL;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(bad == &wr);
}

/* XRC: the number of the peer's SRQ stands in each entry. */
TEST_F(unit_queue, post_send_names_the_srq)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_XRC_SEND, 0);
	struct ibv_recv_wr *bad_recv, recv = {};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = 5, .rkey = 6 },
		.qp_type.xrc.remote_srqn = 0x123456,
	};

	soil_sq();
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.wr_id = 7,
		.opcode = HROCE_WR_WRITE,
		.rdma = { .remote_addr = 5, .rkey = 6 },
		.srqn = 0x123456,
	}));
	EXPECT_EQ(EINVAL, ibv_post_recv(f->qp, &recv, &bad_recv));
}

TEST_F(unit_queue, post_send_copies_inline_data)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
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
	size_t idx;

	for (idx = 0; idx < sizeof(buffer); idx++)
		buffer[idx] = idx * 7;
	soil_sq();
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_WRITE,
		.flags = HROCE_WRF_INLINE,
		.rdma = { .remote_addr = 5, .rkey = 6 },
		.inline_len = MAX_INLINE,
	}));
	EXPECT_FALSE(memcmp(sent(0) + 1, buffer, MAX_INLINE));

	list[1] = (struct ibv_sge) { .addr = (uintptr_t)buffer, .length = 1 };
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	list[1].length = UINT32_MAX;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(1, sq_hdr()->prod);
}

TEST_F(unit_queue, post_send_names_the_ud_peer)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_UD, 0);
	struct ibv_ah_attr ah_attr = {};
	struct ibv_ah *ah = hroce_create_ah(f->pd, &ah_attr);
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ah, .remote_qpn = 21, .remote_qkey = 22 },
	};

	soil_sq();
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(wqe_is(sent(0), &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_SEND,
		.nr_sges = 1,
		.ud = { .ah = 4711, .qpn = 21, .qkey = 22 },
	}));
	wr.wr.ud.ah = NULL;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(0, hroce_destroy_ah(ah));
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

static void try_services(struct __test_metadata *_metadata,
			 enum ibv_qp_type type)
{
	struct fixture own = {}, *f = fixture_open(&own, type, 0);
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
		EXPECT_EQ(allowed ? 0 : EINVAL,
			  ibv_post_send(f->qp, &wr, &bad));
		EXPECT_TRUE(allowed ? !bad : bad == &wr);
		sq_hdr()->cons = sq_hdr()->prod;
	}
	fixture_close(_metadata, f);
}

TEST_F(unit_queue, post_send_knows_services)
{
	try_services(_metadata, IBV_QPT_RC);
	try_services(_metadata, IBV_QPT_UC);
	try_services(_metadata, IBV_QPT_UD);
}

TEST_F(unit_queue, post_send_refuses_bad_requests)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = {
		.sg_list = sges,
		.num_sge = MAX_SGES + 1,
		.opcode = IBV_WR_SEND,
	};

	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	wr.num_sge = -1;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_IP_CSUM;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	wr.send_flags = IBV_SEND_INLINE;
	wr.opcode = IBV_WR_RDMA_READ;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(0, sq_hdr()->prod);
	EXPECT_EQ(0, fake.nr_kicks);
}

TEST_F(unit_queue, post_send_minds_the_state)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int state;

	for (state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++) {
		qp_to(f->qp, state);
		bad = NULL;
		EXPECT_EQ(state < IBV_QPS_RTS ? EINVAL : 0,
			  ibv_post_send(f->qp, &wr, &bad));
		EXPECT_TRUE(state < IBV_QPS_RTS ? bad == &wr : !bad);
	}
}

/* Another thread has asked for the state, and its answer is older. */
TEST_F(unit_queue, post_knows_the_state_itself)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad_send, send = { .opcode = IBV_WR_SEND };
	struct ibv_recv_wr *bad_recv, recv = {};

	f->qp->state = IBV_QPS_RTR;
	EXPECT_EQ(0, ibv_post_send(f->qp, &send, &bad_send));
	f->qp->state = IBV_QPS_RESET;
	EXPECT_EQ(0, ibv_post_recv(f->qp, &recv, &bad_recv));
}

/* Nothing would ever complete. */
TEST_F(unit_queue, post_fails_without_the_device)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad_send = NULL, send[2] = {
		{ .opcode = IBV_WR_SEND, .next = &send[1] },
		{ .opcode = IBV_WR_SEND },
	};
	struct ibv_recv_wr *bad_recv = NULL, recv = {};

	fake.kick_err = EIO;
	EXPECT_EQ(EIO, ibv_post_send(f->qp, send, &bad_send));
	EXPECT_TRUE(bad_send == &send[0]);
	rq_hdr()->need_kick = 1;
	EXPECT_EQ(EIO, ibv_post_recv(f->qp, &recv, &bad_recv));
	EXPECT_TRUE(bad_recv == &recv);
}

/* A list fails in the middle: what comes before it is sent. */
TEST_F(unit_queue, post_send_stops_at_the_bad_one)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr wr[3] = {}, *bad = NULL;

	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	wr[0].opcode = IBV_WR_SEND;
	wr[1].opcode = IBV_WR_TSO;
	wr[2].opcode = IBV_WR_SEND;
	EXPECT_EQ(EINVAL, ibv_post_send(f->qp, wr, &bad));
	EXPECT_TRUE(bad == &wr[1]);
	EXPECT_EQ(1, sq_hdr()->prod);
	EXPECT_EQ(1, fake.nr_kicks);
}

TEST_F(unit_queue, post_send_until_full)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	int nr;

	for (nr = 0; nr < MAX_WR; nr++)
		EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	bad = NULL;
	EXPECT_EQ(ENOMEM, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_TRUE(bad == &wr);
	sq_hdr()->cons = 2;
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(ENOMEM, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(MAX_WR + 2, sq_hdr()->prod);
}

/* Indices run over 2^32, which is no multiple of the granted number. */
TEST_F(unit_queue, post_send_across_index_wrap)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct hroce_prod_ring *ring = &to_hqp(f->qp)->sq.ring;
	uint32_t idx = UINT32_MAX - 2;
	int nr;

	ring->prod = idx;
	ring->cons = idx;
	sq_hdr()->prod = idx;
	sq_hdr()->cons = idx;
	for (nr = 0; nr < MAX_WR; nr++) {
		wr.wr_id = nr + 1;
		EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
		EXPECT_EQ(nr + 1, sent(idx + nr)->wr_id);
	}
	EXPECT_EQ(ENOMEM, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(idx + MAX_WR, sq_hdr()->prod);
}

TEST_F(unit_queue, post_send_kicks_once_a_list)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr wr[2] = {}, *bad;

	wr[0].next = &wr[1];
	wr[0].opcode = IBV_WR_SEND;
	wr[1].opcode = IBV_WR_SEND;
	EXPECT_EQ(0, ibv_post_send(f->qp, wr, &bad));
	EXPECT_EQ(1, fake.nr_kicks);
	EXPECT_EQ(f->qp->qp_num, fake.kicked_qpn);
	sq_hdr()->need_kick = 0;
	EXPECT_EQ(0, ibv_post_send(f->qp, wr, &bad));
	EXPECT_EQ(1, fake.nr_kicks);
	EXPECT_EQ(0, ibv_post_send(f->qp, NULL, &bad));
	EXPECT_EQ(4, sq_hdr()->prod);
}

TEST_F(unit_queue, post_send_signals_all)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f->qp);
	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	attr.sq_sig_all = 1;
	f->qp = hroce_create_qp_ex(f->context, &attr);
	qp_to(f->qp, IBV_QPS_RTS);
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(HROCE_WRF_SIGNALED, sent(0)->flags);
}

TEST_F(unit_queue, post_recv_writes_and_refuses)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_recv_wr *bad = NULL, wr = {
		.wr_id = 31,
		.sg_list = sges,
		.num_sge = 2,
	};
	struct hroce_rq_wqe want = { .wr_id = 31, .nr_sges = 2 };
	int nr;

	memset(fake_entry(&fake.rq, 0), 0xa5, fake.rq.stride);
	EXPECT_EQ(0, ibv_post_recv(f->qp, &wr, &bad));
	EXPECT_EQ(1, rq_hdr()->prod);
	EXPECT_FALSE(memcmp(fake_entry(&fake.rq, 0), &want, sizeof(want)));
	EXPECT_FALSE(memcmp((char *)fake_entry(&fake.rq, 0) + sizeof(want),
			    sges, 2 * sizeof(sges[0])));

	wr.num_sge = MAX_SGES + 1;
	EXPECT_EQ(EINVAL, ibv_post_recv(f->qp, &wr, &bad));
	wr.num_sge = -1;
	EXPECT_EQ(EINVAL, ibv_post_recv(f->qp, &wr, &bad));
	wr.num_sge = 0;
	for (nr = 1; nr < MAX_WR; nr++)
		EXPECT_EQ(0, ibv_post_recv(f->qp, &wr, &bad));
	EXPECT_EQ(ENOMEM, ibv_post_recv(f->qp, &wr, &bad));
	EXPECT_TRUE(bad == &wr);
	qp_to(f->qp, IBV_QPS_RESET);
	EXPECT_EQ(EINVAL, ibv_post_recv(f->qp, &wr, &bad));
}

/* In the error state the kernel wants to flush what comes. */
TEST_F(unit_queue, post_recv_kicks_if_asked)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_recv_wr *bad, wr = {};

	EXPECT_EQ(0, ibv_post_recv(f->qp, &wr, &bad));
	EXPECT_EQ(0, fake.nr_kicks);
	rq_hdr()->need_kick = 1;
	EXPECT_EQ(0, ibv_post_recv(f->qp, &wr, &bad));
	EXPECT_EQ(1, fake.nr_kicks);
}

TEST_F(unit_queue, post_srq_recv_feeds_only_the_srq)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_srq_init_attr srq_attr = {
		.attr.max_wr = 2,
		.attr.max_sge = 1,
	};
	struct ibv_srq *srq = hroce_create_srq(f->pd, &srq_attr);
	struct ibv_recv_wr *bad, wr = { .wr_id = 5 };
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f->qp);
	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	attr.srq = srq;
	f->qp = hroce_create_qp_ex(f->context, &attr);
	qp_to(f->qp, IBV_QPS_RTS);
	EXPECT_EQ(EINVAL, ibv_post_recv(f->qp, &wr, &bad));

	EXPECT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT_EQ(5, ((struct hroce_rq_wqe *)fake_entry(&fake.srq, 0))->wr_id);
	EXPECT_EQ(0, ibv_post_srq_recv(srq, &wr, &bad));
	EXPECT_EQ(ENOMEM, ibv_post_srq_recv(srq, &wr, &bad));
	hroce_destroy_qp(f->qp);
	EXPECT_EQ(0, hroce_destroy_srq(srq));

	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	f->qp = hroce_create_qp_ex(f->context, &attr);
}

TEST_F(unit_queue, queues_of_size_zero_are_full)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad_send, send = { .opcode = IBV_WR_SEND };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_recv_wr *bad_recv, recv = {};
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f->qp);
	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	attr.cap = (struct ibv_qp_cap) {};
	f->qp = hroce_create_qp_ex(f->context, &attr);
	qp_to(f->qp, IBV_QPS_RTS);
	EXPECT_EQ(ENOMEM, ibv_post_send(f->qp, &send, &bad_send));
	EXPECT_EQ(ENOMEM, ibv_post_recv(f->qp, &recv, &bad_recv));
	EXPECT_EQ(0, hroce_modify_qp(f->qp, &reset, IBV_QP_STATE));
}

TEST_F(unit_queue, poll_reads_all_fields)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_UD, 0);
	struct hroce_cqe cqe = {
		.wr_id = 1, .byte_len = 2, .imm_data = 3, .qpn = 4,
		.src_qpn = 5, .vendor_err = 6, .pkey_index = 7, .sl = 8,
		.flags = HROCE_WCF_GRH | HROCE_WCF_IMM | (1U << 8),
		.status = HROCE_WC_RNR_RETRY_EXC_ERR,
		.opcode = HROCE_WC_RECV_WRITE_IMM,
	};
	struct ibv_wc wc;

	EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(0, cq_hdr(0)->cons);
	fake_complete(&fake.cq[0], 0, &cqe);
	memset(&wc, 0xa5, sizeof(wc));
	EXPECT_EQ(1, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(1, wc.wr_id);
	EXPECT_EQ(2, wc.byte_len);
	EXPECT_EQ(3, wc.imm_data);
	EXPECT_EQ(4, wc.qp_num);
	EXPECT_EQ(5, wc.src_qp);
	EXPECT_EQ(6, wc.vendor_err);
	EXPECT_EQ(7, wc.pkey_index);
	EXPECT_EQ(8, wc.sl);
	EXPECT_EQ(0, wc.slid);
	EXPECT_EQ(0, wc.dlid_path_bits);
	EXPECT_EQ(IBV_WC_GRH | IBV_WC_WITH_IMM, wc.wc_flags);
	EXPECT_EQ(IBV_WC_RNR_RETRY_EXC_ERR, wc.status);
	EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
	EXPECT_EQ(1, cq_hdr(0)->cons);
}

#define POLL_QPN	99

/* The netdev has a completion at the third poll. */
static bool poll_brings_one(uint32_t qpn)
{
	struct hroce_cqe cqe = { .wr_id = 7, .qpn = qpn };

	if (qpn == POLL_QPN && fake.nr_polls == 3)
		fake_complete(&fake.cq[0], 0, &cqe);
	return qpn == POLL_QPN;
}

static bool poll_refused(uint32_t qpn)
{
	(void)qpn;
	return false;
}

/* An empty CQ polls the netdev while the kernel names a queue pair. */
TEST_F(unit_queue, poll_of_empty_cq_polls_netdev)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_wc wc;
	int i;

	fake.polled = poll_brings_one;
	for (i = 0; i < 64; i++)
		EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(0, fake.nr_polls);

	/* The word is looked at now and then only. */
	cq_hdr(0)->poll_qpn = POLL_QPN;
	for (i = 0; i < 64 && !fake.nr_polls; i++)
		EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(1, fake.nr_polls);
	EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(1, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(7, wc.wr_id);
	EXPECT_EQ(POLL_QPN, wc.qp_num);
	EXPECT_EQ(3, fake.nr_polls);

	/* It stops when the kernel refuses, until the word is read again. */
	fake.polled = poll_refused;
	fake.nr_polls = 0;
	for (i = 0; i < 64; i++)
		EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_GE(5, fake.nr_polls);
	EXPECT_LE(1, fake.nr_polls);
	fake.polled = NULL;
}

/* Several laps, and the free-running index over 2^32, by batches of 3. */
TEST_F(unit_queue, poll_across_phase_and_index_wrap)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	uint32_t first = -3U * RING_ENTRIES, produced, polled;
	struct hroce_cqe cqe = {};
	struct ibv_wc wc[3];
	int nr, idx;

	to_hcq(f->cq)->ring.cons = first;
	for (nr = 0; nr < RING_ENTRIES; nr++) {
		/* a lap of phase 0 has just ended there */
		fake_complete(&fake.cq[0], first - RING_ENTRIES + nr, &cqe);
	}
	EXPECT_EQ(0, ibv_poll_cq(f->cq, 3, wc));

	produced = first;
	polled = first;
	while (polled != first + 6 * RING_ENTRIES) {
		while (produced - polled < RING_ENTRIES) {
			cqe.wr_id = produced;
			fake_complete(&fake.cq[0], produced++, &cqe);
		}
		nr = ibv_poll_cq(f->cq, 3, wc);
		EXPECT_EQ(3, nr);
		for (idx = 0; idx < nr; idx++)
			EXPECT_EQ(polled++, wc[idx].wr_id);
		EXPECT_EQ(polled, cq_hdr(0)->cons);
	}
}

TEST_F(unit_queue, destroy_qp_forgets_completions)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	uint32_t gone = f->qp->qp_num, stays = gone + 100;
	struct ibv_qp_init_attr_ex attr;
	struct hroce_cqe cqe = {};
	struct ibv_wc wc[4];
	int idx;

	for (idx = 0; idx < RING_ENTRIES; idx++) {
		cqe.wr_id = idx;
		cqe.qpn = idx == 2 || idx == 5 ? stays : gone;
		fake_complete(&fake.cq[0], idx, &cqe);
	}
	EXPECT_EQ(1, ibv_poll_cq(f->cq, 1, wc));
	hroce_destroy_qp(f->qp);
	/* Nobody need poll before more can come. */
	EXPECT_EQ(RING_ENTRIES - 2, cq_hdr(0)->cons);
	EXPECT_EQ(2, ibv_poll_cq(f->cq, 4, wc));
	EXPECT_EQ(2, wc[0].wr_id);
	EXPECT_EQ(5, wc[1].wr_id);
	EXPECT_EQ(RING_ENTRIES, cq_hdr(0)->cons);

	/* The slots are used again, and their numbers count again. */
	cqe.qpn = gone;
	fake_complete(&fake.cq[0], RING_ENTRIES, &cqe);
	EXPECT_EQ(1, ibv_poll_cq(f->cq, 4, wc));

	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	f->qp = hroce_create_qp_ex(f->context, &attr);
}

/* Reference to a queue that the kernel does not hold for this type. */
static void destroy_without_cqs(struct __test_metadata *_metadata,
				struct fixture *f, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f->qp);
	fixture_qp_attr(f, &attr, type);
	attr.recv_cq = (void *)1;
	if (type == IBV_QPT_XRC_RECV)
		attr.send_cq = (void *)1;
	f->qp = hroce_create_qp_ex(f->context, &attr);
	ASSERT_TRUE(f->qp);
}

TEST_F(unit_queue, destroy_qp_leaves_unused_cqs)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);

	destroy_without_cqs(_metadata, f, IBV_QPT_XRC_SEND);
	destroy_without_cqs(_metadata, f, IBV_QPT_XRC_RECV);
}

TEST_F(unit_queue, reset_starts_anew)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct hroce_cqe cqe = { .qpn = f->qp->qp_num };
	struct ibv_wc wc;
	int nr;

	for (nr = 0; nr < MAX_WR; nr++)
		EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	fake_complete(&fake.cq[0], 0, &cqe);
	sq_hdr()->cons = sq_hdr()->prod;
	EXPECT_EQ(0, hroce_modify_qp(f->qp, &reset, IBV_QP_STATE));
	EXPECT_EQ(0, ibv_poll_cq(f->cq, 1, &wc));
	EXPECT_EQ(1, cq_hdr(0)->cons);

	qp_to(f->qp, IBV_QPS_RTS);
	for (nr = 0; nr < MAX_WR; nr++)
		EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(ENOMEM, ibv_post_send(f->qp, &wr, &bad));

	/* A kernel that rewinds the indices is understood as well. */
	sq_hdr()->prod = 0;
	sq_hdr()->cons = 0;
	EXPECT_EQ(0, hroce_modify_qp(f->qp, &reset, IBV_QP_STATE));
	qp_to(f->qp, IBV_QPS_RTS);
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(1, sq_hdr()->prod);
}

TEST_F(unit_queue, arm_keeps_the_stronger_request)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);

	EXPECT_EQ(0, ibv_req_notify_cq(f->cq, 1));
	EXPECT_EQ(HROCE_CQ_ARM_SOLICITED, cq_hdr(0)->arm);
	EXPECT_EQ(0, ibv_req_notify_cq(f->cq, 0));
	EXPECT_EQ(HROCE_CQ_ARM_NEXT, cq_hdr(0)->arm);
	EXPECT_EQ(0, ibv_req_notify_cq(f->cq, 1));
	EXPECT_EQ(HROCE_CQ_ARM_NEXT, cq_hdr(0)->arm);
}

TEST_HARNESS_MAIN
