// SPDX-License-Identifier: GPL-2.0
/* Registering memory: access rules, mappings, addresses, sizes. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vt.h"

static struct ibv_mr *try_reg(struct vt *t, void *p, size_t len, int access)
{
	return ibv_reg_mr(t->a.pd, p, len, access);
}

static void access_flag_rules(struct vt *t)
{
	static char mem[4096];
	static const int good[] = {
		0, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_LOCAL_WRITE, VT_ALL,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING,
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct ibv_mr *mr = try_reg(t, mem, sizeof(mem), good[i]);

		VT_OK(mr, "access 0x%x: %s", good[i], strerror(errno));
		VT_EQ(ibv_dereg_mr(mr), 0);
	}
	VT_NULL(try_reg(t, mem, 4096, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	VT_NULL(try_reg(t, mem, 4096, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	errno = 0;
	VT_OK(!try_reg(t, mem, 4096, 1 << 15), "unknown access bit");
	VT_OK(errno == EINVAL || errno == EOPNOTSUPP, "errno %d", errno);
}

static void unmapped_memory(struct vt *t)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	VT_OK(p != MAP_FAILED, "mmap");
	munmap(p + 4096, 4096);
	VT_NULL(try_reg(t, p, 8192, VT_ALL), EFAULT);
	VT_NULL(try_reg(t, p + 4096, 4096, 0), EFAULT);
	munmap(p, 4096);
}

static void absurd_ranges(struct vt *t)
{
	static char mem[4096];

	errno = 0;
	VT_OK(!try_reg(t, mem, SIZE_MAX, 0) && errno, "length SIZE_MAX");
	errno = 0;
	VT_OK(!try_reg(t, mem, SIZE_MAX - (uintptr_t)mem, 0) && errno,
	      "up to the end of the address space");
	errno = 0;
	VT_OK(!try_reg(t, (void *)-4096ul, 8192, 0) && errno, "wraps");
	errno = 0;
	VT_OK(!try_reg(t, (void *)-8192ul, 4096, 0) && errno, "kernel range");
	errno = 0;
	VT_OK(!try_reg(t, NULL, 4096, 0) && errno, "null page");
}

static void read_only_mapping(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *dst = vt_mem(&t->a, 4096, VT_ALL);
	char *ro = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vt_mem src = { .buf = (unsigned char *)ro, .len = 4096 };

	VT_OK(ro != MAP_FAILED, "mmap");
	vt_fill(&src, 0, 4096, 3);
	VT_EQ(mprotect(ro, 4096, PROT_READ), 0);
	VT_NULL(ibv_reg_mr(t->b.pd, ro, 4096, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	src.mr = ibv_reg_mr(t->b.pd, ro, 4096, IBV_ACCESS_REMOTE_READ);
	VT_OK(src.mr, "%s", strerror(errno));
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_RDMA_READ, .id = 1, .local = dst, .len = 4096,
		.remote = &src, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(dst, 0, 4096, 3);
	VT_EQ(ibv_dereg_mr(src.mr), 0);
	munmap(ro, 4096);
}

static void file_mapping(struct vt *t)
{
	char name[] = "/dev/shm/vt-XXXXXX";
	int fd = mkstemp(name);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *src = vt_mem(&t->a, 8192, VT_ALL);
	struct vt_mem dst = { .len = 8192 };
	struct vt_mem back = { .len = 8192 };

	VT_OK(fd >= 0, "no /dev/shm");
	unlink(name);
	VT_EQ(ftruncate(fd, 8192), 0);
	dst.buf = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	VT_OK(dst.buf != MAP_FAILED, "mmap");
	dst.mr = ibv_reg_mr(t->b.pd, dst.buf, 8192, VT_ALL);
	VT_OK(dst.mr, "%s", strerror(errno));
	vt_fill(src, 0, 8192, 9);
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = src, .len = 8192, .remote = &dst,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(ibv_dereg_mr(dst.mr), 0);
	munmap(dst.buf, 8192);
	back.buf = malloc(8192);
	VT_EQ(pread(fd, back.buf, 8192, 0), 8192);
	vt_verify(&back, 0, 8192, 9);
	close(fd);
}

static void write_number(const char *path, int v)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	fprintf(f, "%d\n", v);
	fclose(f);
}

static void huge_pages(struct vt *t)
{
	const size_t len = 4 << 20;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem dst = { .len = len };
	struct vt_mem *src = vt_mem(&t->a, len, VT_ALL);

	write_number("/proc/sys/vm/nr_hugepages", 8);
	dst.buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (dst.buf == MAP_FAILED)
		vt_skip("no huge pages");
	dst.mr = ibv_reg_mr(t->b.pd, dst.buf, len, VT_ALL);
	VT_OK(dst.mr, "%s", strerror(errno));
	vt_fill(src, 0, len - 100, 5);
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = src, .len = len - 100, .remote = &dst,
		.roff = 99, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(&dst, 99, len - 100, 5);
	VT_EQ(ibv_dereg_mr(dst.mr), 0);
	munmap(dst.buf, len);
	write_number("/proc/sys/vm/nr_hugepages", 0);
}

static void iova_differs_from_address(struct vt *t)
{
	const uint64_t iova = 0x123456789000ull;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *src = vt_mem(&t->a, 10000, VT_ALL);
	struct vt_mem *dst = vt_mem_iova(&t->b, 10000, VT_ALL, iova);
	struct ibv_sge sge = { (uintptr_t)src->buf, 5000, src->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { iova + 4001, dst->mr->rkey },
	};

	vt_fill(src, 0, 5000, 8);
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(dst, 4001, 5000, 8);
	vt_verify_guards(dst);
}

/* The same memory may be registered any number of times. */
static void overlapping_registrations(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *src = vt_mem(&t->a, 4096, VT_ALL);
	struct vt_mem *dst = vt_mem(&t->b, 4096, VT_ALL);
	struct vt_mem view = { .buf = dst->buf + 1000, .len = 1000 };

	view.mr = ibv_reg_mr(t->b.pd, view.buf, view.len, VT_ALL);
	VT_OK(view.mr, "%s", strerror(errno));
	vt_fill(src, 0, 1000, 4);
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = src, .len = 1000, .remote = &view,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(dst, 1000, 1000, 4);
	VT_EQ(ibv_dereg_mr(view.mr), 0);
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 2, .local = src, .len = 1000, .remote = dst,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	vt_verify(dst, 0, 1000, 4);
}

