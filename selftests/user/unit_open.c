// SPDX-License-Identifier: GPL-2.0
/* Recognising, opening and refusing: devices, libraries, geometries. */
#include <unistd.h>

#include "fixture.h"

PROVIDER_FIXTURE(unit_open)

/* The value for rdma-core 44 to 58, 59 to 61, 62 and 63, 64, 65. */
#define BY_RELEASE(to58, to61, to63, to64, to65)	\
	(HROCE_RDMA_CORE < 59 ? (to58) :		\
	 HROCE_RDMA_CORE < 62 ? (to61) :		\
	 HROCE_RDMA_CORE < 64 ? (to63) :		\
	 HROCE_RDMA_CORE < 65 ? (to64) : (to65))
/* The same for verbs, and in bytes. */
#define VERBS(...)	(8 * BY_RELEASE(__VA_ARGS__))

/* Sizes measured on builds of rdma-core, typed a second time. */
TEST_F(unit_open, layout_sizes)
{
	EXPECT_EQ(BY_RELEASE(608, 632, 648, 664, 744),
		  sizeof(struct verbs_context_ops));
	EXPECT_EQ(992, sizeof(struct verbs_sysfs_dev));
	EXPECT_EQ(72, sizeof(struct verbs_device_ops));
	EXPECT_EQ(24, sizeof(struct verbs_match_ent));
	EXPECT_EQ(712, sizeof(struct verbs_device));
	EXPECT_EQ(288, sizeof(struct verbs_cq));
	EXPECT_EQ(160, sizeof(struct verbs_srq));
	EXPECT_EQ(56, sizeof(struct verbs_mr));
	EXPECT_EQ(BY_RELEASE(648, 672, 680, 696, 696),
		  sizeof(struct verbs_context));
	EXPECT_EQ(328, sizeof(struct ibv_context));
	EXPECT_EQ(64, sizeof(struct ibv_create_qp));
	EXPECT_EQ(48, sizeof(struct ibv_reg_mr));
	/* grew in 44 and again in 45 */
	EXPECT_EQ(HROCE_RDMA_CORE == 44 ? 368 : 376, sizeof(struct verbs_qp));
}

/* Offsets within the verbs table, counted in the published order. */
TEST_F(unit_open, layout_verbs_table)
{
	EXPECT_EQ(VERBS(5, 6, 6, 7, 7),
		  offsetof(struct verbs_context_ops, alloc_pd));
	EXPECT_EQ(VERBS(9, 10, 10, 11, 11),
		  offsetof(struct verbs_context_ops, attach_mcast));
	EXPECT_EQ(VERBS(15, 16, 16, 17, 18),
		  offsetof(struct verbs_context_ops, create_cq));
	EXPECT_EQ(VERBS(20, 21, 21, 22, 23),
		  offsetof(struct verbs_context_ops, create_qp_ex));
	EXPECT_EQ(VERBS(34, 36, 36, 37, 39),
		  offsetof(struct verbs_context_ops, destroy_qp));
	EXPECT_EQ(VERBS(39, 41, 42, 44, 46),
		  offsetof(struct verbs_context_ops, free_context));
	EXPECT_EQ(VERBS(53, 55, 56, 58, 62),
		  offsetof(struct verbs_context_ops, poll_cq));
	EXPECT_EQ(VERBS(55, 57, 58, 60, 64),
		  offsetof(struct verbs_context_ops, post_send));
	EXPECT_EQ(VERBS(58, 60, 61, 63, 69),
		  offsetof(struct verbs_context_ops, query_device_ex));
	EXPECT_EQ(VERBS(67, 69, 71, 73, 81),
		  offsetof(struct verbs_context_ops, reg_dmabuf_mr));
	EXPECT_EQ(VERBS(69, 72, 74, 76, 84),
		  offsetof(struct verbs_context_ops, req_notify_cq));
	EXPECT_EQ(VERBS(75, 78, 80, 82, 92),
		  offsetof(struct verbs_context_ops, unimport_pd));
}

/* What the kernel and the library lay out together. */
TEST_F(unit_open, layout_rings)
{
	EXPECT_EQ(16, offsetof(struct hroce_sq_wqe, rdma));
	EXPECT_EQ(16, offsetof(struct hroce_sq_wqe, ud));
	EXPECT_EQ(48, offsetof(struct hroce_sq_wqe, inline_len));
	EXPECT_EQ(64, sizeof(struct hroce_sq_wqe));
	EXPECT_EQ(64, offsetof(struct hroce_sq_hdr, cons));
	EXPECT_EQ(68, offsetof(struct hroce_sq_hdr, need_kick));
	EXPECT_EQ(68, offsetof(struct hroce_rq_hdr, need_kick));
	EXPECT_EQ(4, offsetof(struct hroce_cq_hdr, arm));
	EXPECT_EQ(40, offsetof(struct hroce_cqe, status));
	EXPECT_EQ(60, offsetof(struct hroce_cqe, owner));
	EXPECT_EQ(64, sizeof(struct hroce_cqe));
}

