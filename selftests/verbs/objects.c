// SPDX-License-Identifier: GPL-2.0
/* What a device says about itself, and the life of its objects. */
#include <arpa/inet.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

static void open_close_many(struct vt *t)
{
	(void)t;
	for (int i = 0; i < 50; i++) {
		struct vt_end e = {};

		vt_open(&e, vt_dev_name(0), 4);
		vt_close(&e);
	}
}

static void query_device_plausible(struct vt *t)
{
	const struct ibv_device_attr *d = &t->a.dev;

	VT_OK(d->max_qp >= 64, "%d", d->max_qp);
	VT_OK(d->max_qp_wr >= 1024, "%d", d->max_qp_wr);
	VT_OK(d->max_sge >= 16, "%d", d->max_sge);
	VT_OK(d->max_cq >= 64, "%d", d->max_cq);
	VT_OK(d->max_cqe >= 4096, "%d", d->max_cqe);
	VT_OK(d->max_mr >= 256, "%d", d->max_mr);
	VT_OK(d->max_mr_size >= 1ull << 31, "0x%llx",
	      (unsigned long long)d->max_mr_size);
	VT_OK(d->max_pd >= 16, "%d", d->max_pd);
	VT_OK(d->max_ah >= 64, "%d", d->max_ah);
	VT_OK(d->max_srq >= 16, "%d", d->max_srq);
	VT_OK(d->max_srq_wr >= 1024, "%d", d->max_srq_wr);
	VT_OK(d->max_srq_sge >= 16, "%d", d->max_srq_sge);
	VT_OK(d->max_qp_rd_atom >= 16, "%d", d->max_qp_rd_atom);
	VT_OK(d->max_qp_init_rd_atom >= 16, "%d", d->max_qp_init_rd_atom);
	/* UCX takes no other for atomics. */
	VT_EQ(d->atomic_cap, IBV_ATOMIC_HCA);
	VT_OK(d->max_mcast_grp > 0, "%d", d->max_mcast_grp);
	VT_OK(d->page_size_cap & 4096, "0x%llx",
	      (unsigned long long)d->page_size_cap);
	VT_EQ(d->phys_port_cnt, 1);
	VT_OK(d->max_pkeys >= 1, "%d", d->max_pkeys);
	VT_OK(d->node_guid, "node GUID is zero");
	VT_OK(d->sys_image_guid, "system image GUID is zero");
}

static void query_device_ex_agrees(struct vt *t)
{
	struct ibv_device_attr_ex ex = {};

	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &ex), 0);
	VT_EQ(ex.orig_attr.max_qp, t->a.dev.max_qp);
	VT_EQ(ex.orig_attr.max_mr_size, t->a.dev.max_mr_size);
	VT_EQ(ex.orig_attr.node_guid, t->a.dev.node_guid);
	VT_EQ(ex.phys_port_cnt_ex, 1);
}

static void query_port_plausible(struct vt *t)
{
	const struct ibv_port_attr *p = &t->a.port;

	VT_EQ(p->state, IBV_PORT_ACTIVE);
	VT_EQ(p->link_layer, IBV_LINK_LAYER_ETHERNET);
	VT_EQ(p->max_mtu, IBV_MTU_4096);
	VT_OK(p->active_mtu >= IBV_MTU_256 && p->active_mtu <= p->max_mtu, "%d",
	      p->active_mtu);
	VT_OK(p->gid_tbl_len >= 16, "%d", p->gid_tbl_len);
	VT_OK(p->pkey_tbl_len >= 1, "%d", p->pkey_tbl_len);
	VT_OK(p->max_msg_sz >= 1u << 31 || p->max_msg_sz == (1u << 31) - 1,
	      "%u", p->max_msg_sz);
	VT_OK(p->active_width, "no width");
	VT_OK(p->active_speed, "no speed");
	VT_EQ(p->phys_state, 5);
}

static void query_port_out_of_range(struct vt *t)
{
	struct ibv_port_attr p;

	VT_EQ(ibv_query_port(t->a.ctx, 0, &p), EINVAL);
	VT_EQ(ibv_query_port(t->a.ctx, 2, &p), EINVAL);
	VT_EQ(ibv_query_port(t->a.ctx, 255, &p), EINVAL);
}

