// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions over a dma-buf, for example memory of a GPU.
 *
 * Nothing is pinned. When the exporter announces a move, the mapping is dropped
 * before the callback returns, and fetched again on the next use. The CPU
 * copies the data, so the exporter must be able to map the buffer into the
 * kernel as memory; other buffers are refused.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/slab.h>
#include "device.h"
#include "mr.h"
#include "ops.h"

/**
 * struct dmabuf_mr - memory region over a dma-buf
 * @mr: common part of all regions
 * @dmabuf: buffer
 * @attach: attachment; NULL: the buffer never moves
 * @offset: offset of the region in @dmabuf
 * @map: kernel mapping of @dmabuf, if @va is set [reservation lock]
 * @va: first byte of the region, or NULL [cleared with @mr.region.lock held]
 * @moves: number of moves of @dmabuf [reservation lock]
 */
struct dmabuf_mr {
	struct hroce_mr mr;
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	u64 offset;
	struct iosys_map map;
	void *va;
	unsigned long moves;
};

static u32 dmabuf_find(const struct hroce_region *region, u64 pos, u32 max,
		       bool write, struct hroce_extent *ext)
{
	const struct dmabuf_mr *dm = container_of(region, struct dmabuf_mr,
						  mr.region);
	/* Set without region.lock. */
	void *va = smp_load_acquire(&dm->va);

	if (!va)
		return 0;
	ext->page = NULL;
	ext->offset = 0;
	ext->va = va + pos;
	return max;
}

static void dmabuf_unmap_locked(struct dmabuf_mr *dm)
{
	dma_resv_assert_held(dm->dmabuf->resv);
	if (!dm->va)
		return;
	write_lock_bh(&dm->mr.region.lock);
	dm->va = NULL;
	write_unlock_bh(&dm->mr.region.lock);
	dma_buf_vunmap(dm->dmabuf, &dm->map);
}

/* Return: 0; 1 if the buffer has moved meanwhile: try again; or -errno. */
static int dmabuf_map_locked(struct dmabuf_mr *dm)
{
	struct dma_buf *dmabuf = dm->dmabuf;
	struct iosys_map map;
	unsigned long moves;
	long left;
	int err;

	dma_resv_assert_held(dmabuf->resv);
	if (dm->va)
		return 0;
	/* The exporter may still be moving it. */
	left = dma_resv_wait_timeout(dmabuf->resv, DMA_RESV_USAGE_KERNEL,
				     false, MAX_SCHEDULE_TIMEOUT);
	if (left < 0)
		return left;
	moves = dm->moves;
	err = dma_buf_vmap(dmabuf, &map);
	if (err)
		return err;
	/* Some kernels release the lock meanwhile. */
	if (dm->va || dm->moves != moves || map.is_iomem) {
		dma_buf_vunmap(dmabuf, &map);
		if (dm->va)
			return 0;
		return map.is_iomem ? -EOPNOTSUPP : 1;
	}
	dm->map = map;
	/* dmabuf_find() sees the mapping if it sees the address. */
	smp_store_release(&dm->va, map.vaddr + dm->offset);
	return 0;
}

static int dmabuf_fetch(struct hroce_mr *mr, u64 pos, u64 len, bool write)
{
	struct dmabuf_mr *dm = container_of(mr, struct dmabuf_mr, mr);
	int err;

	do {
		dma_resv_lock(dm->dmabuf->resv, NULL);
		err = dmabuf_map_locked(dm);
		dma_resv_unlock(dm->dmabuf->resv);
	} while (err > 0);
	return err;
}

static void dmabuf_moves(struct dma_buf_attachment *attach)
{
	struct dmabuf_mr *dm = attach->importer_priv;

	dma_resv_assert_held(dm->dmabuf->resv);
	dm->moves++;
	dmabuf_unmap_locked(dm);
}

static const struct dma_buf_attach_ops dmabuf_attach_ops = {
	.invalidate_mappings = dmabuf_moves,
};

static void dmabuf_detach(struct dmabuf_mr *dm)
{
	if (dm->attach)
		dma_buf_detach(dm->dmabuf, dm->attach);
}

static void dmabuf_release(struct hroce_mr *mr)
{
	struct dmabuf_mr *dm = container_of(mr, struct dmabuf_mr, mr);

	dma_resv_lock(dm->dmabuf->resv, NULL);
	dmabuf_unmap_locked(dm);
	dma_resv_unlock(dm->dmabuf->resv);
	dma_buf_end_cpu_access(dm->dmabuf, DMA_BIDIRECTIONAL);
	dmabuf_detach(dm);
	dma_buf_put(dm->dmabuf);
	kfree(dm);
}

static const struct hroce_mr_ops dmabuf_mr_ops = {
	.fetch = dmabuf_fetch,
	.release = dmabuf_release,
};

/* Is this buffer supported? */
static int dmabuf_check(const struct dma_buf *dmabuf, u64 offset, u64 length,
			int access)
{
	if (!length || length > dmabuf->size || offset > dmabuf->size - length)
		return -EINVAL;
	if (ib_access_writable(access) && !(dmabuf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	/* Without vmap() the CPU cannot access the buffer. */
	return dmabuf->ops->vmap ? 0 : -EOPNOTSUPP;
}

/*
 * Attach only if the exporter announces moves. Other exporters would map the
 * buffer for DMA, which this device does not do; the kernel mapping keeps their
 * buffers in place.
 */
static int dmabuf_attach_dynamic(struct dmabuf_mr *dm)
{
	struct dma_buf_attachment *attach;

	if (!dma_buf_is_dynamic(dm->dmabuf))
		return 0;
	attach = dma_buf_dynamic_attach(dm->dmabuf, &dm->mr.ib.device->dev,
					&dmabuf_attach_ops, dm);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	dm->attach = attach;
	return 0;
}

static int dmabuf_attach(struct dmabuf_mr *dm)
{
	struct dma_buf *dmabuf = dm->dmabuf;
	int err;

	err = dmabuf_attach_dynamic(dm);
	if (err)
		return err;
	err = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (err)
		goto detach;
	/* The mapping may go again; this tests that it is possible. */
	err = dmabuf_fetch(&dm->mr, 0, 0, false);
	if (err)
		goto end_access;
	return 0;

end_access:
	dma_buf_end_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
detach:
	dmabuf_detach(dm);
	return err;
}

struct ib_mr *hroce_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct uverbs_attr_bundle *attrs)
{
	struct dmabuf_mr *dm;
	int err;

	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	err = hroce_mr_init(&dm->mr, pd, iova, length, access);
	if (err)
		goto free_dm;
	dm->dmabuf = dma_buf_get(fd);
	if (IS_ERR(dm->dmabuf)) {
		err = PTR_ERR(dm->dmabuf);
		goto free_dm;
	}
	err = dmabuf_check(dm->dmabuf, offset, length, access);
	if (err)
		goto put_dmabuf;
	dm->offset = offset;
	err = dmabuf_attach(dm);
	if (err)
		goto put_dmabuf;
	return hroce_mr_publish_fetched(&dm->mr, &dmabuf_mr_ops, dmabuf_find);

put_dmabuf:
	dma_buf_put(dm->dmabuf);
free_dm:
	kfree(dm);
	return ERR_PTR(err);
}