/* A registration starts and ends at a byte, not at a page. */
static void exact_to_the_byte(struct vt *t)
{
	struct vt_mem *src = vt_mem(&t->a, 8192, VT_ALL);
	struct vt_mem *dst = vt_mem(&t->b, 8192, VT_ALL);
	struct vt_mem in = { .buf = dst->buf + 13, .len = 4099 };
	static const struct {
		int off;
		int len;
		bool ok;
	} step[] = {
		{ 0, 4099, true }, { 4098, 1, true }, { 4098, 2, false },
		{ -1, 1, false }, { 4099, 1, false }, { 0, 4100, false },
	};

	in.mr = ibv_reg_mr(t->b.pd, in.buf, in.len, VT_ALL);
	VT_OK(in.mr, "%s", strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(step); i++) {
		struct vt_pair *p = vt_pair(t, NULL);

		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = src, .len = step[i].len,
			.remote = &in, .roff = step[i].off,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, step[i].ok ? IBV_WC_SUCCESS :
			  IBV_WC_REM_ACCESS_ERR);
	}
	VT_EQ(ibv_dereg_mr(in.mr), 0);
}

static void large_registration(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, 256 << 20, VT_ALL);

	VT_EQ(m->mr->length, 256 << 20);
}

/* One huge page, seen at so many addresses, is enough memory for it. */
static void sixty_four_gigabytes(struct vt *t)
{
	const size_t page = 2 << 20, len = 64ull << 30;
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem far = { .len = len };
	unsigned char *room;
	int fd;

	write_number("/proc/sys/vm/nr_hugepages", 1);
	fd = memfd_create("page", MFD_HUGETLB);
	if (fd < 0 || ftruncate(fd, page))
		vt_skip("no huge pages");
	room = mmap(NULL, len + page, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	VT_OK(room != MAP_FAILED, "address space: %m");
	far.buf = room + (-(uintptr_t)room & (page - 1));
	for (size_t at = 0; at < len; at += page)
		if (mmap(far.buf + at, page, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			vt_skip("no huge page: %s", strerror(errno));
	far.mr = ibv_reg_mr(t->b.pd, far.buf, len, VT_ALL);
	VT_OK(far.mr, "%m");

	for (size_t at = 0; at < len; at += len / 4 + 72) {
		vt_fill(s, 0, 8, at + 1);
		vt_send(p->qp[0], &(struct vt_wr){
			.id = at, .local = s, .len = 8, .remote = &far,
			.roff = at, .flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], at, IBV_WC_SUCCESS);
		VT_OK(!memcmp(far.buf + at % page, s->buf, 8), "at %zu", at);
	}
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = s, .len = 8, .remote = &far, .roff = len - 7,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_dereg_mr(far.mr), 0);
	munmap(room, len + page);
	close(fd);
	write_number("/proc/sys/vm/nr_hugepages", 0);
}

static void beyond_memlock_limit(struct vt *t)
{
	static const size_t len = 64ull << 30;
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		vt_skip("no address space");
	/* A mapping of nothing but PROT_NONE cannot be pinned at all. */
	VT_EQ(mprotect(p, len, PROT_NONE), 0);
	errno = 0;
	VT_OK(!try_reg(t, p, len, 0) && errno, "64 GiB of nothing");
	munmap(p, len);
}

/* The peer writes all of @d; what comes of it? A QP that failed starts anew. */
static enum ibv_wc_status peer_writes(struct vt *t, const struct vt_mem *d)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->b, d->len, VT_ALL);

	vt_fill(s, 0, d->len, 5);
	vt_send(p->qp[1], &(struct vt_wr){
		.local = s, .len = d->len, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	return vt_poll(p->scq[1]).status;
}

static void rereg_access(struct vt *t)
{
	struct vt_mem *d = vt_mem(&t->a, 10000, 0);
	uint32_t key = d->mr->rkey;

	VT_EQ(peer_writes(t, d), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   VT_ALL), 0);
	VT_EQ(d->mr->rkey, key);
	VT_EQ(peer_writes(t, d), IBV_WC_SUCCESS);
	vt_verify(d, 0, d->len, 5);
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE), 0);
	VT_EQ(peer_writes(t, d), IBV_WC_REM_ACCESS_ERR);
	VT_OK(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_REMOTE_WRITE), "no local write");
}

