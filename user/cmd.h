/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands to hroce.ko: the kernel's structures, each followed by hroce's.
 *
 * The kernel fills in the fields that both sides know. Every response is
 * cleared before the call, so that the others are zero.
 */
#ifndef HROCE_CMD_H
#define HROCE_CMD_H

#include <assert.h>
#include <infiniband/driver.h>
#include <rdma/hroce-abi.h>

/* uverbs expects the two parts without padding between or behind them */
#define HROCE_DECLARE_CMD(name, core_type, drv_type)			\
	struct name {							\
		struct core_type core;					\
		struct drv_type drv;					\
	};								\
	static_assert(sizeof(struct name) == sizeof(struct core_type) +	\
		      sizeof(struct drv_type), "no padding")

HROCE_DECLARE_CMD(hroce_cmd_get_context, ibv_get_context,
		  hroce_alloc_ucontext_req);
HROCE_DECLARE_CMD(hroce_cmd_get_context_resp, ib_uverbs_get_context_resp,
		  hroce_alloc_ucontext_resp);
HROCE_DECLARE_CMD(hroce_cmd_reg_mr, ibv_reg_mr, hroce_reg_mr_req);
HROCE_DECLARE_CMD(hroce_cmd_create_cq_resp, ib_uverbs_ex_create_cq_resp,
		  hroce_create_cq_resp);
HROCE_DECLARE_CMD(hroce_cmd_resize_cq, ibv_resize_cq, hroce_resize_cq_req);
HROCE_DECLARE_CMD(hroce_cmd_resize_cq_resp, ib_uverbs_resize_cq_resp,
		  hroce_resize_cq_resp);
HROCE_DECLARE_CMD(hroce_cmd_create_srq_resp, ib_uverbs_create_srq_resp,
		  hroce_create_srq_resp);
HROCE_DECLARE_CMD(hroce_cmd_modify_srq, ibv_modify_srq, hroce_modify_srq_req);
HROCE_DECLARE_CMD(hroce_cmd_create_qp_resp, ib_uverbs_create_qp_resp,
		  hroce_create_qp_resp);
HROCE_DECLARE_CMD(hroce_cmd_modify_qp, ibv_modify_qp_ex, hroce_modify_qp_req);
HROCE_DECLARE_CMD(hroce_cmd_query_device_resp, ib_uverbs_ex_query_device_resp,
		  hroce_query_device_resp);
HROCE_DECLARE_CMD(hroce_cmd_create_ah_resp, ib_uverbs_create_ah_resp,
		  hroce_create_ah_resp);

/* Sizes, which the kernel asserts, too */
static_assert(sizeof(struct hroce_sge) == 16, "ABI");
static_assert(sizeof(struct hroce_sq_wqe) == 64, "ABI");
static_assert(sizeof(struct hroce_rq_wqe) == 16, "ABI");
static_assert(sizeof(struct hroce_cqe) == 64, "ABI");
static_assert(offsetof(struct hroce_cqe, owner) + sizeof(__u32) ==
	      sizeof(struct hroce_cqe), "ABI");
static_assert(sizeof(struct hroce_sq_hdr) == 2 * HROCE_CACHE_LINE, "ABI");
static_assert(sizeof(struct hroce_rq_hdr) == 2 * HROCE_CACHE_LINE, "ABI");
static_assert(sizeof(struct hroce_cq_hdr) == 2 * HROCE_CACHE_LINE, "ABI");
static_assert(sizeof(struct hroce_ring_info) == 24, "ABI");

/* SGEs have the same layout in verbs and in rings: copied unchanged */
static_assert(sizeof(struct ibv_sge) == sizeof(struct hroce_sge), "ABI");
static_assert(offsetof(struct ibv_sge, addr) ==
	      offsetof(struct hroce_sge, addr), "ABI");
static_assert(offsetof(struct ibv_sge, length) ==
	      offsetof(struct hroce_sge, length), "ABI");
static_assert(offsetof(struct ibv_sge, lkey) ==
	      offsetof(struct hroce_sge, lkey), "ABI");

/* Flags and codes that cross the ring without translation */
static_assert((int)HROCE_WRF_FENCE == IBV_SEND_FENCE, "ABI");
static_assert((int)HROCE_WRF_SIGNALED == IBV_SEND_SIGNALED, "ABI");
static_assert((int)HROCE_WRF_SOLICITED == IBV_SEND_SOLICITED, "ABI");
static_assert((int)HROCE_WRF_INLINE == IBV_SEND_INLINE, "ABI");
static_assert((int)HROCE_WCF_GRH == IBV_WC_GRH, "ABI");
static_assert((int)HROCE_WCF_IMM == IBV_WC_WITH_IMM, "ABI");
static_assert((int)HROCE_WCF_INV == IBV_WC_WITH_INV, "ABI");
static_assert((int)HROCE_WC_SEND == IBV_WC_SEND, "ABI");
static_assert((int)HROCE_WC_WRITE == IBV_WC_RDMA_WRITE, "ABI");
static_assert((int)HROCE_WC_READ == IBV_WC_RDMA_READ, "ABI");
static_assert((int)HROCE_WC_CMP_SWAP == IBV_WC_COMP_SWAP, "ABI");
static_assert((int)HROCE_WC_FETCH_ADD == IBV_WC_FETCH_ADD, "ABI");
static_assert((int)HROCE_WC_BIND_MW == IBV_WC_BIND_MW, "ABI");
static_assert((int)HROCE_MW_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE, "ABI");
static_assert((int)HROCE_MW_ZERO_BASED == IBV_ACCESS_ZERO_BASED, "ABI");
static_assert((int)HROCE_WC_LOCAL_INV == IBV_WC_LOCAL_INV, "ABI");
static_assert((int)HROCE_WC_ATOMIC_WRITE == IBV_WC_ATOMIC_WRITE, "ABI");
#ifndef HROCE_VERBS_LACK_FLUSH
static_assert((int)HROCE_WC_FLUSH == IBV_WC_FLUSH, "ABI");
static_assert((int)HROCE_FLUSH_GLOBAL == IBV_FLUSH_GLOBAL, "ABI");
static_assert((int)HROCE_FLUSH_PERSISTENT == IBV_FLUSH_PERSISTENT, "ABI");
static_assert((int)HROCE_FLUSH_RANGE == IBV_FLUSH_RANGE, "ABI");
static_assert((int)HROCE_FLUSH_MR == IBV_FLUSH_MR, "ABI");
#endif
static_assert((int)HROCE_WC_RECV == IBV_WC_RECV, "ABI");
static_assert((int)HROCE_WC_RECV_WRITE_IMM == IBV_WC_RECV_RDMA_WITH_IMM,
	      "ABI");
static_assert((int)HROCE_WC_WR_FLUSH_ERR == IBV_WC_WR_FLUSH_ERR, "ABI");
static_assert((int)HROCE_WC_RNR_RETRY_EXC_ERR == IBV_WC_RNR_RETRY_EXC_ERR,
	      "ABI");
static_assert((int)HROCE_WC_FATAL_ERR == IBV_WC_FATAL_ERR, "ABI");
static_assert((int)HROCE_WC_GENERAL_ERR == IBV_WC_GENERAL_ERR, "ABI");

#endif /* HROCE_CMD_H */
