// SPDX-License-Identifier: GPL-2.0
/* Opening devices, and the objects that cases are made of. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/hroce-abi.h>

#include "vt.h"

/* Bytes on both sides of test memory that must never change. */
#define VT_GUARD	4096
#define VT_GUARD_BYTE	0xa5

static int undo_close(void *obj)
{
	return ibv_close_device(obj);
}

static int undo_pd(void *obj)
{
	return ibv_dealloc_pd(obj);
}

static int undo_cq(void *obj)
{
	return ibv_destroy_cq(obj);
}

static int undo_channel(void *obj)
{
	return ibv_destroy_comp_channel(obj);
}

static int undo_srq(void *obj)
{
	return ibv_destroy_srq(obj);
}

static int undo_mem(void *obj)
{
	struct vt_mem *m = obj;
	int rc = m->mr ? ibv_dereg_mr(m->mr) : 0;

	munmap(m->buf - VT_GUARD, m->len + 2 * VT_GUARD);
	free(m);
	return rc;
}

/* The value of HROCE_FAMILY: 4, 6 or VT_LINK_LOCAL. */
int vt_family(void)
{
	const char *family = getenv("HROCE_FAMILY");

	if (!family)
		return 4;
	return *family == 'l' ? VT_LINK_LOCAL : *family == '6' ? 6 : 4;
}

static bool gid_is_family(const union ibv_gid *gid, int family)
{
	static const unsigned char v4[12] = { [10] = 0xff, [11] = 0xff };
	bool mapped = !memcmp(gid->raw, v4, sizeof(v4));
	bool link = gid->raw[0] == 0xfe && gid->raw[1] == 0x80;

	if (family == 4)
		return mapped;
	return !mapped && link == (family == VT_LINK_LOCAL);
}

/* Index of the first RoCEv2 GID of a family, or -1. */
int vt_find_gid(struct vt_end *e, int family)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < e->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(e->ctx, VT_PORT, i, &entry, 0))
			continue;
		if (entry.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (!gid_is_family(&entry.gid, family))
			continue;
		e->gid = entry.gid;
		e->gid_idx = i;
		return i;
	}
	return -1;
}

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* Opens a device and waits until its port is active and has an address. */
void vt_open(struct vt_end *e, const char *name, int family)
{
	uint64_t end = vt_deadline_us();
	unsigned int spins = 1000;

	e->ctx = open_by_name(name);
	VT_OK(e->ctx, "device %s: %s", name, strerror(errno));
	vt_defer(undo_close, e->ctx, "device context");
	fcntl(e->ctx->async_fd, F_SETFL, O_NONBLOCK);
	VT_EQ(ibv_query_device(e->ctx, &e->dev), 0);
	e->pd = ibv_alloc_pd(e->ctx);
	VT_OK(e->pd, "%s", strerror(errno));
	vt_defer(undo_pd, e->pd, "PD");
	for (;;) {
		VT_EQ(ibv_query_port(e->ctx, VT_PORT, &e->port), 0);
		if (e->port.state == IBV_PORT_ACTIVE &&
		    vt_find_gid(e, family) >= 0)
			return;
		VT_OK(vt_now_us() < end, "%s: port state %d, no IPv%d GID",
		      name, e->port.state, family);
		vt_pause(&spins);
	}
}

/* Closes what vt_open() opened, before the end of the case. */
void vt_close(struct vt_end *e)
{
	vt_forget(e->pd);
	VT_EQ(ibv_dealloc_pd(e->pd), 0);
	vt_forget(e->ctx);
	VT_EQ(ibv_close_device(e->ctx), 0);
}

/* The kernel tells every device's private ABI; this one is hroce's alone. */
bool vt_is_hroce(const struct vt_end *e)
{
	char path[320];
	int version = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/abi_version",
		 e->ctx->device->dev_path);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%d", &version) != 1)
		version = 0;
	fclose(f);
	return version == HROCE_UVERBS_ABI_VERSION;
}

