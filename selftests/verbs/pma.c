// SPDX-License-Identifier: GPL-2.0
/*
 * Port counters: the files in ports/1/counters, and the performance management
 * agent that answers MADs at QP1 (IBTA 16.1).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>

#include "vt.h"

#define GSI_QKEY	0x80010000
#define MAD_LEN		256
#define MAX_LEN		1024	/* of a datagram, in tests of lengths */
#define REPLIES		64

/* Status of a MAD (13.4.7). */
#define BAD_VERSION	0x04
#define BAD_METHOD	0x08
#define BAD_ATTRIBUTE	0x0c
#define BAD_VALUE	0x1c

#define GET		0x01
#define SET		0x02
#define GET_RESP	0x81

#define CLASS_PORT_INFO	0x0001
#define PORT_COUNTERS	0x0012
#define PORT_COUNTERS_EXT	0x001d

/* A MAD with its common header; the attribute begins at offset 64. */
struct mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint16_t class_specific;
	uint64_t tid;
	uint16_t attr_id;
	uint16_t reserved;
	uint32_t attr_mod;
	uint8_t data[232];
};

_Static_assert(sizeof(struct mad) == MAD_LEN, "a MAD has 256 bytes");

/**
 * struct gmp - a queue pair that talks to QP1 of the other end
 * @cq: of the queue pair
 * @qp: UD, with the Q_Key of QP1
 * @ah: the other end
 * @out: the next MAD to send
 * @in: room for @REPLIES answers, with GRH
 */
struct gmp {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct vt_mem *out;
	struct vt_mem *in;
};

static long long read_number(const char *path)
{
	char text[32] = "";
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY);
	VT_OK(fd >= 0, "%s: %m", path);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	VT_OK(n > 0 && text[0] >= '0' && text[0] <= '9', "%s: %s", path, text);
	return atoll(text);
}

/* A file of ports/1/counters. */
static long long counter(const struct vt_end *e, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/%d/counters/%s",
		 ibv_get_device_name(e->ctx->device), VT_PORT, name);
	return read_number(path);
}

/* Both ends, or the one link that is both. */
static long long both(const struct vt *t, const char *name)
{
	return counter(&t->a, name) +
	       (vt_one_link(t) ? 0 : counter(&t->b, name));
}

static long long both_hw(const struct vt *t, const char *name)
{
	return vt_settled(&t->a, name) +
	       (vt_one_link(t) ? 0 : vt_settled(&t->b, name));
}

static void only_hroce(const struct vt *t)
{
	if (!vt_is_hroce(&t->a) || !vt_is_hroce(&t->b))
		vt_skip("the agent of hroce");
}

/* The header of IP and UDP. */
static unsigned int network_len(const struct vt *t)
{
	return (t->a.gid.raw[0] ? 40 : 20) + 8;
}

static void line_is(const struct vt_end *e, const char *file, const char *want)
{
	char path[512], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s",
		 ibv_get_device_name(e->ctx->device), file);
	f = fopen(path, "r");
	VT_OK(f, "%s: %m", path);
	VT_OK(fgets(text, sizeof(text), f), "%s is empty", path);
	fclose(f);
	text[strcspn(text, "\n")] = 0;
	VT_OK(!strcmp(text, want), "%s: %s", path, text);
}

/* The files that tools of monitoring read of every RDMA device. */
static void files(struct vt *t)
{
	static const char *const names[] = {
		"VL15_dropped", "excessive_buffer_overrun_errors",
		"link_downed", "link_error_recovery",
		"local_link_integrity_errors", "multicast_rcv_packets",
		"multicast_xmit_packets", "port_rcv_constraint_errors",
		"port_rcv_data", "port_rcv_errors", "port_rcv_packets",
		"port_rcv_remote_physical_errors",
		"port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
		"port_xmit_data", "port_xmit_discards", "port_xmit_packets",
		"port_xmit_wait", "symbol_error", "unicast_rcv_packets",
		"unicast_xmit_packets",
	};

	only_hroce(t);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		counter(&t->a, names[i]);
	line_is(&t->a, "hca_type", "hroce");
	line_is(&t->a, "board_id", "software");
}

