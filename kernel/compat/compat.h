/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that differs between kernel versions. Force-included everywhere,
 * so the rest of the module is written for the newest kernel only.
 *
 * Each shim has the new function's signature and says which kernels need it.
 */
#ifndef HROCE_COMPAT_H
#define HROCE_COMPAT_H

#include "config.h"

#ifndef HROCE_HAVE_ALWAYS
#error "probing what this kernel offers failed: see kernel/compat/probe.sh"
#endif

/* Before the first include, which brings in printk.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/version.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "host.h"

#ifdef HROCE_HAVE_CREATE_CQ_ATTRS
#define HROCE_CREATE_CQ_OP(fn)	fn
#define HROCE_CREATE_CQ_COMPAT(fn)
#else
/* Before 6.11 create_cq got the bundle's driver_udata instead of the bundle. */
#define HROCE_CREATE_CQ_OP(fn)	fn##_compat
#define HROCE_CREATE_CQ_COMPAT(fn)					\
static int fn##_compat(struct ib_cq *cq,				\
		       const struct ib_cq_init_attr *attr,		\
		       struct ib_udata *udata)				\
{									\
	struct uverbs_attr_bundle *attrs = NULL;			\
									\
	if (udata)							\
		attrs = container_of(udata, struct uverbs_attr_bundle,	\
				     driver_udata);			\
	return fn(cq, attr, attrs);					\
}
#endif

#ifdef HROCE_HAVE_REG_DMABUF_ATTRS
#define HROCE_REG_DMABUF_OP(fn)	fn
#define HROCE_REG_DMABUF_COMPAT(fn)
#else
/* Before 6.12 reg_user_mr_dmabuf got the bundle's driver_udata. */
#define HROCE_REG_DMABUF_OP(fn)	fn##_compat
#define HROCE_REG_DMABUF_COMPAT(fn)					\
static struct ib_mr *fn##_compat(struct ib_pd *pd, u64 offset,		\
				 u64 length, u64 iova, int fd,		\
				 int access, struct ib_udata *udata)	\
{									\
	return fn(pd, offset, length, iova, fd, access,			\
		  container_of(udata, struct uverbs_attr_bundle,	\
			       driver_udata));				\
}
#endif

/*
 * Before 6.2 exporters were called without the reservation lock and may take
 * it: release it for the call.
 */
#ifndef HROCE_HAVE_DMA_BUF_VMAP_LOCKED
static inline int hroce_dma_buf_vmap(struct dma_buf *dmabuf,
				     struct iosys_map *map)
{
	int err;

	dma_resv_unlock(dmabuf->resv);
	err = dma_buf_vmap(dmabuf, map);
	dma_resv_lock(dmabuf->resv, NULL);
	return err;
}

#define dma_buf_vmap	hroce_dma_buf_vmap
#endif

/*
 * Before 6.12 udev is not told that the user chose the name: its rules may
 * rename the device.
 */
#ifndef HROCE_HAVE_MARK_NAME_ASSIGNED
static inline void ib_mark_name_assigned_by_user(struct ib_device *dev)
{
}
#endif

/*
 * Before 6.3. There ib_core refuses regions that may be flushed, so the device
 * does not report FLUSH.
 */
#ifndef HROCE_HAVE_IB_FLUSH
#define IB_DEVICE_FLUSH_GLOBAL	0
#define IB_DEVICE_FLUSH_PERSISTENT	0
#define IB_DEVICE_ATOMIC_WRITE	(1ULL << 40)
#define IB_ACCESS_FLUSH_GLOBAL	(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_WC_FLUSH		((enum ib_wc_opcode)8)
#define IB_WC_ATOMIC_WRITE	((enum ib_wc_opcode)9)
#define IB_WR_ATOMIC_WRITE	15
#endif

/* Before 6.4. */
#ifndef HROCE_HAVE_VIRT_DMA_TO_PAGE
static inline struct page *ib_virt_dma_to_page(u64 dma_addr)
{
	return virt_to_page((void *)(uintptr_t)dma_addr);
}
#endif

/* Before 6.3. */
#ifndef HROCE_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma,
				unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma,
				  unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/* Before 6.13. */
#ifndef HROCE_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = fn;
}
#endif

/* Before 6.5 it had one more argument. */
#ifndef HROCE_HAVE_GUP_REMOTE_LOCKED
static inline long hroce_gup_remote(struct mm_struct *mm, unsigned long start,
				    unsigned long nr_pages,
				    unsigned int gup_flags, struct page **pages,
				    int *locked)
{
	return get_user_pages_remote(mm, start, nr_pages, gup_flags, pages,
				     NULL, locked);
}

#define get_user_pages_remote hroce_gup_remote
#endif

/* Before 6.6. */
#ifndef __counted_by
#define __counted_by(member)
#endif

/* Without MMU notifiers no on-demand paging: see hroce_device_query(). */
#ifndef CONFIG_MMU_NOTIFIER
static inline int
mmu_interval_notifier_insert(struct mmu_interval_notifier *notifier,
			     struct mm_struct *mm, unsigned long start,
			     unsigned long length,
			     const struct mmu_interval_notifier_ops *ops)
{
	return -EOPNOTSUPP;
}

static inline void
mmu_interval_notifier_remove(struct mmu_interval_notifier *notifier)
{
}

static inline unsigned long
mmu_interval_read_begin(struct mmu_interval_notifier *notifier)
{
	return 0;
}
#endif

/*
 * User-mode Linux has no such function. Its CPU features come from the host,
 * which hides those whose registers it does not save.
 */
#ifndef HROCE_HAVE_CPU_HAS_XFEATURES
#define cpu_has_xfeatures(xfeatures_mask, feature_name)	1
#endif

#endif /* HROCE_COMPAT_H */