static void query_gid_table(struct vt *t)
{
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	int seen = 0;

	for (int i = 0; i < t->a.port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(t->a.ctx, 1, i, &entry, 0))
			continue;
		seen++;
		VT_EQ(entry.gid_index, i);
		VT_EQ(entry.port_num, 1);
		VT_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
		VT_EQ(ibv_query_gid(t->a.ctx, 1, i, &gid), 0);
		VT_OK(!memcmp(&gid, &entry.gid, sizeof(gid)), "index %d", i);
	}
	VT_OK(seen >= 1, "no GID");
	VT_OK(ibv_query_gid(t->a.ctx, 1, 1 << 20, &gid), "absurd index");
	VT_OK(ibv_query_gid(t->a.ctx, 1, -1, &gid), "negative index");
}

static void query_pkey_table(struct vt *t)
{
	__be16 pkey = 0;

	VT_EQ(ibv_query_pkey(t->a.ctx, 1, 0, &pkey), 0);
	VT_EQ(ntohs(pkey), 0xffff);
	VT_OK(ibv_query_pkey(t->a.ctx, 1, 60000, &pkey), "absurd index");
}

static void pd_many(struct vt *t)
{
	struct ibv_pd *pd[64];

	for (int i = 0; i < 64; i++) {
		pd[i] = ibv_alloc_pd(t->a.ctx);
		VT_OK(pd[i], "%d: %s", i, strerror(errno));
	}
	for (int i = 0; i < 64; i++)
		VT_EQ(ibv_dealloc_pd(pd[i]), 0);
}

static void pd_busy_while_in_use(struct vt *t)
{
	struct vt_opt o = {};
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	struct ibv_ah_attr ah_attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = t->a.gid, .sgid_index = t->a.gid_idx },
	};
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};
	struct ibv_qp_init_attr qp_attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 4, 4, 1, 1, 0 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(t->a.ctx);
	static char mem[64];
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	vt_opt_defaults(t, &o);
	VT_OK(pd, "%s", strerror(errno));
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	VT_OK(mr, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_dereg_mr(mr), 0);
	ah = ibv_create_ah(pd, &ah_attr);
	VT_OK(ah, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_ah(ah), 0);
	srq = ibv_create_srq(pd, &srq_attr);
	VT_OK(srq, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_srq(srq), 0);
	qp = ibv_create_qp(pd, &qp_attr);
	VT_OK(qp, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_qp(qp), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
}

static void cq_busy_while_in_use(struct vt *t)
{
	struct vt_opt o = {};
	struct ibv_cq *scq = ibv_create_cq(t->a.ctx, 16, NULL, NULL, 0);
	struct ibv_cq *rcq = ibv_create_cq(t->a.ctx, 16, NULL, NULL, 0);
	struct ibv_qp *qp;

	VT_OK(scq && rcq, "%s", strerror(errno));
	vt_opt_defaults(t, &o);
	o.sq = 4;
	o.rq = 4;
	qp = vt_qp(&t->a, &o, scq, rcq, NULL, NULL);
	VT_EQ(ibv_destroy_cq(scq), EBUSY);
	VT_EQ(ibv_destroy_cq(rcq), EBUSY);
	vt_forget(qp);
	VT_EQ(ibv_destroy_qp(qp), 0);
	VT_EQ(ibv_destroy_cq(scq), 0);
	VT_EQ(ibv_destroy_cq(rcq), 0);
}

static void srq_busy_while_in_use(struct vt *t)
{
	struct vt_opt o = {};
	struct ibv_cq *cq = vt_cq(&t->a, 16, NULL);
	struct ibv_srq *srq = vt_srq(&t->a, 16, 1, 0);
	struct ibv_qp *qp;

	vt_opt_defaults(t, &o);
	qp = vt_qp(&t->a, &o, cq, cq, srq, NULL);
	VT_EQ(ibv_destroy_srq(srq), EBUSY);
	vt_forget(qp);
	VT_EQ(ibv_destroy_qp(qp), 0);
}

