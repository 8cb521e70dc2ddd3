// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The traffic class, of which DSCP is a part, on the way to a peer and back.
 *
 * A datagram brings the header of its IP packet along, so the receiver knows the
 * traffic class that arrived. The answer is sent with the one that the client
 * chose, and says which one has been seen. The client prints
 *
 *   mark TOS THERE HERE STATUS
 *
 * where THERE is what the server saw, HERE what the client saw of the answer.
 */
#include <endian.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "mark.h"

#define MAGIC		0x6d61726b
#define GRH_B		40
#define TRIES		5
#define WAIT_MS		500
#define RESOLVE_MS	5000

struct mark {
	uint32_t magic;
	uint32_t tos;
	uint32_t seen;
};

struct end {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint32_t qpn;
	struct {
		uint8_t grh[GRH_B];
		struct mark in;
		struct mark out;
	} data;
};

/* A header of IPv4 has the last 20 bytes; the others are undefined then. */
static uint8_t seen_tos(const struct end *end)
{
	const uint8_t *grh = end->data.grh;

	if (rdma_get_local_addr(end->id)->sa_family == AF_INET6)
		return grh[0] << 4 | grh[1] >> 4;
	return grh[GRH_B - 19];
}

static int end_open(struct end *end)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = TRIES,
			.max_recv_wr = TRIES,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	if (rdma_create_qp(end->id, NULL, &attr))
		return -1;
	end->mr = rdma_reg_msgs(end->id, &end->data, sizeof(end->data));
	if (!end->mr)
		return -1;
	return rdma_post_recv(end->id, NULL, &end->data,
			      GRH_B + sizeof(end->data.in), end->mr);
}

static void end_close(struct end *end)
{
	if (end->ah)
		ibv_destroy_ah(end->ah);
	if (end->id && end->id->qp)
		rdma_destroy_qp(end->id);
	if (end->mr)
		rdma_dereg_mr(end->mr);
}

static int end_send(struct end *end, uint32_t tos, uint32_t seen)
{
	end->data.out.magic = htobe32(MAGIC);
	end->data.out.tos = htobe32(tos);
	end->data.out.seen = htobe32(seen);
	return rdma_post_ud_send(end->id, NULL, &end->data.out,
				 sizeof(end->data.out), end->mr, 0, end->ah,
				 end->qpn);
}

/* Return: 0 with a message in @end->data.in, -1 if none came in time */
static int end_receive(struct end *end, struct ibv_wc *wc)
{
	struct pollfd fd = {
		.fd = end->id->recv_cq_channel->fd,
		.events = POLLIN,
	};
	struct ibv_cq *cq;
	void *context;

	ibv_req_notify_cq(end->id->recv_cq, 0);
	if (!ibv_poll_cq(end->id->recv_cq, 1, wc)) {
		if (poll(&fd, 1, WAIT_MS) != 1 ||
		    ibv_get_cq_event(end->id->recv_cq_channel, &cq, &context))
			return -1;
		ibv_ack_cq_events(cq, 1);
		if (ibv_poll_cq(end->id->recv_cq, 1, wc) != 1)
			return -1;
	}
	return wc->status != IBV_WC_SUCCESS ||
	       be32toh(end->data.in.magic) != MAGIC ? -1 : 0;
}

static int client_connect(struct end *end, const char *address,
			  const char *port, uint8_t tos)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_UDP };
	struct rdma_conn_param param = {};
	struct rdma_addrinfo *to;
	struct rdma_ud_param *ud;
	int err;

	if (rdma_getaddrinfo(address, port, &hints, &to))
		return -1;
	err = rdma_create_id(NULL, &end->id, NULL, RDMA_PS_UDP) ||
	      rdma_set_option(end->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
			      &tos, sizeof(tos)) ||
	      rdma_resolve_addr(end->id, NULL, to->ai_dst_addr, RESOLVE_MS) ||
	      rdma_resolve_route(end->id, RESOLVE_MS) || end_open(end) ||
	      rdma_connect(end->id, &param);
	rdma_freeaddrinfo(to);
	if (err)
		return -1;
	ud = &end->id->event->param.ud;
	end->qpn = ud->qp_num;
	end->ah = ibv_create_ah(end->id->pd, &ud->ah_attr);
	return end->ah ? 0 : -1;
}

int mark_measure(const char *address, const char *port, const char *tos)
{
	const char *status = "connect";
	unsigned int there = 0, here = 0;
	struct end end = {};
	struct ibv_wc wc;
	int value, i;

	value = atoi(tos);
	if (value < 0 || value > 255) {
		fprintf(stderr, "hroce-peer: no traffic class: %s\n", tos);
		return 2;
	}
	if (client_connect(&end, address, port, value) == 0) {
		status = "no answer";
		for (i = 0; i < TRIES; i++) {
			if (end_send(&end, value, 0))
				break;
			if (end_receive(&end, &wc))
				continue;
			there = be32toh(end.data.in.seen);
			here = seen_tos(&end);
			status = "ok";
			break;
		}
	}
	printf("mark %d %u %u %s\n", value, there, here, status);
	fflush(stdout);
	end_close(&end);
	if (end.id)
		rdma_destroy_id(end.id);
	return 0;
}

/* The way back has the traffic class that was asked for, whatever arrived. */
static int answer(struct end *end)
{
	struct ibv_ah_attr attr;
	uint32_t tos, seen;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < TRIES; i++)
		if (end_receive(end, &wc) == 0)
			break;
	tos = be32toh(end->data.in.tos);
	if (i == TRIES || tos > 255)
		return -1;
	seen = seen_tos(end);
	if (ibv_init_ah_from_wc(end->id->verbs, end->id->port_num, &wc,
				(struct ibv_grh *)end->data.grh, &attr))
		return -1;
	attr.grh.traffic_class = tos;
	end->ah = ibv_create_ah(end->id->pd, &attr);
	end->qpn = wc.src_qp;
	return !end->ah || end_send(end, tos, seen) ? -1 : 0;
}

void mark_serve(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {};
	struct end end = { .id = id };
	struct ibv_wc wc;

	if (end_open(&end)) {
		rdma_reject(id, NULL, 0);
	} else {
		param.qp_num = id->qp->qp_num;
		/* The answer has to leave before its queue pair does. */
		if (rdma_accept(id, &param) == 0 && answer(&end) == 0)
			rdma_get_send_comp(id, &wc);
	}
	end_close(&end);
}
