// SPDX-License-Identifier: GPL-2.0
/* Unreliable datagrams: addressing, GRH, keys, multicast. */
#include <arpa/inet.h>

#include "vt.h"

/* A UD pair whose sends complete and whose receives have room for the GRH. */
static struct vt_pair *ud_pair(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD, .inl = 256 };

	return vt_pair(t, &o);
}

static void datagram(struct vt_pair *p, const struct vt_wr *w)
{
	struct vt_wr v = *w;

	v.ah = v.ah ? v.ah : p->ah[0];
	v.qpn = v.qpn ? v.qpn : p->qp[1]->qp_num;
	v.flags |= IBV_SEND_SIGNALED;
	vt_send(p->qp[0], &v);
	vt_expect(p->scq[0], v.id, IBV_WC_SUCCESS);
}

static void lengths(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	size_t mtu = vt_mtu_bytes(p->opt.mtu);
	const size_t len[] = { 0, 1, 3, 4, 5, 64, 255, 256, mtu - 1, mtu };
	struct vt_mem *s = vt_mem(&t->a, mtu, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, mtu + VT_GRH, VT_ALL);

	for (size_t i = 0; i < ARRAY_SIZE(len); i++) {
		struct ibv_wc wc;

		vt_fill(s, 0, len[i], i);
		vt_recv(p->qp[1], i, d, 0, mtu + VT_GRH);
		datagram(p, &(struct vt_wr){
			.op = i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
			.id = i, .local = s, .len = len[i], .imm = 77 + i,
			.flags = len[i] <= 256 ? IBV_SEND_INLINE : 0 });
		wc = vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		VT_EQ(wc.opcode, IBV_WC_RECV);
		VT_EQ(wc.byte_len, len[i] + VT_GRH);
		VT_EQ(wc.src_qp, p->qp[0]->qp_num);
		VT_OK(wc.wc_flags & IBV_WC_GRH, "no GRH flag");
		VT_EQ(!!(wc.wc_flags & IBV_WC_WITH_IMM), i % 2);
		if (i % 2)
			VT_EQ(ntohl(wc.imm_data), 77 + i);
		vt_verify(d, VT_GRH, len[i], i);
	}
	vt_verify_guards(d);
}

/* The first 40 bytes hold the GRH: IPv6 header, or 20 bytes and an IPv4 one. */
static void grh_names_sender(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	bool v4 = t->a.gid.raw[10] == 0xff && t->a.gid.raw[11] == 0xff &&
		  !t->a.gid.raw[0];

	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64 });
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	if (v4) {
		VT_EQ(d->buf[20] >> 4, 4);
		VT_EQ(d->buf[29], 17);
		VT_OK(!memcmp(d->buf + 32, t->a.gid.raw + 12, 4), "source");
		VT_OK(!memcmp(d->buf + 36, t->b.gid.raw + 12, 4), "target");
	} else {
		VT_EQ(d->buf[0] >> 4, 6);
		VT_EQ(d->buf[6], 17);
		VT_OK(!memcmp(d->buf + 8, t->a.gid.raw, 16), "source");
		VT_OK(!memcmp(d->buf + 24, t->b.gid.raw, 16), "target");
	}
}

/*
 * A17.4.5.1: whether the frame was IPv4 or IPv6, in wc.sl as ConnectX has it.
 * UCX looks there.
 */
static void completion_tells_ip_version(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct ibv_wc wc;

	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64 });
	wc = vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	VT_EQ(wc.sl, d->buf[0] ? 8 | 1 : 8 | 2);
	VT_EQ(d->buf[wc.sl == 9 ? 0 : 20] >> 4, wc.sl == 9 ? 6 : 4);
}

/* UCX sets the 12 bits above the flow label; they are ignored. */
static void flow_label_too_long(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VT_PORT,
		.grh = { .dgid = t->b.gid, .sgid_index = t->a.gid_idx,
			 .flow_label = ~0u, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(t->a.pd, &attr);

	VT_OK(ah, "%s", strerror(errno));
	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64, .ah = ah });
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	VT_EQ(ibv_destroy_ah(ah), 0);
}

