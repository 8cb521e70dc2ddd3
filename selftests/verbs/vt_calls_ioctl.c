// SPDX-License-Identifier: GPL-2.0
/* The ioctl methods, from a table of their attributes. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <infiniband/verbs.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "vt_calls.h"

/* How the value of an attribute is made up. */
enum how {
	END,
	MAKES,		/* a handle comes back */
	MAKES_FD,	/* a descriptor comes back */
	HANDLE,		/* of the kind that follows */
	FD,		/* a descriptor */
	SIZE,		/* a number of entries */
	ACCESS,		/* access flags */
	ADDRESS,	/* somewhere in the buffer */
	SMALL,		/* below the limit that follows */
	OUT,		/* an answer of so many bytes */
	IN,		/* so many bytes of anything */
};

/**
 * struct attr - one attribute
 * @id: number
 * @how: what is in it
 * @arg: kind of handle, or bytes, or limit
 * @len: bytes of a value that is handed in
 */
struct attr {
	uint16_t id;
	uint8_t how;
	uint16_t arg;
	uint8_t len;
};

/**
 * struct method - one method
 * @object: of which object
 * @id: number
 * @makes: kind of object that it makes
 * @driver: has driver data
 * @attr: attributes
 */
struct method {
	uint16_t object;
	uint16_t id;
	uint8_t makes;
	bool driver;
	struct attr attr[CALLS_ATTRS];
};

