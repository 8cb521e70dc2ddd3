// SPDX-License-Identifier: GPL-2.0
/* Rates of queue pairs: what is asked of the kernel, and of an older one. */
#include "fixture.h"

static int query_bytes(struct fixture *f, struct ibv_device_attr_ex *attr,
		       size_t len)
{
	return verbs_get_ctx(f->context)->query_device_ex(f->context, NULL,
							  attr, len);
}

static void query(struct fixture *f, struct ibv_device_attr_ex *attr)
{
	memset(attr, 0xa5, sizeof(*attr));
	tap_eq(query_bytes(f, attr, sizeof(*attr)), 0);
	tap_ok(!strcmp(attr->orig_attr.fw_ver, "3.2.1"));
}

static void device_says_what_it_can(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_device_attr_ex attr;

	query(&f, &attr);
	tap_eq(attr.packet_pacing_caps.qp_rate_limit_min, 8);
	tap_eq(attr.packet_pacing_caps.qp_rate_limit_max, 1000000);
	tap_eq(attr.packet_pacing_caps.supported_qpts, 1 << IBV_QPT_RC);
	fixture_close(&f);
}

static void older_module_has_no_rates(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_device_attr_ex attr;

	fake.rate.unknown = true;
	query(&f, &attr);
	tap_eq(attr.packet_pacing_caps.qp_rate_limit_min, 0);
	tap_eq(attr.packet_pacing_caps.qp_rate_limit_max, 0);
	tap_eq(attr.packet_pacing_caps.supported_qpts, 0);
	fixture_close(&f);
}

/* A program that was built when the structure was shorter. */
static void short_attributes_end_where_they_do(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct {
		struct ibv_device_attr_ex attr;
		uint8_t beyond[64];
	} room;
	size_t len = offsetof(struct ibv_device_attr_ex, packet_pacing_caps);
	size_t i;

	memset(&room, 0xa5, sizeof(room));
	tap_eq(query_bytes(&f, &room.attr, len), 0);
	for (i = len; i < sizeof(room); i++)
		tap_eq(((uint8_t *)&room)[i], 0xa5);
	fixture_close(&f);
}

static void rate_and_burst_are_passed_on(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_qp_rate_limit_attr rate = {
		.rate_limit = 12345,
		.max_burst_sz = 70000,
		.typical_pkt_sz = 1500,
	};

	tap_eq(hroce_modify_qp_rate_limit(f.qp, &rate), 0);
	tap_eq(fake.rate.mask, IBV_QP_RATE_LIMIT);
	tap_eq(fake.rate.kbps, 12345);
	tap_eq(fake.rate.req.comp_mask, 0);
	tap_eq(fake.rate.req.max_burst_sz, 70000);
	tap_eq(fake.rate.req.typical_pkt_sz, 1500);
	rate.comp_mask = 1;
	tap_eq(hroce_modify_qp_rate_limit(f.qp, &rate), EINVAL);
	fixture_close(&f);
}

/* The plain command has no room for it. */
static void rate_with_a_transition(void)
{
	struct fixture f = fixture_open(IBV_QPT_RC, 0);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.rate_limit = 99,
	};

	tap_eq(hroce_modify_qp(f.qp, &attr, IBV_QP_STATE), 0);
	tap_eq(fake.rate.mask, 0);
	tap_eq(hroce_modify_qp(f.qp, &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT),
	       0);
	tap_eq(fake.rate.mask, IBV_QP_STATE | IBV_QP_RATE_LIMIT);
	tap_eq(fake.rate.kbps, 99);
	tap_eq(fake.rate.req.max_burst_sz, 0);
	fixture_close(&f);
}

int main(void)
{
	tap_plan(5);
	tap_run(device_says_what_it_can);
	tap_run(older_module_has_no_rates);
	tap_run(short_attributes_end_where_they_do);
	tap_run(rate_and_burst_are_passed_on);
	tap_run(rate_with_a_transition);
	return tap_exit();
}
