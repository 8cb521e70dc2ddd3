// SPDX-License-Identifier: GPL-2.0
/* Every operation moves exactly the bytes asked for, at every length. */
#include "vt.h"

#define DATA_MAX	(8u << 20)
/* Odd on purpose: source and destination are aligned differently. */
#define SRC_OFF		3
#define DST_OFF		6

/**
 * struct lane - a pair with memory on both sides
 * @p: the pair
 * @src: memory on a
 * @dst: memory on b
 * @seq: number of the next message, also its pattern
 */
struct lane {
	struct vt_pair *p;
	struct vt_mem *src;
	struct vt_mem *dst;
	uint32_t seq;
};

static struct lane lane_make(struct vt *t, struct vt_opt *o, size_t max)
{
	struct lane l = { .seq = 1 };

	l.p = vt_pair(t, o);
	l.src = vt_mem(&t->a, max + SRC_OFF, VT_ALL);
	l.dst = vt_mem(&t->b, max + DST_OFF, VT_ALL);
	return l;
}

static bool op_needs_recv(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM ||
	       op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static enum ibv_wc_opcode send_wc(enum ibv_wr_opcode op)
{
	switch (op) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return IBV_WC_SEND;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	default:
		return IBV_WC_RDMA_WRITE;
	}
}

static void check_recv(struct lane *l, enum ibv_wr_opcode op, size_t len,
		       uint32_t seq)
{
	struct ibv_wc wc = vt_expect(l->p->rcq[1], seq, IBV_WC_SUCCESS);
	bool imm = op != IBV_WR_SEND;

	VT_EQ(wc.byte_len, len);
	VT_EQ(wc.opcode, op == IBV_WR_RDMA_WRITE_WITH_IMM ?
	      IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	VT_EQ(!!(wc.wc_flags & IBV_WC_WITH_IMM), imm);
	if (imm)
		VT_EQ(be32toh(wc.imm_data), 0xa0000000u + seq);
	VT_EQ(wc.qp_num, l->p->qp[1]->qp_num);
}

/* One message of @len bytes; the surrounding bytes must not change. */
static void move(struct lane *l, enum ibv_wr_opcode op, size_t len,
		 unsigned int flags)
{
	struct vt_mem *from = op == IBV_WR_RDMA_READ ? l->dst : l->src;
	struct vt_mem *to = op == IBV_WR_RDMA_READ ? l->src : l->dst;
	size_t foff = op == IBV_WR_RDMA_READ ? DST_OFF : SRC_OFF;
	size_t toff = op == IBV_WR_RDMA_READ ? SRC_OFF : DST_OFF;
	bool is_send = op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM;
	uint32_t seq = l->seq++;
	struct ibv_wc wc;

	vt_fill(from, foff, len, seq);
	to->buf[toff - 1] = 0x5a;
	if (toff + len < to->len)
		to->buf[toff + len] = 0x5b;
	if (len)
		to->buf[toff + len - 1] = ~from->buf[foff + len - 1];
	if (op_needs_recv(op))
		vt_recv(l->p->qp[1], seq, l->dst, DST_OFF, is_send ? len : 0);
	vt_send(l->p->qp[0], &(struct vt_wr){
		.op = op, .id = seq, .local = l->src, .off = SRC_OFF,
		.len = len, .remote = is_send ? NULL : l->dst,
		.roff = DST_OFF, .imm = 0xa0000000u + seq,
		.flags = IBV_SEND_SIGNALED | flags });
	wc = vt_expect(l->p->scq[0], seq, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, send_wc(op));
	VT_EQ(wc.qp_num, l->p->qp[0]->qp_num);
	if (op_needs_recv(op))
		check_recv(l, op, len, seq);
	else if (l->p->opt.type == IBV_QPT_UC)
		return;
	vt_verify(to, toff, len, seq);
	VT_EQ(to->buf[toff - 1], 0x5a);
	if (toff + len < to->len)
		VT_EQ(to->buf[toff + len], 0x5b);
}

#define ARG(type, mtu)	((type) << 8 | (mtu))

/* Lengths around every boundary of a packet, for one path MTU. */
static void lengths(struct vt *t)
{
	static const enum ibv_wr_opcode rc_ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	struct vt_opt o = { .type = t->arg >> 8, .mtu = t->arg & 255 };
	size_t m = vt_mtu_bytes(o.mtu);
	const size_t len[] = {
		0, 1, 2, 3, 4, 5, 63, m - 1, m, m + 1, 2 * m - 1, 2 * m,
		2 * m + 1, 3 * m + 2, 7 * m - 3, 8 * m, 9 * m + 1, 16 * m - 1,
		17 * m,
	};
	struct lane l;

	if (o.mtu > t->a.port.active_mtu || o.mtu > t->b.port.active_mtu)
		vt_skip("port MTU is smaller");
	l = lane_make(t, &o, 17 * m);
	for (size_t i = 0; i < ARRAY_SIZE(rc_ops); i++) {
		if (o.type == IBV_QPT_UC && rc_ops[i] == IBV_WR_RDMA_READ)
			continue;
		if (o.type == IBV_QPT_UC && rc_ops[i] == IBV_WR_RDMA_WRITE)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(len); j++)
			move(&l, rc_ops[i], len[j], 0);
	}
	vt_verify_guards(l.dst);
	vt_verify_guards(l.src);
}

