// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libhroce: user-space part of hroce, RDMA over Converged Ethernet in software.
 *
 * A provider plugin of libibverbs. This file matches devices and opens them;
 * queues are mapped from the kernel (ring.h) and used without system calls
 * except the kick (kick.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "adopt.h"
#include "ah.h"
#include "cq.h"
#include "hroce.h"
#include "kick.h"
#include "layout.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"
#include "rq.h"
#include "sq.h"
#include "srq.h"
#include "xrcd.h"

/* The oldest module that this library drives. */
#define OLDEST_MODULE_ABI	73

static void query_pacing(struct ibv_device_attr_ex *attr, size_t attr_size,
			 const struct hroce_query_device_resp *resp)
{
	struct ibv_packet_pacing_caps *caps = &attr->packet_pacing_caps;

	if (attr_size < offsetof(struct ibv_device_attr_ex,
				 packet_pacing_caps) + sizeof(*caps))
		return;
	caps->qp_rate_limit_min = resp->rate_limit_min;
	caps->qp_rate_limit_max = resp->rate_limit_max;
	caps->supported_qpts = resp->rate_limit_qpts;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct hroce_cmd_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size,
				       &resp.core, &resp_size);
	/* Modules without driver data refuse a request for it. */
	if (ret == EINVAL) {
		resp_size = sizeof(resp.core);
		ret = ibv_cmd_query_device_any(context, input, attr, attr_size,
					       &resp.core, &resp_size);
	}
	if (ret)
		return ret;

	query_pacing(attr, attr_size, &resp.drv);
	version = resp.core.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(version >> 32) & 0xffff,
		 (unsigned int)(version >> 16) & 0xffff,
		 (unsigned int)version & 0xffff);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num,
		      struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

/*
 * The clock of completion timestamps. Users of this verb take tv_nsec as a
 * counter of hca_core_clock, so it also holds the seconds.
 */
static int query_rt_values(struct ibv_context *context,
			   struct ibv_values_ex *values)
{
	uint32_t known = values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK;
	struct timespec now;

	(void)context;
	values->comp_mask = 0;
	if (!known)
		return 0;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		return errno;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = now.tv_sec * 1000000000L + now.tv_nsec;
	values->comp_mask = known;
	return 0;
}

static void free_context(struct ibv_context *context)
{
	struct hroce_context *ctx = to_hctx(context);

	close(ctx->kick_fd);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_mw = hroce_alloc_mw,
	.alloc_null_mr = hroce_alloc_null_mr,
	.alloc_parent_domain = hroce_alloc_parent_domain,
	.alloc_pd = hroce_alloc_pd,
	.alloc_td = hroce_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = hroce_bind_mw,
	.close_xrcd = hroce_close_xrcd,
	.create_ah = hroce_create_ah,
	.create_cq = hroce_create_cq,
	.create_cq_ex = hroce_create_cq_ex,
	.create_qp = hroce_create_qp,
	.create_qp_ex = hroce_create_qp_ex,
	.create_srq = hroce_create_srq,
	.create_srq_ex = hroce_create_srq_ex,
	.dealloc_mw = hroce_dealloc_mw,
	.dealloc_pd = hroce_dealloc_pd,
	.dealloc_td = hroce_dealloc_td,
	.dereg_mr = hroce_dereg_mr,
	.destroy_ah = hroce_destroy_ah,
	.destroy_cq = hroce_destroy_cq,
	.destroy_qp = hroce_destroy_qp,
	.destroy_srq = hroce_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = free_context,
	.get_srq_num = hroce_get_srq_num,
	.import_mr = hroce_import_mr,
	.import_pd = hroce_import_pd,
	.modify_cq = hroce_modify_cq,
	.modify_qp = hroce_modify_qp,
	.modify_qp_rate_limit = hroce_modify_qp_rate_limit,
	.modify_srq = hroce_modify_srq,
	.open_qp = hroce_open_qp,
	.open_xrcd = hroce_open_xrcd,
	.poll_cq = hroce_poll_cq,
	.post_recv = hroce_post_recv,
	.post_send = hroce_post_send,
	.post_srq_recv = hroce_post_srq_recv,
	.query_device_ex = query_device_ex,
	.query_port = query_port,
	.query_qp = hroce_query_qp,
	.query_rt_values = query_rt_values,
	.query_srq = hroce_query_srq,
	.reg_dmabuf_mr = hroce_reg_dmabuf_mr,
	.reg_mr = hroce_reg_mr,
	.req_notify_cq = hroce_req_notify_cq,
	.rereg_mr = hroce_rereg_mr,
	.resize_cq = hroce_resize_cq,
	.unimport_mr = hroce_unimport_mr,
	.unimport_pd = hroce_unimport_pd,
};

