/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Releases of rdma-core whose private interface driver.h declares.
 *
 * The build defines HROCE_RDMA_CORE, the release that is installed, and
 * HROCE_PABI, the number in its verbs_register_driver_NUMBER(). The number
 * alone is not enough: 34 covers rdma-core 34 to 56, in which structures grew
 * in the middle and a function got another argument.
 */
#ifndef HROCE_PRIVATE_RELEASE_H
#define HROCE_PRIVATE_RELEASE_H

/*
 * Releases that changed the part that libhroce uses:
 *	45	struct ibv_qp_ex grew, and struct verbs_qp with it
 *	54	ibv_cmd_reg_dmabuf_mr() has another argument
 *	57	ibv_cmd_get_context() has another argument
 *	59	ibv_cmd_create_cq_ex() has another argument; table of verbs
 *	62	table of verbs
 *	64	table of verbs
 *	65	table of verbs
 */
#define HROCE_RELEASES_CHANGED	45, 54, 57, 59, 62, 64, 65
#define HROCE_RELEASE_MIN	44
#define HROCE_RELEASE_MAX	65

#if HROCE_RDMA_CORE < HROCE_RELEASE_MIN || HROCE_RDMA_CORE > HROCE_RELEASE_MAX
#error "libhroce knows the private interface of rdma-core 44 to 65 only"
#elif HROCE_RDMA_CORE >= 65
#define IBVERBS_PABI_VERSION	65
#elif HROCE_RDMA_CORE >= 64
#define IBVERBS_PABI_VERSION	64
#elif HROCE_RDMA_CORE >= 59
#define IBVERBS_PABI_VERSION	59
#elif HROCE_RDMA_CORE >= 57
#define IBVERBS_PABI_VERSION	57
#else
#define IBVERBS_PABI_VERSION	34
#endif

#if HROCE_PABI != IBVERBS_PABI_VERSION
#error "the installed libibverbs has another private ABI than its release says"
#endif

/* Its verbs.h has no ibv_wr_flush(). */
#if HROCE_RDMA_CORE < 45
#define HROCE_VERBS_LACK_FLUSH
#endif

#endif /* HROCE_PRIVATE_RELEASE_H */
