// SPDX-License-Identifier: GPL-2.0
/* Extended queue pairs (ibv_wr_*) and extended completion queues. */
#include "fixture.h"

PROVIDER_FIXTURE(unit_ext)

#define UD_OPS	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define RC_OPS	(UD_OPS | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		 IBV_QP_EX_WITH_RDMA_READ | \
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV | \
		 IBV_QP_EX_WITH_BIND_MW)

static char buffer[MAX_INLINE + 1] = "what is sent inline";

static struct ibv_qp_ex *ex(const struct fixture *f)
{
	return ibv_qp_to_qp_ex(f->qp);
}

static bool wqe_is(uint32_t idx, const struct hroce_sq_wqe *want)
{
	return !memcmp(sent(idx), want, sizeof(*want));
}

/* One entry of each kind, built by @build, compared as a whole. */
static void check_op(struct __test_metadata *_metadata, const struct fixture *f,
		     void (*build)(struct ibv_qp_ex *qp),
		     const struct hroce_sq_wqe *want)
{
	uint32_t idx = sq_hdr()->prod;

	memset(sent(idx), 0xa5, fake.sq.stride);
	ex(f)->wr_id = want->wr_id;
	ex(f)->wr_flags = want->flags & ~HROCE_WRF_INLINE;
	ibv_wr_start(ex(f));
	build(ex(f));
	EXPECT_EQ(0, ibv_wr_complete(ex(f)));
	EXPECT_EQ(idx + 1, sq_hdr()->prod);
	EXPECT_TRUE(wqe_is(idx, want));
	sq_hdr()->cons = sq_hdr()->prod;
}

static void build_send(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
}

static void build_send_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_send_imm(qp, htobe32(5));
	ibv_wr_set_sge(qp, 1, 2, 3);
}

static void build_send_inv(struct ibv_qp_ex *qp)
{
	ibv_wr_send_inv(qp, 6);
}

static void build_write(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_write(qp, 7, 8);
	ibv_wr_set_inline_data(qp, buffer, MAX_INLINE);
}

static void build_write_imm(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_write_imm(qp, 7, 8, htobe32(9));
}

static void build_read(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_read(qp, 7, 8);
	ibv_wr_set_sge(qp, 1, 2, 3);
}

static void build_cmp_swp(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_cmp_swp(qp, 7, 8, 10, 11);
}

static void build_fetch_add(struct ibv_qp_ex *qp)
{
	ibv_wr_atomic_fetch_add(qp, 7, 8, 12);
}

static void build_local_inv(struct ibv_qp_ex *qp)
{
	ibv_wr_local_inv(qp, 13);
}

static void build_bind_mw(struct ibv_qp_ex *qp)
{
	static struct ibv_mr mr = { .lkey = 9 };
	static struct ibv_mw mw = { .rkey = 0xabcdef01 };

	ibv_wr_bind_mw(qp, &mw, 0x12345678, &(struct ibv_mw_bind_info) {
		.mr = &mr, .addr = 10, .length = 11 });
}

static void build_bind_nothing(struct ibv_qp_ex *qp)
{
	ibv_wr_bind_mw(qp, NULL, 1, &(struct ibv_mw_bind_info) {});
}

TEST_F(unit_ext, wr_builds_each_operation)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, RC_OPS);

	check_op(_metadata, f, build_send, &(struct hroce_sq_wqe) {
		.wr_id = 1, .opcode = HROCE_WR_SEND,
		.flags = HROCE_WRF_SIGNALED });
	check_op(_metadata, f, build_send_imm, &(struct hroce_sq_wqe) {
		.wr_id = 2, .opcode = HROCE_WR_SEND_IMM, .nr_sges = 1,
		.flags = HROCE_WRF_SOLICITED, .imm_data = htobe32(5) });
	check_op(_metadata, f, build_send_inv, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_SEND_INV, .imm_data = 6 });
	check_op(_metadata, f, build_write, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_WRITE, .flags = HROCE_WRF_INLINE,
		.rdma = { .remote_addr = 8, .rkey = 7 },
		.inline_len = MAX_INLINE });
	check_op(_metadata, f, build_write_imm, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_WRITE_IMM, .imm_data = htobe32(9),
		.rdma = { .remote_addr = 8, .rkey = 7 } });
	check_op(_metadata, f, build_read, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_READ, .flags = HROCE_WRF_FENCE,
		.nr_sges = 1, .rdma = { .remote_addr = 8, .rkey = 7 } });
	check_op(_metadata, f, build_cmp_swp, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_CMP_SWAP,
		.rdma = { .remote_addr = 8, .rkey = 7, .compare_add = 10,
			  .swap = 11 } });
	check_op(_metadata, f, build_fetch_add, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_FETCH_ADD,
		.rdma = { .remote_addr = 8, .rkey = 7, .compare_add = 12 } });
	check_op(_metadata, f, build_local_inv, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_LOCAL_INV, .imm_data = 13 });
	check_op(_metadata, f, build_bind_mw, &(struct hroce_sq_wqe) {
		.opcode = HROCE_WR_BIND_MW,
		.bind = { .addr = 10, .length = 11, .key = 0xabcdef78,
			  .lkey = 9 } });
}

