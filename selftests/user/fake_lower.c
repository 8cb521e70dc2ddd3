// SPDX-License-Identifier: GPL-2.0
/* The hardware below a link, with a provider of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define LOWER_INDEX	41
#define LOWER_DRIVER	7

static struct ibv_device other = { .name = "other0", .dev_name = "uverbs0" };
static struct ibv_device lower = { .name = "lower0", .dev_name = "uverbs1" };

void fake_lower_answer(struct hroce_alloc_ucontext_resp *answer)
{
	answer->lower_index = LOWER_INDEX;
	answer->lower_port = 2;
	answer->lower_driver_id = LOWER_DRIVER;
	strcpy(answer->lower_name, "lower0");
}

struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(3, sizeof(*list));

	(void)num;
	list[0] = &other;
	list[1] = fake.lower.absent ? NULL : &lower;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

int ibv_get_device_index(struct ibv_device *device)
{
	return device == &lower ? LOWER_INDEX : LOWER_INDEX - 1;
}

static void lower_free_context(struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx(context);

	free(vctx->priv);
	free(vctx);
	fake.lower.nr_open--;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *vctx;

	if (fake.lower.open_err) {
		errno = fake.lower.open_err;
		return NULL;
	}
	vctx = calloc(1, sizeof(*vctx));
	vctx->priv = calloc(1, sizeof(*vctx->priv));
	vctx->priv->driver_id = LOWER_DRIVER + fake.lower.foreign;
	vctx->priv->ops.free_context = lower_free_context;
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	vctx->context.device = device;
	fake.lower.nr_open++;
	return &vctx->context;
}

int ibv_close_device(struct ibv_context *context)
{
	verbs_get_ctx(context)->priv->ops.free_context(context);
	return 0;
}

void fake_lower_set_ops(struct verbs_context *vctx,
			const struct verbs_context_ops *ops)
{
	vctx->priv->ops.free_context = ops->free_context;
}