/* An address handle made from a completion reaches the sender. */
static void reply_by_completion(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct vt_mem *r = vt_mem(&t->a, 64 + VT_GRH, VT_ALL);
	struct ibv_wc wc;
	struct ibv_ah *ah;

	vt_fill(s, 0, 64, 3);
	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	vt_recv(p->qp[0], 2, r, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64 });
	wc = vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	ah = ibv_create_ah_from_wc(t->b.pd, &wc, (void *)d->buf, VT_PORT);
	VT_OK(ah, "%s", strerror(errno));
	vt_send(p->qp[1], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 3, .local = d, .off = VT_GRH,
		.len = 64, .ah = ah, .qpn = wc.src_qp,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[1], 3, IBV_WC_SUCCESS);
	vt_expect(p->rcq[0], 2, IBV_WC_SUCCESS);
	vt_verify(r, VT_GRH, 64, 3);
	VT_EQ(ibv_destroy_ah(ah), 0);
}

/* After a datagram that must vanish, an ordinary one is the next received. */
static void only_next_arrives(struct vt_pair *p, struct vt_mem *s,
			      struct vt_mem *d)
{
	vt_fill(s, 0, 64, 99);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND_WITH_IMM, .id = 98, .local = s, .len = 64,
		.imm = 4242 });
	VT_EQ(ntohl(vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS).imm_data), 4242);
	vt_verify(d, VT_GRH, 64, 99);
}

static void wrong_qkey_dropped(struct vt *t)
{
	struct ibv_port_attr before, after;
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);

	VT_EQ(ibv_query_port(t->b.ctx, 1, &before), 0);
	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64,
		.qkey = VT_QKEY + 1 });
	only_next_arrives(p, s, d);
	VT_EQ(ibv_query_port(t->b.ctx, 1, &after), 0);
	VT_EQ(after.qkey_viol_cntr, before.qkey_viol_cntr + 1);
}

static void qkey_top_bit_uses_own(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);

	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64,
		.qkey = 0x80000000u });
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
}

static void unknown_qpn_dropped(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);

	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64,
		.qpn = 0xfffff0 });
	only_next_arrives(p, s, d);
}

static void no_receive_posted_dropped(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);

	for (int i = 0; i < 10; i++)
		datagram(p, &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s, .len = 64 });
	vt_quiet(p->rcq[1], 20);
	vt_recv(p->qp[1], 1, d, 0, 64 + VT_GRH);
	only_next_arrives(p, s, d);
}

/* C10-93.1.1: too long for the port, nothing is sent, no error is required. */
static void longer_than_mtu_not_sent(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	size_t len = vt_mtu_bytes(t->a.port.active_mtu) + 1;
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 2 * len, VT_ALL);
	int rc;

	vt_recv(p->qp[1], 1, d, 0, 2 * len);
	rc = vt_try_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = len,
		.ah = p->ah[0], .qpn = p->qp[1]->qp_num,
		.flags = IBV_SEND_SIGNALED });
	if (!rc) {
		struct ibv_wc wc = vt_poll(p->scq[0]);

		VT_OK(wc.status == IBV_WC_SUCCESS ||
		      wc.status == IBV_WC_LOC_LEN_ERR, "%s",
		      ibv_wc_status_str(wc.status));
	} else {
		VT_OK(rc == EINVAL || rc == EMSGSIZE, "%d", rc);
	}
	vt_quiet(p->rcq[1], 20);
}

/* Too small a receive buffer: that receive fails, or the packet vanishes. */
static void receive_too_small(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct ibv_wc wc;

	vt_recv(p->qp[1], 1, d, 0, VT_GRH + 10);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64 });
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = s, .len = 10 });
	wc = vt_poll(p->rcq[1]);
	VT_OK(wc.status == IBV_WC_LOC_LEN_ERR ||
	      (wc.status == IBV_WC_SUCCESS && wc.byte_len == VT_GRH + 10),
	      "%s, %u bytes", ibv_wc_status_str(wc.status), wc.byte_len);
	vt_verify_guards(d);
}