#ifndef HROCE_VERBS_LACK_FLUSH
static void build_flush(struct ibv_qp_ex *qp)
{
	ibv_wr_flush(qp, 7, 8, UINT32_MAX,
		     IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
}

static void build_huge_flush(struct ibv_qp_ex *qp)
{
	ibv_wr_flush(qp, 7, 8, UINT32_MAX + 1UL, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
}

TEST_F(unit_ext, wr_builds_a_flush)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC,
					 RC_OPS | IBV_QP_EX_WITH_FLUSH);
	uint32_t prod;

	check_op(_metadata, f, build_flush, &(struct hroce_sq_wqe) {
		.wr_id = 3, .opcode = HROCE_WR_FLUSH,
		.flags = HROCE_WRF_SIGNALED,
		.flush = { .remote_addr = 8, .length = UINT32_MAX,
			   .placement = HROCE_FLUSH_GLOBAL |
					HROCE_FLUSH_PERSISTENT,
			   .selectivity = HROCE_FLUSH_MR, .rkey = 7 } });
	prod = sq_hdr()->prod;
	ibv_wr_start(ex(f));
	build_huge_flush(ex(f));
	EXPECT_EQ(EINVAL, ibv_wr_complete(ex(f)));
	EXPECT_EQ(prod, sq_hdr()->prod);
}
#endif

TEST_F(unit_ext, wr_names_the_ud_peer)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_UD, UD_OPS);
	struct hroce_ah ah = { .id = 99 };

	ibv_wr_start(ex(f));
	ex(f)->wr_id = 1;
	ex(f)->wr_flags = 0;
	ibv_wr_send(ex(f));
	ibv_wr_set_ud_addr(ex(f), &ah.ah, 21, 22);
	EXPECT_EQ(0, ibv_wr_complete(ex(f)));
	EXPECT_TRUE(wqe_is(0, &(struct hroce_sq_wqe) {
		.wr_id = 1, .opcode = HROCE_WR_SEND,
		.ud = { .ah = 99, .qpn = 21, .qkey = 22 } }));
	EXPECT_TRUE(!ex(f)->wr_rdma_write && !ex(f)->wr_atomic_cmp_swp);
}

TEST_F(unit_ext, wr_lists_are_published_together)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, RC_OPS);
	struct ibv_data_buf bufs[2] = {
		{ .addr = buffer, .length = 4 },
		{ .addr = buffer + 4, .length = 5 },
	};
	struct ibv_sge sges[2] = { { 1, 2, 3 }, { 4, 5, 6 } };

	ex(f)->wr_flags = 0;
	ibv_wr_start(ex(f));
	ibv_wr_send(ex(f));
	ibv_wr_set_inline_data_list(ex(f), 2, bufs);
	ibv_wr_send(ex(f));
	ibv_wr_set_sge_list(ex(f), 2, sges);
	EXPECT_EQ(0, sq_hdr()->prod);
	EXPECT_EQ(0, ibv_wr_complete(ex(f)));
	EXPECT_EQ(2, sq_hdr()->prod);
	EXPECT_EQ(1, fake.nr_kicks);
	EXPECT_EQ(9, sent(0)->inline_len);
	EXPECT_FALSE(memcmp(sent(0) + 1, buffer, 9));
	EXPECT_EQ(2, sent(1)->nr_sges);
	EXPECT_FALSE(memcmp(sent(1) + 1, sges, sizeof(sges)));

	ibv_wr_start(ex(f));
	EXPECT_EQ(0, ibv_wr_complete(ex(f)));
	EXPECT_EQ(1, fake.nr_kicks);
}

