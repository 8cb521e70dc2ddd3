// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adoption. A program that opens a link over hardware gets the context of the
 * hardware's provider, which handles all its queues, doorbells and commands.
 * Only free_context is replaced, to close the anchor.
 *
 * No public interface gives the free_context of a context, so it is read from
 * the private data of libibverbs, after comparing some members with their
 * public copies. If they differ, free_context is not replaced and the anchor is
 * closed at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adopt.h"
#include "hroce.h"

/**
 * struct adopted - an open lower context
 * @next: in the list
 * @lower: lower context
 * @anchor: context of the link
 * @free_context: operation of the lower provider
 */
struct adopted {
	struct adopted *next;
	struct ibv_context *lower;
	struct verbs_context *anchor;
	void (*free_context)(struct ibv_context *context);
};

static pthread_mutex_t adopted_lock = PTHREAD_MUTEX_INITIALIZER;
static struct adopted *adopted_list;

static void anchor_close(struct verbs_context *anchor)
{
	verbs_uninit_context(anchor);
	free(to_hctx(&anchor->context));
}

static struct adopted *adopted_take(const struct ibv_context *lower)
{
	struct adopted **link, *it;

	pthread_mutex_lock(&adopted_lock);
	for (link = &adopted_list; (it = *link) != NULL; link = &it->next) {
		if (it->lower == lower) {
			*link = it->next;
			break;
		}
	}
	pthread_mutex_unlock(&adopted_lock);
	return it;
}

/* Free the lower context first: the anchor shows that the link is in use. */
static void adopted_free_context(struct ibv_context *lower)
{
	struct adopted *it = adopted_take(lower);

	it->free_context(lower);
	anchor_close(it->anchor);
	free(it);
}

static const struct verbs_context_ops adopted_ops = {
	.free_context = adopted_free_context,
};

/* Does @priv have the layout that this library was built for? */
static bool private_is_known(const struct verbs_context *lower,
			     uint32_t driver_id)
{
	const struct verbs_ex_private *priv = lower->priv;
	const struct ibv_context_ops *pub = &lower->context.ops;

	return priv->driver_id == driver_id && priv->ops.free_context &&
	       (void *)priv->ops.create_ah == (void *)pub->_compat_create_ah &&
	       (void *)priv->ops.dealloc_pd ==
		       (void *)pub->_compat_dealloc_pd &&
	       (void *)priv->ops.modify_qp == (void *)pub->_compat_modify_qp &&
	       priv->ops.poll_cq == pub->poll_cq &&
	       priv->ops.req_notify_cq == pub->req_notify_cq;
}

/* Return: false if the anchor cannot be kept. */
static bool adopted_keep(struct verbs_context *lower,
			 struct verbs_context *anchor, uint32_t driver_id)
{
	struct adopted *it;

	if (!private_is_known(lower, driver_id))
		return false;
	it = calloc(1, sizeof(*it));
	if (!it)
		return false;
	it->lower = &lower->context;
	it->anchor = anchor;
	it->free_context = lower->priv->ops.free_context;
	pthread_mutex_lock(&adopted_lock);
	it->next = adopted_list;
	adopted_list = it;
	pthread_mutex_unlock(&adopted_lock);
	verbs_set_ops(lower, &adopted_ops);
	return true;
}

static void complain(const struct verbs_context *anchor,
		     const struct hroce_alloc_ucontext_resp *answer,
		     const char *why)
{
	fprintf(stderr, "libhroce: %s stands for %.*s (port %u), %s\n",
		anchor->context.device->name, (int)sizeof(answer->lower_name),
		answer->lower_name, answer->lower_port, why);
}

/* Find the real error: libibverbs tries other nodes after any error. */
static int node_errno(const struct ibv_device *device, int err)
{
	char path[32 + sizeof(device->dev_name)];
	int fd;

	if (err != ENOENT)
		return err;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return err;
}

static struct ibv_context *
lower_open(const struct verbs_context *anchor,
	   const struct hroce_alloc_ucontext_resp *answer)
{
	struct ibv_context *lower = NULL;
	struct ibv_device **list, **it;
	int err = ENODEV;
	char why[256];

	list = ibv_get_device_list(NULL);
	for (it = list; it && *it; it++)
		if (ibv_get_device_index(*it) == (int)answer->lower_index)
			break;
	if (!it || !*it) {
		complain(anchor, answer,
			 "for which libibverbs has no provider, or which has just gone");
	} else {
		lower = ibv_open_device(*it);
		if (!lower) {
			err = node_errno(*it, errno);
			snprintf(why, sizeof(why),
				 "but /dev/infiniband/%s cannot be opened: %s",
				 (*it)->dev_name, strerror(err));
			complain(anchor, answer, why);
		}
	}
	if (list)
		ibv_free_device_list(list);
	errno = err;
	return lower;
}

struct verbs_context *
hroce_adopt(struct verbs_context *anchor,
	    const struct hroce_alloc_ucontext_resp *answer)
{
	struct verbs_context *vctx;
	struct ibv_context *lower;

	lower = lower_open(anchor, answer);
	if (!lower)
		return NULL;
	vctx = verbs_get_ctx(lower);
	if (!vctx) {
		complain(anchor, answer,
			 "whose provider is too old: install a newer rdma-core");
		ibv_close_device(lower);
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!adopted_keep(vctx, anchor, answer->lower_driver_id))
		anchor_close(anchor);
	return vctx;
}
