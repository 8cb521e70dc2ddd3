// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that leave together: how many kicks, frames and acknowledgements
 * they cost, and that each of them is carried out as if it were alone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/mman.h>
#include "vt.h"

#define NR	32
#define ROOM	256

/**
 * struct duo - a pair with memory for NR messages on both sides
 * @p: pair
 * @s: memory on a
 * @d: memory on b
 */
struct duo {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct duo duo_make(struct vt *t, const struct vt_opt *o)
{
	struct duo u;

	if (!vt_is_hroce(&t->a))
		vt_skip("counters of hroce");
	u.p = vt_pair(t, o);
	u.s = vt_mem(&t->a, NR * ROOM, VT_ALL);
	u.d = vt_mem(&t->b, NR * ROOM, VT_ALL);
	memset(u.d->buf, 0, u.d->len);
	vt_fill(u.s, 0, u.s->len, 7);
	return u;
}

static void post_receives(const struct duo *u)
{
	for (int i = 0; i < NR; i++)
		vt_recv(u->p->qp[1], i, u->d, i * ROOM, ROOM);
}

/**
 * struct list - requests to be posted by one call
 * @wr: chained
 * @sge: one for each
 */
struct list {
	struct ibv_send_wr wr[NR];
	struct ibv_sge sge[NR];
};

/* SENDs of @len bytes each, the last one signaled. */
static void list_fill(struct list *l, const struct duo *u, uint32_t len)
{
	for (int i = 0; i < NR; i++) {
		l->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)u->s->buf + i * ROOM,
			.length = len, .lkey = u->s->mr->lkey,
		};
		l->wr[i] = (struct ibv_send_wr){
			.wr_id = i, .sg_list = &l->sge[i], .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.next = i < NR - 1 ? &l->wr[i + 1] : NULL,
			.send_flags = i < NR - 1 ? 0 : IBV_SEND_SIGNALED,
		};
	}
}

static void list_post(struct list *l, const struct duo *u)
{
	struct ibv_send_wr *bad;

	VT_EQ(ibv_post_send(u->p->qp[0], l->wr, &bad), 0);
}

static void expect_messages(const struct duo *u, const struct list *l, int nr)
{
	for (int i = 0; i < nr; i++) {
		uint32_t len = l->sge[i].length;
		struct ibv_wc wc = vt_poll(u->p->rcq[1]);

		VT_EQ(wc.status, IBV_WC_SUCCESS);
		VT_EQ(wc.wr_id, i);
		VT_EQ(wc.byte_len, len);
		VT_OK(!memcmp(u->d->buf + i * ROOM, u->s->buf + i * ROOM, len),
		      "message %d", i);
		VT_OK(!u->d->buf[i * ROOM + len], "behind message %d", i);
	}
}

static void list_is_one_frame(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	long long kicks, frames, packets, acks;
	int answers = vt_one_link(t);
	struct list l;

	if (strchr(getenv("HROCE_SWITCHES") ?: "", '-'))
		vt_skip("offloads of netdevs are off");
	vt_switch(&t->a, "gso", true);
	if (answers)
		vt_switch(&t->a, "local", true);
	post_receives(&u);
	list_fill(&l, &u, 64);
	kicks = vt_settled(&t->a, "kicks");
	frames = vt_settled(&t->a, "tx_frames");
	packets = vt_settled(&t->a, "tx_packets");
	acks = vt_settled(&t->b, "acks_sent");
	list_post(&l, &u);
	vt_expect(u.p->scq[0], NR - 1, IBV_WC_SUCCESS);
	expect_messages(&u, &l, NR);
	VT_EQ(vt_settled(&t->a, "kicks") - kicks, 1);
	/* Between two queue pairs of one link there are none. */
	VT_EQ(vt_settled(&t->a, "tx_frames") - frames, !answers);
	VT_EQ(vt_settled(&t->a, "tx_packets") - packets, NR + answers);
	VT_EQ(vt_settled(&t->b, "acks_sent") - acks, 1);
}

/* Equal ones share a frame, a shorter one ends it, a longer one begins one. */
static void lengths_differ(struct vt *t)
{
	static const uint32_t lens[] = { 64, 64, 61, 64, 0, 0, 200, 200, 1 };
	struct duo u = duo_make(t, NULL);
	struct list l;

	post_receives(&u);
	list_fill(&l, &u, 0);
	for (int i = 0; i < NR; i++)
		l.sge[i].length = lens[i % ARRAY_SIZE(lens)];
	list_post(&l, &u);
	vt_expect(u.p->scq[0], NR - 1, IBV_WC_SUCCESS);
	expect_messages(&u, &l, NR);
}