/* Rights count when memory is used, whatever it was fetched for. */
static void rereg_on_demand(struct vt *t)
{
	const int read = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND;
	struct vt_mem *pinned = vt_mem(&t->a, 10000, VT_ALL);
	struct ibv_pd *pd = ibv_alloc_pd(t->a.ctx);
	struct vt_mem d = *pinned;

	VT_OK(pd, "%m");
	d.mr = t->arg ? ibv_reg_mr(t->a.pd, NULL, SIZE_MAX, read) :
			ibv_reg_mr(t->a.pd, d.buf, d.len, read);
	if (!d.mr && errno == EOPNOTSUPP && !vt_is_hroce(&t->a))
		vt_skip("no on-demand paging");
	VT_OK(d.mr, "%m");
	VT_EQ(ibv_advise_mr(t->a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
			    IBV_ADVISE_MR_FLAG_FLUSH, &(struct ibv_sge){
				.addr = (uintptr_t)d.buf, .length = d.len,
				.lkey = d.mr->lkey }, 1), 0);
	VT_EQ(peer_writes(t, &d), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_rereg_mr(d.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   VT_ALL | IBV_ACCESS_ON_DEMAND), 0);
	VT_OK(ibv_rereg_mr(d.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, d.buf,
			   4096, 0), "other memory");
	VT_EQ(peer_writes(t, &d), IBV_WC_SUCCESS);
	vt_verify(&d, 0, d.len, 5);
	VT_EQ(ibv_rereg_mr(d.mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(peer_writes(t, &d), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_rereg_mr(d.mr, IBV_REREG_MR_CHANGE_PD |
			   IBV_REREG_MR_CHANGE_ACCESS, t->a.pd, NULL, 0, read),
	      0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
	VT_EQ(peer_writes(t, &d), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
}

static void rereg_pd(struct vt *t)
{
	struct vt_mem *d = vt_mem(&t->a, 10000, VT_ALL);
	struct ibv_pd *pd = ibv_alloc_pd(t->a.ctx);

	VT_OK(pd, "%s", strerror(errno));
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(peer_writes(t, d), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_PD, t->a.pd, NULL, 0, 0),
	      0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
	VT_EQ(peer_writes(t, d), IBV_WC_SUCCESS);
}

/* Other memory, of another size, behind the same keys. */
static void rereg_translation(struct vt *t)
{
	struct vt_mem *d = vt_mem(&t->a, 10000, VT_ALL);
	struct vt_mem *other = vt_mem(&t->a, 30000, VT_ALL);
	struct vt_mem moved = { other->buf, other->len, d->mr };

	vt_fill(d, 0, d->len, 1);
	VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   other->buf, other->len, 0), 0);
	VT_EQ(peer_writes(t, &moved), IBV_WC_SUCCESS);
	vt_verify(other, 0, other->len, 5);
	vt_verify_guards(other);
	vt_verify(d, 0, d->len, 1);
	VT_EQ(peer_writes(t, d), IBV_WC_REM_ACCESS_ERR);
}

/* What cannot be done leaves everything as it was. */
static void rereg_fails(struct vt *t)
{
	struct vt_mem *d = vt_mem(&t->a, 10000, VT_ALL);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	VT_OK(p != MAP_FAILED, "mmap");
	munmap(p, 8192);
	VT_OK(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, p,
			   8192, 0), "unmapped memory");
	VT_OK(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   d->buf, 0, 0), "no memory");
	VT_OK(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   1 << 15), "unknown access bit");
	VT_EQ(peer_writes(t, d), IBV_WC_SUCCESS);
	vt_verify(d, 0, d->len, 5);
}

