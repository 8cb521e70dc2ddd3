// SPDX-License-Identifier: GPL-2.0
/* Rates of queue pairs: what is asked of the kernel, and of an older one. */
#include "fixture.h"

PROVIDER_FIXTURE(unit_rate)

static int query_bytes(struct fixture *f, struct ibv_device_attr_ex *attr,
		       size_t len)
{
	return verbs_get_ctx(f->context)->query_device_ex(f->context, NULL,
							  attr, len);
}

static void query(struct __test_metadata *_metadata, struct fixture *f,
		  struct ibv_device_attr_ex *attr)
{
	memset(attr, 0xa5, sizeof(*attr));
	EXPECT_EQ(0, query_bytes(f, attr, sizeof(*attr)));
	EXPECT_STREQ("3.2.1", attr->orig_attr.fw_ver);
}

TEST_F(unit_rate, device_says_what_it_can)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_device_attr_ex attr;

	query(_metadata, f, &attr);
	EXPECT_EQ(8, attr.packet_pacing_caps.qp_rate_limit_min);
	EXPECT_EQ(1000000, attr.packet_pacing_caps.qp_rate_limit_max);
	EXPECT_EQ(1 << IBV_QPT_RC, attr.packet_pacing_caps.supported_qpts);
}

TEST_F(unit_rate, older_module_has_no_rates)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_device_attr_ex attr;

	fake.rate.unknown = true;
	query(_metadata, f, &attr);
	EXPECT_EQ(0, attr.packet_pacing_caps.qp_rate_limit_min);
	EXPECT_EQ(0, attr.packet_pacing_caps.qp_rate_limit_max);
	EXPECT_EQ(0, attr.packet_pacing_caps.supported_qpts);
}

/* A program that was built when the structure was shorter. */
TEST_F(unit_rate, short_attributes_end_where_they_do)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct {
		struct ibv_device_attr_ex attr;
		uint8_t beyond[64];
	} room;
	size_t len = offsetof(struct ibv_device_attr_ex, packet_pacing_caps);
	size_t i;

	memset(&room, 0xa5, sizeof(room));
	EXPECT_EQ(0, query_bytes(f, &room.attr, len));
	for (i = len; i < sizeof(room); i++)
		EXPECT_EQ(0xa5, ((uint8_t *)&room)[i]);
}

TEST_F(unit_rate, rate_and_burst_are_passed_on)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_qp_rate_limit_attr rate = {
		.rate_limit = 12345,
		.max_burst_sz = 70000,
		.typical_pkt_sz = 1500,
	};

	EXPECT_EQ(0, hroce_modify_qp_rate_limit(f->qp, &rate));
	EXPECT_EQ(IBV_QP_RATE_LIMIT, fake.rate.mask);
	EXPECT_EQ(12345, fake.rate.kbps);
	EXPECT_EQ(0, fake.rate.req.comp_mask);
	EXPECT_EQ(70000, fake.rate.req.max_burst_sz);
	EXPECT_EQ(1500, fake.rate.req.typical_pkt_sz);
	rate.comp_mask = 1;
	EXPECT_EQ(EINVAL, hroce_modify_qp_rate_limit(f->qp, &rate));
}

/* The plain command has no room for it. */
TEST_F(unit_rate, rate_with_a_transition)
{
	struct fixture *f = fixture_open(&self->f, IBV_QPT_RC, 0);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.rate_limit = 99,
	};

	EXPECT_EQ(0, hroce_modify_qp(f->qp, &attr, IBV_QP_STATE));
	EXPECT_EQ(0, fake.rate.mask);
	EXPECT_EQ(0, hroce_modify_qp(f->qp, &attr,
				     IBV_QP_STATE | IBV_QP_RATE_LIMIT));
	EXPECT_EQ(IBV_QP_STATE | IBV_QP_RATE_LIMIT, fake.rate.mask);
	EXPECT_EQ(99, fake.rate.kbps);
	EXPECT_EQ(0, fake.rate.req.max_burst_sz);
}

TEST_HARNESS_MAIN
