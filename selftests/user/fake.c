// SPDX-License-Identifier: GPL-2.0
/* The part of libibverbs and of the kernel that the provider calls. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"
#include "kick.h"
#include "library.h"

struct fake fake = { .library = FAKE_LIBRARY(HROCE_RDMA_CORE) };

static struct ibv_device *device;
static off_t next_offset;

static uint32_t round_up_pow2(uint32_t value)
{
	uint32_t result = 1;

	while (result < value)
		result *= 2;
	return result;
}

static void ring_create(struct fake_ring *ring, int fd, uint32_t nr_entries,
			uint32_t stride, struct hroce_ring_info *info)
{
	uint32_t len_bytes;

	nr_entries = round_up_pow2(nr_entries);
	len_bytes = HROCE_RING_ENTRIES_OFFSET + nr_entries * stride;
	len_bytes = (len_bytes + 4095) & ~4095U;
	*info = (struct hroce_ring_info) {
		.mmap_offset = next_offset,
		.mmap_size = len_bytes,
		.nr_entries = nr_entries,
		.stride = stride,
	};
	if (ftruncate(fd, next_offset + len_bytes))
		abort();
	ring->base = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, next_offset);
	if (ring->base == MAP_FAILED)
		abort();
	ring->nr_entries = nr_entries;
	ring->stride = stride;
	ring->len_bytes = len_bytes;
	next_offset += len_bytes;
	if (fake.spoil)
		fake.spoil(info);
}

static void ring_destroy(struct fake_ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->len_bytes);
	*ring = (struct fake_ring) {};
}

void *fake_entry(const struct fake_ring *ring, uint32_t idx)
{
	return ring->base + HROCE_RING_ENTRIES_OFFSET +
	       (size_t)(idx & (ring->nr_entries - 1)) * ring->stride;
}

void fake_complete(const struct fake_ring *ring, uint32_t idx,
		   const struct hroce_cqe *cqe)
{
	struct hroce_cqe *to = fake_entry(ring, idx);
	uint32_t owner = idx & ring->nr_entries ? 0 : HROCE_CQE_PHASE;

	memcpy(to, cqe, offsetof(struct hroce_cqe, owner));
	__atomic_store_n(&to->owner, owner, __ATOMIC_RELEASE);
}

struct ibv_context *fake_open(void)
{
	struct verbs_context *vctx;
	struct verbs_device *vdev;
	int fd;

	fake.nr_objects = 0;
	fake.nr_kicks = 0;
	fake.nr_polls = 0;
	fake.nr_cqs = 0;
	fake.next_qpn = 17;
	next_offset = 0;

	vdev = fake.ops->alloc_device(NULL);
	device = &vdev->device;
	strcpy(device->name, "hroce0");
	fd = memfd_create("hroce", MFD_CLOEXEC);
	vctx = fake.ops->alloc_context(device, fd, NULL);
	return vctx ? &vctx->context : NULL;
}

/* The provider's free_context is found where verbs_set_ops() left it. */
void fake_close(struct ibv_context *context)
{
	struct verbs_context *vctx =
		container_of(context, struct verbs_context, context);
	const struct verbs_device_ops *ops = fake.ops;

	vctx->priv->ops.free_context(context);
	fake = (struct fake) {
		.ops = ops,
		.library = FAKE_LIBRARY(HROCE_RDMA_CORE),
	};
}

int hroce_kick_open(int cmd_fd)
{
	return dup(cmd_fd);
}

int hroce_kick(int kick_fd, uint32_t qpn)
{
	(void)kick_fd;
	__atomic_add_fetch(&fake.nr_kicks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&fake.kicked_qpn, qpn, __ATOMIC_RELAXED);
	if (fake.kicked)
		fake.kicked(qpn);
	return fake.kick_err;
}

bool hroce_kick_poll(int kick_fd, uint32_t qpn)
{
	(void)kick_fd;
	__atomic_add_fetch(&fake.nr_polls, 1, __ATOMIC_RELAXED);
	return fake.polled && fake.polled(qpn);
}

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	fake.ops = ops;
}

