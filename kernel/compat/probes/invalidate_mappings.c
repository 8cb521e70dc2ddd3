// SPDX-License-Identifier: GPL-2.0
/* invalidate_mappings instead of move_notify: after 6.12, in 7.2. */
#include <linux/dma-buf.h>

void probe(struct dma_buf_attachment *attach);

const struct dma_buf_attach_ops probe_ops;
const struct dma_buf_attach_ops probe_ops = { .invalidate_mappings = probe };
