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
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "host.h"

/* Before 6.13 it took the bare word. */
#ifndef HROCE_HAVE_IMPORT_NS_STRING
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns)	MODULE_INFO(import_ns, ns)
#endif

/* Before 6.12. */
#ifndef DEFINE_SHOW_STORE_ATTRIBUTE
#define DEFINE_SHOW_STORE_ATTRIBUTE(__name)				\
static int __name ## _open(struct inode *inode, struct file *file)	\
{									\
	return single_open(file, __name ## _show, inode->i_private);	\
}									\
									\
static const struct file_operations __name ## _fops = {			\
	.owner		= THIS_MODULE,					\
	.open		= __name ## _open,				\
	.read		= seq_read,					\
	.write		= __name ## _write,				\
	.llseek		= seq_lseek,					\
	.release	= single_release,				\
}
#endif

/* Before 6.11. */
#ifndef HROCE_HAVE_STRUCT_OPS
#define HROCE_NO_STRUCT_OPS
#endif

/* Up to 6.12; 7.2 has it. */
#ifndef HROCE_HAVE_UMEM_GET_VA
#define ib_umem_get_va	ib_umem_get
#endif

/* Before 6.18 a workqueue that was not unbound was per CPU. */
#ifndef HROCE_HAVE_WQ_KINDS
#define WQ_PERCPU	0
#define system_dfl_wq	system_unbound_wq
#endif

/* Before 6.17. */
#ifndef HROCE_HAVE_REG_MR_DMAH
struct ib_dmah;
#endif

/* Up to 6.12; 7.2 has these names. */
#ifndef HROCE_HAVE_INVALIDATE_MAPPINGS
#define invalidate_mappings	move_notify
#define dma_buf_invalidate_mappings	dma_buf_move_notify
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

/* Before 6.15. */
#ifndef HROCE_HAVE_ODP_FLUSH
#define IB_ODP_SUPPORT_FLUSH	(1 << 6)
#define IB_ODP_SUPPORT_ATOMIC_WRITE	(1 << 7)
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
