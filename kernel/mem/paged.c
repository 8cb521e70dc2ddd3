// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a process that is not pinned.
 *
 * The address space is divided into chunks, created on first use. Each has a
 * table of pages and an MMU notifier. The table holds no page references: a
 * page is in it from its fetch until the notifier invalidates it (munmap(),
 * reclaim, fork(), migration). When the notifier returns, the page is not used
 * any more: users hold the lock of the region for reading, and the notifier
 * takes it for writing.
 *
 * get_user_pages_remote() dirties pages fetched for writing, in the page table
 * of the process or in the page, and the notifier is called before they are
 * cleaned.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "paged.h"
#include "region.h"

/* A chunk is described by a table of one page */
#define CHUNK_SHIFT	(2 * PAGE_SHIFT - 3)
#define CHUNK_BYTES	(1ul << CHUNK_SHIFT)

/* Flag in an entry: the page may be written */
#define ENTRY_WRITE	1ul

/* Pages per call of get_user_pages_remote() */
#define BATCH		32

/*
 * Limit of chunks per region: at least this, and enough to describe twice the
 * memory of the machine. Sparse use of a huge region may need more: chunks are
 * then evicted, and created again on use.
 */
#define MIN_CHUNKS	256

/* Invalidations of a page during its fetch before -EAGAIN */
#define MAX_TRIES	100

/**
 * struct paged_chunk - part of the address space
 * @notifier: reports invalidated pages
 * @paged: memory that this is a part of
 * @idle: in @paged->idle, or empty
 * @start: first address
 * @nr_pages: entries of @pages
 * @nr_present: number of entries that are not 0 [lock]
 * @users: number of fetches in progress [mutex]
 * @pages: kernel address of each page, with ENTRY_WRITE; or 0 [lock]
 */
struct paged_chunk {
	struct mmu_interval_notifier notifier;
	struct hroce_paged *paged;
	struct list_head idle;
	unsigned long start;
	u32 nr_pages;
	u32 nr_present;
	u32 users;
	unsigned long *pages;
};

static bool entry_is_usable(unsigned long entry, bool write)
{
	return entry && (!write || entry & ENTRY_WRITE);
}

static unsigned long entry_addr(unsigned long entry)
{
	return entry & PAGE_MASK;
}

static u32 chunk_index(const struct paged_chunk *chunk, unsigned long va)
{
	return (va - chunk->start) >> PAGE_SHIFT;
}

static u32 chunk_find(const struct paged_chunk *chunk, unsigned long va,
		      u32 max, bool write, struct hroce_extent *ext)
{
	u32 i = chunk_index(chunk, va);
	unsigned long entry, addr, next;

	entry = chunk->pages[i];
	if (!entry_is_usable(entry, write))
		return 0;
	addr = entry_addr(entry) + offset_in_page(va);
	next = entry_addr(entry) + PAGE_SIZE;
	while (next - addr < max && ++i < chunk->nr_pages) {
		entry = chunk->pages[i];
		if (entry_addr(entry) != next || !entry_is_usable(entry, write))
			break;
		next += PAGE_SIZE;
	}
	ext->page = NULL;
	ext->offset = 0;
	ext->va = (void *)addr;
	return min_t(unsigned long, max, next - addr);
}

u32 hroce_paged_find(const struct hroce_paged *p, u64 va, u32 max, bool write,
		     struct hroce_extent *ext)
{
	const struct paged_chunk *chunk;

	chunk = xa_load((struct xarray *)&p->chunks, va >> CHUNK_SHIFT);
	return chunk ? chunk_find(chunk, va, max, write, ext) : 0;
}

/* Called while the page tables of the process change. */
static bool chunk_invalidate(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range,
			     unsigned long seq)
{
	struct paged_chunk *chunk = container_of(notifier, struct paged_chunk,
						 notifier);
	struct hroce_paged *p = chunk->paged;
	unsigned long end, va;
	u32 taken = 0;

	va = max(range->start & PAGE_MASK, chunk->start);
	end = min(range->end - 1, notifier->interval_tree.last);
	write_lock_bh(p->lock);
	mmu_interval_set_seq(notifier, seq);
	for (; va <= end && chunk->nr_present; va += PAGE_SIZE) {
		u32 i = chunk_index(chunk, va);

		taken += !!chunk->pages[i];
		chunk->nr_present -= !!chunk->pages[i];
		chunk->pages[i] = 0;
	}
	if (!chunk->nr_present && list_empty(&chunk->idle) &&
	    (range->event == MMU_NOTIFY_UNMAP ||
	     range->event == MMU_NOTIFY_RELEASE)) {
		list_add_tail(&chunk->idle, &p->idle);
		queue_work(system_dfl_wq, &p->reap);
	}
	write_unlock_bh(p->lock);
	atomic64_add(taken, &p->invalidated);
	return true;
}