/*
 * WRITEs, whose packets and acknowledgements are known to the byte: network
 * headers, BTH, RETH in the first, payload and pad, ICRC.
 */
static void equal_the_traffic(struct vt *t)
{
	static const size_t lens[] = { 0, 1, 4096, 10007, 65536 };
	struct vt_opt o = { .timeout = -1 };
	struct vt_pair *p = vt_pair(t, &o);
	size_t mtu = vt_mtu_bytes(p->opt.mtu);
	struct vt_mem *s = vt_mem(&t->a, 65536, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 65536, VT_ALL);
	const unsigned int packet = network_len(t) + 12 + 4;
	long long packets = 0, bytes = 0, acks, data[2], pkts[2], uni[2];

	only_hroce(t);
	acks = both_hw(t, "acks_sent");
	data[0] = both(t, "port_xmit_data");
	data[1] = both(t, "port_rcv_data");
	pkts[0] = both(t, "port_xmit_packets");
	pkts[1] = both(t, "port_rcv_packets");
	uni[0] = both(t, "unicast_xmit_packets");
	uni[1] = both(t, "unicast_rcv_packets");
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		size_t n = lens[i] ? (lens[i] + mtu - 1) / mtu : 1;

		vt_send(p->qp[0], &(struct vt_wr){ .id = i, .local = s,
			.len = lens[i], .remote = d,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		packets += n;
		bytes += n * packet + 16 + (lens[i] + 3) / 4 * 4;
	}
	acks = both_hw(t, "acks_sent") - acks;
	VT_OK(acks > 0, "%lld acknowledgements", acks);
	packets += acks;
	bytes += acks * (packet + 4);
	VT_EQ(both(t, "port_xmit_packets") - pkts[0], packets);
	VT_EQ(both(t, "port_rcv_packets") - pkts[1], packets);
	VT_EQ(both(t, "unicast_xmit_packets") - uni[0], packets);
	VT_EQ(both(t, "unicast_rcv_packets") - uni[1], packets);
	/* Each packet is a multiple of 4 bytes. */
	VT_EQ((both(t, "port_xmit_data") - data[0]) * 4, bytes);
	VT_EQ((both(t, "port_rcv_data") - data[1]) * 4, bytes);
}

static void multicast(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	union ibv_gid g = vt_group(t, 9);
	struct ibv_ah *ah = vt_ah(&t->a, &g);
	long long sent, rcvd, uni;

	only_hroce(t);
	VT_EQ(ibv_attach_mcast(p->qp[1], &g, 0), 0);
	sent = counter(&t->a, "multicast_xmit_packets");
	rcvd = counter(&t->b, "multicast_rcv_packets");
	uni = both(t, "unicast_xmit_packets") + both(t, "unicast_rcv_packets");
	for (int i = 0; i < 3; i++) {
		vt_recv(p->qp[1], i, d, 0, 64 + VT_GRH);
		vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND, .id = i,
			.local = s, .len = 64, .ah = ah, .qpn = 0xffffff,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
	VT_EQ(counter(&t->a, "multicast_xmit_packets"), sent + 3);
	VT_EQ(counter(&t->b, "multicast_rcv_packets"), rcvd + 3);
	VT_EQ(both(t, "unicast_xmit_packets") +
	      both(t, "unicast_rcv_packets"), uni);
	VT_EQ(ibv_detach_mcast(p->qp[1], &g, 0), 0);
}

/* Names that mlx5 has, too: their events, and the counters they are made of. */
static void names_of_mlx5(struct vt *t)
{
	static const struct {
		const char *name, *a, *b;
	} sums[] = {
		{ "duplicate_request", "duplicates", NULL },
		{ "local_ack_timeout_err", "timeouts", NULL },
		{ "out_of_buffer", "rnr_no_wqe", "rx_drop_no_wqe" },
		{ "out_of_sequence", "nak_seq_sent", "rx_drop_psn" },
		{ "packet_seq_err", "nak_seq_rcvd", NULL },
		{ "req_cqe_error", "requester_errors", NULL },
		{ "rnr_nak_retry_err", "rnr_rcvd", NULL },
		{ "rp_cnp_ignored", "rx_drop_cnp", NULL },
		{ "rx_icrc_encapsulated", "rx_drop_icrc", NULL },
	};
	struct vt_opt o = { .rnr = 2 };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64, IBV_ACCESS_LOCAL_WRITE);
	long long writes, reads, atomics, buffer, req, resp;

	only_hroce(t);
	writes = vt_settled(&t->b, "rx_write_requests");
	reads = vt_counter(&t->b, "rx_read_requests");
	atomics = vt_counter(&t->b, "rx_atomic_requests");
	buffer = vt_counter(&t->b, "out_of_buffer");
	resp = vt_counter(&t->b, "resp_cqe_error");
	req = vt_counter(&t->a, "req_cqe_error");
	for (int i = 0; i < 2; i++)
		VT_EQ(vt_run(p, (struct vt_wr){ .local = s, .len = 64,
						.remote = d }), IBV_WC_SUCCESS);
	for (int i = 0; i < 3; i++)
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ,
						.local = s, .len = 64,
						.remote = d }), IBV_WC_SUCCESS);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_ATOMIC_FETCH_AND_ADD,
					.local = s, .len = 8, .remote = d }),
	      IBV_WC_SUCCESS);
	/* A SEND that is too long for its receive entry. */
	vt_recv(p->qp[1], 1, r, 0, 32);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = s,
					.len = 64 }),
	      IBV_WC_REM_INV_REQ_ERR);
	/* And one without any: refused three times. */
	VT_EQ(vt_run(q, (struct vt_wr){ .op = IBV_WR_SEND, .local = s,
					.len = 64 }),
	      IBV_WC_RNR_RETRY_EXC_ERR);
	VT_EQ(vt_settled(&t->b, "rx_write_requests") - writes, 2);
	VT_EQ(vt_counter(&t->b, "rx_read_requests") - reads, 3);
	VT_EQ(vt_counter(&t->b, "rx_atomic_requests") - atomics, 1);
	VT_EQ(vt_counter(&t->b, "out_of_buffer") - buffer, 3);
	VT_EQ(vt_counter(&t->b, "resp_cqe_error") - resp, 1);
	VT_EQ(vt_counter(&t->a, "req_cqe_error") - req, 2);
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		long long sum = vt_counter(&t->b, sums[i].a);

		if (sums[i].b)
			sum += vt_counter(&t->b, sums[i].b);
		VT_OK(vt_counter(&t->b, sums[i].name) == sum, "%s is not %lld",
		      sums[i].name, sum);
	}
}

