// SPDX-License-Identifier: GPL-2.0
/*
 * A device whose dma-bufs can be told to move, for tests of who imports them.
 * The old place is given back at once: whoever touches it later hits nothing.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "hroce_exporter.h"

/**
 * struct exporter_buf - a buffer
 * @mem: where it is now [reservation lock]
 * @size: bytes
 * @flags: HROCE_EXPORTER_*
 */
struct exporter_buf {
	void *mem;
	size_t size;
	u32 flags;
};

static int buf_pin(struct dma_buf_attachment *attach)
{
	return -EBUSY;
}

static void buf_unpin(struct dma_buf_attachment *attach)
{
}

/* Nobody needs to see its pages: what is not there cannot be misused. */
static struct sg_table *buf_map(struct dma_buf_attachment *attach,
				enum dma_data_direction dir)
{
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);

	return sgt ?: ERR_PTR(-ENOMEM);
}

static void buf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		      enum dma_data_direction dir)
{
	kfree(sgt);
}

/* A buffer that does not move is mapped for a device that uses it, and for none else. */
static struct sg_table *buf_map_static(struct dma_buf_attachment *attach,
				       enum dma_data_direction dir)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int buf_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct exporter_buf *buf = dmabuf->priv;

	if (buf->flags & HROCE_EXPORTER_IOMEM)
		iosys_map_set_vaddr_iomem(map, (void __force __iomem *)buf->mem);
	else
		iosys_map_set_vaddr(map, buf->mem);
	return 0;
}

static void buf_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
}

static void buf_release(struct dma_buf *dmabuf)
{
	struct exporter_buf *buf = dmabuf->priv;

	vfree(buf->mem);
	kfree(buf);
}

static const struct dma_buf_ops moving_ops = {
	.pin = buf_pin,
	.unpin = buf_unpin,
	.map_dma_buf = buf_map,
	.unmap_dma_buf = buf_unmap,
	.vmap = buf_vmap,
	.vunmap = buf_vunmap,
	.release = buf_release,
};

static const struct dma_buf_ops static_ops = {
	.map_dma_buf = buf_map_static,
	.unmap_dma_buf = buf_unmap,
	.vmap = buf_vmap,
	.vunmap = buf_vunmap,
	.release = buf_release,
};

static const struct dma_buf_ops hidden_ops = {
	.pin = buf_pin,
	.unpin = buf_unpin,
	.map_dma_buf = buf_map,
	.unmap_dma_buf = buf_unmap,
	.release = buf_release,
};

static const struct dma_buf_ops *ops_for(u32 flags)
{
	if (flags & HROCE_EXPORTER_NO_VMAP)
		return &hidden_ops;
	return flags & HROCE_EXPORTER_STATIC ? &static_ops : &moving_ops;
}

static long exporter_create(struct hroce_exporter_create __user *arg)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct hroce_exporter_create req;
	struct exporter_buf *buf;
	struct dma_buf *dmabuf;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (!req.size || !PAGE_ALIGNED(req.size) || req.size > SZ_1G)
		return -EINVAL;
	buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	buf->mem = vzalloc(req.size);
	buf->size = req.size;
	buf->flags = req.flags;
	info.ops = ops_for(req.flags);
	info.size = req.size;
	info.flags = req.flags & HROCE_EXPORTER_RDONLY ? O_RDONLY : O_RDWR;
	info.priv = buf;
	dmabuf = buf->mem ? dma_buf_export(&info) : ERR_PTR(-ENOMEM);
	if (IS_ERR(dmabuf)) {
		vfree(buf->mem);
		kfree(buf);
		return PTR_ERR(dmabuf);
	}
	req.fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (req.fd < 0) {
		dma_buf_put(dmabuf);
		return req.fd;
	}
	return copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

static struct dma_buf *buf_get(int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);

	if (IS_ERR(dmabuf) || dmabuf->ops->release == buf_release)
		return dmabuf;
	dma_buf_put(dmabuf);
	return ERR_PTR(-EINVAL);
}

/* Memory of users may be faulted in before that lock only. */
static void buf_copy(struct dma_buf *dmabuf, void *bounce,
		     const struct hroce_exporter_copy *req)
{
	struct exporter_buf *buf = dmabuf->priv;
	void *at;

	dma_resv_lock(dmabuf->resv, NULL);
	at = buf->mem + req->offset;
	memcpy(req->write ? at : bounce, req->write ? bounce : at, req->len);
	dma_resv_unlock(dmabuf->resv);
}

static long exporter_copy(void __user *arg)
{
	struct hroce_exporter_copy req;
	struct dma_buf *dmabuf;
	const struct exporter_buf *buf;
	void __user *user;
	void *bounce;
	int err = -EINVAL;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	dmabuf = buf_get(req.fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	buf = dmabuf->priv;
	if (req.len > buf->size || req.offset > buf->size - req.len)
		goto put;
	user = u64_to_user_ptr(req.addr);
	bounce = req.write ? vmemdup_user(user, req.len) :
			     kvmalloc(req.len, GFP_KERNEL);
	err = -ENOMEM;
	if (!bounce)
		goto put;
	err = PTR_ERR_OR_ZERO(bounce);
	if (err)
		goto put;
	buf_copy(dmabuf, bounce, &req);
	if (!req.write && copy_to_user(user, bounce, req.len))
		err = -EFAULT;
	kvfree(bounce);
put:
	dma_buf_put(dmabuf);
	return err;
}

/* Who has it mapped must have let go when the notification returns. */
static int buf_move_locked(struct dma_buf *dmabuf, void *to, bool out)
{
	struct exporter_buf *buf = dmabuf->priv;
	void *from = buf->mem;

	dma_buf_invalidate_mappings(dmabuf);
	if (dmabuf->vmapping_counter) {
		vfree(to);
		return -EBUSY;
	}
	memcpy(to, from, buf->size);
	memset(from, 0xdd, buf->size);
	vfree(from);
	buf->mem = to;
	if (out)
		buf->flags |= HROCE_EXPORTER_IOMEM;
	return 0;
}

static long exporter_move(void __user *arg, bool out)
{
	struct exporter_buf *buf;
	struct dma_buf *dmabuf;
	int err = -ENOMEM;
	void *to;
	int fd;

	if (copy_from_user(&fd, arg, sizeof(fd)))
		return -EFAULT;
	dmabuf = buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	buf = dmabuf->priv;
	to = vzalloc(buf->size);
	if (to) {
		dma_resv_lock(dmabuf->resv, NULL);
		err = buf_move_locked(dmabuf, to, out);
		dma_resv_unlock(dmabuf->resv);
	}
	dma_buf_put(dmabuf);
	return err;
}

static long exporter_ioctl(struct file *file, unsigned int cmd,
			   unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case HROCE_EXPORTER_CREATE:
		return exporter_create(user);
	case HROCE_EXPORTER_COPY:
		return exporter_copy(user);
	case HROCE_EXPORTER_MOVE:
		return exporter_move(user, false);
	case HROCE_EXPORTER_MOVE_OUT:
		return exporter_move(user, true);
	}
	return -ENOTTY;
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice exporter_dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hroce_exporter",
	.fops = &exporter_fops,
};

module_misc_device(exporter_dev);

MODULE_DESCRIPTION("dma-bufs that move when told so, for tests");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