TEST_F(unit_ext, wr_abort_forgets)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, RC_OPS);
	struct ibv_send_wr *bad, wr = { .wr_id = 3, .opcode = IBV_WR_SEND };

	ex(f)->wr_flags = 0;
	ibv_wr_start(ex(f));
	ibv_wr_send(ex(f));
	ibv_wr_send(ex(f));
	ibv_wr_abort(ex(f));
	EXPECT_EQ(0, sq_hdr()->prod);
	EXPECT_EQ(0, ibv_post_send(f->qp, &wr, &bad));
	EXPECT_EQ(1, sq_hdr()->prod);
	EXPECT_EQ(3, sent(0)->wr_id);
}

/* Whatever fails, nothing of the list is sent and the lock is free again. */
static int try_list(struct ibv_qp_ex *qp, void (*build)(struct ibv_qp_ex *qp))
{
	qp->wr_flags = 0;
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	build(qp);
	ibv_wr_send(qp);
	return ibv_wr_complete(qp);
}

static void build_long_inline(struct ibv_qp_ex *qp)
{
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, buffer, MAX_INLINE + 1);
}

static void build_huge_inline(struct ibv_qp_ex *qp)
{
	struct ibv_data_buf bufs[2] = {
		{ .addr = buffer, .length = 1 },
		{ .addr = buffer, .length = SIZE_MAX },
	};

	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, bufs);
}

static void build_inline_read(struct ibv_qp_ex *qp)
{
	ibv_wr_rdma_read(qp, 1, 2);
	ibv_wr_set_inline_data(qp, buffer, 1);
}

static void build_many_sges(struct ibv_qp_ex *qp)
{
	struct ibv_sge sges[MAX_SGES + 1] = {};

	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, MAX_SGES + 1, sges);
	ibv_wr_set_sge(qp, 1, 2, 3);
}

static void build_bad_flags(struct ibv_qp_ex *qp)
{
	qp->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(qp);
}

static void build_too_many(struct ibv_qp_ex *qp)
{
	int nr;

	for (nr = 0; nr < MAX_WR; nr++)
		ibv_wr_send(qp);
}

TEST_F(unit_ext, wr_errors_drop_the_list)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, RC_OPS);

	EXPECT_EQ(EINVAL, try_list(ex(f), build_long_inline));
	EXPECT_EQ(EINVAL, try_list(ex(f), build_huge_inline));
	EXPECT_EQ(EINVAL, try_list(ex(f), build_inline_read));
	EXPECT_EQ(EINVAL, try_list(ex(f), build_many_sges));
	EXPECT_EQ(EINVAL, try_list(ex(f), build_bad_flags));
	EXPECT_EQ(EINVAL, try_list(ex(f), build_bind_nothing));
	EXPECT_EQ(ENOMEM, try_list(ex(f), build_too_many));
	qp_to(f->qp, IBV_QPS_RTR);
	EXPECT_EQ(EINVAL, try_list(ex(f), build_send));
	EXPECT_EQ(0, sq_hdr()->prod);
	EXPECT_EQ(0, fake.nr_kicks);
	qp_to(f->qp, IBV_QPS_RTS);
	EXPECT_EQ(0, try_list(ex(f), build_send));
	EXPECT_EQ(3, sq_hdr()->prod);
}

/* Its value stands in the request, whatever else does. */
TEST_F(unit_ext, atomic_write_has_room)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_qp_init_attr_ex attr;

	hroce_destroy_qp(f->qp);
	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	attr.cap.max_send_sge = 0;
	attr.cap.max_inline_data = 0;
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
	f->qp = hroce_create_qp_ex(f->context, &attr);
	ASSERT_TRUE(f->qp);
	EXPECT_GE(attr.cap.max_inline_data, sizeof(uint64_t));
}

TEST_F(unit_ext, plain_qp_is_not_extended)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);

	EXPECT_FALSE(ex(f));
}

static struct ibv_cq_ex *open_cq_ex(const struct fixture *f, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = RING_ENTRIES,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};

	return hroce_create_cq_ex(f->context, &attr);
}