/* Of lists_are_alike(). */
#define ON_DEMAND	1	/* every third message is in memory that is not there */
#define TWO_KEYS	2	/* of the same memory, in turns of five messages */
#define INLINE		4	/* those that are short enough */
#define WRITES		8	/* to addresses in turns, not in their order */
#define IMM		16

#define PAGES		8192u
#define MAX_INLINE	128

static struct ibv_mr *reg(struct vt *t, void *buf, size_t len)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(t->a.pd, buf, len, t->arg & ON_DEMAND ?
			VT_ALL | IBV_ACCESS_ON_DEMAND : VT_ALL);
	VT_OK(mr, "%s", strerror(errno));
	return mr;
}

/* Where message @i of a list goes to. */
static unsigned char *place(const struct vt *t, const struct vt_mem *d, int i)
{
	return d->buf + (t->arg & WRITES ? i * 7 % NR : i) * PAGES;
}

static enum ibv_wr_opcode list_op(const struct vt *t)
{
	if (t->arg & WRITES)
		return t->arg & IMM ? IBV_WR_RDMA_WRITE_WITH_IMM :
				      IBV_WR_RDMA_WRITE;
	return t->arg & IMM ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
}

static void post_alike(struct vt *t, struct vt_pair *p, unsigned char *buf,
		       struct ibv_mr *mr[2], const struct vt_mem *d,
		       uint32_t len)
{
	struct ibv_send_wr wr[NR], *bad;
	struct ibv_sge sge[NR];
	unsigned int flags = IBV_SEND_SIGNALED;

	if (t->arg & INLINE && len <= MAX_INLINE)
		flags |= IBV_SEND_INLINE;
	for (int i = 0; i < NR; i++) {
		int key = t->arg & TWO_KEYS && i / 5 % 2;

		sge[i] = (struct ibv_sge){ (uintptr_t)buf + i * PAGES, len,
					   mr[key]->lkey };
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .sg_list = &sge[i], .num_sge = 1,
			.opcode = list_op(t), .send_flags = flags,
			.imm_data = htonl(1000 + i),
			.wr.rdma.remote_addr = (uintptr_t)place(t, d, i),
			.wr.rdma.rkey = d->mr->rkey,
			.next = i + 1 < NR ? &wr[i + 1] : NULL };
	}
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
}

/* The receiver is told of each, but for plain WRITEs. */
static void expect_alike(struct vt *t, struct vt_pair *p, int i, uint32_t len)
{
	struct ibv_wc wc;

	vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	if (list_op(t) == IBV_WR_RDMA_WRITE)
		return;
	wc = vt_poll(p->rcq[1]);
	VT_EQ(wc.status, IBV_WC_SUCCESS);
	VT_EQ(wc.wr_id, i);
	VT_EQ(wc.byte_len, len);
	if (t->arg & IMM)
		VT_EQ(ntohl(wc.imm_data), 1000 + i);
}

