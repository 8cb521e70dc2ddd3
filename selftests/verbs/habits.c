// SPDX-License-Identifier: GPL-2.0
/*
 * UCX, libfabric and NCCL probe a device before they use it, each in its own
 * way. Each case probes as one of them does, and checks the answer that this
 * program needs. The last ones are for what other programs take for granted.
 */
#include <dlfcn.h>
#include <limits.h>

#include "vt.h"

static struct ibv_qp *try_inline(struct vt *t, enum ibv_qp_type type,
				 struct ibv_cq *cq, struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .qp_type = type, .cap = *cap, .sq_sig_all = 1,
	};
	struct ibv_qp *qp;

	if (type != IBV_QPT_XRC_SEND)
		attr.recv_cq = cq;
	qp = ibv_create_qp(t->a.pd, &attr);
	*cap = attr.cap;
	return qp;
}

static bool takes_inline(struct vt *t, enum ibv_qp_type type,
			 struct ibv_cq *cq, int bytes)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_send_sge = 1, .max_inline_data = bytes,
	};
	struct ibv_qp *qp;

	if (type != IBV_QPT_XRC_SEND)
		cap.max_recv_wr = cap.max_recv_sge = 1;
	qp = try_inline(t, type, cq, &cap);
	if (!qp) {
		VT_EQ(errno, EINVAL);
		return false;
	}
	VT_OK(cap.max_inline_data >= (uint32_t)bytes, "%d asked, %u granted",
	      bytes, cap.max_inline_data);
	VT_EQ(ibv_destroy_qp(qp), 0);
	return true;
}

/* A message of @len bytes, inline, gets there. */
static void send_inline(struct vt *t, struct vt_pair *p, size_t len)
{
	size_t grh = p->opt.type == IBV_QPT_UD ? VT_GRH : 0;
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len + grh, VT_ALL);
	struct vt_wr w = {
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = len,
		.flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};

	if (p->opt.type == IBV_QPT_UD) {
		w.ah = p->ah[0];
		w.qpn = p->qp[1]->qp_num;
	}
	vt_fill(s, 0, len, 5);
	vt_recv(p->qp[1], 2, d, 0, len + grh);
	vt_send(p->qp[0], &w);
	memset(s->buf, 0, len);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS).byte_len, len + grh);
	vt_verify(d, grh, len, 5);
}

/* libfabric: double until refused, halve the rest, use the largest. */
static void largest_inline_is_found(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 1, NULL);
	int good = 2, bad, middle;
	struct vt_opt o = { .type = t->arg, .sge = 1 };

	VT_OK(takes_inline(t, t->arg, cq, good), "not even %d bytes", good);
	for (bad = 4; takes_inline(t, t->arg, cq, bad); bad *= 2) {
		good = bad;
		VT_OK(bad < INT_MAX / 2, "everything is taken");
	}
	while (bad - good > 2) {
		middle = good + (bad - good) / 2;
		if (takes_inline(t, t->arg, cq, middle))
			good = middle;
		else
			bad = middle;
	}
	VT_OK(good >= 64, "%d bytes", good);
	if (t->arg == IBV_QPT_XRC_SEND)
		return;
	o.inl = good;
	send_inline(t, vt_pair(t, &o), good);
}

/* UCX: ask for 64 bytes, use all that is granted. */
static void granted_inline_is_usable(struct vt *t)
{
	struct vt_opt o = { .type = t->arg, .sge = 6, .inl = 64 };
	struct vt_pair *p = vt_pair(t, &o);

	send_inline(t, p, p->cap.max_inline_data);
}

/* UCX takes the number of pieces from the query, the rest from creation. */
static void query_says_what_was_granted(struct vt *t)
{
	struct vt_opt o = { .type = t->arg, .sge = 3, .inl = 100, .sq = 33 };
	struct vt_pair *p = vt_pair(t, &o);
	struct ibv_qp_init_attr init = {};
	struct ibv_qp_attr attr = {};

	VT_EQ(ibv_query_qp(p->qp[1], &attr, IBV_QP_CAP, &init), 0);
	VT_EQ(attr.cap.max_send_sge, p->cap.max_send_sge);
	VT_EQ(attr.cap.max_recv_sge, p->cap.max_recv_sge);
	VT_EQ(attr.cap.max_send_wr, p->cap.max_send_wr);
	VT_EQ(attr.cap.max_recv_wr, p->cap.max_recv_wr);
	VT_EQ(attr.cap.max_inline_data, p->cap.max_inline_data);
	VT_EQ(init.cap.max_send_sge, p->cap.max_send_sge);
	VT_EQ(init.cap.max_inline_data, p->cap.max_inline_data);
}

