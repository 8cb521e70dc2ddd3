// SPDX-License-Identifier: GPL-2.0
/*
 * What posting and polling cost on a device.
 *
 *	cost DEVICE ADDRESS
 *
 * A queue pair writes to itself. What is measured is the same number of calls
 * in the same order, whatever the device: 100 posts of one request each; as many
 * polls that find one completion, and one each that finds none. Printed are the
 * nanoseconds of the fastest post with its polls; callgrind can count the
 * instructions of measured_post() and measured_poll().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"

#define NR_ROUNDS	100
#define LEN		64

/**
 * struct loop - a queue pair connected to itself
 * @channel: of @cq
 * @cq: of sends
 * @rcq: of receives, polled by nobody
 * @qp: queue pair
 * @mr: of @buf
 * @buf: what is sent
 */
struct loop {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	unsigned char buf[2 * LEN];
};

static void qp_connect(struct ibv_qp *qp, const union ibv_gid *gid,
		       int gid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = DEVICE_PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		DIE("INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = DEVICE_PORT,
			.grh = { .dgid = *gid, .hop_limit = 64,
				 .sgid_index = gid_index },
		},
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		DIE("RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		DIE("RTS");
}

static void loop_open(struct loop *loop, const char *name, const char *address)
{
	struct ibv_context *context = device_open(name);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	union ibv_gid gid;
	struct ibv_pd *pd;
	int gid_index;

	if (!context)
		DIE("cannot open %s", name);
	gid_index = device_find_gid(context, address, &gid);
	if (gid_index < 0)
		DIE("no GID for %s", address);
	pd = ibv_alloc_pd(context);
	loop->channel = ibv_create_comp_channel(context);
	loop->cq = ibv_create_cq(context, 8, NULL, loop->channel, 0);
	loop->rcq = ibv_create_cq(context, 8, NULL, NULL, 0);
	init.send_cq = loop->cq;
	init.recv_cq = loop->rcq;
	loop->qp = ibv_create_qp(pd, &init);
	loop->mr = ibv_reg_mr(pd, loop->buf, sizeof(loop->buf),
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!loop->qp || !loop->mr)
		DIE("no objects");
	qp_connect(loop->qp, &gid, gid_index);
}

static __attribute__((noinline)) int measured_post(struct ibv_qp *qp,
						   struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(qp, wr, &bad);
}

static __attribute__((noinline)) int measured_poll(struct ibv_cq *cq,
						   struct ibv_wc *wc)
{
	return ibv_poll_cq(cq, 1, wc);
}

static void wait_for_event(struct loop *loop)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(loop->channel, &cq, &context))
		DIE("no event");
	ibv_ack_cq_events(cq, 1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Return: nanoseconds of one post and the polls that belong to it. */
static uint64_t round_trip(struct loop *loop)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)loop->buf, .length = LEN,
		.lkey = loop->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)loop->buf + LEN,
			     .rkey = loop->mr->rkey },
	};
	uint64_t begin, ns;
	struct ibv_wc wc;

	if (ibv_req_notify_cq(loop->cq, 0))
		DIE("req_notify_cq");
	begin = now_ns();
	if (measured_post(loop->qp, &wr))
		DIE("post");
	ns = now_ns() - begin;
	wait_for_event(loop);
	begin = now_ns();
	if (measured_poll(loop->cq, &wc) != 1 || wc.status ||
	    measured_poll(loop->cq, &wc))
		DIE("poll: status %d", wc.status);
	return ns + now_ns() - begin;
}

int main(int argc, char **argv)
{
	static struct loop loop;
	uint64_t ns, best = UINT64_MAX;

	if (argc != 3) {
		fprintf(stderr, "usage: cost DEVICE ADDRESS\n");
		return 2;
	}
	loop_open(&loop, argv[1], argv[2]);
	for (int i = 0; i < NR_ROUNDS; i++) {
		ns = round_trip(&loop);
		best = ns < best ? ns : best;
	}
	printf("%llu\n", (unsigned long long)best);
	return 0;
}