/* Messages that share a burst, short ones that are copied, and long ones. */
static void lists_are_alike(struct vt *t)
{
	static const uint32_t lens[] = { 1, 3, 60, 128, 255, 1023, 1024, 2048,
					 2051, 4096, 4097 };
	struct vt_opt o = { .inl = t->arg & INLINE ? MAX_INLINE : 0 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *d = vt_mem(&t->b, NR * PAGES, VT_ALL);
	struct ibv_mr *mr[2];
	unsigned char *buf;

	if (!vt_is_hroce(&t->a))
		vt_skip("bursts of hroce");
	buf = mmap(NULL, NR * PAGES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VT_OK(buf != MAP_FAILED, "%s", strerror(errno));
	for (int i = 0; i < 2; i++)
		mr[i] = reg(t, buf, NR * PAGES);
	for (size_t n = 0; n < ARRAY_SIZE(lens); n++) {
		uint32_t len = lens[n];

		if (t->arg & ON_DEMAND)
			VT_EQ(madvise(buf, NR * PAGES, MADV_DONTNEED), 0);
		for (int i = 0; i < NR; i++)
			if (!(t->arg & ON_DEMAND) || i % 3)
				memset(buf + i * PAGES, 1 + i + n, len);
		memset(d->buf, 0xee, NR * PAGES);
		for (int i = 0; i < NR && list_op(t) != IBV_WR_RDMA_WRITE; i++)
			vt_recv(p->qp[1], i, d, i * PAGES, PAGES);
		post_alike(t, p, buf, mr, d, len);
		for (int i = 0; i < NR; i++) {
			expect_alike(t, p, i, len);
			VT_OK(!memcmp(place(t, d, i), buf + i * PAGES, len),
			      "message %d of %u", i, len);
			VT_EQ(place(t, d, i)[len], 0xee);
		}
	}
	for (int i = 0; i < 2; i++)
		VT_EQ(ibv_dereg_mr(mr[i]), 0);
	munmap(buf, NR * PAGES);
}

/* What is before it arrives and is told to be complete, nothing behind does. */
static void one_fails_in_the_middle(struct vt *t)
{
	struct vt_opt o = { .timeout = -1 };
	struct duo u = duo_make(t, &o);
	const int bad = NR / 2 + 3;
	struct list l;

	post_receives(&u);
	list_fill(&l, &u, 64);
	for (int i = 0; i < NR; i++)
		l.wr[i].send_flags = IBV_SEND_SIGNALED;
	l.sge[bad].lkey ^= 1;
	list_post(&l, &u);
	for (int i = 0; i < bad; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], bad, IBV_WC_LOC_PROT_ERR);
	for (int i = bad + 1; i < NR; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_WR_FLUSH_ERR);
	expect_messages(&u, &l, bad);
	vt_quiet(u.p->rcq[1], 20);
}

/* The peer refuses one of WRITEs that are alike: it is that which fails. */
static void one_is_refused(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	const int bad = NR / 2 + 3;
	struct list l;

	list_fill(&l, &u, 64);
	for (int i = 0; i < NR; i++) {
		struct ibv_send_wr *wr = &l.wr[i];

		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->send_flags = IBV_SEND_SIGNALED;
		wr->wr.rdma.rkey = u.d->mr->rkey ^ (i == bad);
		wr->wr.rdma.remote_addr = (uintptr_t)u.d->buf + i * ROOM;
	}
	list_post(&l, &u);
	for (int i = 0; i < bad; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], bad, IBV_WC_REM_ACCESS_ERR);
	for (int i = bad + 1; i < NR; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; i < NR; i++)
		VT_EQ(!memcmp(u.d->buf + i * ROOM, u.s->buf + i * ROOM, 64),
		      i < bad);
}

/* Operations of all kinds, each seeing what those before it did. */
static void operations_differ(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct list l;

	list_fill(&l, &u, 8);
	for (int i = 0; i < NR; i++) {
		struct ibv_send_wr *wr = &l.wr[i];

		wr->wr.rdma.rkey = u.d->mr->rkey;
		wr->wr.rdma.remote_addr = (uintptr_t)u.d->buf;
		if (i % 4 == 1) {
			wr->opcode = IBV_WR_RDMA_READ;
			l.sge[i].addr += 128;
		} else if (i % 4 == 3) {
			wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
			wr->wr.atomic.remote_addr = (uintptr_t)u.d->buf;
			wr->wr.atomic.rkey = u.d->mr->rkey;
			wr->wr.atomic.compare_add = 1;
			l.sge[i].addr += 128;
		} else {
			wr->opcode = IBV_WR_RDMA_WRITE;
			wr->send_flags |= IBV_SEND_FENCE;
		}
	}
	list_post(&l, &u);
	vt_expect(u.p->scq[0], NR - 1, IBV_WC_SUCCESS);
	for (int i = 1; i < NR; i += 2)
		VT_OK(!memcmp(u.s->buf + i * ROOM + 128,
			      u.s->buf + (i - 1) * ROOM, 8), "request %d", i);
}

/*
 * While the peer makes the sender wait nobody needs to tell it of more. A slow
 * machine posts for longer than one such wait, and each try may meet a post.
 */