/* One queue pair reached from several, told apart by source. */
static void many_to_one(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct vt_pair *more[4];

	for (int i = 0; i < 4; i++) {
		more[i] = ud_pair(t);
		vt_recv(p->qp[1], i, d, 0, 64 + VT_GRH);
		vt_send(more[i]->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s, .len = 8,
			.ah = p->ah[0], .qpn = p->qp[1]->qp_num,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(more[i]->scq[0], i, IBV_WC_SUCCESS);
		VT_EQ(vt_expect(p->rcq[1], i, IBV_WC_SUCCESS).src_qp,
		      more[i]->qp[0]->qp_num);
	}
}

/* Every attached queue pair gets a copy, nobody else does. */
static void multicast_reaches_members(struct vt *t)
{
	struct vt_pair *p = ud_pair(t), *q = ud_pair(t), *other = ud_pair(t);
	union ibv_gid g = vt_group(t, 5);
	struct vt_mem *s = vt_mem(&t->a, 1000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 3 * (1000 + VT_GRH), VT_ALL);
	struct vt_pair *to[3] = { p, q, other };
	struct ibv_ah *ah = vt_ah(&t->a, &g);
	long long unwanted = vt_counter(&t->a, "rx_drop_mcast");

	for (int i = 0; i < 3; i++)
		vt_recv(to[i]->qp[1], i, d, i * (1000 + VT_GRH),
			1000 + VT_GRH);
	VT_EQ(ibv_attach_mcast(p->qp[1], &g, 0), 0);
	VT_EQ(ibv_attach_mcast(q->qp[1], &g, 0), 0);
	vt_fill(s, 0, 1000, 6);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 1000, .ah = ah,
		.qpn = 0xffffff });
	for (int i = 0; i < 2; i++) {
		vt_expect(to[i]->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(d, i * (1000 + VT_GRH) + VT_GRH, 1000, 6);
	}
	vt_quiet(other->rcq[1], 20);
	/* The sender's link makes no copy if it has no member. */
	VT_EQ(vt_counter(&t->a, "rx_drop_mcast"), unwanted);
	VT_EQ(ibv_detach_mcast(p->qp[1], &g, 0), 0);
	vt_recv(p->qp[1], 9, d, 0, 1000 + VT_GRH);
	vt_recv(q->qp[1], 9, d, 0, 1000 + VT_GRH);
	datagram(p, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = s, .len = 1000, .ah = ah,
		.qpn = 0xffffff });
	vt_expect(q->rcq[1], 9, IBV_WC_SUCCESS);
	vt_quiet(p->rcq[1], 20);
	VT_EQ(ibv_detach_mcast(q->qp[1], &g, 0), 0);
}

static void multicast_many_groups(struct vt *t)
{
	struct vt_pair *p = ud_pair(t);
	union ibv_gid g;
	int n;

	for (n = 0; n < 16; n++) {
		g = vt_group(t, 20 + n);
		VT_EQ(ibv_attach_mcast(p->qp[1], &g, 0), 0);
	}
	for (n = 0; n < 16; n++) {
		g = vt_group(t, 20 + n);
		VT_EQ(ibv_detach_mcast(p->qp[1], &g, 0), 0);
	}
}

static const struct vt_case cases[] = {
	VT_CASE(lengths),
	VT_CASE(grh_names_sender),
	VT_CASE(completion_tells_ip_version),
	VT_CASE(flow_label_too_long),
	VT_CASE(reply_by_completion),
	VT_CASE(wrong_qkey_dropped),
	VT_CASE(qkey_top_bit_uses_own),
	VT_CASE(unknown_qpn_dropped),
	VT_CASE(no_receive_posted_dropped),
	VT_CASE(longer_than_mtu_not_sent),
	VT_CASE(receive_too_small),
	VT_CASE(many_to_one),
	VT_CASE(multicast_reaches_members),
	VT_CASE(multicast_many_groups),
};

VT_MAIN(cases)