/* Pinned memory of this process in KB. */
long vt_pinned_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = -1;

	VT_OK(f, "%s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

/* Both ends are the same link, which counts the packets of both. */
bool vt_one_link(const struct vt *t)
{
	return !strcmp(ibv_get_device_name(t->a.ctx->device),
		       ibv_get_device_name(t->b.ctx->device));
}

struct ibv_comp_channel *vt_channel(struct vt_end *e)
{
	struct ibv_comp_channel *chan = ibv_create_comp_channel(e->ctx);

	VT_OK(chan, "%s", strerror(errno));
	fcntl(chan->fd, F_SETFL, O_NONBLOCK);
	vt_defer(undo_channel, chan, "completion channel");
	return chan;
}

struct ibv_cq *vt_cq(struct vt_end *e, int cqe, struct ibv_comp_channel *chan)
{
	struct ibv_cq *cq = ibv_create_cq(e->ctx, cqe, NULL, chan, 0);

	VT_OK(cq, "%d entries: %s", cqe, strerror(errno));
	VT_OK(cq->cqe >= cqe, "%d entries asked, %d given", cqe, cq->cqe);
	vt_defer(undo_cq, cq, "CQ");
	return cq;
}

/* Not by the address of the queue, which may be to be destroyed, too. */
static int undo_poll(void *obj)
{
	ibv_end_poll((struct ibv_cq_ex *)((char *)obj -
					  offsetof(struct ibv_cq_ex, status)));
	return 0;
}

/*
 * Begin to poll; vt_end_poll() follows if this returns 0. A case that fails in
 * between ends it: the queue may be locked, for its queue pairs as well.
 */
int vt_start_poll(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	int rc = ibv_start_poll(cq, &attr);

	if (!rc)
		vt_defer(undo_poll, &cq->status, "poll");
	return rc;
}

void vt_end_poll(struct ibv_cq_ex *cq)
{
	vt_forget(&cq->status);
	ibv_end_poll(cq);
}

struct ibv_srq *vt_srq(struct vt_end *e, int wr, int sge, int limit)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = wr, .max_sge = sge, .srq_limit = limit },
	};
	struct ibv_srq *srq = ibv_create_srq(e->pd, &attr);

	VT_OK(srq, "%s", strerror(errno));
	vt_defer(undo_srq, srq, "SRQ");
	return srq;
}

struct vt_mem *vt_mem_iova(struct vt_end *e, size_t len, int access,
			   uint64_t iova)
{
	struct vt_mem *m = calloc(1, sizeof(*m));
	unsigned char *map = mmap(NULL, len + 2 * VT_GUARD,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	VT_OK(m && map != MAP_FAILED, "no memory");
	memset(map, VT_GUARD_BYTE, VT_GUARD);
	memset(map + VT_GUARD + len, VT_GUARD_BYTE, VT_GUARD);
	m->buf = map + VT_GUARD;
	m->len = len;
	if (iova)
		m->mr = ibv_reg_mr_iova(e->pd, m->buf, len, iova, access);
	else
		m->mr = ibv_reg_mr(e->pd, m->buf, len, access);
	VT_OK(m->mr, "register %zu bytes, access 0x%x: %s", len, access,
	      strerror(errno));
	vt_defer(undo_mem, m, "MR");
	return m;
}

struct vt_mem *vt_mem(struct vt_end *e, size_t len, int access)
{
	return vt_mem_iova(e, len, access, 0);
}

/* Position-dependent bytes: a shifted or repeated packet is noticed. */
static uint32_t pattern(size_t word, uint32_t seed)
{
	uint32_t w = (uint32_t)word * 2654435761u + seed * 40503u;

	return w ^ (w >> 24) * 0x01010101u;
}

/* Bytes depend on the distance from @off, so moved data keeps its pattern. */
void vt_fill(struct vt_mem *m, size_t off, size_t len, uint32_t seed)
{
	unsigned char *p = m->buf + off;
	size_t i;

	VT_OK(off + len <= m->len, "case bug: fill beyond memory");
	for (i = 0; i + 4 <= len; i += 4) {
		uint32_t w = pattern(i / 4, seed);

		memcpy(p + i, &w, 4);
	}
	if (i < len) {
		uint32_t w = pattern(i / 4, seed);

		memcpy(p + i, &w, len - i);
	}
}

void vt_verify(const struct vt_mem *m, size_t off, size_t len, uint32_t seed)
{
	const unsigned char *p = m->buf + off;

	VT_OK(off + len <= m->len, "case bug: verify beyond memory");
	for (size_t i = 0; i < len; i += 4) {
		size_t n = len - i < 4 ? len - i : 4;
		uint32_t w = pattern(i / 4, seed);

		if (memcmp(p + i, &w, n))
			vt_fail(__FILE__, __LINE__,
				"bytes %zu.. of %zu: expected %08x, seen %02x%02x%02x%02x",
				i, len, w, p[i + (n > 3 ? 3 : 0)],
				p[i + (n > 2 ? 2 : 0)],
				p[i + (n > 1 ? 1 : 0)], p[i]);
	}
}

/* Nothing was written in front of or behind the registered range. */
void vt_verify_guards(const struct vt_mem *m)
{
	for (size_t i = 0; i < VT_GUARD; i++) {
		VT_OK(m->buf[-1 - (ssize_t)i] == VT_GUARD_BYTE,
		      "%zu bytes before the start", i + 1);
		VT_OK(m->buf[m->len + i] == VT_GUARD_BYTE,
		      "%zu bytes behind the end", i);
	}
}

size_t vt_mtu_bytes(enum ibv_mtu mtu)
{
	return (size_t)128 << mtu;
}