/* UCX names the peer in its messages on errors. */
static void query_says_who_the_peer_is(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_qp_init_attr init = {};
	struct ibv_qp_attr attr = {};

	VT_EQ(ibv_query_qp(p->qp[0], &attr, IBV_QP_AV | IBV_QP_DEST_QPN, &init),
	      0);
	VT_EQ(attr.dest_qp_num, p->qp[1]->qp_num);
	VT_EQ(attr.ah_attr.is_global, 1);
	VT_EQ(attr.ah_attr.port_num, VT_PORT);
	VT_EQ(attr.ah_attr.grh.sgid_index, t->a.gid_idx);
	VT_OK(!memcmp(&attr.ah_attr.grh.dgid, &t->b.gid, sizeof(t->b.gid)),
	      "other GID");
}

/* All use as many READs and atomics at once as the device offers. */
static void advertised_reads_at_once(struct vt *t)
{
	int most = t->a.dev.max_qp_rd_atom;
	struct vt_opt o = { .rd = most, .sq = 2 * most };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 2 * most * 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 2 * most * 8, VT_ALL);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	VT_EQ(t->a.dev.max_qp_init_rd_atom, most);
	VT_OK(most <= UINT8_MAX, "%d do not fit in the attribute", most);
	VT_EQ(ibv_query_qp(p->qp[0], &attr, IBV_QP_MAX_QP_RD_ATOMIC |
			   IBV_QP_MAX_DEST_RD_ATOMIC, &init), 0);
	VT_EQ(attr.max_rd_atomic, most);
	VT_EQ(attr.max_dest_rd_atomic, most);
	vt_fill(d, 0, 2 * most * 8, 9);
	for (int i = 0; i < 2 * most; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = i, .local = s,
			.off = 8 * i, .len = 8, .remote = d, .roff = 8 * i,
			.flags = IBV_SEND_SIGNALED });
	for (int i = 0; i < 2 * most; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	vt_verify(s, 0, 2 * most * 8, 9);
}

/* Without these UCX and libfabric leave features, or the device, alone. */
static void attributes_looked_for(struct vt *t)
{
	uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
		      IBV_ODP_SUPPORT_READ;
	struct ibv_device *dev = t->a.ctx->device;
	struct ibv_device_attr_ex x = {};

	VT_EQ(dev->node_type, IBV_NODE_CA);
	VT_EQ(dev->transport_type, IBV_TRANSPORT_IB);
	VT_EQ(ibv_get_device_guid(dev), t->a.dev.node_guid);
	VT_OK(t->a.dev.device_cap_flags & IBV_DEVICE_XRC, "no XRC");
	VT_OK(t->a.dev.max_sge > 1 && t->a.dev.max_srq_sge > 0, "pieces");
	VT_OK(t->a.ctx->num_comp_vectors > 0, "no vector");
	VT_OK(t->a.port.max_msg_sz >= 1u << 30, "%u", t->a.port.max_msg_sz);
	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &x), 0);
	VT_EQ(x.orig_attr.atomic_cap, IBV_ATOMIC_HCA);
	VT_EQ(x.odp_caps.per_transport_caps.rc_odp_caps & rc, rc);
	VT_OK(x.odp_caps.per_transport_caps.ud_odp_caps & IBV_ODP_SUPPORT_SEND,
	      "UD cannot send on demand");
	VT_OK(x.odp_caps.general_caps & IBV_ODP_SUPPORT, "no ODP");
	VT_OK(x.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT,
	      "no implicit ODP");
}

static int undo_cq(void *obj)
{
	return ibv_destroy_cq(obj);
}

static struct ibv_cq *cq_ex(struct vt_end *e, struct ibv_cq_init_attr_ex attr)
{
	struct ibv_cq_ex *ex = ibv_create_cq_ex(e->ctx, &attr);

	if (!ex)
		return NULL;
	vt_defer(undo_cq, ibv_cq_ex_to_cq(ex), "CQ");
	return ibv_cq_ex_to_cq(ex);
}

