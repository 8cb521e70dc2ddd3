// SPDX-License-Identifier: GPL-2.0
/* On-demand paging: which memory the tables cost, and whose it is. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vt.h"

#define PAGE		4096ul
#define HUGE_PAGE	(2ul << 20)
#define LEN		100000ul
#define RW		(PROT_READ | PROT_WRITE)
#define ODP		(VT_ALL | IBV_ACCESS_ON_DEMAND)

/*
 * Move this process into a memory cgroup of its own; skip the case if there are
 * none. Return: its memory.stat.
 */
static FILE *own_memcg(void)
{
	char at[] = "/tmp/odp-XXXXXX", path[64];
	FILE *stat;
	int fd;

	VT_OK(mkdtemp(at), "%s", strerror(errno));
	if (mount("none", at, "cgroup2", 0, NULL))
		vt_skip("no cgroup2");
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", at);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "+memory", 7) != 7)
		vt_skip("no memory cgroups");
	close(fd);
	snprintf(path, sizeof(path), "%s/odp-%d", at, getpid());
	VT_EQ(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/odp-%d/cgroup.procs", at, getpid());
	fd = open(path, O_WRONLY);
	VT_OK(fd >= 0 && write(fd, "0", 1) == 1, "%s", strerror(errno));
	close(fd);
	snprintf(path, sizeof(path), "%s/odp-%d/memory.stat", at, getpid());
	stat = fopen(path, "r");
	VT_OK(stat, "%s", strerror(errno));
	setbuf(stat, NULL);
	VT_EQ(umount2(at, MNT_DETACH), 0);
	rmdir(at);
	return stat;
}

static long long slabs(FILE *stat)
{
	long long n = -1;
	char line[128];

	rewind(stat);
	while (fgets(line, sizeof(line), stat))
		if (sscanf(line, "slab_unreclaimable %lld", &n) == 1)
			break;
	VT_OK(n >= 0, "no slab_unreclaimable");
	return n;
}

/* Have one page fetched in each 2 MB of @d between these offsets. */
static void fetch_sparsely(struct vt_end *e, struct vt_mem *d, size_t off,
			   size_t end)
{
	enum { AT_ONCE = 128 };
	struct ibv_sge sge[AT_ONCE];
	int n;

	while (off < end) {
		for (n = 0; n < AT_ONCE && off < end; off += HUGE_PAGE)
			sge[n++] = (struct ibv_sge){
				.addr = (uintptr_t)d->buf + off, .length = 1,
				.lkey = d->mr->lkey,
			};
		VT_EQ(ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				    IBV_ADVISE_MR_FLAG_FLUSH, sge, n), 0);
	}
}

static struct vt_mem sparse_mem(struct vt_end *e, size_t nr)
{
	struct vt_mem m = { .len = nr * HUGE_PAGE };

	m.buf = mmap(NULL, m.len, RW,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	VT_OK(m.buf != MAP_FAILED, "%s", strerror(errno));
	/* Else pages of zeros are huge. */
	madvise(m.buf, m.len, MADV_NOHUGEPAGE);
	m.mr = ibv_reg_mr(e->pd, m.buf, m.len, ODP);
	VT_OK(m.mr, "%s", strerror(errno));
	return m;
}

/* The tables are the owner's: 4 KB for each 2 MB of which he has something. */
static void charged(struct vt *t)
{
	FILE *stat = own_memcg();
	long long before, after;
	struct vt_mem d;

	d = sparse_mem(&t->b, 400);
	before = slabs(stat);
	fetch_sparsely(&t->b, &d, 0, d.len);
	after = slabs(stat);
	VT_OK(after - before >= 400 * 4096, "%lld bytes more", after - before);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(d.buf, d.len);
	VT_OK(slabs(stat) - before < 100 * 4096, "kept");
	fclose(stat);
}

/* A region knows no more chunks at a time than twice the machine's memory has. */
static void bounded(struct vt *t)
{
	size_t most = 2 * (sysconf(_SC_PHYS_PAGES) * PAGE / HUGE_PAGE);
	struct vt_mem *m = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	FILE *stat = own_memcg();
	long long before, most_bytes;
	struct vt_mem d;

	most = most < 256 ? 256 : most;
	d = sparse_mem(&t->b, 2 * most + 500);
	before = slabs(stat);
	vt_fill(&d, 0, LEN, 2);
	/* What a table costs depends on how the kernel debugs its slabs. */
	fetch_sparsely(&t->b, &d, 0, 256 * HUGE_PAGE);
	most_bytes = (slabs(stat) - before) / 256 * (most + 200);
	fetch_sparsely(&t->b, &d, 256 * HUGE_PAGE, d.len);
	VT_OK(slabs(stat) - before < most_bytes, "%lld bytes for at most %zu",
	      slabs(stat) - before, most);
	/* What has been forgotten is found again. */
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = LEN, .remote = &d }), IBV_WC_SUCCESS);
	vt_verify(m, 0, LEN, 2);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(d.buf, d.len);
	fclose(stat);
}

static const struct vt_case cases[] = {
	VT_CASE(charged),
	VT_CASE_SLOW(bounded, 60),
};

VT_MAIN(cases)
