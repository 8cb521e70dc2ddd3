// SPDX-License-Identifier: GPL-2.0
/* dma_buf_vmap() requires the lock, dma_buf_vmap_unlocked() not: 6.2 on. */
#include <linux/dma-buf.h>

int probe(struct dma_buf *dmabuf, struct iosys_map *map);
int probe(struct dma_buf *dmabuf, struct iosys_map *map)
{
	return dma_buf_vmap_unlocked(dmabuf, map);
}
