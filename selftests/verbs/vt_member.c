// SPDX-License-Identifier: GPL-2.0
/*
 * A member of a multicast group that takes time to leave.
 *
 *	vt_member GROUP NUMBER
 *
 * Attaches a queue pair to GROUP (IPv4), and makes NUMBER other ones, which are
 * destroyed before it when the link is removed. Prints "ready", then does
 * nothing until it is killed. Needs HROCE_DEV.
 */
#include <arpa/inet.h>
#include <unistd.h>

#include "vt.h"

static struct ibv_qp *member_qp(struct vt_end *e, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_UD,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &attr);

	VT_OK(qp, "ibv_create_qp: %s", strerror(errno));
	return qp;
}

int main(int argc, char **argv)
{
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff } };
	struct vt_end e = {};
	struct ibv_cq *cq;
	int i;

	if (argc != 3 || inet_pton(AF_INET, argv[1], &group.raw[12]) != 1) {
		fprintf(stderr, "usage: vt_member GROUP NUMBER\n");
		return 1;
	}
	vt_open(&e, vt_dev_name(0), 4);
	cq = vt_cq(&e, 1, NULL);
	VT_EQ(ibv_attach_mcast(member_qp(&e, cq), &group, 0), 0);
	for (i = 0; i < atoi(argv[2]); i++)
		member_qp(&e, cq);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