static void channel_busy_while_in_use(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->a);

	vt_cq(&t->a, 4, chan);
	VT_EQ(ibv_destroy_comp_channel(chan), EBUSY);
}

static void qp_many(struct vt *t)
{
	struct vt_opt o = { .sq = 8, .rq = 8, .sge = 1 };
	struct ibv_cq *cq = vt_cq(&t->a, 64, NULL);
	uint32_t nums[200];

	vt_opt_defaults(t, &o);
	for (int i = 0; i < 200; i++) {
		struct ibv_qp *qp = vt_qp(&t->a, &o, cq, cq, NULL, NULL);

		nums[i] = qp->qp_num;
		VT_OK(nums[i] > 1 && nums[i] <= 0xffffff, "QPN 0x%x", nums[i]);
		for (int j = 0; j < i; j++)
			VT_OK(nums[j] != nums[i], "QPN 0x%x twice", nums[i]);
	}
}

static void qp_create_destroy_loop(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 64, NULL);
	struct vt_opt o = {};

	vt_opt_defaults(t, &o);
	for (int i = 0; i < 100; i++) {
		struct ibv_qp *qp;

		o.type = i % 3 == 0 ? IBV_QPT_RC :
			 i % 3 == 1 ? IBV_QPT_UC : IBV_QPT_UD;
		qp = vt_qp(&t->a, &o, cq, cq, NULL, NULL);
		VT_EQ(vt_state(qp), IBV_QPS_RESET);
		vt_forget(qp);
		VT_EQ(ibv_destroy_qp(qp), 0);
	}
}

/* Numbers of other queue pairs do not follow from one's own. */
static void qp_numbers_unpredictable(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 64, NULL);
	uint32_t qpn, last = 0, near = 0;
	struct vt_opt o = {};

	vt_opt_defaults(t, &o);
	for (int i = 0; i < 128; i++) {
		qpn = vt_qp(&t->a, &o, cq, cq, NULL, NULL)->qp_num;
		VT_OK(qpn > 1 && qpn < 0xffffff, "qp_num 0x%x", qpn);
		/* Four may be in a row; another one of 2,000 is by chance. */
		near += i && i % 4 == 0 &&
			(qpn - last + 4096) % (1 << 24) < 8192;
		if (i % 4 == 0)
			last = qpn;
	}
	VT_OK(near < 8, "%u of 31 numbers are near the one before", near);
}

#define NR_KEYS	300

/*
 * Neither the upper 24 bits, which are an index behind a permutation, nor the
 * lower 8 follow from those of the key before.
 */
static void keys_unpredictable(const uint32_t *key, const char *what)
{
	bool seen[256] = {};
	int near = 0, steps = 0, low = 0;

	for (int i = 0; i < NR_KEYS; i++) {
		for (int j = 0; j < i; j++)
			VT_OK(key[i] != key[j], "%s 0x%08x twice", what, key[i]);
		low += !seen[key[i] & 0xff];
		seen[key[i] & 0xff] = true;
		/* One of 2,000 is near by chance, and one of 256 steps equal. */
		near += i && ((key[i] >> 8) - (key[i - 1] >> 8) + 4096) %
			(1 << 24) < 8192;
		steps += i > 1 && (uint8_t)(key[i] - key[i - 1]) ==
				  (uint8_t)(key[i - 1] - key[i - 2]);
	}
	VT_OK(near < 8, "%s: upper bits near the ones before: %d", what, near);
	VT_OK(low > 100, "%s: only %d lower bytes", what, low);
	VT_OK(steps < 20, "%s: equal steps of lower bytes: %d", what, steps);
}

