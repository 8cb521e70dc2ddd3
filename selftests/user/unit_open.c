// SPDX-License-Identifier: GPL-2.0
/* Recognising, opening and refusing: devices, libraries, geometries. */
#include <unistd.h>

#include "fixture.h"

/* Sizes measured on builds of rdma-core, typed a second time. */
static void layout_sizes(void)
{
	tap_eq(sizeof(struct verbs_context_ops), 608);
	tap_eq(sizeof(struct verbs_sysfs_dev), 992);
	tap_eq(sizeof(struct verbs_device_ops), 72);
	tap_eq(sizeof(struct verbs_match_ent), 24);
	tap_eq(sizeof(struct verbs_device), 712);
	tap_eq(sizeof(struct verbs_cq), 288);
	tap_eq(sizeof(struct verbs_srq), 160);
	tap_eq(sizeof(struct verbs_mr), 56);
	tap_eq(sizeof(struct verbs_context), 648);
	tap_eq(sizeof(struct ibv_context), 328);
	tap_eq(sizeof(struct ibv_create_qp), 64);
	tap_eq(sizeof(struct ibv_reg_mr), 48);
	/* grew in 44 and again in 45 */
	if (RDMA_CORE_RELEASE == 44)
		tap_eq(sizeof(struct verbs_qp), 368);
}

/* Offsets within the verbs table, counted in the published order. */
static void layout_verbs_table(void)
{
	tap_eq(offsetof(struct verbs_context_ops, alloc_pd), 5 * 8);
	tap_eq(offsetof(struct verbs_context_ops, attach_mcast), 9 * 8);
	tap_eq(offsetof(struct verbs_context_ops, create_cq), 15 * 8);
	tap_eq(offsetof(struct verbs_context_ops, create_qp_ex), 20 * 8);
	tap_eq(offsetof(struct verbs_context_ops, destroy_qp), 34 * 8);
	tap_eq(offsetof(struct verbs_context_ops, free_context), 39 * 8);
	tap_eq(offsetof(struct verbs_context_ops, poll_cq), 53 * 8);
	tap_eq(offsetof(struct verbs_context_ops, post_send), 55 * 8);
	tap_eq(offsetof(struct verbs_context_ops, query_device_ex), 58 * 8);
	tap_eq(offsetof(struct verbs_context_ops, req_notify_cq), 69 * 8);
}

/* What the kernel and the library lay out together. */
static void layout_rings(void)
{
	tap_eq(offsetof(struct hroce_sq_wqe, rdma), 16);
	tap_eq(offsetof(struct hroce_sq_wqe, ud), 16);
	tap_eq(offsetof(struct hroce_sq_wqe, inline_len), 48);
	tap_eq(sizeof(struct hroce_sq_wqe), 64);
	tap_eq(offsetof(struct hroce_sq_hdr, cons), 64);
	tap_eq(offsetof(struct hroce_sq_hdr, need_kick), 68);
	tap_eq(offsetof(struct hroce_rq_hdr, need_kick), 68);
	tap_eq(offsetof(struct hroce_cq_hdr, arm), 4);
	tap_eq(offsetof(struct hroce_cqe, status), 40);
	tap_eq(offsetof(struct hroce_cqe, owner), 60);
	tap_eq(sizeof(struct hroce_cqe), 64);
}

static void match_by_driver_id(void)
{
	const struct verbs_device_ops *ops = fake.ops;
	const struct verbs_match_ent *ent = ops->match_table;

	tap_ok(!strcmp(ops->name, "hroce"));
	tap_eq(ent->kind, VERBS_MATCH_DRIVER_ID);
	tap_eq(ent->u.driver_id, 0x68726f63);
	tap_eq(ent[1].kind, VERBS_MATCH_SENTINEL);
	tap_eq(ops->match_min_abi_version, 72);
	tap_eq(ops->match_max_abi_version, 72);
}

static void match_refuses_foreign_and_other_abi(void)
{
	struct verbs_sysfs_dev dev = { .abi_ver = 72 };

	tap_ok(!fake.ops->match_device(&dev));
	dev.match = fake.ops->match_table;
	tap_ok(fake.ops->match_device(&dev));
	dev.abi_ver = 71;
	tap_ok(!fake.ops->match_device(&dev));
	dev.abi_ver = 73;
	tap_ok(!fake.ops->match_device(&dev));
}