static const struct method methods[] = {
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, KIND_CQ, true, {
		{ UVERBS_ATTR_CREATE_CQ_HANDLE, MAKES, KIND_CQ, 0 },
		{ UVERBS_ATTR_CREATE_CQ_CQE, SIZE, 0, 4 },
		{ UVERBS_ATTR_CREATE_CQ_USER_HANDLE, ADDRESS, 0, 8 },
		{ UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, SMALL, 1, 4 },
		{ UVERBS_ATTR_CREATE_CQ_FLAGS, SMALL, 4, 4 },
		{ UVERBS_ATTR_CREATE_CQ_RESP_CQE, OUT, 4, 0 },
		{ UVERBS_ATTR_CREATE_CQ_EVENT_FD, FD, 0, 0 } } },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_CQ_HANDLE, HANDLE, KIND_CQ, 0 },
		{ UVERBS_ATTR_DESTROY_CQ_RESP, OUT, 8, 0 } } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, KIND_QP, true, {
		{ UVERBS_ATTR_CREATE_QP_HANDLE, MAKES, KIND_QP, 0 },
		{ UVERBS_ATTR_CREATE_QP_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, HANDLE, KIND_CQ, 0 },
		{ UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, HANDLE, KIND_CQ, 0 },
		{ UVERBS_ATTR_CREATE_QP_USER_HANDLE, ADDRESS, 0, 8 },
		{ UVERBS_ATTR_CREATE_QP_CAP, IN, 20, 0 },
		{ UVERBS_ATTR_CREATE_QP_TYPE, SMALL, 11, 8 },
		{ UVERBS_ATTR_CREATE_QP_FLAGS, SMALL, 2, 4 },
		{ UVERBS_ATTR_CREATE_QP_RESP_CAP, OUT, 20, 0 },
		{ UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, OUT, 4, 0 } } },
	/* A target queue pair. */
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, KIND_QP, true, {
		{ UVERBS_ATTR_CREATE_QP_HANDLE, MAKES, KIND_QP, 0 },
		{ UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, HANDLE, KIND_XRCD, 0 },
		{ UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, HANDLE, KIND_SRQ, 0 },
		{ UVERBS_ATTR_CREATE_QP_USER_HANDLE, ADDRESS, 0, 8 },
		{ UVERBS_ATTR_CREATE_QP_CAP, IN, 20, 0 },
		{ UVERBS_ATTR_CREATE_QP_TYPE, SMALL, 11, 8 },
		{ UVERBS_ATTR_CREATE_QP_RESP_CAP, OUT, 20, 0 },
		{ UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, OUT, 4, 0 } } },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_QP_HANDLE, HANDLE, KIND_QP, 0 },
		{ UVERBS_ATTR_DESTROY_QP_RESP, OUT, 4, 0 } } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, KIND_SRQ, true, {
		{ UVERBS_ATTR_CREATE_SRQ_HANDLE, MAKES, KIND_SRQ, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, ADDRESS, 0, 8 },
		{ UVERBS_ATTR_CREATE_SRQ_MAX_WR, SIZE, 0, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_MAX_SGE, SMALL, 8, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_LIMIT, SMALL, 2, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_TYPE, SMALL, 1, 8 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, OUT, 4, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, OUT, 4, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, OUT, 4, 0 } } },
	/* One of an XRC domain. */
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, KIND_SRQ, true, {
		{ UVERBS_ATTR_CREATE_SRQ_HANDLE, MAKES, KIND_SRQ, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, HANDLE, KIND_XRCD, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, HANDLE, KIND_CQ, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, ADDRESS, 0, 8 },
		{ UVERBS_ATTR_CREATE_SRQ_MAX_WR, SIZE, 0, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_MAX_SGE, SMALL, 8, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_LIMIT, SMALL, 2, 4 },
		{ UVERBS_ATTR_CREATE_SRQ_TYPE, SMALL, 1, 8 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, OUT, 4, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, OUT, 4, 0 },
		{ UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, OUT, 4, 0 } } },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_SRQ_HANDLE, HANDLE, KIND_SRQ, 0 },
		{ UVERBS_ATTR_DESTROY_SRQ_RESP, OUT, 4, 0 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_MR_HANDLE, HANDLE, KIND_MR, 0 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, 0, false, {
		{ UVERBS_ATTR_ADVISE_MR_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_ADVISE_MR_ADVICE, SMALL, 3, 8 },
		{ UVERBS_ATTR_ADVISE_MR_FLAGS, SMALL, 2, 4 },
		{ UVERBS_ATTR_ADVISE_MR_SGE_LIST, IN, 32, 0 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, 0, false, {
		{ UVERBS_ATTR_QUERY_MR_HANDLE, HANDLE, KIND_MR, 0 },
		{ UVERBS_ATTR_QUERY_MR_RESP_LKEY, OUT, 4, 0 },
		{ UVERBS_ATTR_QUERY_MR_RESP_RKEY, OUT, 4, 0 },
		{ UVERBS_ATTR_QUERY_MR_RESP_LENGTH, OUT, 8, 0 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, KIND_MR, true, {
		{ UVERBS_ATTR_REG_DMABUF_MR_HANDLE, MAKES, KIND_MR, 0 },
		{ UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_REG_DMABUF_MR_OFFSET, SMALL, 9000, 8 },
		{ UVERBS_ATTR_REG_DMABUF_MR_LENGTH, SMALL, 9000, 8 },
		{ UVERBS_ATTR_REG_DMABUF_MR_IOVA, SMALL, 9000, 8 },
		{ UVERBS_ATTR_REG_DMABUF_MR_FD, FD, 0, 0 },
		{ UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, ACCESS, 0, 4 },
		{ UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, OUT, 4, 0 },
		{ UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, OUT, 4, 0 } } },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, 0, false, {
		{ UVERBS_ATTR_REG_DM_MR_HANDLE, MAKES, KIND_MR, 0 },
		{ UVERBS_ATTR_REG_DM_MR_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_REG_DM_MR_DM_HANDLE, HANDLE, KIND_OTHER, 0 },
		{ UVERBS_ATTR_REG_DM_MR_LENGTH, SIZE, 0, 8 } } },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_PD_HANDLE, HANDLE, KIND_PD, 0 } } },
	{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_MW_HANDLE, HANDLE, KIND_MW, 0 } } },
	{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_AH_HANDLE, HANDLE, KIND_AH, 0 } } },
	{ UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, 0, false, {
		{ UVERBS_ATTR_DESTROY_XRCD_HANDLE, HANDLE, KIND_XRCD, 0 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, 0, false, {
		{ UVERBS_ATTR_INFO_OBJECT_ID, SMALL, 17, 8 },
		{ UVERBS_ATTR_INFO_TOTAL_HANDLES, OUT, 4, 0 },
		{ UVERBS_ATTR_INFO_HANDLES_LIST, OUT, 64, 0 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 0, false, {
		{ UVERBS_ATTR_QUERY_PORT_PORT_NUM, SMALL, 3, 1 },
		{ UVERBS_ATTR_QUERY_PORT_RESP, OUT, 48, 0 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 0, true, {
		{ UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, OUT, 4, 0 },
		{ UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, OUT, 8, 0 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 0, true, {
		{ UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, OUT, 4, 0 },
		{ UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, OUT, 8, 0 } } },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, 0, false, {
		{ 0, SMALL, 64, 8 }, { 1, SMALL, 1, 4 }, { 2, OUT, 256, 0 },
		{ 3, OUT, 8, 0 } } },
	{ UVERBS_OBJECT_ASYNC_EVENT, 0, KIND_FD, false, {
		{ 0, MAKES_FD, 0, 0 } } },
	{ HROCE_OBJECT_KICK, HROCE_METHOD_KICK_ALLOC, KIND_FD, false, {
		{ HROCE_ATTR_KICK_ALLOC_HANDLE, MAKES_FD, 0, 0 } } },
	{ HROCE_OBJECT_KICK, HROCE_METHOD_KICK_ALLOC, KIND_FD, false, {
		{ HROCE_ATTR_KICK_ALLOC_HANDLE, MAKES_FD, 0, 0 } } },
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, 0, false, {
		{ UVERBS_ATTR_CREATE_COUNTERS_HANDLE, MAKES, 0, 0 } } },
	{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 0, true, {
		{ UVERBS_ATTR_ALLOC_DM_HANDLE, MAKES, 0, 0 },
		{ UVERBS_ATTR_ALLOC_DM_LENGTH, SIZE, 0, 8 } } },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, 0, true, {
		{ UVERBS_ATTR_CREATE_WQ_HANDLE, MAKES, 0, 0 },
		{ UVERBS_ATTR_CREATE_WQ_PD_HANDLE, HANDLE, KIND_PD, 0 },
		{ UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, HANDLE, KIND_CQ, 0 } } },
};

/**
 * struct request - an ioctl being built
 * @hdr: its head
 * @attrs: attributes
 */
struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[CALLS_ATTRS + 4];
};

static int request_send(struct caller *c, struct request *r, unsigned int nr,
			bool broken)
{
	r->hdr.num_attrs = nr;
	r->hdr.length = sizeof(r->hdr) + nr * sizeof(r->attrs[0]);
	r->hdr.driver_id = HROCE_DRIVER_ID;
	if (broken)
		calls_break(c, (void *)r, r->hdr.length);
	return ioctl(c->shared->fd, RDMA_VERBS_IOCTL, r) ? errno : 0;
}

static void add(struct request *r, unsigned int *nr, uint16_t id, uint16_t len,
		uint64_t data)
{
	r->attrs[(*nr)++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY,
		.data = data,
	};
}

/* A write command in the dress of an ioctl. Returns 0 or errno. */
int calls_invoke(struct caller *c, uint32_t cmd, size_t in_len, size_t out_len,
		 size_t uin_len, size_t uout_len)
{
	struct room *room = c->room;
	struct request r = {};
	unsigned int nr = 0;
	uint64_t word = 0;

	r.hdr.object_id = UVERBS_OBJECT_DEVICE;
	r.hdr.method_id = UVERBS_METHOD_INVOKE_WRITE;
	add(&r, &nr, UVERBS_ATTR_WRITE_CMD, 8, cmd);
	/* The old form begins with the address of the answer. */
	if (in_len && in_len <= 8)
		memcpy(&word, room->core, in_len);
	if (in_len)
		add(&r, &nr, UVERBS_ATTR_CORE_IN, in_len,
		    in_len <= 8 ? word : (uintptr_t)room->core);
	if (out_len)
		add(&r, &nr, UVERBS_ATTR_CORE_OUT, out_len, (uintptr_t)room->out);
	word = 0;
	if (uin_len && uin_len <= 8)
		memcpy(&word, room->udata, uin_len);
	if (uin_len)
		add(&r, &nr, UVERBS_ATTR_UHW_IN, uin_len,
		    uin_len <= 8 ? word : (uintptr_t)room->udata);
	if (uout_len)
		add(&r, &nr, UVERBS_ATTR_UHW_OUT, uout_len,
		    (uintptr_t)room->uout);
	return request_send(c, &r, nr, cmd != IB_USER_VERBS_CMD_GET_CONTEXT);
}

static void fill(struct caller *c, unsigned char *p, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i += 4) {
		uint32_t v = calls_size(c);

		memcpy(p + i, &v, 4);
	}
	if (len == 32) {
		/* What may be a list of elements. */
		uint64_t addr = (uintptr_t)c->shared->buf +
				calls_rand(c) % CALLS_BUF;

		memcpy(p, &addr, 8);
		memcpy(p + 16, &addr, 8);
	}
}

static uint64_t value(struct caller *c, const struct attr *a)
{
	switch (a->how) {
	case HANDLE:
		return calls_handle(c, a->arg);
	case FD:
		return c->shared->fds[calls_rand(c) % CALLS_FDS];
	case SIZE:
		return calls_size(c);
	case ACCESS:
		return calls_access(c);
	case ADDRESS:
		return (uintptr_t)c->shared->buf + calls_rand(c) % CALLS_BUF;
	case SMALL:
		return calls_chance(c, 32) ? calls_rand(c) :
					     calls_rand(c) % a->arg;
	}
	return 0;
}

static void learn(struct caller *c, const struct method *m,
		  const struct request *r)
{
	for (int i = 0; i < r->hdr.num_attrs && i < CALLS_ATTRS; i++) {
		const struct attr *a = m->attr;

		while (a->how && a->id != r->attrs[i].attr_id)
			a++;
		if (a->how == MAKES_FD)
			calls_learn_fd(c, r->attrs[i].data_s64);
		else if (a->how == MAKES && m->makes)
			calls_learn(c, m->makes, r->attrs[i].data);
		if (m->makes == KIND_QP && a->how == OUT && a->arg == 4)
			memcpy(&c->shared->qpns[calls_rand(c) % 16],
			       c->room->out[i], 4);
	}
	if (m->makes == KIND_CQ || m->makes == KIND_QP || m->makes == KIND_SRQ)
		calls_learn_rings(c, c->room->uout, 48);
}

void calls_ioctl(struct caller *c)
{
	const struct method *m = &methods[calls_rand(c) %
					  (sizeof(methods) / sizeof(*methods))];
	struct room *room = c->room;
	struct request r = {};
	const struct attr *a;
	unsigned int nr = 0;
	uint64_t word;
	size_t ulen;
	int err;

	r.hdr.object_id = calls_chance(c, 64) ? calls_rand(c) % 20 : m->object;
	r.hdr.method_id = calls_chance(c, 64) ? calls_rand(c) % 8 : m->id;
	for (a = m->attr; a->how; a++) {
		if (calls_chance(c, 24))
			continue;
		if (a->how == FD && !calls_chance(c, 3))
			continue;
		if (a->how == OUT) {
			add(&r, &nr, a->id, a->arg, (uintptr_t)room->out[nr]);
		} else if (a->how == IN) {
			fill(c, room->in[nr], a->arg);
			add(&r, &nr, a->id, a->arg, (uintptr_t)room->in[nr]);
		} else {
			add(&r, &nr, a->id, a->len, value(c, a));
		}
	}
	ulen = calls_udata(c);
	memcpy(&word, room->udata, 8);
	if (m->driver && ulen)
		add(&r, &nr, UVERBS_ATTR_UHW_IN, ulen,
		    ulen <= 8 ? word : (uintptr_t)room->udata);
	if (m->driver && !calls_chance(c, 16))
		add(&r, &nr, UVERBS_ATTR_UHW_OUT, calls_chance(c, 16) ?
		    calls_rand(c) % 96 : 48, (uintptr_t)room->uout);
	err = request_send(c, &r, nr, true);
	calls_count(!err);
	if (!err && m->makes) {
		calls_made_by_ioctl(m->makes);
		learn(c, m, &r);
	}
}