static void mr_many_unique_keys(struct vt *t)
{
	static char mem[4096];
	static uint32_t lkey[NR_KEYS], rkey[NR_KEYS], window[NR_KEYS];
	static struct ibv_mr *mr[NR_KEYS];
	static struct ibv_mw *mw[NR_KEYS];

	for (int i = 0; i < NR_KEYS; i++) {
		mr[i] = ibv_reg_mr(t->a.pd, mem, sizeof(mem), VT_ALL);
		VT_OK(mr[i], "%d: %s", i, strerror(errno));
		lkey[i] = mr[i]->lkey;
		rkey[i] = mr[i]->rkey;
	}
	for (int i = 0; i < NR_KEYS; i++) {
		mw[i] = ibv_alloc_mw(t->a.pd, IBV_MW_TYPE_1);
		VT_OK(mw[i], "%d: %s", i, strerror(errno));
		window[i] = mw[i]->rkey;
	}
	for (int i = 0; i < NR_KEYS; i++) {
		VT_EQ(ibv_dealloc_mw(mw[i]), 0);
		VT_EQ(ibv_dereg_mr(mr[i]), 0);
	}
	keys_unpredictable(lkey, "lkey");
	keys_unpredictable(rkey, "rkey");
	keys_unpredictable(window, "key of a window");
}

/* The next one behind the same upper bits would have this key now and then. */
static void keys_not_given_again(struct vt *t)
{
	static char mem[4096];
	static uint32_t key[1000];

	for (size_t i = 0; i < ARRAY_SIZE(key); i += 2) {
		struct ibv_mr *mr = ibv_reg_mr(t->a.pd, mem, sizeof(mem), 0);
		struct ibv_mw *mw;

		VT_OK(mr, "%zu: %s", i, strerror(errno));
		key[i] = mr->rkey;
		VT_EQ(ibv_dereg_mr(mr), 0);
		mw = ibv_alloc_mw(t->a.pd, IBV_MW_TYPE_1);
		VT_OK(mw, "%zu: %s", i, strerror(errno));
		key[i + 1] = mw->rkey;
		VT_EQ(ibv_dealloc_mw(mw), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(key); i++) {
		for (size_t j = 0; j < i; j++)
			VT_OK((key[i] ^ key[j]) > 0xff,
			      "0x%08x after 0x%08x", key[i], key[j]);
	}
}

static void ah_many(struct vt *t)
{
	for (int i = 0; i < 64; i++)
		vt_ah(&t->a, &t->b.gid);
}

static void exit_without_destroying(struct vt *t)
{
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t pid = fork();

		VT_OK(pid >= 0, "fork");
		if (!pid) {
			struct vt u = {};

			vt_open(&u.a, vt_dev_name(0), 4);
			vt_open(&u.b, vt_dev_name(1), 4);
			vt_pair(&u, NULL);
			vt_mem(&u.a, 1 << 20, VT_ALL);
			_exit(0);
		}
		VT_EQ(waitpid(pid, &status, 0), pid);
		VT_EQ(status, 0);
	}
	vt_pair(t, NULL);
}

static void close_with_objects_alive(struct vt *t)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	(void)t;
	for (int i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), vt_dev_name(0)))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	VT_OK(ctx, "open: %s", strerror(errno));
	VT_OK(ibv_alloc_pd(ctx), "%s", strerror(errno));
	VT_OK(ibv_create_cq(ctx, 10, NULL, NULL, 0), "%s", strerror(errno));
	VT_EQ(ibv_close_device(ctx), 0);
}

static const struct vt_case cases[] = {
	VT_CASE(open_close_many),
	VT_CASE(query_device_plausible),
	VT_CASE(query_device_ex_agrees),
	VT_CASE(query_port_plausible),
	VT_CASE(query_port_out_of_range),
	VT_CASE(query_gid_table),
	VT_CASE(query_pkey_table),
	VT_CASE(pd_many),
	VT_CASE(pd_busy_while_in_use),
	VT_CASE(cq_busy_while_in_use),
	VT_CASE(srq_busy_while_in_use),
	VT_CASE(channel_busy_while_in_use),
	VT_CASE(qp_many),
	VT_CASE(qp_create_destroy_loop),
	VT_CASE(qp_numbers_unpredictable),
	VT_CASE(mr_many_unique_keys),
	VT_CASE(keys_not_given_again),
	VT_CASE(ah_many),
	VT_CASE(exit_without_destroying),
	VT_CASE(close_with_objects_alive),
};

VT_MAIN(cases)