static void match_refuses_other_library(void)
{
	struct verbs_sysfs_dev dev = {
		.abi_ver = 72,
		.match = fake.ops->match_table,
	};

	fake.layout_shift = 8;
	tap_ok(!fake.ops->match_device(&dev));
	fake.layout_shift = 0;
	tap_ok(fake.ops->match_device(&dev));
}

static void open_refuses_other_verbs_table(void)
{
	fake.skip_ops = true;
	errno = 0;
	tap_ok(!fake_open());
	tap_eq(errno, EPROTO);
	fake.skip_ops = false;
}

static void adopts_the_lower_context(void)
{
	struct ibv_context *first, *second;

	fake.mode = HROCE_MODE_FACADE;
	first = fake_open();
	tap_ok(first && !strcmp(first->device->name, "lower0"));
	tap_eq(fake.lower.nr_open, 1);
	tap_eq(fake.nr_contexts, 1);
	second = fake_open();
	tap_ok(second && second != first);
	tap_eq(fake.lower.nr_open, 2);
	tap_eq(fake.nr_contexts, 2);
	ibv_close_device(first);
	tap_eq(fake.lower.nr_open, 1);
	tap_eq(fake.nr_contexts, 1);
	ibv_close_device(second);
	tap_eq(fake.lower.nr_open, 0);
	tap_eq(fake.nr_contexts, 0);
	fake.mode = HROCE_MODE_SOFTWARE;
}

static void adopts_without_anchor_in_a_foreign_library(void)
{
	struct ibv_context *context;

	fake.mode = HROCE_MODE_FACADE;
	fake.lower.foreign = true;
	context = fake_open();
	tap_ok(context);
	tap_eq(fake.nr_contexts, 0);
	ibv_close_device(context);
	tap_eq(fake.lower.nr_open, 0);
	fake.lower.foreign = false;
	fake.mode = HROCE_MODE_SOFTWARE;
}

static void open_fails_with_the_lower_device(void)
{
	fake.mode = HROCE_MODE_FACADE;
	fake.lower.open_err = ENOMEM;
	errno = 0;
	tap_ok(!fake_open());
	tap_eq(errno, ENOMEM);
	tap_eq(fake.nr_contexts, 0);
	fake.lower.open_err = 0;

	fake.lower.absent = true;
	errno = 0;
	tap_ok(!fake_open());
	tap_eq(errno, ENODEV);
	tap_eq(fake.nr_contexts, 0);
	fake.lower.absent = false;

	fake.connect_err = ENODEV;
	errno = 0;
	tap_ok(!fake_open());
	tap_eq(errno, ENODEV);
	tap_eq(fake.nr_contexts, 0);
	fake.connect_err = 0;
	fake.mode = HROCE_MODE_SOFTWARE;
}

static void open_and_close(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);

	tap_ok(f.qp && f.cq && f.pd);
	fixture_close(&f);
}

/* Answers of a kernel that is not the one we were made for. */
static void spoil_entries(struct hroce_ring_info *info)
{
	info->nr_entries--;
}

static void spoil_no_entries(struct hroce_ring_info *info)
{
	info->nr_entries = 0;
}

static void spoil_few_entries(struct hroce_ring_info *info)
{
	info->nr_entries = 2;
}

static void spoil_stride(struct hroce_ring_info *info)
{
	info->stride -= 16;
}

static void spoil_alignment(struct hroce_ring_info *info)
{
	info->stride += 8;
	info->mmap_size += 4096;
}

static void spoil_size(struct hroce_ring_info *info)
{
	info->mmap_size = HROCE_RING_ENTRIES_OFFSET +
			  info->nr_entries * info->stride - 1;
}

static void spoil_tiny(struct hroce_ring_info *info)
{
	info->mmap_size = HROCE_RING_ENTRIES_OFFSET - 1;
}

static void spoil_overflow(struct hroce_ring_info *info)
{
	info->nr_entries = 1U << 31;
	info->stride = 1U << 31;
}

static void spoil_absent(struct hroce_ring_info *info)
{
	*info = (struct hroce_ring_info) {};
}

static void (*const spoilers[])(struct hroce_ring_info *info) = {
	spoil_entries, spoil_no_entries, spoil_few_entries, spoil_stride,
	spoil_alignment, spoil_size, spoil_tiny, spoil_overflow, spoil_absent,
};