/*
 * UCX makes its CQs with the extended verb, and takes the plain one only after
 * EOPNOTSUPP or ENOSYS. It polls with the plain verb in either case.
 */
static void extended_cq_polled_plainly(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = {};
	struct vt_pair *p;

	o.scq[0] = cq_ex(&t->a, (struct ibv_cq_init_attr_ex){
		.cqe = 256, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN });
	VT_OK(o.scq[0], "%s", strerror(errno));
	o.rcq[1] = cq_ex(&t->b, (struct ibv_cq_init_attr_ex){
		.cqe = 256, .channel = chan });
	VT_OK(o.rcq[1], "%s", strerror(errno));
	p = vt_pair(t, &o);
	VT_EQ(ibv_req_notify_cq(o.rcq[1], 1), 0);
	VT_EQ(ibv_req_notify_cq(o.rcq[1], 0), 0);
	vt_recv(p->qp[1], 7, NULL, 0, 0);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .flags = IBV_SEND_SIGNALED });
	vt_expect(o.scq[0], 1, IBV_WC_SUCCESS);
	VT_OK(vt_cq_event(chan) == o.rcq[1], "other CQ");
	vt_expect(o.rcq[1], 7, IBV_WC_SUCCESS);
}

static void extended_cq_falls_back(struct vt *t)
{
	struct ibv_cq_init_attr_ex flags = {
		.cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = 1u << 20,
	};
	struct ibv_cq_init_attr_ex fields = {
		.cqe = 16, .wc_flags = IBV_WC_EX_WITH_TM_INFO,
	};

	VT_OK(!cq_ex(&t->a, flags), "unknown flag taken");
	VT_OK(errno == EOPNOTSUPP || errno == ENOSYS, "errno %d", errno);
	VT_OK(!cq_ex(&t->a, fields), "tag matching promised");
	VT_OK(errno == EOPNOTSUPP || errno == ENOSYS, "errno %d", errno);
}

/* Each field that has a reader, for a datagram, which has the most of them. */
static void completion_read_by_field(struct vt *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct vt_mem *s = vt_mem(&t->a, 100, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 100 + VT_GRH, VT_ALL);
	struct vt_opt o = { .type = IBV_QPT_UD };
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	struct ibv_cq_ex *ex;
	struct vt_pair *p;

	o.rcq[1] = cq_ex(&t->b, attr);
	VT_OK(o.rcq[1], "%s", strerror(errno));
	p = vt_pair(t, &o);
	vt_recv(p->qp[1], 3, d, 0, 100 + VT_GRH);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND_WITH_IMM, .id = 1, .imm = 0x12345678,
		.local = s, .len = 100, .ah = p->ah[0],
		.qpn = p->qp[1]->qp_num, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	ex = (struct ibv_cq_ex *)o.rcq[1];
	while (vt_start_poll(ex)) {
		VT_OK(vt_now_us() < end, "nothing came");
		vt_pause(&spins);
	}
	VT_EQ(ex->wr_id, 3);
	VT_EQ(ex->status, IBV_WC_SUCCESS);
	VT_EQ(ibv_wc_read_opcode(ex), IBV_WC_RECV);
	VT_EQ(ibv_wc_read_vendor_err(ex), 0);
	VT_EQ(ibv_wc_read_byte_len(ex), 100 + VT_GRH);
	VT_EQ(be32toh(ibv_wc_read_imm_data(ex)), 0x12345678);
	VT_EQ(ibv_wc_read_qp_num(ex), p->qp[1]->qp_num);
	VT_EQ(ibv_wc_read_src_qp(ex), p->qp[0]->qp_num);
	VT_EQ(ibv_wc_read_wc_flags(ex), IBV_WC_GRH | IBV_WC_WITH_IMM);
	VT_EQ(ibv_wc_read_slid(ex), 0);
	VT_EQ(ibv_wc_read_dlid_path_bits(ex), 0);
	/* A UDP header, and the IP version: as UCX reads it. */
	VT_EQ(ibv_wc_read_sl(ex), 8 | (vt_family() == 4 ? 2 : 1));
	vt_end_poll(ex);
}

static struct ibv_mr *reg(struct vt_end *e, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, addr, len, access);

	VT_OK(mr, "access 0x%x: %s", access, strerror(errno));
	return mr;
}

