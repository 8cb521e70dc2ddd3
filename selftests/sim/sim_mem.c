// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a node: one array of bytes, parts of which are registered under
 * keys. The addresses that keys grant access to have nothing to do with the
 * place in the array.
 */
#include <string.h>
#include "sim.h"

u32 sim_mem_alloc(struct sim_node *node, u32 len)
{
	u32 base = (node->mem_used + 63) & ~63u;

	sim_check(node->sim, base + len <= SIM_MEM_SIZE);
	node->mem_used = base + len;
	return base;
}

u32 sim_mr_add(struct sim_node *node, u32 base, u32 len, u32 access)
{
	struct sim_mr *mr;
	u32 n;

	for (n = 0; n < SIM_NR_MRS; n++) {
		mr = &node->mrs[node->mr_hint++ % SIM_NR_MRS];
		if (!mr->valid)
			break;
	}
	sim_check(node->sim, !mr->valid);
	mr->key = (u32)(mr - node->mrs) << 8 | (u8)(mr->key + 1);
	/* Eight-byte aligned for atomics, and sometimes up to the very end. */
	mr->va = sim_rand(&node->sim->rng) & ~7ull;
	if (mr->va + len < mr->va)
		mr->va = -(u64)len & ~7ull;
	mr->base = base;
	mr->len = len;
	mr->access = access;
	mr->valid = true;
	mr->one_shot = false;
	return mr->key;
}

struct sim_mr *sim_mr_find(struct sim_node *node, u32 key)
{
	struct sim_mr *mr = &node->mrs[(key >> 8) % SIM_NR_MRS];

	return mr->valid && mr->key == key ? mr : NULL;
}

/* Return: the bytes that a key and an address stand for, or NULL. */
static u8 *mem_resolve(struct sim_node *node, u32 key, u64 va, u32 len,
		       u8 access)
{
	struct sim_mr *mr = sim_mr_find(node, key);

	if (!mr || !(mr->access & 1u << access))
		return NULL;
	if (va < mr->va || va - mr->va > mr->len ||
	    len > mr->len - (va - mr->va))
		return NULL;
	return node->mem + mr->base + (va - mr->va);
}

u8 sim_mem_copy(struct sim_node *node, const struct hrp_mem *mem, u8 *buf,
		bool to_mem)
{
	u32 nr = mem->sges ? mem->nr_sges : 1;
	u32 i, skip = mem->offset;
	u32 len = mem->len;

	if (mem->bytes) {
		sim_check(node->sim, !to_mem);
		if (!mem->nr_sges)
			memcpy(buf, (const u8 *)mem->bytes + skip, len);
		for (i = 0; i < mem->nr_sges; i++)
			memcpy(buf + i * mem->one.length,
			       (const u8 *)mem->bytes + i * mem->stride,
			       mem->one.length);
		return HROCE_WC_SUCCESS;
	}
	for (i = 0; len; i++) {
		const struct hroce_sge *sge = mem->sges ? hrp_mem_sge(mem, i) :
							  &mem->one;
		u32 n;
		u8 *at;

		sim_check(node->sim, i < nr);
		if (skip >= sge->length) {
			skip -= sge->length;
			continue;
		}
		n = min(len, sge->length - skip);
		at = mem_resolve(node, sge->lkey, sge->addr + skip, n,
				 mem->access);
		if (!at)
			return mem->access >= HRP_ACCESS_REMOTE_READ ?
			       HROCE_WC_REM_ACCESS_ERR : HROCE_WC_LOC_PROT_ERR;
		if (to_mem)
			memcpy(at, buf, n);
		else
			memcpy(buf, at, n);
		buf += n;
		len -= n;
		skip = 0;
	}
	return HROCE_WC_SUCCESS;
}

/* Cuts @len bytes at random, with up to 32 bytes between the pieces. */
void sim_buf_split(struct sim *sim, struct sim_buf *buf, u32 base, u32 len,
		   bool gaps)
{
	u32 i;

	buf->nr = 1 + sim_below(&sim->rng, SIM_MAX_PIECES);
	if (!len && sim_below(&sim->rng, 2))
		buf->nr = 0;
	for (i = 0; i < buf->nr; i++) {
		u32 n = i + 1 == buf->nr ? len : sim_below(&sim->rng, len + 1);

		if (gaps)
			base += sim_below(&sim->rng, 33);
		buf->piece[i].base = base;
		buf->piece[i].len = n;
		base += n;
		len -= n;
	}
}

void sim_buf_one(struct sim_buf *buf, u32 base, u32 len)
{
	buf->nr = 1;
	buf->piece[0].base = base;
	buf->piece[0].len = len;
}

void sim_buf_fill(struct sim_node *node, const struct sim_buf *buf,
		  const u8 *bytes)
{
	u32 i;

	for (i = 0; i < buf->nr; i++) {
		memcpy(node->mem + buf->piece[i].base, bytes,
		       buf->piece[i].len);
		bytes += buf->piece[i].len;
	}
}

bool sim_buf_equal(struct sim_node *node, const struct sim_buf *buf,
		   const u8 *bytes, u32 len)
{
	u32 i;

	for (i = 0; i < buf->nr && len; i++) {
		u32 n = min(len, buf->piece[i].len);

		if (memcmp(node->mem + buf->piece[i].base, bytes, n))
			return false;
		bytes += n;
		len -= n;
	}
	return !len;
}

u32 sim_buf_sges(struct sim_node *node, const struct sim_buf *buf, u32 key,
		 struct hroce_sge *sges)
{
	struct sim_mr *mr = sim_mr_find(node, key);
	u32 i;

	for (i = 0; i < buf->nr; i++) {
		sges[i].addr = mr->va + (buf->piece[i].base - mr->base);
		sges[i].length = buf->piece[i].len;
		sges[i].lkey = key;
	}
	return buf->nr;
}

bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, u8 access)
{
	struct sim_node *node = to_sim_qp(qp)->node;

	sim_check(node->sim, len && access >= HRP_ACCESS_REMOTE_READ);
	return mem_resolve(node, rkey, va, len, access);
}

u8 hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	struct sim_node *node = to_sim_qp(qp)->node;
	u8 *at = mem_resolve(node, rkey, va, 8, HRP_ACCESS_REMOTE_ATOMIC);
	u64 now;

	sim_check(node->sim, !(va & 7));
	if (!at)
		return HROCE_WC_REM_ACCESS_ERR;
	memcpy(&now, at, 8);
	*orig = now;
	if (!cas)
		now += swap_add;
	else if (now == compare)
		now = swap_add;
	memcpy(at, &now, 8);
	return HROCE_WC_SUCCESS;
}

bool hrp_env_flush(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	struct sim_node *node = to_sim_qp(qp)->node;
	struct sim_mr *mr = sim_mr_find(node, rkey);

	if (all)
		return mr && mr->valid && mr->access & 1u << access;
	return mem_resolve(node, rkey, va, len, access);
}

bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey)
{
	struct sim_mr *mr = sim_mr_find(to_sim_qp(qp)->node, rkey);

	if (!mr || !mr->one_shot)
		return false;
	mr->valid = false;
	return true;
}