/* MADs, from a queue pair of ours: as from the network. */

static struct gmp gmp_make(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD, .rq = REPLIES };
	struct ibv_qp_attr attr = { .qkey = GSI_QKEY };
	struct gmp g;

	only_hroce(t);
	vt_opt_defaults(t, &o);
	g.cq = vt_cq(&t->a, 2 * REPLIES, NULL);
	g.qp = vt_qp(&t->a, &o, g.cq, g.cq, NULL, NULL);
	vt_to_init(&t->a, g.qp, &o);
	vt_to_rtr(&t->a, g.qp, &o, &t->b.gid, 0, 0);
	vt_to_rts(g.qp, &o, 0);
	VT_EQ(ibv_modify_qp(g.qp, &attr, IBV_QP_QKEY), 0);
	g.ah = vt_ah(&t->a, &t->b.gid);
	g.out = vt_mem(&t->a, MAX_LEN, VT_ALL);
	g.in = vt_mem(&t->a, REPLIES * (MAD_LEN + VT_GRH), VT_ALL);
	return g;
}

static void gmp_recv(struct gmp *g, int slot)
{
	size_t len = MAD_LEN + VT_GRH;

	vt_recv(g->qp, slot, g->in, slot * len, len);
}

static struct mad gmp_reply(const struct gmp *g, int slot)
{
	struct mad m;

	memcpy(&m, g->in->buf + slot * (MAD_LEN + VT_GRH) + VT_GRH, MAD_LEN);
	return m;
}

static struct mad gmp_request(uint16_t attr_id, uint64_t tid)
{
	struct mad m = {
		.base_version = 1,
		.mgmt_class = 4,
		.class_version = 1,
		.method = GET,
		.tid = htobe64(tid),
		.attr_id = htons(attr_id),
		.attr_mod = htonl(tid),
	};

