// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs that fail half-way: one allocation after the other of a modify_qp()
 * fails, and nothing of the attempt is left. Needs a kernel that can inject
 * faults, and that it is told where, see selftests/faults/run.sh.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define MAX_ALLOCATIONS	100

/* The @n-th allocation from here on fails. 0: no one does. Return: n that were left. */
static int fail_nth(int n)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	char text[16] = "";
	int left;

	if (fd < 0)
		vt_skip("needs a kernel that can inject faults");
	VT_OK(pread(fd, text, sizeof(text) - 1, 0) > 0, "read fail-nth");
	left = atoi(text);
	snprintf(text, sizeof(text), "%d", n);
	VT_OK(pwrite(fd, text, strlen(text), 0) > 0, "write fail-nth");
	close(fd);
	return left;
}

/* With an IPv6 address, which the peer does not expect. Return: what modify says. */
static int try_rtr(struct vt_end *e, struct vt_pair *p, int n, bool *met)
{
	struct vt_end six = *e;
	int idx = vt_find_gid(&six, 6);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = p->opt.mtu,
		.dest_qp_num = 77,
		.max_dest_rd_atomic = 4,
		.ah_attr = {
			.is_global = 1,
			.port_num = VT_PORT,
			.grh = {
				.dgid = six.gid,
				.sgid_index = idx,
				.hop_limit = 64,
			},
		},
	};
	int err;

	fail_nth(n);
	err = ibv_modify_qp(p->qp[0], &attr, IBV_QP_STATE | IBV_QP_AV |
			    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER);
	*met = !fail_nth(0);
	return err;
}

/*
 * INIT to RTR fails; the next attempt is for another peer, and goes to that. One
 * that does not fail comes first: what IP allocates for a route that it has not
 * used for a while would change the numbers of the other allocations.
 */
static void next_attempt_is_for_another_peer(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	int failures = 0, n, i;
	bool met = true, warm;

	for (n = 1; met; n++) {
		VT_OK(n < MAX_ALLOCATIONS, "no end");
		for (i = 0; i < 2; i++)
			vt_to(p->qp[i], IBV_QPS_RESET);
		vt_to_init(&t->a, p->qp[0], &p->opt);
		VT_EQ(try_rtr(&t->a, p, 0, &warm), 0);
		vt_to(p->qp[0], IBV_QPS_RESET);
		vt_to_init(&t->a, p->qp[0], &p->opt);
		if (!try_rtr(&t->a, p, n, &met))
			vt_to(p->qp[0], IBV_QPS_RESET);
		else
			failures++;
		if (vt_state(p->qp[0]) == IBV_QPS_RESET)
			vt_to_init(&t->a, p->qp[0], &p->opt);
		vt_to_rtr(&t->a, p->qp[0], &p->opt, &t->b.gid,
			  p->qp[1]->qp_num, 5);
		vt_to_rts(p->qp[0], &p->opt, 6);
		vt_to_init(&t->b, p->qp[1], &p->opt);
		vt_to_rtr(&t->b, p->qp[1], &p->opt, &t->a.gid,
			  p->qp[0]->qp_num, 6);
		vt_to_rts(p->qp[1], &p->opt, 5);
		vt_fill(s, 0, 64, n);
		VT_EQ(vt_run(p, (struct vt_wr){ .local = s, .len = 64,
			.remote = d }), IBV_WC_SUCCESS);
		vt_verify(d, 0, 64, n);
	}
	vt_note("%d of %d attempts failed", failures, n - 1);
	VT_OK(failures >= 2, "allocations of flow and resources are missing");
}

static const struct vt_case cases[] = {
	VT_CASE(next_attempt_is_for_another_peer),
};

VT_MAIN(cases)