/* @m under another key, that of @mr. */
static struct vt_mem under(const struct vt_mem *m, struct ibv_mr *mr)
{
	return (struct vt_mem){ .buf = m->buf, .len = m->len, .mr = mr };
}

/* From @s to @d and back by the keys that these have. */
static void write_and_read(struct vt_pair *p, struct vt_mem s, struct vt_mem d,
			   uint32_t seed)
{
	struct vt_wr w = {
		.id = seed, .local = &s, .len = s.len, .remote = &d,
		.flags = IBV_SEND_SIGNALED,
	};

	vt_fill(&s, 0, s.len, seed);
	vt_send(p->qp[0], &w);
	vt_expect(p->scq[0], seed, IBV_WC_SUCCESS);
	vt_verify(&d, 0, s.len, seed);
	vt_fill(&d, 0, s.len, seed + 1);
	w.op = IBV_WR_RDMA_READ;
	vt_send(p->qp[0], &w);
	vt_expect(p->scq[0], seed, IBV_WC_SUCCESS);
	vt_verify(&s, 0, s.len, seed + 1);
}

/* UCX: one region for all there is, made once, with every right. */
static void whole_address_space(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 20000, VT_ALL);
	struct ibv_mr *a = reg(&t->a, NULL, SIZE_MAX,
			       VT_ALL | IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *b = reg(&t->b, NULL, SIZE_MAX,
			       VT_ALL | IBV_ACCESS_ON_DEMAND |
			       IBV_ACCESS_RELAXED_ORDERING);
	struct ibv_sge sge = { (uintptr_t)s->buf, s->len, a->lkey };
	struct vt_pair *p = vt_pair(t, NULL);

	VT_EQ(ibv_advise_mr(t->a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
	write_and_read(p, under(s, a), under(d, b), 1);
	VT_EQ(ibv_dereg_mr(a), 0);
	VT_EQ(ibv_dereg_mr(b), 0);
}

/*
 * UCX registers memory twice where it wants relaxed ordering: with and without.
 * Both keys work at the same time. A device may pass over optional rights that
 * it does not know, and must not refuse them.
 */
static void relaxed_ordering(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 20000, VT_ALL);
	int access = VT_ALL | t->arg;
	struct ibv_mr *relaxed = reg(&t->b, d->buf, d->len, access |
				     IBV_ACCESS_RELAXED_ORDERING);
	struct ibv_mr *strict = reg(&t->b, d->buf, d->len, access);
	struct ibv_mr *unknown = reg(&t->b, d->buf, d->len, access | 1 << 29);
	struct ibv_mr *local = reg(&t->a, s->buf, s->len,
				   access | IBV_ACCESS_RELAXED_ORDERING);
	struct vt_pair *p = vt_pair(t, NULL);

	write_and_read(p, under(s, local), under(d, relaxed), 1);
	write_and_read(p, *s, under(d, strict), 3);
	write_and_read(p, under(s, local), under(d, unknown), 5);
	VT_EQ(ibv_dereg_mr(relaxed), 0);
	write_and_read(p, under(s, local), under(d, strict), 7);
	VT_EQ(ibv_dereg_mr(strict), 0);
	VT_EQ(ibv_dereg_mr(unknown), 0);
	VT_EQ(ibv_dereg_mr(local), 0);
}

/* UCX, NCCL: dma-bufs are supported unless a bad descriptor gives these errors. */
static void dmabuf_probed(struct vt *t)
{
	VT_NULL(ibv_reg_dmabuf_mr(t->a.pd, 0, 4096, 0, -1, VT_ALL), EBADF);
	errno = 0;
	VT_OK(!ibv_reg_dmabuf_mr(t->a.pd, 0, 0, 0, -1, 0), "it is a region");
	VT_OK(errno && errno != EOPNOTSUPP && errno != EPROTONOSUPPORT,
	      "errno %d", errno);
}

/* The table, the query of one GID and sysfs give the same answer. */
static void gid_tables_agree(struct vt *t)
{
	struct ibv_gid_entry *table, entry;
	const char *dev = ibv_get_device_name(t->a.ctx->device);
	int len = t->a.port.gid_tbl_len, nr, seen = 0;
	char path[200], line[64];
	FILE *f;

	table = calloc(len, sizeof(*table));
	VT_OK(table, "no memory");
	nr = ibv_query_gid_table(t->a.ctx, table, len, 0);
	VT_OK(nr > 0, "%d", nr);
	VT_EQ(ibv_query_gid_table(t->a.ctx, table, 0, 0), -EINVAL);
	VT_EQ(ibv_query_gid_table(t->a.ctx, table, len, 1), -EINVAL);
	VT_EQ(ibv_query_gid_ex(t->a.ctx, VT_PORT, len, &entry, 0), EINVAL);
	for (int i = 0; i < len; i++) {
		int rc = ibv_query_gid_ex(t->a.ctx, VT_PORT, i, &entry, 0);

		if (rc) {
			VT_EQ(rc, ENODATA);
			continue;
		}
		VT_OK(seen < nr, "more than %d", nr);
		VT_EQ(table[seen].gid_index, i);
		VT_EQ(table[seen].gid_type, IBV_GID_TYPE_ROCE_V2);
		VT_EQ(table[seen].ndev_ifindex, entry.ndev_ifindex);
		VT_OK(!memcmp(&table[seen].gid, &entry.gid, sizeof(entry.gid)),
		      "GID %d", i);
		seen++;
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/"
			 "1/gid_attrs/types/%d", dev, i);
		f = fopen(path, "r");
		if (!f)
			continue;
		VT_OK(fgets(line, sizeof(line), f), "%s", path);
		fclose(f);
		VT_OK(!strncmp(line, "RoCE v2", 7), "%s", line);
	}
	VT_EQ(seen, nr);
	free(table);
}