/* Get a context from the kernel, and the mode of the link. */
static int context_connect(struct hroce_context *ctx,
			   struct hroce_alloc_ucontext_resp *answer)
{
	struct hroce_cmd_get_context_resp resp = {};
	struct hroce_cmd_get_context cmd = {};
	int ret;

	ret = ibv_cmd_get_context(&ctx->vctx, &cmd.core, sizeof(cmd), NULL,
				  &resp.core, sizeof(resp));
	*answer = resp.drv;
	if (ret == ENODEV)
		fprintf(stderr,
			"libhroce: %s stands for hardware that is not there: see /sys/class/infiniband/%s/offload/reason\n",
			ctx->vctx.context.device->name,
			ctx->vctx.context.device->name);
	return ret;
}

static int context_init(struct hroce_context *ctx, int cmd_fd)
{
	verbs_set_ops(&ctx->vctx, &context_ops);
	if (!hroce_layout_check_context(&ctx->vctx, &context_ops))
		return EPROTO;

	ctx->kick_fd = hroce_kick_open(cmd_fd);
	return ctx->kick_fd < 0 ? errno : 0;
}

static struct verbs_context *alloc_context(struct ibv_device *device,
					   int cmd_fd, void *private_data)
{
	struct hroce_alloc_ucontext_resp answer;
	struct verbs_context *lower;
	struct hroce_context *ctx;
	int ret;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx,
					   HROCE_DRIVER_ID);
	if (!ctx)
		return NULL;

	ret = context_connect(ctx, &answer);
	if (ret)
		goto uninit;

	if (answer.mode == HROCE_MODE_FACADE) {
		lower = hroce_adopt(&ctx->vctx, &answer);
		if (lower)
			return lower;
		ret = errno;
		goto uninit;
	}

	ret = context_init(ctx, cmd_fd);
	if (ret)
		goto uninit;
	return &ctx->vctx;

uninit:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = ret;
	return NULL;
}

/*
 * Import an open context, of this process or another, by a descriptor of the
 * same file. This does not apply to facades: an adopted context has a
 * descriptor of the lower device.
 */
static struct verbs_context *import_context(struct ibv_device *device,
					    int cmd_fd)
{
	struct hroce_context *ctx;
	int ret;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx,
					   HROCE_DRIVER_ID);
	if (!ctx)
		return NULL;

	ret = ibv_cmd_query_context(&ctx->vctx.context, NULL);
	if (!ret)
		ret = context_init(ctx, cmd_fd);
	if (ret) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		errno = ret;
		return NULL;
	}
	return &ctx->vctx;
}

static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(HROCE_DRIVER_ID),
	{},
};

/* Called for every RDMA device; prints only for devices of hroce.ko. */
static bool match_device(struct verbs_sysfs_dev *sysfs_dev)
{
	if (!sysfs_dev->match)
		return false;
	if (!hroce_layout_check_release() || !hroce_layout_check_qp())
		return false;

	if (sysfs_dev->abi_ver >= OLDEST_MODULE_ABI &&
	    sysfs_dev->abi_ver <= HROCE_UVERBS_ABI_VERSION)
		return true;
	fprintf(stderr,
		"libhroce " HROCE_VERSION
		": the module behind %s speaks ABI %u, this library %u to %u: install module and library of the same hroce release\n",
		sysfs_dev->ibdev_name, sysfs_dev->abi_ver, OLDEST_MODULE_ABI,
		HROCE_UVERBS_ABI_VERSION);
	return false;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_device_ops device_ops = {
	.name = "hroce",
	.match_min_abi_version = OLDEST_MODULE_ABI,
	.match_max_abi_version = HROCE_UVERBS_ABI_VERSION,
	.match_table = match_table,
	.match_device = match_device,
	.alloc_context = alloc_context,
	.import_context = import_context,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
};

PROVIDER_DRIVER(hroce, device_ops);
