// SPDX-License-Identifier: GPL-2.0
/*
 * usage: load SYSTEM TOPOLOGY DEVICE DEVICE BYTES
 *
 * Do a known amount of work between two RDMA devices, or on one if both are
 * the same, with marks for the plugin around it; inside a guest, called by
 * memory.sh and cards.sh. Long messages have BYTES. One process plays both sides and polls without sleeping, so that
 * what the kernel does is only what the work needs.
 *
 * For each window one line is printed: system, topology, workload, bytes of a
 * message, messages.
 */
#include <arpa/inet.h>
#include <err.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "long.h"
#include "mark.h"

#define MAX_LIST	32
#define RECV_DEPTH	256
#define BUFFER_LEN	LONG_MAX_LEN
#define LONG		0
#define BUFFER_ALIGN	4096
#define PATIENCE_SECS	60
#define NEXT_TICK_US	20000
/*
 * HROCE_LOOKUP_SLOTS: two queue pairs, or regions, of one device that share a slot
 * cost a look-up each time, and one device has both sides in some topologies.
 */
#define SLOTS		64

enum { A, B, NR_SIDES };

/**
 * struct workload - what is measured in one window
 * @name: in the table
 * @opcode: what A posts
 * @size: bytes of a message, or LONG
 * @list: messages posted by one call
 * @depth: most messages under way; a multiple of @list
 * @warm: messages before the window; caches and queues are filled then
 * @count: messages in the window
 */
struct workload {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t size;
	uint32_t list;
	uint32_t depth;
	uint32_t warm;
	uint32_t count;
};

static const struct workload workloads[] = {
	{ "write", IBV_WR_RDMA_WRITE, LONG, 1, 16, 0, 0 },
	{ "read", IBV_WR_RDMA_READ, LONG, 1, 8, 0, 0 },
	{ "write", IBV_WR_RDMA_WRITE, 64, 1, 32, 256, 1024 },
	{ "send", IBV_WR_SEND, 64, 1, 32, 256, 1024 },
	{ "send_list", IBV_WR_SEND, 64, MAX_LIST, 64, 512, 2048 },
	{ "write_list", IBV_WR_RDMA_WRITE, 64, MAX_LIST, 64, 512, 2048 },
};

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	union ibv_gid gid;
	uint32_t gid_idx;
	enum ibv_mtu mtu;
};

static struct side sides[NR_SIDES];

/* The first RoCEv2 address that is an IPv4 one. */
static void find_gid(struct side *s)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;
	uint32_t i;

	for (i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(s->ctx, 1, i, &entry, 0))
			continue;
		if (entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    memcmp(entry.gid.raw, ipv4, sizeof(ipv4)))
			continue;
		s->gid = entry.gid;
		s->gid_idx = i;
		return;
	}
	errx(1, "%s: no IPv4 address", ibv_get_device_name(s->ctx->device));
}

/* Others of the device are registered, so that their keys are not given again. */
static void register_buffer(struct side *s, void *buf)
{
	const struct ibv_mr *other = sides[A].mr;

	do {
		s->mr = ibv_reg_mr(s->pd, buf, BUFFER_LEN,
				   IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
		if (!s->mr)
			err(1, "ibv_reg_mr");
	} while (other && (s->mr->lkey >> 8) % SLOTS ==
			  (other->lkey >> 8) % SLOTS);
}

static void open_side(struct side *s, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	void *buf;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			s->ctx = ibv_open_device(list[i]);
	if (!s->ctx)
		errx(1, "%s: no such device", name);
	find_gid(s);
	if (ibv_query_port(s->ctx, 1, &port))
		err(1, "%s: ibv_query_port", name);
	s->mtu = port.active_mtu;
	s->pd = ibv_alloc_pd(s->ctx);
	buf = aligned_alloc(BUFFER_ALIGN, BUFFER_LEN);
	if (!s->pd || !buf)
		errx(1, "%s: no memory", name);
	memset(buf, 0x5a, BUFFER_LEN);
	register_buffer(s, buf);
	ibv_free_device_list(list);
}

static void make_qp(struct side *s)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 128,
			.max_recv_wr = RECV_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	s->cq = ibv_create_cq(s->ctx, 1024, NULL, NULL, 0);
	if (!s->cq)
		err(1, "ibv_create_cq");
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	while (1) {
		struct ibv_qp *before = s->qp;

		s->qp = ibv_create_qp(s->pd, &init);
		if (!s->qp)
			err(1, "ibv_create_qp");
		if (before)
			ibv_destroy_qp(before);
		if (s == &sides[A] || (s->qp->qp_num - sides[A].qp->qp_num) %
				      SLOTS)
			break;
	}
}

