// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob.h"
#include "rc.h"
#include "util.h"

#define PORT		1
#define READ_DEPTH	16
/* 4.096 us * 2 ^ 18 = 1.07 s: nothing is lost here, and guests are slow. */
#define ACK_TIMEOUT	18
#define RNR_TIMER	1
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ)

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	if (!list)
		die("ibv_get_device_list");
	for (i = 0; list[i]; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name))
			continue;
		ctx = ibv_open_device(list[i]);
		break;
	}
	ibv_free_device_list(list);
	return ctx;
}

void rc_open(struct rc_dev *dev, const char *name, int gid_idx)
{
	dev->gid_idx = gid_idx;
	dev->ctx = open_device(name);
	if (!dev->ctx)
		die_saying("no such device");
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (!dev->pd)
		die("ibv_alloc_pd");
}

struct rc_mem rc_register(struct rc_dev *dev, size_t len)
{
	struct rc_mem mem = { .buf = alloc(len), .len = len };

	mem.mr = ibv_reg_mr(dev->pd, mem.buf, len, ACCESS);
	if (!mem.mr)
		die("ibv_reg_mr");
	return mem;
}

struct ibv_cq *rc_cq(struct rc_dev *dev, int cqe,
		     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(dev->ctx, cqe, NULL, channel,
					  vector % dev->ctx->num_comp_vectors);

	if (!cq)
		die("ibv_create_cq");
	return cq;
}

struct ibv_qp *rc_qp(struct rc_dev *dev, struct ibv_cq *cq, int send_wr,
		     int recv_wr)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = send_wr,
			.max_recv_wr = recv_wr,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = ACCESS,
	};
	struct ibv_qp *qp = ibv_create_qp(dev->pd, &init);

	if (!qp)
		die("ibv_create_qp");
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (errno)
		die("to INIT");
	return qp;
}

static void to_rtr(struct rc_dev *dev, struct ibv_qp *qp,
		   const struct rc_peer *peer, uint32_t qpn)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = READ_DEPTH,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = {
				.dgid = peer->gid,
				.sgid_index = dev->gid_idx,
				.hop_limit = 64,
			},
		},
	};

	errno = ibv_query_port(dev->ctx, PORT, &port);
	if (errno)
		die("ibv_query_port");
	attr.path_mtu = port.active_mtu;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			      IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			      IBV_QP_MIN_RNR_TIMER);
	if (errno)
		die("to RTR");
}

void rc_connect(struct rc_dev *dev, struct ibv_qp *qp,
		const struct rc_peer *peer, uint32_t qpn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = READ_DEPTH,
	};

	to_rtr(dev, qp, peer, qpn);
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (errno)
		die("to RTS");
}

void rc_tell(struct rc_dev *dev, const struct rc_mem *mem, uint32_t qpn,
	     int fd)
{
	struct rc_peer mine = {
		.addr = (uintptr_t)mem->buf,
		.rkey = mem->mr->rkey,
		.qpn = qpn,
	};

	if (ibv_query_gid(dev->ctx, PORT, dev->gid_idx, &mine.gid))
		die("ibv_query_gid");
	oob_send(fd, &mine, sizeof(mine));
}

struct rc_peer rc_hear(int fd)
{
	struct rc_peer theirs;

	oob_recv(fd, &theirs, sizeof(theirs));
	return theirs;
}

void rc_check(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "a request failed: %s\n",
		ibv_wc_status_str(wc->status));
	exit(1);
}
