/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: loads and stores at any address. */
#ifndef SHIM_LINUX_UNALIGNED_H
#define SHIM_LINUX_UNALIGNED_H

#include <asm/byteorder.h>

#define get_unaligned(p) \
	(((const struct { __typeof__(*(p)) v; } __attribute__((__packed__)) *)(p))->v)
#define put_unaligned(val, p) \
	((void)(((struct { __typeof__(*(p)) v; } __attribute__((__packed__)) *)(p))->v = (val)))

static inline u16 get_unaligned_be16(const void *p)
{
	return be16_to_cpu(get_unaligned((const u16 *)p));
}

static inline u32 get_unaligned_be32(const void *p)
{
	return be32_to_cpu(get_unaligned((const u32 *)p));
}

static inline u64 get_unaligned_be64(const void *p)
{
	return be64_to_cpu(get_unaligned((const u64 *)p));
}

static inline u16 get_unaligned_le16(const void *p)
{
	return le16_to_cpu(get_unaligned((const u16 *)p));
}

static inline u32 get_unaligned_le32(const void *p)
{
	return le32_to_cpu(get_unaligned((const u32 *)p));
}

static inline u64 get_unaligned_le64(const void *p)
{
	return le64_to_cpu(get_unaligned((const u64 *)p));
}

static inline void put_unaligned_be16(u16 val, void *p)
{
	put_unaligned(cpu_to_be16(val), (__be16 *)p);
}

static inline void put_unaligned_be32(u32 val, void *p)
{
	put_unaligned(cpu_to_be32(val), (__be32 *)p);
}

static inline void put_unaligned_be64(u64 val, void *p)
{
	put_unaligned(cpu_to_be64(val), (__be64 *)p);
}

static inline void put_unaligned_le32(u32 val, void *p)
{
	put_unaligned(cpu_to_le32(val), (__le32 *)p);
}

static inline void put_unaligned_le64(u64 val, void *p)
{
	put_unaligned(cpu_to_le64(val), (__le64 *)p);
}

#endif /* SHIM_LINUX_UNALIGNED_H */