TEST_F(unit_ext, cq_ex_reads_all_fields)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq = open_cq_ex(f, 0);
	struct ibv_poll_cq_attr attr = {};
	struct hroce_cqe cqe = {
		.wr_id = 1, .timestamp_ns = 2, .byte_len = 3, .imm_data = 4,
		.qpn = 5, .src_qpn = 6, .vendor_err = 7, .sl = 8,
		.flags = HROCE_WCF_INV | (1U << 8),
		.status = HROCE_WC_LOC_PROT_ERR, .opcode = HROCE_WC_RECV,
	};

	EXPECT_TRUE(fake.timestamps);
	fake_complete(&fake.cq[1], 0, &cqe);
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	EXPECT_EQ(1, cq->wr_id);
	EXPECT_EQ(IBV_WC_LOC_PROT_ERR, cq->status);
	EXPECT_EQ(2, ibv_wc_read_completion_ts(cq));
	EXPECT_EQ(3, ibv_wc_read_byte_len(cq));
	EXPECT_EQ(4, ibv_wc_read_imm_data(cq));
	EXPECT_EQ(5, ibv_wc_read_qp_num(cq));
	EXPECT_EQ(6, ibv_wc_read_src_qp(cq));
	EXPECT_EQ(7, ibv_wc_read_vendor_err(cq));
	EXPECT_EQ(8, ibv_wc_read_sl(cq));
	EXPECT_EQ(0, ibv_wc_read_slid(cq));
	EXPECT_EQ(0, ibv_wc_read_dlid_path_bits(cq));
	EXPECT_EQ(IBV_WC_WITH_INV, ibv_wc_read_wc_flags(cq));
	EXPECT_EQ(IBV_WC_RECV, ibv_wc_read_opcode(cq));
	EXPECT_EQ(0, cq_hdr(1)->cons);
	ibv_end_poll(cq);
	EXPECT_EQ(1, cq_hdr(1)->cons);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

TEST_F(unit_ext, cq_ex_polls_to_the_end)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq = open_cq_ex(f, 0);
	struct ibv_poll_cq_attr attr = {}, bad_attr = { .comp_mask = 1 };
	struct hroce_cqe cqe = {};
	uint32_t idx;

	EXPECT_EQ(EINVAL, ibv_start_poll(cq, &bad_attr));
	EXPECT_EQ(ENOENT, ibv_start_poll(cq, &attr));
	for (idx = 0; idx < 3; idx++) {
		cqe.wr_id = idx;
		fake_complete(&fake.cq[1], idx, &cqe);
	}
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	EXPECT_EQ(0, ibv_next_poll(cq));
	EXPECT_EQ(1, cq->wr_id);
	ibv_end_poll(cq);
	EXPECT_EQ(2, cq_hdr(1)->cons);

	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	EXPECT_EQ(2, cq->wr_id);
	EXPECT_EQ(ENOENT, ibv_next_poll(cq));
	/* one comes in between, and the caller asks again */
	cqe.wr_id = 3;
	fake_complete(&fake.cq[1], 3, &cqe);
	EXPECT_EQ(0, ibv_next_poll(cq));
	EXPECT_EQ(3, cq->wr_id);
	EXPECT_EQ(ENOENT, ibv_next_poll(cq));
	ibv_end_poll(cq);
	EXPECT_EQ(4, cq_hdr(1)->cons);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* Who answers each completion by a request may find more without an end. */
TEST_F(unit_ext, cq_ex_returns_places_meanwhile)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq = open_cq_ex(f, 0);
	struct ibv_poll_cq_attr attr = {};
	struct hroce_cqe cqe = {};
	uint32_t idx;

	for (idx = 0; idx < RING_ENTRIES; idx++)
		fake_complete(&fake.cq[1], idx, &cqe);
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	for (idx = 1; idx < RING_ENTRIES; idx++) {
		EXPECT_EQ(0, ibv_next_poll(cq));
		/* What is being read has not returned. */
		EXPECT_LE(cq_hdr(1)->cons, idx);
		EXPECT_GT(cq_hdr(1)->cons + RING_ENTRIES / 4, idx);
	}
	ibv_end_poll(cq);
	EXPECT_EQ(RING_ENTRIES, cq_hdr(1)->cons);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