static const struct mmu_interval_notifier_ops chunk_notifier_ops = {
	.invalidate = chunk_invalidate,
};

static void chunk_free(struct paged_chunk *chunk)
{
	kfree(chunk->pages);
	kfree(chunk);
}

/*
 * The mm has users. Call without the mutex: this waits for the lock of the mm,
 * which the process may hold indefinitely. The chunk is not found before
 * chunk_add(); until then the caller is its user, so that paged_reap() keeps
 * it.
 */
static struct paged_chunk *chunk_new(struct hroce_paged *p, unsigned long index)
{
	unsigned long last = (index << CHUNK_SHIFT) + (CHUNK_BYTES - 1);
	struct paged_chunk *chunk;
	int err = -ENOMEM;

	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->paged = p;
	chunk->users = 1;
	INIT_LIST_HEAD(&chunk->idle);
	chunk->start = max(index << CHUNK_SHIFT, p->start);
	last = min(last, p->end - 1);
	chunk->nr_pages = chunk_index(chunk, last) + 1;
	chunk->pages = kcalloc(chunk->nr_pages, sizeof(*chunk->pages),
			       GFP_KERNEL_ACCOUNT);
	if (!chunk->pages)
		goto free_chunk;
	err = mmu_interval_notifier_insert(&chunk->notifier, p->mm,
					   chunk->start,
					   (u64)chunk->nr_pages << PAGE_SHIFT,
					   &chunk_notifier_ops);
	if (err)
		goto free_chunk;
	return chunk;

free_chunk:
	chunk_free(chunk);
	return ERR_PTR(err);
}

/* No lookup finds @chunk any more. */
static void chunk_destroy(struct paged_chunk *chunk)
{
	struct hroce_paged *p = chunk->paged;

	lockdep_assert_held(&p->mutex);
	mmu_interval_notifier_remove(&chunk->notifier);
	/* Contexts that have found it hold the lock. */
	write_lock_bh(p->lock);
	list_del(&chunk->idle);
	write_unlock_bh(p->lock);
	chunk_free(chunk);
}

static void chunk_remove(struct paged_chunk *chunk)
{
	xa_erase(&chunk->paged->chunks, chunk->start >> CHUNK_SHIFT);
	chunk->paged->nr_chunks--;
	chunk_destroy(chunk);
}

/* Get the chunk at @index, and count a user; NULL: there is none yet. */
static struct paged_chunk *chunk_tryget(struct hroce_paged *p,
					unsigned long index)
{
	struct paged_chunk *chunk;

	lockdep_assert_held(&p->mutex);
	if (p->closed)
		return ERR_PTR(-ENOENT);
	chunk = xa_load(&p->chunks, index);
	if (chunk)
		chunk->users++;
	return chunk;
}

/*
 * At the limit, evict the chunk behind the one evicted last. Its pages are
 * fetched again on use.
 */
static void paged_make_room(struct hroce_paged *p)
{
	unsigned long max_chunks = max_t(unsigned long, MIN_CHUNKS,
		totalram_pages() >> (CHUNK_SHIFT - PAGE_SHIFT - 1));
	struct paged_chunk *chunk;
	unsigned int tries;

	lockdep_assert_held(&p->mutex);
	for (tries = 0; p->nr_chunks >= max_chunks && tries < MIN_CHUNKS;
	     tries++) {
		chunk = xa_find_after(&p->chunks, &p->forgotten, ULONG_MAX,
				      XA_PRESENT);
		if (!chunk)
			p->forgotten = 0;
		else if (!chunk->users)
			chunk_remove(chunk);
	}
}

/*
 * Return: @chunk, or one that was added concurrently, or ERR_PTR(); @chunk is
 * then gone.
 */
static struct paged_chunk *chunk_add(struct hroce_paged *p, unsigned long index,
				     struct paged_chunk *chunk)
{
	struct paged_chunk *there;
	int err;

