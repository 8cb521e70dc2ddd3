/* SPDX-License-Identifier: GPL-2.0 */
/* One context with a PD, a CQ and a QP, and what tests do with them. */
#ifndef HROCE_FIXTURE_H
#define HROCE_FIXTURE_H

#include <errno.h>
#include <string.h>

#include <kselftest_harness.h>

#include "ah.h"
#include "cq.h"
#include "fake.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"

#define MAX_WR		5	/* granted as it is; the ring has 8 */
#define RING_ENTRIES	8
#define MAX_SGES	3
#define MAX_INLINE	64

struct fixture {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static inline void fixture_qp_attr(struct fixture *f,
				   struct ibv_qp_init_attr_ex *attr,
				   enum ibv_qp_type type)
{
	*attr = (struct ibv_qp_init_attr_ex) {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap.max_send_wr = MAX_WR,
		.cap.max_recv_wr = MAX_WR,
		.cap.max_send_sge = MAX_SGES,
		.cap.max_recv_sge = MAX_SGES,
		.cap.max_inline_data = MAX_INLINE,
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = f->pd,
	};
}

static inline void qp_to(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	hroce_modify_qp(qp, &attr, IBV_QP_STATE);
}

static inline struct fixture *fixture_open(struct fixture *f,
					   enum ibv_qp_type type,
					   uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr;

	f->context = fake_open();
	f->pd = hroce_alloc_pd(f->context);
	f->cq = hroce_create_cq(f->context, RING_ENTRIES, NULL, 0);
	fixture_qp_attr(f, &attr, type);
	if (send_ops) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = send_ops;
	}
	f->qp = hroce_create_qp_ex(f->context, &attr);
	qp_to(f->qp, IBV_QPS_RTS);
	return f;
}

static inline void fixture_close(struct __test_metadata *_metadata,
				 struct fixture *f)
{
	EXPECT_EQ(0, hroce_destroy_qp(f->qp));
	EXPECT_EQ(0, hroce_destroy_cq(f->cq));
	EXPECT_EQ(0, hroce_dealloc_pd(f->pd));
	EXPECT_EQ(0, fake.nr_objects);
	fake_close(f->context);
	*f = (struct fixture) {};
}

/* The leak checker runs at exit(), which the harness has no case call. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* The harness defines functions of a fixture that nothing declares. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/*
 * The fixture of a program, after which its cases are named. What a case has
 * opened is closed at its end, and nothing may be left of it.
 */
#define PROVIDER_FIXTURE(program) \
	FIXTURE(program) { struct fixture f; }; \
	FIXTURE_SETUP(program) {} \
	FIXTURE_TEARDOWN(program) \
	{ \
		if (self->f.context) \
			fixture_close(_metadata, &self->f); \
		if (__lsan_do_recoverable_leak_check) \
			EXPECT_EQ(0, __lsan_do_recoverable_leak_check()); \
	}

/* Entry @idx of the send queue, as the kernel would read it. */
static inline struct hroce_sq_wqe *sent(uint32_t idx)
{
	return fake_entry(&fake.sq, idx);
}

static inline struct hroce_sq_hdr *sq_hdr(void)
{
	return (struct hroce_sq_hdr *)fake.sq.base;
}

static inline struct hroce_rq_hdr *rq_hdr(void)
{
	return (struct hroce_rq_hdr *)fake.rq.base;
}

static inline struct hroce_cq_hdr *cq_hdr(int idx)
{
	return (struct hroce_cq_hdr *)fake.cq[idx].base;
}

#endif /* HROCE_FIXTURE_H */
