// SPDX-License-Identifier: GPL-2.0
/* On-demand paging: a fetch that ends when nobody wants its page any more. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vt.h"

#define PAGE	4096ul

/* Faults of the first page of @m wait for the caller. Return: who tells. */
static int catch_faults(const struct vt_mem *m)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)m->buf, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		vt_skip("no userfaultfd");
	VT_EQ(ioctl(fd, UFFDIO_REGISTER, &reg), 0);
	return fd;
}

static void await_fault(int fd)
{
	struct uffd_msg msg;

	VT_EQ(read(fd, &msg, sizeof(msg)), (ssize_t)sizeof(msg));
	VT_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
}

/* There is a page, but the fetch that waits for it is not told. */
static void fill_page(struct vt_end *e, int fd, const struct vt_mem *m)
{
	static unsigned char zeros[PAGE];
	struct uffdio_copy copy = {
		.dst = (uintptr_t)m->buf, .src = (uintptr_t)zeros,
		.len = PAGE, .mode = UFFDIO_COPY_MODE_DONTWAKE,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)m->buf, .length = PAGE, .lkey = m->mr->lkey,
	};

	VT_EQ(ioctl(fd, UFFDIO_COPY, &copy), 0);
	VT_EQ(ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
}

static void await_more(const struct vt_end *e, const char *name)
{
	long long before = vt_counter(e, name);
	unsigned int spins = 0;

	while (vt_counter(e, name) == before)
		vt_pause(&spins);
}

/*
 * The page of a WRITE comes in another way than by its fetch. That fails when
 * the page has gone, and the next WRITE waits for another one.
 */
static void failure_of_another(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, 2 * PAGE, VT_ALL);
	struct vt_mem d = { .len = 2 * PAGE };
	struct vt_pair *p = vt_pair(t, NULL);
	struct uffdio_range range;
	int fd;

	d.buf = mmap(NULL, d.len, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VT_OK(d.buf != MAP_FAILED, "%s", strerror(errno));
	d.mr = ibv_reg_mr(t->b.pd, d.buf, d.len, VT_ALL | IBV_ACCESS_ON_DEMAND);
	VT_OK(d.mr, "%s", strerror(errno));
	fd = catch_faults(&d);
	vt_fill(m, 0, PAGE, 1);
	vt_fill(m, PAGE, PAGE, 2);
	vt_send(p->qp[0], &(struct vt_wr){ .id = 1, .local = m, .len = PAGE,
		.remote = &d, .flags = IBV_SEND_SIGNALED });
	await_fault(fd);
	fill_page(&t->b, fd, &d);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(&d, 0, PAGE, 1);

	vt_send(p->qp[0], &(struct vt_wr){ .id = 2, .local = m, .off = PAGE,
		.len = PAGE, .remote = &d, .roff = PAGE,
		.flags = IBV_SEND_SIGNALED });
	await_more(&t->b, "rnr_sent");
	range = (struct uffdio_range){ .start = (uintptr_t)d.buf, .len = PAGE };
	VT_EQ(munmap(d.buf, PAGE), 0);
	VT_EQ(ioctl(fd, UFFDIO_WAKE, &range), 0);
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	vt_verify(&d, PAGE, PAGE, 2);
	close(fd);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(d.buf + PAGE, PAGE);
}

static const struct vt_case cases[] = {
	VT_CASE(failure_of_another),
};

VT_MAIN(cases)