static void connect_qp(struct side *s, const struct side *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
		.path_mtu = s->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 8,
		.max_rd_atomic = 8,
		.min_rnr_timer = 1,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = s->gid_idx,
				.hop_limit = 64,
			},
		},
	};
	int ret;

	ret = ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (!ret) {
		attr.qp_state = IBV_QPS_RTR;
		ret = ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
				    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
	}
	if (!ret) {
		attr.qp_state = IBV_QPS_RTS;
		ret = ibv_modify_qp(s->qp, &attr, IBV_QP_STATE |
				    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC);
	}
	if (ret)
		errx(1, "ibv_modify_qp: %s", strerror(ret));
}

static void post_recvs(const struct workload *w, uint32_t nr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)sides[B].mr->addr,
		.length = w->size,
		.lkey = sides[B].mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	while (nr--)
		if (ibv_post_recv(sides[B].qp, &wr, &bad))
			errx(1, "ibv_post_recv");
}

/* Post @w->list messages; only the last of them is completed on this side. */
static void post_list(const struct workload *w)
{
	const struct ibv_mr *from = sides[A].mr, *to = sides[B].mr;
	struct ibv_send_wr wr[MAX_LIST], *bad;
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->addr,
		.length = w->size,
		.lkey = from->lkey,
	};
	uint32_t i;

	for (i = 0; i < w->list; i++) {
		bool last = i == w->list - 1;

		wr[i] = (struct ibv_send_wr) {
			.next = last ? NULL : &wr[i + 1],
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = w->opcode,
			.send_flags = last ? IBV_SEND_SIGNALED : 0,
			.wr.rdma.remote_addr = (uintptr_t)to->addr,
			.wr.rdma.rkey = to->rkey,
		};
	}
	if (ibv_post_send(sides[A].qp, wr, &bad))
		errx(1, "ibv_post_send");
}

static uint32_t poll(struct side *s)
{
	struct ibv_wc wc[64];
	int i, n;

	n = ibv_poll_cq(s->cq, 64, wc);
	for (i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			errx(1, "completion: %s",
			     ibv_wc_status_str(wc[i].status));
	if (n < 0)
		errx(1, "ibv_poll_cq");
	return n;
}

static void move(const struct workload *w, uint32_t nr)
{
	bool recvs = w->opcode == IBV_WR_SEND;
	uint32_t posted = 0, sent = 0, received = recvs ? 0 : nr;
	time_t end = time(NULL) + PATIENCE_SECS;
	uint32_t n, idle = 0;

	while (sent < nr || received < nr) {
		while (posted < nr && posted - sent < w->depth) {
			post_list(w);
			posted += w->list;
		}
		n = poll(&sides[A]);
		sent += n * w->list;
		idle = n ? 0 : idle + 1;
		if (recvs) {
			n = poll(&sides[B]);
			received += n;
			post_recvs(w, n);
		}
		if (idle && !(idle & 0xfffff) && time(NULL) > end)
			errx(1, "%s: %u of %u sent", w->name, sent, nr);
	}
}

static void run(const struct workload *w)
{
	int i;

	for (i = 0; i < NR_SIDES; i++)
		make_qp(&sides[i]);
	for (i = 0; i < NR_SIDES; i++)
		connect_qp(&sides[i], &sides[!i]);
	if (w->opcode == IBV_WR_SEND)
		post_recvs(w, RECV_DEPTH);
	/* In the tick that a route's cache begins in, nothing stays there. */
	usleep(NEXT_TICK_US);
	move(w, w->warm);
	mark_begin();
	move(w, w->count);
	mark_end();
	for (i = 0; i < NR_SIDES; i++)
		if (ibv_destroy_qp(sides[i].qp) || ibv_destroy_cq(sides[i].cq))
			errx(1, "cannot destroy the queue pair");
		else
			sides[i].qp = NULL;
}

int main(int argc, char **argv)
{
	struct workload w;
	uint32_t bytes;
	unsigned int i;

	if (argc != 6)
		errx(2, "usage: load SYSTEM TOPOLOGY DEVICE DEVICE BYTES");
	bytes = long_len(argv[5]);
	for (i = 0; i < NR_SIDES; i++)
		open_side(&sides[i], argv[3 + i]);
	for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		w = workloads[i];
		if (w.size == LONG) {
			w.size = bytes;
			w.warm = long_warm(bytes);
			w.count = long_count(bytes);
		}
		run(&w);
		printf("%s\t%s\t%s\t%u\t%u\n", argv[1], argv[2],
		       w.name, w.size, w.count);
		fflush(stdout);
	}
	return 0;
}