/* An RDMA WRITE over UC has no acknowledgement: a SEND behind it tells. */
static void uc_write_then_send(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UC };
	struct lane l = lane_make(t, &o, 70000);

	for (int i = 0; i < 8; i++) {
		size_t len = 1 + 9001 * i % 70000;

		vt_fill(l.src, 0, len, i);
		vt_recv(l.p->qp[1], i, NULL, 0, 0);
		vt_send(l.p->qp[0], &(struct vt_wr){
			.id = 100, .local = l.src, .len = len,
			.remote = l.dst });
		vt_send(l.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(l.p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(l.p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(l.dst, 0, len, i);
	}
}

static void megabytes(struct vt *t)
{
	static const size_t len[] = {
		65535, 65536, 65537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1,
		DATA_MAX - 1,
	};
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
	};
	struct lane l = lane_make(t, NULL, DATA_MAX);

	for (size_t o = 0; o < ARRAY_SIZE(ops); o++)
		for (size_t i = 0; i < ARRAY_SIZE(len); i++)
			move(&l, ops[o], len[i], 0);
	vt_verify_guards(l.dst);
}

/* More than half the PSN space of small packets is not needed: 64 MB do. */
static void one_big_message(struct vt *t)
{
	const size_t len = (64u << 20) + 4097;
	struct lane l = lane_make(t, NULL, len);

	move(&l, t->arg, len, 0);
	vt_verify_guards(l.dst);
}

/* PSNs wrap at 2^24 in the middle of messages and acknowledgements. */
static void psn_wrap(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	size_t o, i;

	for (o = 0; o < ARRAY_SIZE(ops); o++) {
		struct vt_opt opt = { .psn = 0xffffff - 5, .mtu = IBV_MTU_256 };
		struct lane l = lane_make(t, &opt, 5000);

		for (i = 0; i < 6; i++)
			move(&l, ops[o], 1000, 0);
	}
}

static void inline_lengths(struct vt *t)
{
	static const size_t len[] = {
		0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 255, 256, 257,
		511, 512,
	};
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_WRITE,
	};
	struct vt_opt o = { .type = t->arg, .inl = 512 };
	struct lane l = lane_make(t, &o, 512);
	size_t nr = t->arg == IBV_QPT_UC ? 3 : 4;

	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < ARRAY_SIZE(len); j++)
			move(&l, ops[i], len[j], IBV_SEND_INLINE);
}

/* Inline data is taken when posted: the key is ignored, memory is free. */
static void inline_ignores_key_and_memory(struct vt *t)
{
	struct vt_opt o = { .inl = 256 };
	struct lane l = lane_make(t, &o, 256 * 32);
	char buf[256];
	struct ibv_sge sge = { (uintptr_t)buf, sizeof(buf), 0xdeadbeef };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};

	for (int i = 0; i < 32; i++) {
		memset(buf, i + 1, sizeof(buf));
		wr.wr_id = i;
		wr.wr.rdma.remote_addr = (uintptr_t)l.dst->buf + 256 * i;
		wr.wr.rdma.rkey = l.dst->mr->rkey;
		VT_EQ(ibv_post_send(l.p->qp[0], &wr, &bad), 0);
		memset(buf, 0xee, sizeof(buf));
	}
	for (int i = 0; i < 32; i++)
		vt_expect(l.p->scq[0], i, IBV_WC_SUCCESS);
	for (int i = 0; i < 256 * 32; i++)
		VT_EQ(l.dst->buf[i], i / 256 + 1);
}

/* Zero-length RDMA touches nothing and needs no valid key. */
static void zero_length_rdma_needs_no_key(struct vt *t)
{
	struct lane l = lane_make(t, NULL, 64);
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5, .opcode = t->arg,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 0, .rkey = 0 },
	};

	VT_EQ(ibv_post_send(l.p->qp[0], &wr, &bad), 0);
	vt_expect(l.p->scq[0], 5, IBV_WC_SUCCESS);
	move(&l, IBV_WR_SEND, 64, 0);
}