/* Looks where a library with a larger structure would look. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	uint8_t *place = (uint8_t *)qp + offsetof(struct verbs_qp, comp_mask) +
			 fake.layout_shift;

	return *(uint32_t *)place & VERBS_QP_EX ? (struct ibv_qp_ex *)qp : NULL;
}

void *_verbs_init_and_alloc_context(struct ibv_device *dev, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id)
{
	uint8_t *whole = calloc(1, alloc_size);
	struct verbs_context *vctx;

	vctx = (struct verbs_context *)(whole + (uintptr_t)context_offset);
	vctx->priv = calloc(1, sizeof(*vctx->priv));
	vctx->priv->driver_id = driver_id;
	vctx->sz = sizeof(*vctx);
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = dev;
	vctx->context.cmd_fd = cmd_fd;
	vctx->context.async_fd = -1;
	fake.nr_contexts++;
	return whole;
}

void verbs_uninit_context(struct verbs_context *vctx)
{
	free(vctx->priv);
	close(vctx->context.cmd_fd);
	fake.ops->uninit_device(container_of(vctx->context.device,
					     struct verbs_device, device));
	fake.nr_contexts--;
}

void verbs_set_ops(struct verbs_context *vctx,
		   const struct verbs_context_ops *ops)
{
	struct ibv_context_ops *pub = &vctx->context.ops;

	if (vctx->context.device != device) {
		fake_lower_set_ops(vctx, ops);
		return;
	}
	vctx->priv->ops = *ops;
	if (fake.skip_ops)
		return;
	vctx->create_qp_ex = ops->create_qp_ex;
	vctx->create_cq_ex = ops->create_cq_ex;
	vctx->query_device_ex = ops->query_device_ex;
	vctx->query_rt_values = ops->query_rt_values;
	pub->poll_cq = ops->poll_cq;
	pub->post_recv = ops->post_recv;
	pub->post_send = ops->post_send;
	pub->post_srq_recv = ops->post_srq_recv;
	pub->req_notify_cq = ops->req_notify_cq;
}

char *hroce_library_file(void)
{
	return fake.library ? strdup(fake.library) : NULL;
}

int (ibv_cmd_get_context)(struct verbs_context *vctx,
			struct ibv_get_context *cmd, size_t cmd_size,
#if HROCE_RDMA_CORE >= 57
			struct ibv_fd_arr *fds,
#endif
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	struct hroce_alloc_ucontext_resp *drv = (void *)(resp + 1);

	(void)vctx;
#if HROCE_RDMA_CORE >= 57
	(void)fds;
#endif
	if (cmd_size != sizeof(*cmd) + sizeof(struct hroce_alloc_ucontext_req) ||
	    resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	drv->mode = fake.mode;
	if (fake.mode == HROCE_MODE_FACADE)
		fake_lower_answer(drv);
	return fake.connect_err;
}

int (ibv_cmd_create_cq_ex)(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
#if HROCE_RDMA_CORE >= 59
			 struct verbs_create_cq_prov_attr *prov_attr,
#endif
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags)
{
	struct hroce_create_cq_resp *drv = (void *)(resp + 1);

#if HROCE_RDMA_CORE >= 59
	if (prov_attr)
		return EOPNOTSUPP;
#endif
	(void)cmd_flags;
	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	if (attr->comp_mask)
		return EOPNOTSUPP;
	fake.timestamps =
		attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;

	cq->cq.context = context;
	cq->cq.cqe = round_up_pow2(attr->cqe);
	cq->cq.handle = fake.nr_cqs;
	ring_create(&fake.cq[fake.nr_cqs++], context->cmd_fd, attr->cqe,
		    sizeof(struct hroce_cqe), &drv->cq);
	fake.nr_objects++;
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	ring_destroy(&fake.cq[cq->handle]);
	fake.nr_objects--;
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp,
		       size_t resp_size)
{
	struct hroce_create_srq_resp *drv = (void *)(resp + 1);

	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	srq->context = pd->context;
	ring_create(&fake.srq, pd->context->cmd_fd, attr->attr.max_wr,
		    sizeof(struct hroce_rq_wqe) +
		    attr->attr.max_sge * sizeof(struct hroce_sge), &drv->srq);
	fake.nr_objects++;
	return 0;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	ring_destroy(&fake.srq);
	fake.nr_objects--;
	return 0;
}

/* Grants more than was asked for, as the kernel may. */
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct hroce_create_qp_resp *drv = (void *)(resp + 1);
	struct ibv_qp_cap *cap = &attr->cap;
	uint32_t data_bytes;

	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp) + sizeof(*drv))
		return EINVAL;
	cap->max_inline_data = (cap->max_inline_data + 15) & ~15U;
	data_bytes = cap->max_send_sge * sizeof(struct hroce_sge);
	if (data_bytes < cap->max_inline_data)
		data_bytes = cap->max_inline_data;

	if (cap->max_send_wr)
		ring_create(&fake.sq, context->cmd_fd, cap->max_send_wr,
			    sizeof(struct hroce_sq_wqe) + data_bytes, &drv->sq);
	if (cap->max_send_wr)
		((struct hroce_sq_hdr *)fake.sq.base)->need_kick = 1;
	if (!attr->srq && cap->max_recv_wr)
		ring_create(&fake.rq, context->cmd_fd, cap->max_recv_wr,
			    sizeof(struct hroce_rq_wqe) +
			    cap->max_recv_sge * sizeof(struct hroce_sge),
			    &drv->rq);

	qp->qp.context = context;
	qp->qp.qp_num = fake.next_qpn++;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.pd = attr->pd;
	qp->qp.state = IBV_QPS_RESET;
	qp->comp_mask = 0;
	fake.nr_objects++;
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size)
{
	(void)attr;
	(void)cmd;
	(void)cmd_size;
	if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	(void)qp;
	ring_destroy(&fake.sq);
	ring_destroy(&fake.rq);
	fake.nr_objects--;
	return 0;
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	struct hroce_create_ah_resp drv = { .ah_id = 4711 };

	(void)attr;
	if (resp_size != sizeof(*resp) + sizeof(drv))
		return EINVAL;
	ah->context = pd->context;
	memcpy(resp + 1, &drv, sizeof(drv));
	fake.nr_objects++;
	return 0;
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	fake.nr_objects--;
	return 0;
}

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	if (cmd_size != sizeof(*cmd) || resp_size != sizeof(*resp))
		return EINVAL;
	pd->context = context;
	fake.nr_objects++;
	return 0;
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	fake.nr_objects--;
	return 0;
}
