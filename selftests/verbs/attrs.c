// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of newer kernels by which a program gives memory for the ring of a
 * queue. hroce has its rings in memory of the kernel, so it must refuse them:
 * the program would wait for entries in its own memory.
 *
 * libibverbs has no calls for all of them, so this uses ioctl(). A kernel that
 * does not know an attribute refuses it by itself.
 */
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include <rdma/hroce-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "vt.h"

/* What <rdma/ib_user_ioctl_cmds.h> has since 6.17 (CQ) and 7.2. */
enum {
	CQ_BUFFER_VA = UVERBS_ATTR_CREATE_CQ_EVENT_FD + 1,
	CQ_BUFFER_LENGTH,
	CQ_BUFFER_FD,
	CQ_BUFFER_OFFSET,
	CQ_BUF_UMEM,
	QP_BUF_UMEM = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM + 1,
	QP_RQ_BUF_UMEM,
	QP_SQ_BUF_UMEM,
	SRQ_BUF_UMEM = UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM + 1,
};

/* struct ib_uverbs_buffer_desc */
struct buffer_desc {
	__u32 type;
	__s32 fd;
	__u32 flags;
	__u32 optional_flags;
	__u64 addr;
	__u64 length;
};

#define BUFFER_TYPE_VA	1
#define MEM_BYTES	65536ul

/**
 * struct call - an ioctl of uverbs
 * @hdr: its head
 * @attrs: its attributes
 * @cap: capabilities of a queue pair
 * @desc: memory for a ring
 * @answer: where attributes are returned that nobody reads
 * @uhw: answer of hroce
 */
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[20];
	struct ib_uverbs_qp_cap cap;
	struct buffer_desc desc;
	unsigned char answer[32];
	struct hroce_create_qp_resp uhw;
};

