// SPDX-License-Identifier: GPL-2.0
/*
 * The interface between module and library as it was published. Lines are added
 * for what is new; none changes, except that a reserved member may get a name,
 * and what GROWS gets longer: see "Growing" in Documentation/uapi.rst.
 * This is compiled and never run.
 */
#include <assert.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include <rdma/hroce-abi.h>

#define STRUCT(name, size)						\
	static_assert(sizeof(struct name) == (size), #name " has another size")
#define GROWS(name, size)						\
	static_assert(sizeof(struct name) >= (size), #name " is shorter")
#define MEMBER(name, member, offset, size)				\
	static_assert(offsetof(struct name, member) == (offset) &&	\
		      sizeof(((struct name *)0)->member) == (size),	\
		      #name "." #member " has another place")
#define VALUE(name, value)						\
	static_assert((name) == (value), #name " has another value")

STRUCT(hroce_sge, 16);
MEMBER(hroce_sge, addr, 0, 8);
MEMBER(hroce_sge, length, 8, 4);
MEMBER(hroce_sge, lkey, 12, 4);

STRUCT(hroce_masks, 16);
MEMBER(hroce_masks, compare_add, 0, 8);
MEMBER(hroce_masks, swap, 8, 8);

STRUCT(hroce_sq_wqe, 64);
MEMBER(hroce_sq_wqe, wr_id, 0, 8);
MEMBER(hroce_sq_wqe, opcode, 8, 1);
MEMBER(hroce_sq_wqe, flags, 9, 1);
MEMBER(hroce_sq_wqe, nr_sges, 10, 1);
MEMBER(hroce_sq_wqe, imm_data, 12, 4);
MEMBER(hroce_sq_wqe, rdma.remote_addr, 16, 8);
MEMBER(hroce_sq_wqe, rdma.compare_add, 24, 8);
MEMBER(hroce_sq_wqe, rdma.swap, 32, 8);
MEMBER(hroce_sq_wqe, rdma.rkey, 40, 4);
MEMBER(hroce_sq_wqe, flush.remote_addr, 16, 8);
MEMBER(hroce_sq_wqe, flush.length, 24, 4);
MEMBER(hroce_sq_wqe, flush.placement, 28, 1);
MEMBER(hroce_sq_wqe, flush.selectivity, 29, 1);
MEMBER(hroce_sq_wqe, flush.rkey, 40, 4);
MEMBER(hroce_sq_wqe, ud.ah, 16, 4);
MEMBER(hroce_sq_wqe, ud.qpn, 20, 4);
MEMBER(hroce_sq_wqe, ud.qkey, 24, 4);
MEMBER(hroce_sq_wqe, ud.pkey, 28, 4);
MEMBER(hroce_sq_wqe, bind.addr, 16, 8);
MEMBER(hroce_sq_wqe, bind.length, 24, 8);
MEMBER(hroce_sq_wqe, bind.key, 32, 4);
MEMBER(hroce_sq_wqe, bind.lkey, 36, 4);
MEMBER(hroce_sq_wqe, bind.access, 40, 4);
MEMBER(hroce_sq_wqe, reg.mr, 16, 8);
MEMBER(hroce_sq_wqe, reg.key, 24, 4);
MEMBER(hroce_sq_wqe, reg.access, 28, 4);
MEMBER(hroce_sq_wqe, inline_len, 48, 4);
MEMBER(hroce_sq_wqe, srqn, 52, 4);

STRUCT(hroce_rq_wqe, 16);
MEMBER(hroce_rq_wqe, wr_id, 0, 8);
MEMBER(hroce_rq_wqe, nr_sges, 8, 4);

STRUCT(hroce_cqe, 64);
MEMBER(hroce_cqe, wr_id, 0, 8);
MEMBER(hroce_cqe, timestamp_ns, 8, 8);
MEMBER(hroce_cqe, byte_len, 16, 4);
MEMBER(hroce_cqe, imm_data, 20, 4);
MEMBER(hroce_cqe, qpn, 24, 4);
MEMBER(hroce_cqe, src_qpn, 28, 4);
MEMBER(hroce_cqe, vendor_err, 32, 4);
MEMBER(hroce_cqe, flags, 36, 2);
MEMBER(hroce_cqe, pkey_index, 38, 2);
MEMBER(hroce_cqe, status, 40, 1);
MEMBER(hroce_cqe, opcode, 41, 1);
MEMBER(hroce_cqe, sl, 42, 1);
MEMBER(hroce_cqe, owner, 60, 4);

STRUCT(hroce_sq_hdr, 128);
MEMBER(hroce_sq_hdr, prod, 0, 4);
MEMBER(hroce_sq_hdr, cons, 64, 4);
MEMBER(hroce_sq_hdr, need_kick, 68, 4);

STRUCT(hroce_rq_hdr, 128);
MEMBER(hroce_rq_hdr, prod, 0, 4);
MEMBER(hroce_rq_hdr, cons, 64, 4);
MEMBER(hroce_rq_hdr, need_kick, 68, 4);

STRUCT(hroce_cq_hdr, 128);
MEMBER(hroce_cq_hdr, cons, 0, 4);
MEMBER(hroce_cq_hdr, arm, 4, 4);
MEMBER(hroce_cq_hdr, prod, 64, 4);
MEMBER(hroce_cq_hdr, poll_qpn, 68, 4);

GROWS(hroce_alloc_ucontext_req, 8);
MEMBER(hroce_alloc_ucontext_req, comp_mask, 0, 8);

GROWS(hroce_alloc_ucontext_resp, 96);
MEMBER(hroce_alloc_ucontext_resp, comp_mask, 0, 8);
MEMBER(hroce_alloc_ucontext_resp, mode, 8, 4);
MEMBER(hroce_alloc_ucontext_resp, lower_index, 12, 4);
MEMBER(hroce_alloc_ucontext_resp, lower_port, 16, 4);
MEMBER(hroce_alloc_ucontext_resp, max_inline, 20, 4);
MEMBER(hroce_alloc_ucontext_resp, lower_driver_id, 24, 4);
MEMBER(hroce_alloc_ucontext_resp, lower_name, 32, 64);

STRUCT(hroce_ring_info, 24);
MEMBER(hroce_ring_info, mmap_offset, 0, 8);
MEMBER(hroce_ring_info, mmap_size, 8, 4);
MEMBER(hroce_ring_info, nr_entries, 12, 4);
MEMBER(hroce_ring_info, stride, 16, 4);

GROWS(hroce_reg_mr_req, 8);
MEMBER(hroce_reg_mr_req, flags, 0, 4);

GROWS(hroce_create_cq_resp, 24);
MEMBER(hroce_create_cq_resp, cq, 0, 24);

GROWS(hroce_resize_cq_req, 8);
MEMBER(hroce_resize_cq_req, step, 0, 4);

GROWS(hroce_resize_cq_resp, 24);
MEMBER(hroce_resize_cq_resp, cq, 0, 24);

GROWS(hroce_create_srq_resp, 24);
MEMBER(hroce_create_srq_resp, srq, 0, 24);

GROWS(hroce_modify_srq_req, 16);
MEMBER(hroce_modify_srq_req, answer, 0, 8);
MEMBER(hroce_modify_srq_req, step, 8, 4);

GROWS(hroce_create_qp_resp, 48);
MEMBER(hroce_create_qp_resp, sq, 0, 24);
MEMBER(hroce_create_qp_resp, rq, 24, 24);

GROWS(hroce_modify_qp_req, 16);
MEMBER(hroce_modify_qp_req, comp_mask, 0, 4);
MEMBER(hroce_modify_qp_req, max_burst_sz, 4, 4);
MEMBER(hroce_modify_qp_req, typical_pkt_sz, 8, 2);

GROWS(hroce_query_device_resp, 16);
MEMBER(hroce_query_device_resp, rate_limit_min, 0, 4);
MEMBER(hroce_query_device_resp, rate_limit_max, 4, 4);
MEMBER(hroce_query_device_resp, rate_limit_qpts, 8, 4);

GROWS(hroce_create_ah_resp, 8);
MEMBER(hroce_create_ah_resp, ah_id, 0, 4);

VALUE(HROCE_WR_SEND, 0);
VALUE(HROCE_WR_SEND_IMM, 0x1);
VALUE(HROCE_WR_SEND_INV, 0x2);
VALUE(HROCE_WR_WRITE, 0x3);
VALUE(HROCE_WR_WRITE_IMM, 0x4);
VALUE(HROCE_WR_READ, 0x5);
VALUE(HROCE_WR_CMP_SWAP, 0x6);
VALUE(HROCE_WR_FETCH_ADD, 0x7);
VALUE(HROCE_WR_LOCAL_INV, 0x8);
VALUE(HROCE_WR_REG_MR, 0x9);
VALUE(HROCE_WR_BIND_MW, 0xa);
VALUE(HROCE_WR_ATOMIC_WRITE, 0xb);
VALUE(HROCE_WR_FLUSH, 0xc);
VALUE(HROCE_WR_MASKED_CMP_SWAP, 0xd);
VALUE(HROCE_WR_MASKED_FETCH_ADD, 0xe);

VALUE(HROCE_WC_SEND, 0);
VALUE(HROCE_WC_WRITE, 0x1);
VALUE(HROCE_WC_READ, 0x2);
VALUE(HROCE_WC_CMP_SWAP, 0x3);
VALUE(HROCE_WC_FETCH_ADD, 0x4);
VALUE(HROCE_WC_BIND_MW, 0x5);
VALUE(HROCE_WC_LOCAL_INV, 0x6);
VALUE(HROCE_WC_FLUSH, 0x8);
VALUE(HROCE_WC_ATOMIC_WRITE, 0x9);
VALUE(HROCE_WC_REG_MR, 0x40);
VALUE(HROCE_WC_MASKED_CMP_SWAP, 0x41);
VALUE(HROCE_WC_MASKED_FETCH_ADD, 0x42);
VALUE(HROCE_WC_RECV, 0x80);
VALUE(HROCE_WC_RECV_WRITE_IMM, 0x81);

VALUE(HROCE_WC_SUCCESS, 0);
VALUE(HROCE_WC_LOC_LEN_ERR, 0x1);
VALUE(HROCE_WC_LOC_QP_OP_ERR, 0x2);
VALUE(HROCE_WC_LOC_EEC_OP_ERR, 0x3);
VALUE(HROCE_WC_LOC_PROT_ERR, 0x4);
VALUE(HROCE_WC_WR_FLUSH_ERR, 0x5);
VALUE(HROCE_WC_MW_BIND_ERR, 0x6);
VALUE(HROCE_WC_BAD_RESP_ERR, 0x7);
VALUE(HROCE_WC_LOC_ACCESS_ERR, 0x8);
VALUE(HROCE_WC_REM_INV_REQ_ERR, 0x9);
VALUE(HROCE_WC_REM_ACCESS_ERR, 0xa);
VALUE(HROCE_WC_REM_OP_ERR, 0xb);
VALUE(HROCE_WC_RETRY_EXC_ERR, 0xc);
VALUE(HROCE_WC_RNR_RETRY_EXC_ERR, 0xd);
VALUE(HROCE_WC_FATAL_ERR, 0x13);
VALUE(HROCE_WC_GENERAL_ERR, 0x15);

VALUE(HROCE_CAUSE_FIRST, 0x20);
VALUE(HROCE_CAUSE_OPCODE, 0x20);
VALUE(HROCE_CAUSE_PIECES, 0x21);
VALUE(HROCE_CAUSE_NO_RD_ATOMIC, 0x22);
VALUE(HROCE_CAUSE_AH, 0x23);
VALUE(HROCE_CAUSE_LENGTH, 0x24);
VALUE(HROCE_CAUSE_KEY, 0x30);
VALUE(HROCE_CAUSE_DOMAIN, 0x31);
VALUE(HROCE_CAUSE_RANGE, 0x32);
VALUE(HROCE_CAUSE_RIGHTS, 0x33);
VALUE(HROCE_CAUSE_FETCH, 0x34);
VALUE(HROCE_CAUSE_NO_MEMORY, 0x35);
VALUE(HROCE_CAUSE_WINDOW, 0x40);
VALUE(HROCE_CAUSE_BIND_REGION, 0x41);
VALUE(HROCE_CAUSE_BIND_STATE, 0x42);
VALUE(HROCE_CAUSE_INVALIDATE, 0x43);
VALUE(HROCE_CAUSE_FAST_REG, 0x44);
VALUE(HROCE_CAUSE_RESPONSE, 0x50);
VALUE(HROCE_CAUSE_RESPONSE_LENGTH, 0x51);
VALUE(HROCE_CAUSE_TIMEOUT, 0x52);
VALUE(HROCE_CAUSE_LOSS, 0x53);
VALUE(HROCE_CAUSE_RECV_LENGTH, 0x60);
VALUE(HROCE_CAUSE_RECV_SEQUENCE, 0x61);
VALUE(HROCE_CAUSE_RECV_PACKET, 0x62);
VALUE(HROCE_CAUSE_RECV_REFUSED, 0x63);
VALUE(HROCE_CAUSE_RECV_INVALIDATE, 0x64);
VALUE(HROCE_CAUSE_RECV_KEY, 0x65);
VALUE(HROCE_CAUSE_PEER, 0x80);

VALUE(HROCE_MODE_SOFTWARE, 0);
VALUE(HROCE_MODE_FACADE, 0x1);

VALUE(HROCE_RESIZE_PREPARE, 0x1);
VALUE(HROCE_RESIZE_SWITCH, 0x2);
VALUE(HROCE_RESIZE_CANCEL, 0x3);

VALUE(HROCE_OBJECT_KICK, 0x1000);

VALUE(HROCE_METHOD_KICK_ALLOC, 0x1000);

VALUE(HROCE_ATTR_KICK_ALLOC_HANDLE, 0x1000);

VALUE(HROCE_DRIVER_ID, 0x68726f63);
VALUE(HROCE_CACHE_LINE, 0x40);
VALUE(HROCE_RING_ENTRIES_OFFSET, 0x100);
VALUE(HROCE_MAX_SGES, 0x20);
VALUE(HROCE_MAX_INLINE, 0x400);
VALUE(HROCE_WRF_FENCE, 0x1);
VALUE(HROCE_WRF_SIGNALED, 0x2);
VALUE(HROCE_WRF_SOLICITED, 0x4);
VALUE(HROCE_WRF_INLINE, 0x8);
VALUE(HROCE_MW_LOCAL_WRITE, 0x1);
VALUE(HROCE_MW_REMOTE_WRITE, 0x2);
VALUE(HROCE_MW_REMOTE_READ, 0x4);
VALUE(HROCE_MW_REMOTE_ATOMIC, 0x8);
VALUE(HROCE_MW_ZERO_BASED, 0x20);
VALUE(HROCE_FLUSH_GLOBAL, 0x1);
VALUE(HROCE_FLUSH_PERSISTENT, 0x2);
VALUE(HROCE_FLUSH_RANGE, 0);
VALUE(HROCE_FLUSH_MR, 0x1);
VALUE(HROCE_WCF_GRH, 0x1);
VALUE(HROCE_WCF_IMM, 0x2);
VALUE(HROCE_WCF_INV, 0x8);
VALUE(HROCE_SL_UDP, 0x8);
VALUE(HROCE_SL_UDP_IPV6, 0x9);
VALUE(HROCE_SL_UDP_IPV4, 0xa);
VALUE(HROCE_CQE_PHASE, 0x1);
VALUE(HROCE_CQ_ARM_NONE, 0);
VALUE(HROCE_CQ_ARM_SOLICITED, 0x1);
VALUE(HROCE_CQ_ARM_NEXT, 0x2);
VALUE(HROCE_REG_MR_NULL, 0x1);
VALUE(HROCE_IOC_KICK, 0x1be0);
VALUE(HROCE_IOC_POLL, 0x1be1);
