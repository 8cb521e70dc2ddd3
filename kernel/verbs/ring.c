// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of queues, and its mapping into user space.
 *
 * The memory is not swapped out, so queues of user space count as pinned memory
 * against RLIMIT_MEMLOCK, as with drivers that pin queues in process memory. It
 * counts while it is mapped: pages that are still mapped when their queue is
 * destroyed are kept, and checked again when the context creates or destroys
 * another queue, or pins memory; those of all contexts of a process when it
 * reaches the limit.
 */
#include <linux/capability.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "ops.h"
#include "ring.h"
#include "ucontext.h"

/* All contexts: those of a process share its limit [contexts_lock]. */
static LIST_HEAD(contexts);
static DEFINE_MUTEX(contexts_lock);

static int ring_charge(struct hroce_ring *ring)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;

	if (atomic64_add_return(ring->nr_pages, &mm->pinned_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		atomic64_sub(ring->nr_pages, &mm->pinned_vm);
		return -ENOMEM;
	}
	mmgrab(mm);
	ring->payer = mm;
	return 0;
}

static void ring_uncharge(struct hroce_ring *ring, u32 nr_pages)
{
	if (ring->payer)
		atomic64_sub(nr_pages, &ring->payer->pinned_vm);
}

static void ring_put_page(struct hroce_ring *ring, u32 i)
{
	if (!ring->pages[i])
		return;
	put_page(ring->pages[i]);
	ring->pages[i] = NULL;
	ring_uncharge(ring, 1);
}

static void ring_unmap(struct hroce_ring *ring)
{
	if (ring->nr_pages > 1)
		vunmap(ring->va);
	ring->va = NULL;
}

static void ring_free(struct hroce_ring *ring)
{
	u32 i;

	ring_unmap(ring);
	for (i = 0; i < ring->nr_pages; i++)
		ring_put_page(ring, i);
	if (ring->payer)
		mmdrop(ring->payer);
	kvfree(ring);
}

/* Free the pages that are not mapped. Return: true if these are all. */
static bool ring_trim(struct hroce_ring *ring)
{
	bool all = true;
	u32 i;

	for (i = 0; i < ring->nr_pages; i++) {
		if (ring->pages[i] && page_count(ring->pages[i]) > 1)
			all = false;
		else
			ring_put_page(ring, i);
	}
	return all;
}

static void rings_reap_locked(struct hroce_ucontext *ctx)
{
	struct hroce_ring *ring, *next;

	lockdep_assert_held(&ctx->lock);
	list_for_each_entry_safe(ring, next, &ctx->old_rings, node) {
		if (!ring_trim(ring))
			continue;
		list_del(&ring->node);
		ring_free(ring);
	}
}

static void rings_reap(struct hroce_ucontext *ctx)
{
	mutex_lock(&ctx->lock);
	rings_reap_locked(ctx);
	mutex_unlock(&ctx->lock);
}

void hroce_rings_reap(struct ib_ucontext *ucontext)
{
	if (ucontext)
		rings_reap(to_hctx(ucontext));
}

void hroce_rings_reap_all(void)
{
	struct hroce_ucontext *ctx;

	mutex_lock(&contexts_lock);
	list_for_each_entry(ctx, &contexts, node)
		if (ctx->opener == current->mm && !list_empty(&ctx->old_rings))
			rings_reap(ctx);
	mutex_unlock(&contexts_lock);
}

void hroce_rings_begin(struct hroce_ucontext *ctx)
{
	INIT_LIST_HEAD(&ctx->old_rings);
	ctx->opener = current->mm;
	mutex_lock(&contexts_lock);
	list_add(&ctx->node, &contexts);
	mutex_unlock(&contexts_lock);
}

void hroce_rings_release(struct hroce_ucontext *ctx)
{
	struct hroce_ring *ring, *next;

	mutex_lock(&contexts_lock);
	list_del(&ctx->node);
	mutex_unlock(&contexts_lock);
	list_for_each_entry_safe(ring, next, &ctx->old_rings, node)
		ring_free(ring);
}