static void blocked_queue_needs_no_kick(struct vt *t)
{
	struct vt_opt o = { .rnr_timer = 31 };	/* 491 ms */
	struct duo u = duo_make(t, &o);
	long long kicks, rnr = vt_settled(&t->a, "rnr_rcvd");
	struct list l;

	list_fill(&l, &u, 64);
	kicks = vt_settled(&t->a, "kicks");
	for (int i = 0; i < NR; i++) {
		struct ibv_send_wr *bad;

		l.wr[i].next = NULL;
		VT_EQ(ibv_post_send(u.p->qp[0], &l.wr[i], &bad), 0);
		if (!i)
			VT_OK(vt_settled(&t->a, "rnr_rcvd") > rnr, "no RNR");
	}
	rnr = vt_settled(&t->a, "rnr_rcvd") - rnr;
	post_receives(&u);
	vt_expect(u.p->scq[0], NR - 1, IBV_WC_SUCCESS);
	expect_messages(&u, &l, NR);
	/* On a wire, the second post finds out that it need not have. */
	kicks = vt_settled(&t->a, "kicks") - kicks;
	VT_OK(kicks >= 1 && kicks <= 1 + rnr, "%lld kicks, %lld RNRs", kicks,
	      rnr);
}

/* Lengths are those of the datagram alone; identifications follow each other. */
static void expect_grh(const unsigned char *grh, size_t len, int *last_id)
{
	const unsigned char *ip = grh[0] ? grh : grh + 20;
	int id;

	len += 8 + 12 + 8 + 4;	/* UDP, BTH, DETH, ICRC */
	if (grh[0]) {
		VT_EQ(ip[4] << 8 | ip[5], len);
		return;
	}
	VT_EQ(ip[2] << 8 | ip[3], 20 + len);
	id = ip[4] << 8 | ip[5];
	if (*last_id >= 0)
		VT_EQ(id, (*last_id + 1) & 0xffff);
	*last_id = id;
}

/* Datagrams of one super-packet: at first with an ICRC, then without. */
static void grh_of_each_datagram(struct vt *t)
{
	enum { ROUNDS = 4, DATAGRAMS = 8, LEN = 64, SLOT = LEN + VT_GRH };
	struct vt_opt o = { .type = IBV_QPT_UD };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, DATAGRAMS * SLOT, VT_ALL);
	struct ibv_sge sge = { (uintptr_t)s->buf, LEN, s->mr->lkey };
	struct ibv_send_wr wr[DATAGRAMS], *bad;
	int i, round;

	vt_switch(&t->a, "gso", true);
	vt_switch(&t->a, "local", false);
	vt_switch(&t->a, "elide_icrc", true);
	for (i = 0; i < DATAGRAMS; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_SEND,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.next = i + 1 < DATAGRAMS ? &wr[i + 1] : NULL,
			.wr.ud = { .ah = p->ah[0], .remote_qkey = VT_QKEY,
				   .remote_qpn = p->qp[1]->qp_num } };
	for (round = 0; round < ROUNDS; round++) {
		int id = -1;

		for (i = 0; i < DATAGRAMS; i++)
			vt_recv(p->qp[1], i, d, i * SLOT, SLOT);
		VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
		for (i = 0; i < DATAGRAMS; i++)
			vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		for (i = 0; i < DATAGRAMS; i++)
			vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		for (i = 0; i < DATAGRAMS; i++)
			expect_grh(d->buf + i * SLOT, LEN, &id);
	}
}

static const struct vt_case cases[] = {
	VT_CASE(list_is_one_frame),
	VT_CASE(lengths_differ),
	VT_CASE(lists_are_alike),
	VT_CASE_ARG("lists_have_two_keys", lists_are_alike, TWO_KEYS),
	VT_CASE_ARG("lists_on_demand", lists_are_alike, ON_DEMAND),
	VT_CASE_ARG("lists_inline", lists_are_alike, INLINE | IMM),
	VT_CASE_ARG("lists_of_writes", lists_are_alike, WRITES),
	VT_CASE_ARG("lists_of_writes_imm", lists_are_alike,
		    WRITES | IMM | TWO_KEYS),
	VT_CASE_ARG("lists_of_writes_inline", lists_are_alike, WRITES | INLINE),
	VT_CASE_ARG("lists_of_writes_on_demand", lists_are_alike,
		    WRITES | ON_DEMAND),
	VT_CASE(one_fails_in_the_middle),
	VT_CASE(one_is_refused),
	VT_CASE(operations_differ),
	VT_CASE(blocked_queue_needs_no_kick),
	VT_CASE(grh_of_each_datagram),
};

VT_MAIN(cases)
