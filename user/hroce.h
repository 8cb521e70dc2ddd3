/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices and contexts. */
#ifndef HROCE_H
#define HROCE_H

#include <infiniband/driver.h>

/**
 * struct hroce_context - an open device
 * @vctx: base object of libibverbs
 * @kick_fd: kicks any queue pair of this context
 */
struct hroce_context {
	struct verbs_context vctx;
	int kick_fd;
};

static inline struct hroce_context *to_hctx(struct ibv_context *context)
{
	return container_of(context, struct hroce_context, vctx.context);
}

#endif /* HROCE_H */