static struct page *ring_alloc_page(void)
{
	if (fatal_signal_pending(current))
		return NULL;
	return alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

static bool ring_alloc_pages(struct hroce_ring *ring)
{
	u32 i;

	for (i = 0; i < ring->nr_pages; i++) {
		ring->pages[i] = ring_alloc_page();
		if (!ring->pages[i])
			break;
	}
	if (i == ring->nr_pages)
		return true;
	ring_uncharge(ring, ring->nr_pages - i);
	ring->nr_pages = i;
	return false;
}

/* Most queues fit in one page, which is mapped already. */
static void *ring_map(const struct hroce_ring *ring)
{
	if (ring->nr_pages == 1)
		return page_address(ring->pages[0]);
	return vmap((struct page **)ring->pages, ring->nr_pages, VM_MAP,
		    PAGE_KERNEL);
}

/* Charge first: many threads may try what the limit forbids. */
static int ring_fill(struct hroce_ring *ring, struct ib_ucontext *ucontext)
{
	int err;

	if (ucontext) {
		hroce_rings_reap(ucontext);
		err = ring_charge(ring);
		if (err) {
			hroce_rings_reap_all();
			err = ring_charge(ring);
		}
		if (err)
			return err;
	}
	if (ring_alloc_pages(ring))
		ring->va = ring_map(ring);
	return ring->va ? 0 : -ENOMEM;
}

struct hroce_ring *hroce_ring_create(u32 nr_entries, u32 stride,
				     struct ib_ucontext *ucontext)
{
	struct hroce_ring *ring;
	u64 size;
	u32 nr;
	int err;

	nr_entries = roundup_pow_of_two(nr_entries);
	size = HROCE_RING_ENTRIES_OFFSET + (u64)nr_entries * stride;
	/* hroce_ring_info.mmap_size has 32 bits. */
	if (size > SZ_2G)
		return ERR_PTR(-ENOMEM);

	nr = DIV_ROUND_UP_ULL(size, PAGE_SIZE);
	ring = kvzalloc(struct_size(ring, pages, nr), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->nr_pages = nr;
	ring->nr_entries = nr_entries;
	ring->stride = stride;
	err = ring_fill(ring, ucontext);
	if (err) {
		ring_free(ring);
		return ERR_PTR(err);
	}
	ring->entries = ring->va + HROCE_RING_ENTRIES_OFFSET;
	return ring;
}

int hroce_ring_export(struct hroce_ring *ring, struct ib_ucontext *ucontext,
		      struct hroce_ring_info *info)
{
	size_t size = (size_t)ring->nr_pages << PAGE_SHIFT;
	int err;

	err = rdma_user_mmap_entry_insert(ucontext, &ring->entry, size);
	if (err)
		return err;
	ring->user = true;
	*info = (struct hroce_ring_info) {
		.mmap_offset = rdma_user_mmap_get_offset(&ring->entry),
		.mmap_size = size,
		.nr_entries = ring->nr_entries,
		.stride = ring->stride,
	};
	return 0;
}

void hroce_ring_destroy(struct hroce_ring *ring)
{
	if (!ring)
		return;
	/* A concurrent mmap() may drop the last reference. */
	if (ring->user)
		rdma_user_mmap_entry_remove(&ring->entry);
	else
		ring_free(ring);
}

void hroce_ring_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct hroce_ring *ring = container_of(entry, struct hroce_ring, entry);
	struct hroce_ucontext *ctx = to_hctx(entry->ucontext);

	ring_unmap(ring);
	mutex_lock(&ctx->lock);
	list_add_tail(&ring->node, &ctx->old_rings);
	rings_reap_locked(ctx);
	mutex_unlock(&ctx->lock);
}

int hroce_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	unsigned long nr_pages;
	struct hroce_ring *ring;
	int err;

	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	/* Requires a shared mapping of exactly the ring's size and offset. */
	entry = rdma_user_mmap_entry_get(ucontext, vma);
	if (!entry)
		return -EINVAL;
	ring = container_of(entry, struct hroce_ring, entry);

	/* Keep a child from posting to the queues of its parent by accident. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	nr_pages = ring->nr_pages;
	err = vm_insert_pages(vma, vma->vm_start, ring->pages, &nr_pages);
	rdma_user_mmap_entry_put(entry);
	return err;
}