	mutex_lock(&p->mutex);
	there = chunk_tryget(p, index);
	if (!there) {
		paged_make_room(p);
		err = xa_err(xa_store(&p->chunks, index, chunk, GFP_KERNEL));
		there = err ? ERR_PTR(err) : chunk;
		p->nr_chunks += !err;
	}
	if (there != chunk)
		chunk_destroy(chunk);
	mutex_unlock(&p->mutex);
	return there;
}

static struct paged_chunk *chunk_get(struct hroce_paged *p, unsigned long index)
{
	struct paged_chunk *chunk;

	mutex_lock(&p->mutex);
	chunk = chunk_tryget(p, index);
	mutex_unlock(&p->mutex);
	if (chunk)
		return chunk;
	chunk = chunk_new(p, index);
	return IS_ERR(chunk) ? chunk : chunk_add(p, index, chunk);
}

/* Fetches count as @users, so an unused chunk gets no new pages. */
static void chunk_remove_unused(struct paged_chunk *chunk)
{
	struct hroce_paged *p = chunk->paged;
	bool unused;

	lockdep_assert_held(&p->mutex);
	if (chunk->users)
		return;
	read_lock_bh(p->lock);
	unused = !chunk->nr_present || p->closed;
	read_unlock_bh(p->lock);
	if (unused)
		chunk_remove(chunk);
}

/* A peer may request any address: keep no chunk without pages. */
static void chunk_put(struct paged_chunk *chunk)
{
	struct hroce_paged *p = chunk->paged;

	mutex_lock(&p->mutex);
	chunk->users--;
	chunk_remove_unused(chunk);
	mutex_unlock(&p->mutex);
}

static struct paged_chunk *paged_take_idle(struct hroce_paged *p)
{
	struct paged_chunk *chunk;

	write_lock_bh(p->lock);
	chunk = list_first_entry_or_null(&p->idle, struct paged_chunk, idle);
	if (chunk)
		list_del_init(&chunk->idle);
	write_unlock_bh(p->lock);
	return chunk;
}

static void paged_reap(struct work_struct *work)
{
	struct hroce_paged *p = container_of(work, struct hroce_paged, reap);
	struct paged_chunk *chunk;

	mutex_lock(&p->mutex);
	while ((chunk = paged_take_idle(p)))
		chunk_remove_unused(chunk);
	mutex_unlock(&p->mutex);
}

void hroce_paged_init(struct hroce_paged *p, u64 va, u64 len, rwlock_t *lock)
{
	p->mm = current->mm;
	mmgrab(p->mm);
	p->start = va & PAGE_MASK;
	p->end = len == U64_MAX ? ULONG_MAX : PAGE_ALIGN(va + len);
	p->lock = lock;
	mutex_init(&p->mutex);
	xa_init_flags(&p->chunks, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&p->idle);
	INIT_WORK(&p->reap, paged_reap);
}

void hroce_paged_close(struct hroce_paged *p)
{
	struct paged_chunk *chunk;
	unsigned long index;

	mutex_lock(&p->mutex);
	WRITE_ONCE(p->closed, true);
	xa_for_each(&p->chunks, index, chunk)
		chunk_remove_unused(chunk);
	mutex_unlock(&p->mutex);
}

void hroce_paged_fini(struct hroce_paged *p)
{
	struct paged_chunk *chunk;
	unsigned long index;

	mutex_lock(&p->mutex);
	xa_for_each(&p->chunks, index, chunk)
		chunk_remove(chunk);
	mutex_unlock(&p->mutex);
	/* No notifier is left to queue it. */
	cancel_work_sync(&p->reap);
	xa_destroy(&p->chunks);
	mutex_destroy(&p->mutex);
	mmdrop(p->mm);
}

/* Return: number of pages, each with a reference; or negative errno. */
static long paged_get_pages(struct mm_struct *mm, unsigned long va, u32 nr,
			    unsigned int flags, struct page **pages)
{
	int locked = 1;
	long n;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	n = get_user_pages_remote(mm, va, nr, flags, pages, &locked);
	if (locked)
		mmap_read_unlock(mm);
	return n ?: -EFAULT;
}

/*
 * Go to the first missing page. Return: number of pages missing from there on,
 * up to BATCH.
 */
static u32 chunk_go_to_missing(struct paged_chunk *chunk,
			       struct hroce_paged_want *want, u64 end)
{
	u32 nr = 0;
	u64 va;