/* A region that begins at address 0, wherever its memory is. */
static void zero_based(struct vt *t)
{
	int access = VT_ALL | IBV_ACCESS_ZERO_BASED;
	struct vt_mem *s = vt_mem(&t->a, 5000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 5000, access);
	struct vt_mem zero = { .buf = NULL, .len = 5000, .mr = d->mr };
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < 3; i++) {
		vt_fill(s, 0, 4000, i + 1);
		memset(d->buf, 0, 5000);
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 4000, .remote = &zero,
			.roff = 1000, .flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		VT_OK(!memcmp(d->buf + 1000, s->buf, 4000), "not there");
		vt_verify_guards(d);
		/* It stays so, with new rights and new memory. */
		if (i == 0)
			VT_EQ(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS,
					   NULL, NULL, 0,
					   access & ~IBV_ACCESS_REMOTE_READ),
			      0);
		else if (i == 1)
			VT_EQ(ibv_rereg_mr(d->mr,
					   IBV_REREG_MR_CHANGE_TRANSLATION,
					   NULL, d->buf, 5000, 0), 0);
	}
	/* Where it begins is a matter of translation. */
	VT_OK(ibv_rereg_mr(d->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   VT_ALL), "rebased");
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 9, .local = s, .len = 4000, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 9, IBV_WC_REM_ACCESS_ERR);
}

/* Both ends have no byte: so have the operations. */
static void zero_length(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct vt_mem *m = vt_mem(&t->a, 4096, VT_ALL);
	int access = VT_ALL | t->arg;
	struct vt_mem at[] = {
		{ .buf = m->buf + 100 }, { .buf = NULL },
		{ .buf = (void *)((uintptr_t)m->buf & ~4095ul) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		struct vt_pair *p = vt_pair(t, NULL);
		struct vt_mem l = at[i], r = at[i];

		l.mr = ibv_reg_mr(t->a.pd, l.buf, 0, access);
		VT_OK(l.mr, "%m");
		r.mr = ibv_reg_mr(t->b.pd, r.buf, 0, access);
		VT_OK(r.mr, "%m");
		VT_EQ(r.mr->length, 0);
		for (size_t j = 0; j < ARRAY_SIZE(ops); j++) {
			vt_recv(p->qp[1], j, &r, 0, 0);
			VT_EQ(vt_run(p, (struct vt_wr){ .op = ops[j],
				.local = &l, .remote = &r }), IBV_WC_SUCCESS);
		}
		/* Used by the first and the last. */
		vt_expect(p->rcq[1], 0, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
		VT_EQ(ibv_rereg_mr(r.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
				   0, access & ~IBV_ACCESS_REMOTE_READ), 0);
		VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = 1,
			.remote = &r }), IBV_WC_REM_ACCESS_ERR);
		p = vt_pair(t, NULL);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = &l,
			.len = 1 }), IBV_WC_LOC_PROT_ERR);
		VT_EQ(ibv_dereg_mr(l.mr), 0);
		VT_EQ(ibv_dereg_mr(r.mr), 0);
	}
}