	m.data[41] = 1;		/* PortSelect */
	return m;
}

static void gmp_send(struct gmp *g, const struct mad *m, size_t len)
{
	memcpy(g->out->buf, m, MAD_LEN);
	vt_send(g->qp, &(struct vt_wr){ .op = IBV_WR_SEND, .id = REPLIES,
		.local = g->out, .len = len, .ah = g->ah, .qpn = 1,
		.qkey = GSI_QKEY, .flags = IBV_SEND_SIGNALED });
}

/* Send @m and return what comes back. */
static struct mad gmp_ask(struct gmp *g, const struct mad *m)
{
	bool sent = false, rcvd = false;
	struct mad reply;

	gmp_recv(g, 0);
	gmp_send(g, m, MAD_LEN);
	while (!sent || !rcvd) {
		struct ibv_wc wc = vt_poll(g->cq);

		VT_EQ(wc.status, IBV_WC_SUCCESS);
		if (wc.wr_id == REPLIES) {
			sent = true;
			continue;
		}
		rcvd = true;
		VT_EQ(wc.byte_len, MAD_LEN + VT_GRH);
		VT_EQ(wc.src_qp, 1);
	}
	reply = gmp_reply(g, 0);
	VT_EQ(reply.base_version, 1);
	VT_EQ(reply.mgmt_class, 4);
	VT_EQ(reply.method, GET_RESP);
	VT_EQ(be64toh(reply.tid), be64toh(m->tid));
	VT_EQ(ntohs(reply.attr_id), ntohs(m->attr_id));
	VT_EQ(ntohl(reply.attr_mod), ntohl(m->attr_mod));
	return reply;
}

/* Send @m; nothing comes back before the answer to a good request. */
static void gmp_ignored(struct gmp *g, const struct mad *m, size_t len)
{
	struct mad good = gmp_request(CLASS_PORT_INFO, 4711);

	gmp_send(g, m, len);
	vt_expect(g->cq, REPLIES, IBV_WC_SUCCESS);
	gmp_ask(g, &good);
}

static uint64_t get_be(const struct mad *m, int offset, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | m->data[40 + offset + i];
	return value;
}

static void answers(struct vt *t)
{
	struct gmp g = gmp_make(t);
	struct mad m = gmp_request(CLASS_PORT_INFO, 1), r;
	long long sent, rcvd;

	r = gmp_ask(&g, &m);
	VT_EQ(ntohs(r.status), 0);
	VT_EQ(get_be(&r, 0, 1), 1);
	VT_EQ(get_be(&r, 1, 1), 1);
	VT_EQ(get_be(&r, 2, 2), 0x0200);	/* extended width */

	/* The request itself is in, its answer is not. */
	sent = counter(&t->b, "port_xmit_packets");
	rcvd = counter(&t->b, "port_rcv_packets");
	m = gmp_request(PORT_COUNTERS_EXT, 2);
	r = gmp_ask(&g, &m);
	VT_EQ(ntohs(r.status), 0);
	VT_EQ(get_be(&r, 1, 1), 1);
	VT_EQ(get_be(&r, 24, 8), sent + vt_one_link(t));
	VT_EQ(get_be(&r, 32, 8), rcvd + 1);
	VT_EQ(get_be(&r, 40, 8) + get_be(&r, 56, 8), get_be(&r, 24, 8));
	VT_EQ(get_be(&r, 48, 8) + get_be(&r, 64, 8), get_be(&r, 32, 8));

	m = gmp_request(PORT_COUNTERS, 3);
	r = gmp_ask(&g, &m);
	VT_EQ(ntohs(r.status), 0);
	VT_EQ(get_be(&r, 1, 1), 1);
	VT_EQ(get_be(&r, 32, 4), sent + 1 + 2 * vt_one_link(t));
	VT_EQ(get_be(&r, 36, 4), rcvd + 2 + vt_one_link(t));
	VT_EQ(get_be(&r, 7, 1), counter(&t->b, "link_downed"));
}