static void add(struct call *c, uint16_t id, uint16_t len, uint64_t data)
{
	c->attrs[c->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

static void add_answer(struct call *c, uint16_t id, uint16_t len)
{
	add(c, id, len, (uintptr_t)c->answer);
}

/* Return: 0 or errno. */
static int call(struct vt_end *e, struct call *c, uint16_t object,
		uint16_t method)
{
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = HROCE_DRIVER_ID;
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(*c->attrs);
	return ioctl(e->ctx->cmd_fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}

static void cq_begin(struct vt_end *e, struct call *c)
{
	(void)e;
	add(c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(c, UVERBS_ATTR_CREATE_CQ_CQE, 4, 16);
	add(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0);
	add(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0);
	add_answer(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4);
}

static void qp_begin(struct vt_end *e, struct call *c)
{
	struct ibv_cq *cq = vt_cq(e, 16, NULL);

	c->cap = (struct ib_uverbs_qp_cap){
		.max_send_wr = 4, .max_recv_wr = 4,
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	add(c, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	add(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, e->pd->handle);
	add(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq->handle);
	add(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq->handle);
	add(c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 0);
	add(c, UVERBS_ATTR_CREATE_QP_CAP, sizeof(c->cap), (uintptr_t)&c->cap);
	add(c, UVERBS_ATTR_CREATE_QP_TYPE, 8, IBV_QPT_RC);
	add_answer(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(c->cap));
	add_answer(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4);
}

static void srq_begin(struct vt_end *e, struct call *c)
{
	add(c, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0);
	add(c, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, e->pd->handle);
	add(c, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 0);
	add(c, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 4);
	add(c, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 1);
	add(c, UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0);
	add(c, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, IBV_SRQT_BASIC);
	add_answer(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4);
	add_answer(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4);
}

/**
 * struct kind - a kind of queue
 * @begin: add the attributes without which none is created
 * @object: number of the object; its first methods create and destroy
 * @answer: bytes that destroying returns
 * @uhw: bytes that hroce returns
 */
static const struct kind {
	void (*begin)(struct vt_end *e, struct call *c);
	uint16_t object;
	uint16_t answer;
	uint16_t uhw;
} kinds[] = {
	{ cq_begin, UVERBS_OBJECT_CQ, sizeof(struct ib_uverbs_destroy_cq_resp),
	  sizeof(struct hroce_create_cq_resp) },
	{ qp_begin, UVERBS_OBJECT_QP, sizeof(struct ib_uverbs_destroy_qp_resp),
	  sizeof(struct hroce_create_qp_resp) },
	{ srq_begin, UVERBS_OBJECT_SRQ,
	  sizeof(struct ib_uverbs_destroy_srq_resp),
	  sizeof(struct hroce_create_srq_resp) },
};

/* Create what @c describes so far, and destroy it. Return: 0 or errno. */
static int create(struct vt_end *e, const struct kind *kind, struct call *c)
{
	struct call end = {};
	int err;

	add(c, UVERBS_ATTR_UHW_OUT, kind->uhw, (uintptr_t)&c->uhw);
	err = call(e, c, kind->object, 0);
	if (err)
		return err;
	add(&end, 0, 0, c->attrs[0].data);
	add_answer(&end, 1, kind->answer);
	VT_EQ(call(e, &end, kind->object, 1), 0);
	return 0;
}

/* Without the attributes, the same commands succeed. */
static void created(struct vt *t)
{
	struct call c = {};

	if (!vt_is_hroce(&t->a))
		vt_skip("for hroce only");
	kinds[t->arg].begin(&t->a, &c);
	VT_EQ(create(&t->a, &kinds[t->arg], &c), 0);
}

/* Whether the kernel knows the attributes. */
static bool kernel_is_new(void)
{
	struct utsname name;

	VT_EQ(uname(&name), 0);
	return atoi(name.release) >= 7;
}

static void refused(struct vt *t)
{
	const struct kind *kind = &kinds[t->arg >> 8];
	int id = t->arg & 0xff, err;
	struct vt_mem *m = vt_mem(&t->a, MEM_BYTES, VT_ALL);
	struct call c = {};

	if (!vt_is_hroce(&t->a))
		vt_skip("for hroce only");
	kind->begin(&t->a, &c);
	c.desc = (struct buffer_desc){
		.type = BUFFER_TYPE_VA, .addr = (uintptr_t)m->buf,
		.length = m->len,
	};
	if (kind == &kinds[0] && id == CQ_BUFFER_VA) {
		add(&c, id, 8, (uintptr_t)m->buf);
		add(&c, CQ_BUFFER_LENGTH, 8, m->len);
	} else if (kind == &kinds[0] && id == CQ_BUFFER_FD) {
		/* hroce refuses all descriptors. */
		add(&c, id, 0, t->a.ctx->cmd_fd);
		add(&c, CQ_BUFFER_OFFSET, 8, 0);
		add(&c, CQ_BUFFER_LENGTH, 8, m->len);
	} else {
		add(&c, id, sizeof(c.desc), (uintptr_t)&c.desc);
	}
	err = create(&t->a, kind, &c);
	if (kernel_is_new())
		VT_EQ(err, EOPNOTSUPP);
	else
		VT_EQ(err, EPROTONOSUPPORT);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("cq_created", created, 0),
	VT_CASE_ARG("qp_created", created, 1),
	VT_CASE_ARG("srq_created", created, 2),
	VT_CASE_ARG("cq_memory_by_address", refused, CQ_BUFFER_VA),
	VT_CASE_ARG("cq_memory_of_dma_buf", refused, CQ_BUFFER_FD),
	VT_CASE_ARG("cq_memory", refused, CQ_BUF_UMEM),
	VT_CASE_ARG("qp_memory", refused, 0x100 | QP_BUF_UMEM),
	VT_CASE_ARG("qp_memory_of_receives", refused, 0x100 | QP_RQ_BUF_UMEM),
	VT_CASE_ARG("qp_memory_of_sends", refused, 0x100 | QP_SQ_BUF_UMEM),
	VT_CASE_ARG("srq_memory", refused, 0x200 | SRQ_BUF_UMEM),
};

VT_MAIN(cases)