TEST_F(unit_open, match_by_driver_id)
{
	const struct verbs_device_ops *ops = fake.ops;
	const struct verbs_match_ent *ent = ops->match_table;

	EXPECT_STREQ("hroce", ops->name);
	EXPECT_EQ(VERBS_MATCH_DRIVER_ID, ent->kind);
	EXPECT_EQ(0x68726f63, ent->u.driver_id);
	EXPECT_EQ(VERBS_MATCH_SENTINEL, ent[1].kind);
	EXPECT_EQ(73, ops->match_min_abi_version);
	EXPECT_EQ(73, ops->match_max_abi_version);
}

TEST_F(unit_open, match_refuses_foreign_and_other_abi)
{
	struct verbs_sysfs_dev dev = { .abi_ver = 73 };

	EXPECT_TRUE(!fake.ops->match_device(&dev));
	dev.match = fake.ops->match_table;
	EXPECT_TRUE(fake.ops->match_device(&dev));
	dev.abi_ver = 72;
	EXPECT_TRUE(!fake.ops->match_device(&dev));
	dev.abi_ver = 74;
	EXPECT_TRUE(!fake.ops->match_device(&dev));
}

TEST_F(unit_open, match_refuses_other_library)
{
	struct verbs_sysfs_dev dev = {
		.abi_ver = 73,
		.match = fake.ops->match_table,
	};

	fake.layout_shift = 8;
	EXPECT_TRUE(!fake.ops->match_device(&dev));
	fake.layout_shift = 0;
	EXPECT_TRUE(fake.ops->match_device(&dev));
}

/* Is the library in this file one that libhroce was built for? */
static bool matches(const char *file)
{
	struct verbs_sysfs_dev dev = {
		.abi_ver = 73,
		.match = fake.ops->match_table,
	};

	fake.library = file;
	return fake.ops->match_device(&dev);
}

/* Only the name of the file tells some of these from the right one. */
TEST_F(unit_open, match_refuses_other_release)
{
	static const char * const released[] = {
		"/lib/libibverbs.so.1.14.43.0", "/lib/libibverbs.so.1.14.44.0",
		"/lib/libibverbs.so.1.14.53.0", "/lib/libibverbs.so.1.14.56.1",
		"/lib/libibverbs.so.1.14.57.0", "/lib/libibverbs.so.1.15.61.0",
		"/lib/libibverbs.so.1.16.62.0", "/lib/libibverbs.so.1.17.64.0",
		"/lib/libibverbs.so.1.18.65.0", "/lib/libibverbs.so.1.18.66.0",
	};
	/* The first release with the same interface, for each of them. */
	static const int since[] = { 0, 44, 45, 54, 57, 59, 62, 64, 65, 0 };
	int mine = HROCE_RDMA_CORE;
	int next;
	size_t i;

	for (i = 0; i < 10; i++) {
		next = i < 8 ? since[i + 1] : 66;
		EXPECT_EQ(since[i] && mine >= since[i] && mine < next,
			  matches(released[i])) {
			TH_LOG("%s", released[i]);
		}
	}
}

TEST_F(unit_open, match_refuses_unknown_file)
{
	EXPECT_TRUE(matches(FAKE_LIBRARY(HROCE_RDMA_CORE)));
	EXPECT_FALSE(matches(NULL));
	EXPECT_FALSE(matches("/lib/libibverbs.so.1"));
	EXPECT_FALSE(matches("/lib/libibverbs-1b2c3d.so.1.14.0"));
	EXPECT_FALSE(matches("libibverbs.so"));
	EXPECT_FALSE(matches(""));
	fake.library = FAKE_LIBRARY(HROCE_RDMA_CORE);
}

TEST_F(unit_open, open_refuses_other_verbs_table)
{
	fake.skip_ops = true;
	errno = 0;
	EXPECT_FALSE(fake_open());
	EXPECT_EQ(EPROTO, errno);
	fake.skip_ops = false;
}

TEST_F(unit_open, adopts_the_lower_context)
{
	struct ibv_context *first, *second;

	fake.mode = HROCE_MODE_FACADE;
	first = fake_open();
	EXPECT_TRUE(first && !strcmp(first->device->name, "lower0"));
	EXPECT_EQ(1, fake.lower.nr_open);
	EXPECT_EQ(1, fake.nr_contexts);
	second = fake_open();
	EXPECT_TRUE(second && second != first);
	EXPECT_EQ(2, fake.lower.nr_open);
	EXPECT_EQ(2, fake.nr_contexts);
	ibv_close_device(first);
	EXPECT_EQ(1, fake.lower.nr_open);
	EXPECT_EQ(1, fake.nr_contexts);
	ibv_close_device(second);
	EXPECT_EQ(0, fake.lower.nr_open);
	EXPECT_EQ(0, fake.nr_contexts);
	fake.mode = HROCE_MODE_SOFTWARE;
}