static struct ibv_mr *null_mr(struct vt_end *e)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(e->pd);

	VT_OK(mr, "alloc_null_mr: %m");
	VT_OK(mr->length == SIZE_MAX, "%zu bytes", mr->length);
	return mr;
}

/* What is sent from there is zero, what arrives there is gone. */
static void null_region(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 20000, VT_ALL);
	struct ibv_mr *null[2] = { null_mr(&t->a), null_mr(&t->b) };
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_sge sge[3] = {
		{ (uintptr_t)s->buf, 1000, s->mr->lkey },
		{ ~0ull - 12345, 9000, null[0]->lkey },
		{ (uintptr_t)s->buf + 1000, 1000, s->mr->lkey },
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = 3,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)d->buf, d->mr->rkey },
	};

	vt_fill(s, 0, 2000, 1);
	memset(d->buf, 0xff, 11000);
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_OK(!memcmp(d->buf, s->buf, 1000), "first piece");
	VT_OK(!memcmp(d->buf + 10000, s->buf + 1000, 1000), "last piece");
	for (int i = 1000; i < 10000; i++)
		VT_EQ(d->buf[i], 0);

	vt_fill(d, 0, 11000, 2);
	wr.opcode = IBV_WR_RDMA_READ;
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_OK(!memcmp(s->buf, d->buf, 1000), "first piece read");
	VT_OK(!memcmp(s->buf + 1000, d->buf + 10000, 1000), "last piece read");
	vt_verify_guards(s);

	/* What was written there does not come back. */
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.sg_list++;
	wr.num_sge = 1;
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	for (int i = 0; i < 9000; i++)
		VT_EQ(d->buf[i], 0);

	/* It is nothing for peers. */
	wr.wr.rdma.rkey = null[1]->rkey;
	VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
	vt_expect(p->scq[0], 1, IBV_WC_REM_ACCESS_ERR);
	VT_OK(ibv_rereg_mr(null[0], IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   VT_ALL), "given rights");
	VT_EQ(ibv_dereg_mr(null[0]), 0);
	VT_EQ(ibv_dereg_mr(null[1]), 0);
}

static void null_region_receives(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct ibv_mr *null = null_mr(&t->b);
	struct ibv_sge sge = { 0, 20000, null->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge,
					.num_sge = 1 };
	struct vt_pair *p = vt_pair(t, NULL);

	VT_EQ(ibv_post_recv(p->qp[1], &wr, &bad), 0);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = s, .len = 20000,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS).byte_len, 20000);
	VT_EQ(ibv_dereg_mr(null), 0);
}

static void no_device_memory(struct vt *t)
{
	struct ibv_alloc_dm_attr dm = { .length = 4096 };
	struct ibv_device_attr_ex attr;

	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &attr), 0);
	VT_EQ(attr.max_dm_size, 0);
	VT_NULL(ibv_alloc_dm(t->a.ctx, &dm), EOPNOTSUPP);
}

static const struct vt_case cases[] = {
	VT_CASE(access_flag_rules),
	VT_CASE(unmapped_memory),
	VT_CASE(absurd_ranges),
	VT_CASE(read_only_mapping),
	VT_CASE(file_mapping),
	VT_CASE(huge_pages),
	VT_CASE(iova_differs_from_address),
	VT_CASE(overlapping_registrations),
	VT_CASE(exact_to_the_byte),
	VT_CASE(large_registration),
	VT_CASE_SLOW(sixty_four_gigabytes, 60),
	VT_CASE(beyond_memlock_limit),
	VT_CASE(rereg_access),
	VT_CASE_ARG("rereg_on_demand", rereg_on_demand, 0),
	VT_CASE_ARG("rereg_on_demand_implicit", rereg_on_demand, 1),
	VT_CASE(rereg_pd),
	VT_CASE(rereg_translation),
	VT_CASE(rereg_fails),
	VT_CASE(zero_based),
	VT_CASE(zero_length),
	VT_CASE_ARG("zero_length_on_demand", zero_length,
		    IBV_ACCESS_ON_DEMAND),
	VT_CASE(null_region),
	VT_CASE(null_region_receives),
	VT_CASE(no_device_memory),
};

VT_MAIN(cases)