static void refusals(struct vt *t)
{
	struct gmp g = gmp_make(t);
	struct mad m;

	m = gmp_request(PORT_COUNTERS, 1);
	m.class_version = 2;
	VT_EQ(ntohs(gmp_ask(&g, &m).status), BAD_VERSION);
	m = gmp_request(PORT_COUNTERS_EXT, 2);
	m.method = SET;
	VT_EQ(ntohs(gmp_ask(&g, &m).status), BAD_METHOD);
	m = gmp_request(0x0010, 3);		/* PortSamplesControl */
	VT_EQ(ntohs(gmp_ask(&g, &m).status), BAD_ATTRIBUTE);
	for (int port = 0; port < 256; port += port ? 127 : 2) {
		m = gmp_request(PORT_COUNTERS, 4);
		m.data[41] = port;
		VT_EQ(ntohs(gmp_ask(&g, &m).status), BAD_VALUE);
	}
}

/* A request that says "reset" leaves the counters as they are. */
static void cannot_be_reset(struct vt *t)
{
	struct gmp g = gmp_make(t);
	struct mad m = gmp_request(PORT_COUNTERS, 1);
	long long before = counter(&t->b, "port_rcv_packets");

	m.method = SET;
	m.data[42] = 0xff;			/* CounterSelect: all */
	m.data[43] = 0xff;
	gmp_ask(&g, &m);
	VT_OK(counter(&t->b, "port_rcv_packets") > before, "was reset");
}

/* The agent answers neither responses nor MADs that are cut short. */
static void ignored(struct vt *t)
{
	struct gmp g = gmp_make(t);
	struct mad m = gmp_request(PORT_COUNTERS, 1);

	m.method = GET_RESP;
	gmp_ignored(&g, &m, MAD_LEN);
	m.method = 0x05;			/* Trap */
	gmp_ignored(&g, &m, MAD_LEN);
	m.method = GET;
	for (size_t len = 0; len < MAD_LEN; len += 51)
		gmp_ignored(&g, &m, len);
}

/* Random MADs; QP1 answers good ones afterwards as before. */
static void fuzz(struct vt *t)
{
	struct gmp g = gmp_make(t);
	struct mad m, good = gmp_request(PORT_COUNTERS_EXT, 0x600d), r;
	const int rounds = 2000;
	int slot;

	vt_srand(20);
	for (slot = 0; slot < REPLIES; slot++)
		gmp_recv(&g, slot);
	for (int i = 0; i < rounds; i++) {
		uint32_t how = vt_rand();
		size_t len = MAD_LEN;
		uint64_t sent = 0;

		for (size_t k = 0; k < MAD_LEN; k++)
			((uint8_t *)&m)[k] = vt_rand();
		m.mgmt_class = how & 7 ? 4 : 9;
		if (how & 0x10)
			m.base_version = 1;
		if (how & 0x20)
			m.class_version = 1;
		if (how & 0x40)
			m.method = how & 0x80 ? GET : SET;
		if (how & 0x100)
			m.attr_id = htons(how & 0x200 ? PORT_COUNTERS :
						       PORT_COUNTERS_EXT);
		if (how & 0x400)
			m.data[41] = 1;
		if (!(how & 0x3000))
			len = vt_rand() % MAX_LEN;
		gmp_send(&g, &m, len);
		while (!sent) {
			struct ibv_wc wc = vt_poll(g.cq);

			if (wc.wr_id == REPLIES) {
				sent = 1;
				continue;
			}
			r = gmp_reply(&g, wc.wr_id);
			VT_OK(r.method & 0x80, "method 0x%x", r.method);
			gmp_recv(&g, wc.wr_id);
		}
	}
	/* While QP1 has no receive entry left, MADs are lost: ask again. */
	for (uint64_t next = 0, end = vt_deadline_us();;) {
		uint64_t now = vt_now_us();
		struct ibv_wc wc;

		VT_OK(now < end, "no answer before the deadline");
		if (now >= next) {
			gmp_send(&g, &good, MAD_LEN);
			next = now + 100000;
		}
		if (!ibv_poll_cq(g.cq, 1, &wc)) {
			usleep(100);
			continue;
		}
		VT_EQ(wc.status, IBV_WC_SUCCESS);
		if (wc.wr_id == REPLIES)
			continue;
		r = gmp_reply(&g, wc.wr_id);
		if (be64toh(r.tid) == 0x600d)
			break;
		gmp_recv(&g, wc.wr_id);
	}
	VT_EQ(ntohs(r.status), 0);
	VT_OK(get_be(&r, 32, 8) > (uint64_t)rounds, "few packets");
}

