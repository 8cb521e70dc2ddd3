/* SPDX-License-Identifier: GPL-2.0 */
/* References to memory; the engine passes them on, never dereferences them. */
#ifndef HRP_MEM_H
#define HRP_MEM_H

#include <linux/types.h>
#include <uapi/rdma/hroce-abi.h>

/*
 * Status of memory accesses, in addition to enum hroce_wc_status: the memory is
 * not present and is being fetched. Never seen in a completion.
 */
#define HRP_MEM_FAULT	0xff

/* Purpose of a memory reference; checked when it is resolved. */
enum hrp_access {
	HRP_ACCESS_LOCAL_READ,
	HRP_ACCESS_LOCAL_WRITE,
	HRP_ACCESS_REMOTE_READ,
	HRP_ACCESS_REMOTE_WRITE,
	HRP_ACCESS_REMOTE_ATOMIC,
	HRP_ACCESS_FLUSH_GLOBAL,
	HRP_ACCESS_FLUSH_PERSISTENT,
};

/**
 * struct hrp_mem - a range of bytes
 * @sges: scatter/gather list, or NULL: see @one and @bytes
 * @bytes: NULL, or the bytes themselves (inline data)
 * @one: the only SGE, if @sges and @bytes are NULL and @len is not 0; its
 *	@one.lkey is a remote key if @access is one of HRP_ACCESS_REMOTE_*.
 *	With @bytes, @one.length is the length of each of several pieces
 * @nr_sges: entries of @sges; pieces of @bytes, 0 for one
 * @stride: bytes from one of them to the next
 * @offset: where the range begins, from the start of the list, of @one or of
 *	@bytes; 0 with several pieces
 * @len: length of the range
 * @access: enum hrp_access
 *
 * The function that fills it in documents how long it is valid.
 */
struct hrp_mem {
	const struct hroce_sge *sges;
	const void *bytes;
	struct hroce_sge one;
	u16 nr_sges;
	u16 stride;
	u32 offset;
	u32 len;
	u8 access;
};

/* An empty range; to add bytes, also set @mem->one and @mem->access. */
static inline void hrp_mem_begin(struct hrp_mem *mem)
{
	mem->sges = NULL;
	mem->bytes = NULL;
	mem->nr_sges = 0;
	mem->stride = sizeof(struct hroce_sge);
	mem->offset = 0;
	mem->len = 0;
}

/* Entry @i of the list. */
static inline const struct hroce_sge *hrp_mem_sge(const struct hrp_mem *mem,
						  u32 i)
{
	return (const void *)mem->sges + (size_t)i * mem->stride;
}

#endif /* HRP_MEM_H */