/* Full duplex: both sides write, read and send at the same time. */
static void both_directions(struct vt *t)
{
	const size_t len = 100001;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *mem[2][4];

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 4; j++) {
			mem[i][j] = vt_mem(p->end[i], len, VT_ALL);
			vt_fill(mem[i][j], 0, len, 10 * i + j);
		}
	for (int i = 0; i < 2; i++)
		vt_recv(p->qp[i], 50, mem[i][3], 0, len);
	for (int i = 0; i < 2; i++) {
		vt_send(p->qp[i], &(struct vt_wr){
			.id = 1, .local = mem[i][0], .len = len,
			.remote = mem[!i][1], .flags = IBV_SEND_SIGNALED });
		vt_send(p->qp[i], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = 2, .local = mem[i][2],
			.len = len, .remote = mem[!i][0],
			.flags = IBV_SEND_SIGNALED });
		vt_send(p->qp[i], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = 3, .local = mem[i][0],
			.len = len, .flags = IBV_SEND_SIGNALED });
	}
	for (int i = 0; i < 2; i++) {
		for (int j = 1; j <= 3; j++)
			vt_expect(p->scq[i], j, IBV_WC_SUCCESS);
		vt_expect(p->rcq[i], 50, IBV_WC_SUCCESS);
	}
	for (int i = 0; i < 2; i++)
		for (int j = 1; j < 4; j++)
			vt_verify(mem[i][j], 0, len, 10 * !i);
}

/* READ into and WRITE out of the same queue pair's own peer memory. */
static void write_then_read_back(struct vt *t)
{
	const size_t len = 30000;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *r = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);

	for (int i = 0; i < 20; i++) {
		vt_fill(s, 0, len, i);
		vt_send(p->qp[0], &(struct vt_wr){
			.id = 1, .local = s, .len = len, .remote = d });
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = 2, .local = r,
			.len = len, .remote = d,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
		vt_verify(r, 0, len, i);
	}
}

/* A fenced request starts after earlier READs have finished. */
static void fence_orders_behind_read(struct vt *t)
{
	const size_t len = 64000;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *a = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *b = vt_mem(&t->b, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);

	for (int i = 0; i < 10; i++) {
		vt_fill(b, 0, len, i);
		vt_fill(a, 0, len, 1000);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = 1, .local = a,
			.len = len, .remote = b });
		vt_send(p->qp[0], &(struct vt_wr){
			.id = 2, .local = a, .len = len, .remote = d,
			.flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE });
		vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
		vt_verify(d, 0, len, i);
	}
}

/* More READs posted than may be outstanding: all finish, in order. */
static void more_reads_than_rd_atomic(struct vt *t)
{
	struct vt_opt o = { .rd = t->arg, .sq = 64 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *a = vt_mem(&t->a, 64 * 2000, VT_ALL);
	struct vt_mem *b = vt_mem(&t->b, 64 * 2000, VT_ALL);

	vt_fill(b, 0, 64 * 2000, 5);
	for (int i = 0; i < 64; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = i, .local = a,
			.off = 2000 * i, .len = 2000, .remote = b,
			.roff = 2000 * i, .flags = IBV_SEND_SIGNALED });
	for (int i = 0; i < 64; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	vt_verify(a, 0, 64 * 2000, 5);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("lengths_rc_mtu256", lengths, ARG(IBV_QPT_RC, 1)),
	VT_CASE_ARG("lengths_rc_mtu512", lengths, ARG(IBV_QPT_RC, 2)),
	VT_CASE_ARG("lengths_rc_mtu1024", lengths, ARG(IBV_QPT_RC, 3)),
	VT_CASE_ARG("lengths_rc_mtu2048", lengths, ARG(IBV_QPT_RC, 4)),
	VT_CASE_ARG("lengths_rc_mtu4096", lengths, ARG(IBV_QPT_RC, 5)),
	VT_CASE_ARG("lengths_uc_mtu256", lengths, ARG(IBV_QPT_UC, 1)),
	VT_CASE_ARG("lengths_uc_mtu512", lengths, ARG(IBV_QPT_UC, 2)),
	VT_CASE_ARG("lengths_uc_mtu1024", lengths, ARG(IBV_QPT_UC, 3)),
	VT_CASE_ARG("lengths_uc_mtu2048", lengths, ARG(IBV_QPT_UC, 4)),
	VT_CASE_ARG("lengths_uc_mtu4096", lengths, ARG(IBV_QPT_UC, 5)),
	VT_CASE(uc_write_then_send),
	VT_CASE(megabytes),
	VT_CASE_ARG("one_big_write", one_big_message, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("one_big_read", one_big_message, IBV_WR_RDMA_READ),
	VT_CASE(psn_wrap),
	VT_CASE_ARG("inline_lengths_rc", inline_lengths, IBV_QPT_RC),
	VT_CASE_ARG("inline_lengths_uc", inline_lengths, IBV_QPT_UC),
	VT_CASE(inline_ignores_key_and_memory),
	VT_CASE_ARG("zero_length_write", zero_length_rdma_needs_no_key,
		    IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("zero_length_read", zero_length_rdma_needs_no_key,
		    IBV_WR_RDMA_READ),
	VT_CASE(both_directions),
	VT_CASE(write_then_read_back),
	VT_CASE(fence_orders_behind_read),
	VT_CASE_ARG("reads_one_at_a_time", more_reads_than_rd_atomic, 1),
	VT_CASE_ARG("reads_sixteen_at_a_time", more_reads_than_rd_atomic, 16),
};

VT_MAIN(cases)