TEST_F(unit_ext, cq_ex_steps_over_forgotten)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq = open_cq_ex(f, 0);
	struct ibv_poll_cq_attr attr = {};
	struct hroce_cqe cqe = { .qpn = 5 };

	fake_complete(&fake.cq[1], 0, &cqe);
	cqe.qpn = 6;
	fake_complete(&fake.cq[1], 1, &cqe);
	cqe.qpn = 5;
	fake_complete(&fake.cq[1], 2, &cqe);
	hroce_cq_forget_qp(ibv_cq_ex_to_cq(cq), 5);
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	EXPECT_EQ(6, ibv_wc_read_qp_num(cq));
	ibv_end_poll(cq);
	EXPECT_EQ(ENOENT, ibv_start_poll(cq, &attr));
	EXPECT_EQ(3, cq_hdr(1)->cons);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* What is being read stays, and takes one place. */
TEST_F(unit_ext, cq_ex_forgets_all_but_the_current_one)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq =
		open_cq_ex(f, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct ibv_poll_cq_attr attr = {};
	struct hroce_cqe cqe = {};
	uint32_t idx;

	for (idx = 0; idx < RING_ENTRIES; idx++) {
		cqe.wr_id = idx;
		cqe.qpn = idx % 3 == 0 ? 5 : 6;
		fake_complete(&fake.cq[1], idx, &cqe);
	}
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	hroce_cq_forget_qp(ibv_cq_ex_to_cq(cq), 5);
	EXPECT_EQ((RING_ENTRIES - 1) / 3, cq_hdr(1)->cons);
	EXPECT_EQ(5, ibv_wc_read_qp_num(cq));
	EXPECT_EQ(0, cq->wr_id);
	for (idx = 1; idx < RING_ENTRIES; idx++) {
		if (idx % 3 == 0)
			continue;
		EXPECT_EQ(0, ibv_next_poll(cq));
		EXPECT_EQ(6, ibv_wc_read_qp_num(cq));
		EXPECT_EQ(idx, cq->wr_id);
	}
	EXPECT_EQ(ENOENT, ibv_next_poll(cq));
	ibv_end_poll(cq);
	EXPECT_EQ(RING_ENTRIES, cq_hdr(1)->cons);
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

TEST_F(unit_ext, cq_ex_single_threaded_has_no_lock)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_ex *cq =
		open_cq_ex(f, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct ibv_poll_cq_attr attr = {};
	struct hroce_cqe cqe = {};
	struct ibv_wc wc;

	EXPECT_TRUE(to_hcq(f->cq)->lock.used);
	EXPECT_TRUE(!to_hcq(ibv_cq_ex_to_cq(cq))->lock.used);
	/* would never return with a lock */
	fake_complete(&fake.cq[1], 0, &cqe);
	EXPECT_EQ(0, ibv_start_poll(cq, &attr));
	EXPECT_EQ(1, ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc));
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* ibv_unimport_pd() cannot fail, whoever still uses the domain. */
TEST_F(unit_ext, unimported_domain_stays_for_parent_domains)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_td_init_attr td_attr = {};
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = RING_ENTRIES, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_cq_ex *cq;
	struct ibv_pd *pd[2];
	struct ibv_td *td;

	td = hroce_alloc_td(f->context, &td_attr);
	attr.pd = hroce_import_pd(f->context, f->pd->handle);
	ASSERT_NE(NULL, attr.pd);
	pd[0] = hroce_alloc_parent_domain(f->context, &attr);
	attr.td = td;
	pd[1] = hroce_alloc_parent_domain(f->context, &attr);
	ASSERT_NE(NULL, pd[0]);
	ASSERT_NE(NULL, pd[1]);
	EXPECT_EQ(EBUSY, hroce_dealloc_pd(attr.pd));
	hroce_unimport_pd(attr.pd);
	EXPECT_EQ(0, hroce_dealloc_pd(pd[0]));
	/* A parent domain with a queue, too. */
	cq_attr.parent_domain = pd[1];
	cq = hroce_create_cq_ex(f->context, &cq_attr);
	ASSERT_NE(NULL, cq);
	EXPECT_EQ(EBUSY, hroce_dealloc_pd(pd[1]));
	hroce_unimport_pd(pd[1]);
	EXPECT_EQ(EBUSY, hroce_dealloc_td(td));
	EXPECT_EQ(0, hroce_destroy_cq(ibv_cq_ex_to_cq(cq)));
	EXPECT_EQ(0, hroce_dealloc_td(td));
}

TEST_HARNESS_MAIN