/* UCX posts as many receives as creation says there is room for. */
static void srq_room_as_granted(struct vt *t)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 4095, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(t->b.pd, &init);
	struct ibv_recv_wr *bad, wr = {};
	struct ibv_srq_attr attr;

	VT_OK(srq, "%s", strerror(errno));
	VT_OK(init.attr.max_wr >= 4095, "%u granted", init.attr.max_wr);
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.max_wr, init.attr.max_wr);
	VT_OK(attr.max_sge >= 1, "%u", attr.max_sge);
	for (uint32_t i = 0; i < init.attr.max_wr; i++)
		VT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	VT_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	VT_EQ(ibv_destroy_srq(srq), 0);
}

/*
 * UCX frees a queue pair of an SRQ when its last work request is known to be
 * done: the event comes for one that failed by itself, too, and once.
 */
static void last_wqe_after_failure(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->a, 16, 1, 0);
	struct vt_opt o = { .srq = { srq, NULL } };
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, IBV_ACCESS_LOCAL_WRITE);
	struct vt_pair *p = vt_pair(t, &o);

	vt_send(p->qp[0], &(struct vt_wr){ .id = 1, .local = s, .len = 64,
					   .remote = d });
	vt_expect(p->scq[0], 1, IBV_WC_REM_ACCESS_ERR);
	VT_OK(vt_async(&t->a, IBV_EVENT_QP_LAST_WQE_REACHED) == p->qp[0],
	      "other QP");
	vt_to(p->qp[0], IBV_QPS_ERR);
	VT_OK(!vt_async_pending(&t->a, 50), "said twice");
}

/* libfabric sets the RNR timer of a connected queue pair, and nothing else. */
static void rnr_timer_while_connected(struct vt *t)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = 20 }, seen;
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_qp_init_attr init;

	VT_EQ(ibv_modify_qp(p->qp[1], &attr, IBV_QP_MIN_RNR_TIMER), 0);
	VT_EQ(ibv_query_qp(p->qp[1], &seen, IBV_QP_MIN_RNR_TIMER |
			   IBV_QP_STATE, &init), 0);
	VT_EQ(seen.min_rnr_timer, 20);
	VT_EQ(seen.qp_state, IBV_QPS_RTS);
}

/* UCX flushes by a WRITE of nothing, with a key that is none, inline. */
static void empty_write_flushes(struct vt *t)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 2, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
	};
	struct vt_mem *s = vt_mem(&t->a, 3000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 3000, VT_ALL);
	struct vt_opt o = { .inl = 64 };
	struct vt_pair *p = vt_pair(t, &o);

	vt_fill(s, 0, 3000, 1);
	vt_send(p->qp[0], &(struct vt_wr){ .id = 1, .local = s, .len = 3000,
					   .remote = d });
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	vt_verify(d, 0, 3000, 1);
}