	read_lock_bh(chunk->paged->lock);
	for (va = want->va & PAGE_MASK; va < end && nr < BATCH;
	     va += PAGE_SIZE) {
		unsigned long entry = chunk->pages[chunk_index(chunk, va)];

		if (!entry_is_usable(entry, want->write)) {
			nr++;
			continue;
		}
		if (nr)
			break;
		want->va = va + PAGE_SIZE;
	}
	read_unlock_bh(chunk->paged->lock);
	return nr;
}

/* Add pages. Return: false if pages were invalidated since @seq. */
static bool chunk_fill(struct paged_chunk *chunk, unsigned long va,
		       struct page **pages, u32 nr, bool write,
		       unsigned long seq)
{
	struct hroce_paged *p = chunk->paged;
	unsigned long *entry;
	bool ok;
	u32 i;

	write_lock_bh(p->lock);
	ok = !mmu_interval_read_retry(&chunk->notifier, seq);
	entry = &chunk->pages[chunk_index(chunk, va)];
	for (i = 0; ok && i < nr; i++, entry++) {
		if (entry_is_usable(*entry, write))
			continue;
		chunk->nr_present += !*entry;
		*entry = (unsigned long)page_address(pages[i]);
		if (write)
			*entry |= ENTRY_WRITE;
	}
	write_unlock_bh(p->lock);
	return ok;
}

/* Return: number of pages fetched; 0 to retry; or negative errno. */
static long chunk_fetch_some(struct paged_chunk *chunk, unsigned long va,
			     u32 nr, const struct hroce_paged_want *want,
			     unsigned long seq)
{
	unsigned int flags = want->no_fault ? FOLL_NOFAULT : 0;
	struct mm_struct *mm = chunk->paged->mm;
	struct page *pages[BATCH];
	bool write = want->write;
	long n, i;
	bool ok;

	n = paged_get_pages(mm, va, nr, write ? flags | FOLL_WRITE : flags,
			    pages);
	if (n < 0 && write && want->no_fault) {
		write = false;
		n = paged_get_pages(mm, va, 1, flags, pages);
	}
	if (n < 0)
		return n;
	ok = chunk_fill(chunk, va, pages, n, write, seq);
	for (i = 0; i < n; i++)
		put_page(pages[i]);
	return ok ? n : 0;
}

static int chunk_fetch(struct paged_chunk *chunk, struct hroce_paged_want *want,
		       u64 end)
{
	unsigned int tries = 0;
	unsigned long seq;
	long n;
	u32 nr;

	while (want->va < end) {
		if (READ_ONCE(chunk->paged->closed))
			return -ENOENT;
		seq = mmu_interval_read_begin(&chunk->notifier);
		nr = chunk_go_to_missing(chunk, want, end);
		if (!nr)
			break;
		n = chunk_fetch_some(chunk, want->va & PAGE_MASK, nr, want,
				     seq);
		if (n == -EFAULT && want->no_fault) {
			want->va = (want->va & PAGE_MASK) + PAGE_SIZE;
			continue;
		}
		if (n < 0)
			return n;
		if (!n) {
			if (++tries == MAX_TRIES)
				return -EAGAIN;
			cond_resched();
			continue;
		}
		tries = 0;
		want->fetched += n;
		want->va = (want->va & PAGE_MASK) + (n << PAGE_SHIFT);
	}
	return 0;
}

static int paged_fetch_chunk(struct hroce_paged *p,
			     struct hroce_paged_want *want)
{
	unsigned long index = want->va >> CHUNK_SHIFT;
	struct paged_chunk *chunk;
	u64 end;
	int err;

	if (want->va >= p->mm->task_size)
		return -EFAULT;
	chunk = chunk_get(p, index);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	end = min(want->end, (u64)(index + 1) << CHUNK_SHIFT);
	err = chunk_fetch(chunk, want, end);
	chunk_put(chunk);
	return err;
}

int hroce_paged_fetch(struct hroce_paged *p, struct hroce_paged_want *want)
{
	struct mem_cgroup *memcg, *before;
	int err = 0;

	if (!mmget_not_zero(p->mm))
		return -EFAULT;
	/* Charge our tables and the page tables to the owner of the memory. */
	memcg = get_mem_cgroup_from_mm(p->mm);
	before = set_active_memcg(memcg);
	while (want->va < want->end && !err) {
		err = paged_fetch_chunk(p, want);
		cond_resched();
	}
	set_active_memcg(before);
	mem_cgroup_put(memcg);
	/* Do not wait for the teardown of the address space. */
	mmput_async(p->mm);
	return err;
}
