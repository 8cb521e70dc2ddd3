// SPDX-License-Identifier: GPL-2.0
/* Partitions: the table of P_Keys, and who can talk to whom. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define TABLE_LEN	128

/* What the administrator does. Return: 0 or an errno value. */
static int set_pkey(int which, const char *line)
{
	char path[128];
	int fd, err;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/set_pkey",
		 vt_dev_name(which));
	fd = open(path, O_WRONLY);
	if (fd < 0)
		vt_skip("no %s", path);
	err = write(fd, line, strlen(line)) < 0 ? errno : 0;
	close(fd);
	return err;
}

static void set_entry(int which, int index, unsigned int pkey)
{
	char line[64];

	snprintf(line, sizeof(line), "%d 0x%x\n", index, pkey);
	VT_EQ(set_pkey(which, line), 0);
}

/* As it was before: entries 1 and 2 are all that cases use. */
static int undo_table(void *unused)
{
	(void)unused;
	for (int which = 0; which < 2; which++)
		for (int index = 1; index < 3; index++)
			set_entry(which, index, 0);
	return 0;
}

static void restore_table(void)
{
	static char table;

	vt_defer(undo_table, &table, "P_Keys");
}

static unsigned int entry(struct vt_end *e, int index)
{
	__be16 pkey = 0;

	VT_EQ(ibv_query_pkey(e->ctx, 1, index, &pkey), 0);
	return ntohs(pkey);
}

static void table(struct vt *t)
{
	static const char * const bad[] = {
		"", "1", "128 0x8001", "-1 0x8001", "1 0x18001", "1 0x8001 2",
		"one 0x8001",
	};
	__be16 pkey;

	restore_table();
	VT_EQ(t->a.dev.max_pkeys, TABLE_LEN);
	VT_EQ(t->a.port.pkey_tbl_len, TABLE_LEN);
	VT_EQ(entry(&t->a, 0), 0xffff);
	VT_EQ(entry(&t->a, 1), 0);
	VT_EQ(entry(&t->a, TABLE_LEN - 1), 0);
	VT_OK(ibv_query_pkey(t->a.ctx, 1, TABLE_LEN, &pkey), "too many");
	set_entry(0, 1, 0x8001);
	vt_async(&t->a, IBV_EVENT_PKEY_CHANGE);
	VT_EQ(entry(&t->a, 1), 0x8001);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		VT_OK(!*bad[i] || set_pkey(0, bad[i]) == EINVAL, "%s", bad[i]);
	VT_EQ(entry(&t->a, 1), 0x8001);
	/* Membership without a partition is none. */
	set_entry(0, 1, 0x8000);
	VT_EQ(entry(&t->a, 1), 0);
}

/* Like vt_connect(), with entry 1 of a's table and entry 2 of b's. */
static void connect_by_entries(struct vt_pair *p)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };

	for (int i = 0; i < 2; i++) {
		vt_to(p->qp[i], IBV_QPS_RESET);
		vt_to_init(p->end[i], p->qp[i], &p->opt);
		attr.pkey_index = 1 + i;
		VT_EQ(ibv_modify_qp(p->qp[i], &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX), 0);
	}
	for (int i = 0; i < 2; i++)
		vt_to_rtr(p->end[i], p->qp[i], &p->opt, &p->end[!i]->gid,
			  p->qp[!i]->qp_num, 0);
	for (int i = 0; i < 2; i++)
		vt_to_rts(p->qp[i], &p->opt, 0);
}

static struct vt_pair *members(struct vt *t, enum ibv_qp_type type,
			       unsigned int a, unsigned int b)
{
	struct vt_opt o = { .type = type, .timeout = 8, .retry = 1 };
	struct vt_pair *p = vt_pair(t, &o);

	set_entry(0, 1, a);
	set_entry(1, 2, b);
	connect_by_entries(p);
	return p;
}

static const struct {
	unsigned int a, b;
	bool meet;
} memberships[] = {
	{ 0x8001, 0x8001, true },
	{ 0x8001, 0x0001, true },
	{ 0x0001, 0x8001, true },
	{ 0x0001, 0x0001, false },
	{ 0x8001, 0x8002, false },
	{ 0xffff, 0x8001, false },
};

static uint32_t bad_pkeys(const struct vt_end *e)
{
	struct ibv_port_attr port;

	VT_EQ(ibv_query_port(e->ctx, 1, &port), 0);
	return port.bad_pkey_cntr;
}

static void connected_peers(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	restore_table();
	for (unsigned int i = 0; i < ARRAY_SIZE(memberships); i++) {
		struct vt_pair *p = members(t, IBV_QPT_RC, memberships[i].a,
					    memberships[i].b);
		long long drops = vt_settled(&t->b, "rx_drop_pkey");
		uint32_t bad = bad_pkeys(&t->b);

		vt_send(p->qp[0], &(struct vt_wr){
			.local = s, .len = 64, .remote = d,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], 0, memberships[i].meet ?
			  IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
		VT_OK((vt_settled(&t->b, "rx_drop_pkey") > drops) !=
		      memberships[i].meet, "at %u", i);
		VT_OK((bad_pkeys(&t->b) > bad) != memberships[i].meet, "at %u",
		      i);
	}
}

static void datagrams(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);

	restore_table();
	for (unsigned int i = 0; i < ARRAY_SIZE(memberships); i++) {
		struct vt_pair *p = members(t, IBV_QPT_UD, memberships[i].a,
					    memberships[i].b);

		vt_recv(p->qp[1], 3, d, 0, 64 + VT_GRH);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .local = s, .len = 64,
			.ah = p->ah[0], .qpn = p->qp[1]->qp_num });
		if (memberships[i].meet)
			vt_expect(p->rcq[1], 3, IBV_WC_SUCCESS);
		else
			vt_quiet(p->rcq[1], 20);
	}
}

/* A partition that goes away takes those that talk in it with it. */
static void follows_the_table(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_wr w = { .local = s, .len = 64, .remote = d,
			   .flags = IBV_SEND_SIGNALED };
	struct vt_pair *p;

	restore_table();
	for (int which = 0; which < 2; which++) {
		p = members(t, IBV_QPT_RC, 0x8001, 0x8001);
		vt_send(p->qp[0], &w);
		vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);
		set_entry(0, 1, 0x8005);
		set_entry(1, 2, 0x8005);
		vt_send(p->qp[0], &w);
		vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);
		set_entry(which, 1 + which, 0);
		vt_send(p->qp[0], &w);
		vt_expect(p->scq[0], 0, IBV_WC_RETRY_EXC_ERR);
	}
}

static void index_of_a_queue_pair(struct vt *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct ibv_qp_init_attr init;
	struct vt_pair *p;

	restore_table();
	p = members(t, IBV_QPT_RC, 0x8001, 0x8001);
	for (int i = 0; i < 2; i++) {
		VT_EQ(ibv_query_qp(p->qp[i], &attr, IBV_QP_PKEY_INDEX, &init),
		      0);
		VT_EQ(attr.pkey_index, 1 + i);
	}
	vt_to(p->qp[0], IBV_QPS_RESET);
	vt_to_init(p->end[0], p->qp[0], &p->opt);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT };
	attr.pkey_index = 9;
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX),
	      EINVAL);
	attr.pkey_index = TABLE_LEN;
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX),
	      EINVAL);
}

static const struct vt_case cases[] = {
	VT_CASE(table),
	VT_CASE(connected_peers),
	VT_CASE(datagrams),
	VT_CASE(follows_the_table),
	VT_CASE(index_of_a_queue_pair),
};

VT_MAIN(cases)