/* umad, which perfquery uses. */

static int umad_open(const struct vt_end *e)
{
	char path[512], name[64];
	struct dirent *it;
	int fd = -1;
	DIR *dir;

	if (system("modprobe -q ib_umad"))
		vt_note("no module ib_umad");
	dir = opendir("/sys/class/infiniband_mad");
	while (dir && fd < 0 && (it = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_mad/%s/ibdev", it->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		name[0] = 0;
		if (fgets(name, sizeof(name), f) &&
		    strncmp(it->d_name, "umad", 4) == 0) {
			name[strcspn(name, "\n")] = 0;
			snprintf(path, sizeof(path), "/dev/infiniband/%s",
				 it->d_name);
			if (!strcmp(name, ibv_get_device_name(e->ctx->device)))
				fd = open(path, O_RDWR);
		}
		fclose(f);
	}
	if (dir)
		closedir(dir);
	if (fd < 0)
		vt_skip("no umad of %s", ibv_get_device_name(e->ctx->device));
	return fd;
}

static int umad_register(int fd, int class, int qpn)
{
	struct ib_user_mad_reg_req req = {
		.qpn = qpn,
		.mgmt_class = class,
		.mgmt_class_version = 1,
	};

	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req))
		return -errno;
	return req.id;
}

/*
 * A MAD for the other end with its GID is answered. Without a GID, only with a
 * LID as perfquery has it, ib_core refuses to send it; and without QP0 there is
 * no agent for subnet management, which perfquery opens first. arg: the family
 * of the GIDs.
 */
static void umad_needs_a_gid(struct vt *t)
{
	struct {
		struct ib_user_mad_hdr hdr;
		struct mad mad;
	} msg = { .mad = gmp_request(PORT_COUNTERS_EXT, 5) }, reply;
	struct vt_end a = t->a, b = t->b;
	int fd, id;

	only_hroce(t);
	fd = umad_open(&t->a);
	/* The header with pkey_index. */
	VT_EQ(ioctl(fd, IB_USER_MAD_ENABLE_PKEY), 0);
	VT_OK(umad_register(fd, 1, 0) < 0, "there is a QP0");
	id = umad_register(fd, 4, 1);
	VT_OK(id >= 0, "%s", strerror(-id));
	msg.hdr.id = id;
	msg.hdr.timeout_ms = 5000 * vt_scale();
	msg.hdr.qpn = htonl(1);
	msg.hdr.qkey = htonl(GSI_QKEY);
	VT_EQ(write(fd, &msg, sizeof(msg)), -1);
	VT_EQ(errno, EINVAL);

	msg.hdr.grh_present = 1;
	VT_OK(vt_find_gid(&a, t->arg) >= 0 && vt_find_gid(&b, t->arg) >= 0,
	      "no such GID");
	msg.hdr.gid_index = a.gid_idx;
	msg.hdr.hop_limit = 64;
	memcpy(msg.hdr.gid, b.gid.raw, 16);
	VT_OK(write(fd, &msg, sizeof(msg)) == sizeof(msg), "%m");
	VT_EQ(read(fd, &reply, sizeof(reply)), (long long)sizeof(reply));
	VT_EQ(reply.hdr.status, 0);
	VT_EQ(reply.mad.method, GET_RESP);
	VT_EQ(ntohs(reply.mad.status), 0);
	VT_OK(get_be(&reply.mad, 32, 8) > 0, "no packets");
	close(fd);
}

static const struct vt_case cases[] = {
	VT_CASE(files),
	VT_CASE(equal_the_traffic),
	VT_CASE(multicast),
	VT_CASE(names_of_mlx5),
	VT_CASE(answers),
	VT_CASE(refusals),
	VT_CASE(cannot_be_reset),
	VT_CASE(ignored),
	VT_CASE(fuzz),
	VT_CASE_ARG("umad_needs_a_gid", umad_needs_a_gid, 6),
	VT_CASE_ARG("umad_needs_a_gid_ipv4", umad_needs_a_gid, 4),
};

VT_MAIN(cases)
