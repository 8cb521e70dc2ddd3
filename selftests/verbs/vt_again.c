// SPDX-License-Identifier: GPL-2.0
/*
 * A process that connects again and again.
 *
 *	vt_again NR
 *
 * A queue pair, connected to itself, waits for a message that nobody sends, by
 * polling its CQ. When the receive request fails, the process connects it anew,
 * and posts another one. NR other queue pairs, made later, do nothing. "ready"
 * is printed when all are there, and at the end how often it has connected.
 * Another queue pair, of UD, waits for a datagram in state SQE.
 *
 * Exit status 0: it cannot connect any more; 1: a receive request did not complete
 * after IBV_EVENT_DEVICE_FATAL. Needs HROCE_DEV.
 */
#include "vt.h"

/* Time for a completion once the device is gone. */
#define WAIT_US	(5 * 1000000ull)

/* Return: 0 or an errno value. */
static int connect_again(struct vt_end *e, struct ibv_qp *qp,
			 const struct vt_opt *o)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = VT_PORT,
		.path_mtu = o->mtu, .dest_qp_num = qp->qp_num,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = {
			.is_global = 1, .port_num = VT_PORT,
			.grh = { .dgid = e->gid, .hop_limit = 64,
				 .sgid_index = e->gid_idx },
		},
	};
	int err;

	err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTR;
	err = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV |
			    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Poll, and nothing else. The event only begins the time to wait. */
static bool completes(struct vt_end *e, struct ibv_cq *cq)
{
	uint64_t end = UINT64_MAX;
	unsigned int spins = 0;
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		if (end == UINT64_MAX && vt_async_pending(e, 0))
			end = vt_now_us() + WAIT_US;
		if (vt_now_us() >= end)
			return false;
		/* Do not sleep: be quick when it fails. */
		if (spins++ % 64 == 0)
			sched_yield();
	}
	VT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	return true;
}

/* Its send queue has failed, its receive queue works. Return: the CQ. */
static struct ibv_cq *datagram_wait(struct vt_end *e)
{
	struct vt_opt o = { .type = IBV_QPT_UD, .sq = 1, .rq = 1, .sge = 1 };
	struct ibv_send_wr *bad_send, send = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.num_sge = 1, .sg_list = &(struct ibv_sge){ .length = 1 },
		.wr.ud.ah = vt_ah(e, &e->gid),
	};
	struct ibv_cq *cq = vt_cq(e, 4, NULL);
	struct ibv_recv_wr *bad, wr = { .wr_id = 1 };
	struct ibv_qp *qp = vt_qp(e, &o, cq, cq, NULL, NULL);

	vt_to_init(e, qp, &o);
	vt_to_rtr(e, qp, &o, &e->gid, 0, 0);
	vt_to_rts(qp, &o, 0);
	VT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
	VT_EQ(ibv_post_send(qp, &send, &bad_send), 0);
	vt_expect(cq, 0, IBV_WC_LOC_PROT_ERR);
	VT_EQ(vt_state(qp), IBV_QPS_SQE);
	return cq;
}

static int run(int nr)
{
	struct ibv_recv_wr *bad, wr = {};
	struct vt_opt o = {};
	struct vt t = {};
	struct ibv_cq *cq, *sqe_cq;
	struct ibv_qp *qp;
	int i, again = 0;

	vt_open(&t.a, vt_dev_name(0), 4);
	vt_open(&t.b, vt_dev_name(0), 4);
	vt_opt_defaults(&t, &o);
	o.sq = o.rq = o.sge = 1;
	cq = vt_cq(&t.a, 64, NULL);
	qp = vt_qp(&t.a, &o, cq, cq, NULL, NULL);
	for (i = 0; i < nr; i++)
		vt_qp(&t.a, &o, cq, cq, NULL, NULL);
	sqe_cq = datagram_wait(&t.a);
	VT_EQ(connect_again(&t.a, qp, &o), 0);
	VT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

		if (!completes(&t.a, cq)) {
			printf("lost, after %d times\n", again);
			return 1;
		}
		if (ibv_modify_qp(qp, &reset, IBV_QP_STATE) ||
		    connect_again(&t.a, qp, &o))
			break;
		again++;
		if (ibv_post_recv(qp, &wr, &bad))
			break;
	}
	printf("connected %d times\n", again);
	if (!completes(&t.a, sqe_cq)) {
		printf("lost in SQE\n");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: vt_again NR\n");
		return 2;
	}
	return run(atoi(argv[1]));
}