/* UCX and libfabric ask libraries of vendors whether the device is theirs. */
static void other_vendors_decline(struct vt *t)
{
	static const char *const names[][2] = {
		{ "libmlx5.so.1", "mlx5dv_is_supported" },
		{ "libefa.so.1", "efadv_query_device" },
	};
	bool (*is_mlx5)(struct ibv_device *dev);
	int (*query)(struct ibv_context *ctx, void *attr, uint32_t len);
	char attr[512] = {};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		void *lib = dlopen(names[i][0], RTLD_NOW);
		void *sym = lib ? dlsym(lib, names[i][1]) : NULL;

		if (!sym) {
			vt_note("no %s", names[i][0]);
			continue;
		}
		if (!i) {
			memcpy(&is_mlx5, &sym, sizeof(sym));
			VT_OK(!is_mlx5(t->a.ctx->device), "taken for mlx5");
			continue;
		}
		memcpy(&query, &sym, sizeof(sym));
		VT_OK(query(t->a.ctx, attr, sizeof(attr)), "%s", names[i][1]);
	}
}

/*
 * Bindings for other languages have one type for the flags of regions, queue
 * pairs and windows, and one default: flags that mean nothing here are passed
 * over, as rdma_rxe and mlx5 do.
 */
static void one_set_of_flags(struct vt *t)
{
	int access = VT_ALL | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING;
	struct vt_opt o = { .access = access };
	struct vt_mem *d = vt_mem(&t->a, 64, access);
	struct vt_mem *s = vt_mem(&t->b, 64, access);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct vt_pair *p;
	struct vt_win w;

	if (t->arg)
		o.access |= IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;
	p = vt_pair(t, &o);
	VT_EQ(ibv_query_qp(p->qp[0], &attr, IBV_QP_ACCESS_FLAGS, &init), 0);
	VT_EQ(attr.qp_access_flags & VT_ALL, VT_ALL);
	for (int type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		w = vt_bound(p, type, d, 0, 64, o.access);
		vt_fill(s, 0, 64, type);
		vt_win_send(p, IBV_WR_RDMA_WRITE, &w, 0, s, 64);
		vt_expect(p->scq[1], 0, IBV_WC_SUCCESS);
		vt_verify(d, 0, 64, type);
	}
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("largest_inline_is_found_rc", largest_inline_is_found,
		    IBV_QPT_RC),
	VT_CASE_ARG("largest_inline_is_found_ud", largest_inline_is_found,
		    IBV_QPT_UD),
	VT_CASE_ARG("largest_inline_is_found_xrc", largest_inline_is_found,
		    IBV_QPT_XRC_SEND),
	VT_CASE_ARG("granted_inline_is_usable_rc", granted_inline_is_usable,
		    IBV_QPT_RC),
	VT_CASE_ARG("granted_inline_is_usable_ud", granted_inline_is_usable,
		    IBV_QPT_UD),
	VT_CASE_ARG("query_says_what_was_granted_rc",
		    query_says_what_was_granted, IBV_QPT_RC),
	VT_CASE_ARG("query_says_what_was_granted_ud",
		    query_says_what_was_granted, IBV_QPT_UD),
	VT_CASE(query_says_who_the_peer_is),
	VT_CASE(advertised_reads_at_once),
	VT_CASE(attributes_looked_for),
	VT_CASE(extended_cq_polled_plainly),
	VT_CASE(extended_cq_falls_back),
	VT_CASE(completion_read_by_field),
	VT_CASE(whole_address_space),
	VT_CASE(relaxed_ordering),
	VT_CASE_ARG("relaxed_ordering_on_demand", relaxed_ordering,
		    IBV_ACCESS_ON_DEMAND),
	VT_CASE(dmabuf_probed),
	VT_CASE(gid_tables_agree),
	VT_CASE(srq_room_as_granted),
	VT_CASE(last_wqe_after_failure),
	VT_CASE(rnr_timer_while_connected),
	VT_CASE(empty_write_flushes),
	VT_CASE(other_vendors_decline),
	VT_CASE_ARG("one_set_of_flags", one_set_of_flags, 0),
	VT_CASE_ARG("one_set_of_flags_more", one_set_of_flags, 1),
};

VT_MAIN(cases)