static void create_refuses_bad_geometry(void)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr.max_wr = MAX_WR,
		.attr.max_sge = MAX_SGES,
	};
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_qp_init_attr_ex attr;
	int before = fake.nr_objects;
	size_t idx;

	hroce_destroy_qp(f.qp);
	for (idx = 0; idx < sizeof(spoilers) / sizeof(spoilers[0]); idx++) {
		fake.spoil = spoilers[idx];
		fake.nr_cqs = 1;
		errno = 0;
		tap_ok(!hroce_create_cq(f.context, RING_ENTRIES, NULL, 0));
		tap_eq(errno, EPROTO);
		errno = 0;
		tap_ok(!hroce_create_srq(f.pd, &srq_attr));
		tap_eq(errno, EPROTO);
		fixture_qp_attr(&f, &attr, IBV_QPT_RC);
		errno = 0;
		tap_ok(!hroce_create_qp_ex(f.context, &attr));
		tap_eq(errno, EPROTO);
		tap_eq(fake.nr_objects, before - 1);
	}
	fake.spoil = NULL;

	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	f.qp = hroce_create_qp_ex(f.context, &attr);
	fixture_close(&f);
}

static void create_reports_granted_caps(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = f.cq,
		.recv_cq = f.cq,
		.cap.max_send_wr = 3,
		.cap.max_send_sge = 1,
		.cap.max_inline_data = 33,
		.qp_type = IBV_QPT_RC,
	};

	hroce_destroy_qp(f.qp);
	f.qp = hroce_create_qp(f.pd, &attr);
	tap_ok(f.qp);
	tap_eq(attr.cap.max_send_wr, 3);
	tap_eq(attr.cap.max_inline_data, 48);
	tap_eq(to_hqp(f.qp)->sq.max_inline, 48);
	fixture_close(&f);
}

static void create_refuses_unknown_wishes(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	struct ibv_qp_init_attr_ex attr;

	fixture_qp_attr(&f, &attr, IBV_QPT_RAW_PACKET);
	errno = 0;
	tap_ok(!hroce_create_qp_ex(f.context, &attr));
	tap_eq(errno, EOPNOTSUPP);

	fixture_qp_attr(&f, &attr, IBV_QPT_RC);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	errno = 0;
	tap_ok(!hroce_create_qp_ex(f.context, &attr));
	tap_eq(errno, EOPNOTSUPP);

	fixture_qp_attr(&f, &attr, IBV_QPT_UD);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	errno = 0;
	tap_ok(!hroce_create_qp_ex(f.context, &attr));
	tap_eq(errno, EOPNOTSUPP);

	cq_attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	errno = 0;
	tap_ok(!hroce_create_cq_ex(f.context, &cq_attr));
	tap_eq(errno, EOPNOTSUPP);

	cq_attr.wc_flags = 0;
	cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq_attr.flags = 1U << 7;
	errno = 0;
	tap_ok(!hroce_create_cq_ex(f.context, &cq_attr));
	tap_eq(errno, EOPNOTSUPP);

	errno = 0;
	tap_ok(!hroce_create_cq(f.context, 0, NULL, 0));
	tap_eq(errno, EINVAL);
	fixture_close(&f);
}

static void rt_values_are_monotonic(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_values_ex before = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};
	struct ibv_values_ex after = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 0x80,
	};

	tap_eq(ibv_query_rt_values_ex(f.context, &before), 0);
	tap_eq(ibv_query_rt_values_ex(f.context, &after), 0);
	tap_eq(after.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	tap_ok(after.raw_clock.tv_nsec >= before.raw_clock.tv_nsec);
	fixture_close(&f);
}

int main(void)
{
	tap_plan(15);
	tap_run(layout_sizes);
	tap_run(layout_verbs_table);
	tap_run(layout_rings);
	tap_run(match_by_driver_id);
	tap_run(match_refuses_foreign_and_other_abi);
	tap_run(match_refuses_other_library);
	tap_run(open_refuses_other_verbs_table);
	tap_run(adopts_the_lower_context);
	tap_run(adopts_without_anchor_in_a_foreign_library);
	tap_run(open_fails_with_the_lower_device);
	tap_run(open_and_close);
	tap_run(create_refuses_bad_geometry);
	tap_run(create_reports_granted_caps);
	tap_run(create_refuses_unknown_wishes);
	tap_run(rt_values_are_monotonic);
	return tap_exit();
}