TEST_F(unit_open, adopts_without_anchor_in_a_foreign_library)
{
	struct ibv_context *context;

	fake.mode = HROCE_MODE_FACADE;
	fake.lower.foreign = true;
	context = fake_open();
	EXPECT_TRUE(context);
	EXPECT_EQ(0, fake.nr_contexts);
	ibv_close_device(context);
	EXPECT_EQ(0, fake.lower.nr_open);
	fake.lower.foreign = false;
	fake.mode = HROCE_MODE_SOFTWARE;
}

TEST_F(unit_open, open_fails_with_the_lower_device)
{
	fake.mode = HROCE_MODE_FACADE;
	fake.lower.open_err = ENOMEM;
	errno = 0;
	EXPECT_FALSE(fake_open());
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_EQ(0, fake.nr_contexts);
	fake.lower.open_err = 0;

	fake.lower.absent = true;
	errno = 0;
	EXPECT_FALSE(fake_open());
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(0, fake.nr_contexts);
	fake.lower.absent = false;

	fake.connect_err = ENODEV;
	errno = 0;
	EXPECT_FALSE(fake_open());
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(0, fake.nr_contexts);
	fake.connect_err = 0;
	fake.mode = HROCE_MODE_SOFTWARE;
}

TEST_F(unit_open, open_and_close)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);

	EXPECT_TRUE(f->qp && f->cq && f->pd);
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

TEST_F(unit_open, create_refuses_bad_geometry)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr.max_wr = MAX_WR,
		.attr.max_sge = MAX_SGES,
	};
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_qp_init_attr_ex attr;
	int before = fake.nr_objects;
	size_t idx;

	hroce_destroy_qp(f->qp);
	for (idx = 0; idx < sizeof(spoilers) / sizeof(spoilers[0]); idx++) {
		fake.spoil = spoilers[idx];
		fake.nr_cqs = 1;
		errno = 0;
		EXPECT_FALSE(hroce_create_cq(f->context, RING_ENTRIES, NULL,
					     0));
		EXPECT_EQ(EPROTO, errno);
		errno = 0;
		EXPECT_FALSE(hroce_create_srq(f->pd, &srq_attr));
		EXPECT_EQ(EPROTO, errno);
		fixture_qp_attr(f, &attr, IBV_QPT_RC);
		errno = 0;
		EXPECT_FALSE(hroce_create_qp_ex(f->context, &attr));
		EXPECT_EQ(EPROTO, errno);
		EXPECT_EQ(before - 1, fake.nr_objects);
	}
	fake.spoil = NULL;

	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	f->qp = hroce_create_qp_ex(f->context, &attr);
}

TEST_F(unit_open, create_reports_granted_caps)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap.max_send_wr = 3,
		.cap.max_send_sge = 1,
		.cap.max_inline_data = 33,
		.qp_type = IBV_QPT_RC,
	};

	hroce_destroy_qp(f->qp);
	f->qp = hroce_create_qp(f->pd, &attr);
	EXPECT_TRUE(f->qp);
	EXPECT_EQ(3, attr.cap.max_send_wr);
	EXPECT_EQ(48, attr.cap.max_inline_data);
	EXPECT_EQ(48, to_hqp(f->qp)->sq.max_inline);
}

TEST_F(unit_open, create_refuses_unknown_wishes)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	struct ibv_qp_init_attr_ex attr;

	fixture_qp_attr(f, &attr, IBV_QPT_RAW_PACKET);
	errno = 0;
	EXPECT_FALSE(hroce_create_qp_ex(f->context, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);

	fixture_qp_attr(f, &attr, IBV_QPT_RC);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	errno = 0;
	EXPECT_FALSE(hroce_create_qp_ex(f->context, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);

	fixture_qp_attr(f, &attr, IBV_QPT_UD);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	errno = 0;
	EXPECT_FALSE(hroce_create_qp_ex(f->context, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);

	cq_attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	errno = 0;
	EXPECT_FALSE(hroce_create_cq_ex(f->context, &cq_attr));
	EXPECT_EQ(EOPNOTSUPP, errno);

	cq_attr.wc_flags = 0;
	cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	cq_attr.flags = 1U << 7;
	errno = 0;
	EXPECT_FALSE(hroce_create_cq_ex(f->context, &cq_attr));
	EXPECT_EQ(EOPNOTSUPP, errno);

	errno = 0;
	EXPECT_FALSE(hroce_create_cq(f->context, 0, NULL, 0));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(unit_open, rt_values_are_monotonic)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_values_ex before = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};
	struct ibv_values_ex after = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 0x80,
	};

	EXPECT_EQ(0, ibv_query_rt_values_ex(f->context, &before));
	EXPECT_EQ(0, ibv_query_rt_values_ex(f->context, &after));
	EXPECT_EQ(IBV_VALUES_MASK_RAW_CLOCK, after.comp_mask);
	EXPECT_TRUE(after.raw_clock.tv_nsec >= before.raw_clock.tv_nsec);
}

TEST_HARNESS_MAIN
