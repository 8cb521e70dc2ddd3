/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 by carry-less multiplication of vector registers. Pure computation;
 * also built in user space for tests. The caller checks that the CPU has the
 * instructions, and in the kernel that the registers may be used.
 */
#ifndef HROCE_CRC_X86_H
#define HROCE_CRC_X86_H

#include <linux/types.h>

/* 128-bit registers: SSE4.1 and PCLMULQDQ. */
u32 hroce_crc_pclmul_update(u32 state, const void *p, size_t len);
u32 hroce_crc_pclmul_copy(u32 state, void *dst, const void *src, size_t len);

/* 256-bit registers: also AVX2 and VPCLMULQDQ. */
u32 hroce_crc_avx2_update(u32 state, const void *p, size_t len);
u32 hroce_crc_avx2_copy(u32 state, void *dst, const void *src, size_t len);

/* 512-bit registers: also AVX512F. */
u32 hroce_crc_avx512_update(u32 state, const void *p, size_t len);
u32 hroce_crc_avx512_copy(u32 state, void *dst, const void *src, size_t len);

#endif /* HROCE_CRC_X86_H */
