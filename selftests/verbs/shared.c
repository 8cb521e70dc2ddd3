// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that others have made: contexts imported by their descriptor,
 * protection domains and memory regions by their handles.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

#define LEN	5000

/* End @e once more, with a context and a protection domain imported. */
static struct vt_end import_end(const struct vt_end *e)
{
	struct vt_end copy = *e;
	int fd = dup(e->ctx->cmd_fd);

	VT_OK(fd >= 0, "dup: %m");
	copy.ctx = ibv_import_device(fd);
	VT_OK(copy.ctx, "import_device: %m");
	copy.pd = ibv_import_pd(copy.ctx, e->pd->handle);
	VT_OK(copy.pd, "import_pd: %m");
	VT_OK(copy.pd != e->pd && copy.ctx != e->ctx, "nothing new");
	return copy;
}

static int undo_pd(void *pd)
{
	ibv_unimport_pd(pd);
	return 0;
}

static int undo_ctx(void *ctx)
{
	return ibv_close_device(ctx);
}

/* The same, and it goes when the case ends. */
static struct vt_end import_for_now(const struct vt_end *e)
{
	struct vt_end copy = import_end(e);

	vt_defer(undo_ctx, copy.ctx, "close_device");
	vt_defer(undo_pd, copy.pd, "unimport_pd");
	return copy;
}

static struct vt_mem import_mem(const struct vt_end *e, const struct vt_mem *m)
{
	struct vt_mem copy = *m;

	copy.mr = ibv_import_mr(e->pd, m->mr->handle);
	VT_OK(copy.mr, "import_mr: %m");
	VT_EQ(copy.mr->lkey, m->mr->lkey);
	VT_EQ(copy.mr->rkey, m->mr->rkey);
	VT_EQ(copy.mr->length, m->mr->length);
	return copy;
}

/* Writes @from to @to and reads it back, with @from's queue pair. */
static void transfer(struct vt_pair *p, struct vt_mem *from, struct vt_mem *to,
		     uint32_t seed)
{
	vt_fill(from, 0, LEN, seed);
	memset(to->buf, 0, LEN);
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = from, .len = LEN, .remote = to,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(to, 0, LEN, seed);
	memset(from->buf, 0, LEN);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_RDMA_READ, .id = 2, .local = from, .len = LEN,
		.remote = to, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	vt_verify(from, 0, LEN, seed);
}

/* Queue pairs of the new context use what was made in the old one. */
static void used_by_new_objects(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	struct vt u = {
		.a = import_for_now(&t->a), .b = import_for_now(&t->b),
	};
	struct vt_mem from = import_mem(&u.a, s), to = import_mem(&u.b, d);
	struct vt_pair *p = vt_pair(&u, NULL);

	for (int i = 0; i < 10; i++)
		transfer(p, &from, &to, i);
	ibv_unimport_mr(from.mr);
	ibv_unimport_mr(to.mr);
	/* They are not gone with that. */
	transfer(p, s, d, 77);
}

/* And the other way round: it is one context for the kernel. */
static void used_by_old_objects(struct vt *t)
{
	struct vt u = {
		.a = import_for_now(&t->a), .b = import_for_now(&t->b),
	};
	struct vt_mem *s = vt_mem(&u.a, LEN, VT_ALL);
	struct vt_mem *d = vt_mem(&u.b, LEN, VT_ALL);

	transfer(vt_pair(t, NULL), s, d, 5);
}

/* The protection domain is not freed, but goes with the last descriptor. */
static void survives_those_it_came_from(struct vt *t)
{
	bool ipv4 = t->a.gid.raw[10] == 0xff && !t->a.gid.raw[0];
	struct vt u = { .b = t->b };
	struct vt_end first;

	vt_open(&first, vt_dev_name(0), ipv4 ? 4 : 6);
	u.a = import_for_now(&first);
	vt_forget(first.pd);
	vt_forget(first.ctx);
	VT_EQ(ibv_close_device(first.ctx), 0);
	transfer(vt_pair(&u, NULL), vt_mem(&u.a, LEN, VT_ALL),
		 vt_mem(&u.b, LEN, VT_ALL), 6);
}

static void gone_means_gone(struct vt *t)
{
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_end b = import_for_now(&t->b);
	uint32_t handle = d->mr->handle;
	struct vt_mem to = import_mem(&b, d);
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_mr *mr;

	VT_EQ(ibv_dereg_mr(d->mr), 0);
	d->mr = NULL;
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = s, .len = LEN, .remote = &to,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_REM_ACCESS_ERR);
	ibv_unimport_mr(to.mr);
	mr = ibv_import_mr(b.pd, handle);
	VT_OK(!mr && errno == ENOENT, "imported what is gone: %m");
}

/* What another process does with them; this one sees it in its memory. */
static void child(struct vt *t, struct vt_mem *s, struct vt_mem *d)
{
	struct vt u = { .a = import_end(&t->a), .b = import_end(&t->b) };
	struct vt_mem from = import_mem(&u.a, s), to = import_mem(&u.b, d);
	struct vt_pair *p = vt_pair(&u, NULL);

	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = &from, .len = LEN, .remote = &to,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	for (int i = 0; i < 2; i++) {
		VT_EQ(ibv_destroy_qp(p->qp[i]), 0);
		VT_EQ(ibv_destroy_cq(p->scq[i]), 0);
		VT_EQ(ibv_destroy_cq(p->rcq[i]), 0);
	}
	_exit(0);
}

static void used_by_another_process(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	int status;
	pid_t pid;

	/* Not a private copy of the child's, then. */
	vt_fill(s, 0, LEN, 9);
	pid = fork();
	VT_OK(pid >= 0, "fork: %m");
	if (!pid)
		child(t, s, d);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_OK(WIFEXITED(status) && !WEXITSTATUS(status), "status %d", status);
	vt_verify(d, 0, LEN, 9);
}

static const struct vt_case cases[] = {
	VT_CASE(used_by_new_objects),
	VT_CASE(used_by_old_objects),
	VT_CASE(survives_those_it_came_from),
	VT_CASE(gone_means_gone),
	VT_CASE(used_by_another_process),
};

VT_MAIN(cases)
