/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB */
/*
 * Queues and commands shared by hroce.ko and libhroce.
 *
 * Every queue is one mapping of a header (two cache lines, one per writer)
 * followed at HROCE_RING_ENTRIES_OFFSET by a power-of-two number of entries.
 * Indices are free-running 32-bit counters; an entry's slot is its index
 * modulo the number of entries.
 *
 * Barriers. A producer stores its entry, then stores the index (or, in a CQ,
 * the entry's owner word) with release semantics; the consumer loads that word
 * with acquire semantics before it reads the entry. In the following cases each
 * side stores one word and then loads the other's; both need a full barrier
 * between store and load:
 *   - SQ:  user stores prod, then loads need_kick;
 *          kernel stores need_kick, then loads prod.
 *   - CQ:  user stores arm, then polls the next CQE;
 *          kernel stores a CQE, then loads arm.
 *   - RQ:  user stores prod, then loads need_kick;
 *          kernel stores need_kick, then loads prod.
 *   - SRQ: none; an empty queue is reported to the peer as RNR.
 *
 * The kernel never trusts what it reads here: it copies an entry once, checks
 * the copy and keeps its own progress in private memory.
 */
#ifndef HROCE_ABI_USER_H
#define HROCE_ABI_USER_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

/*
 * uverbs_abi_ver of hroce devices. Everything here is frozen since 73; what is
 * new is found by sizes and comp_mask, without another number.
 */
#define HROCE_UVERBS_ABI_VERSION	73

/* enum rdma_driver_id of hroce devices ("hroc"); not registered upstream. */
#define HROCE_DRIVER_ID			0x68726f63

#define HROCE_CACHE_LINE		64
#define HROCE_RING_ENTRIES_OFFSET	256

/* Upper bounds for buffers of both sides; see also ibv_query_device(). */
#define HROCE_MAX_SGES			32
#define HROCE_MAX_INLINE		1024

/**
 * enum hroce_wr_op - operation of a send work request
 * @HROCE_WR_SEND: SEND
 * @HROCE_WR_SEND_IMM: SEND with immediate data
 * @HROCE_WR_SEND_INV: SEND that invalidates a key of the peer
 * @HROCE_WR_WRITE: RDMA WRITE
 * @HROCE_WR_WRITE_IMM: RDMA WRITE with immediate data
 * @HROCE_WR_READ: RDMA READ
 * @HROCE_WR_CMP_SWAP: atomic compare and swap
 * @HROCE_WR_FETCH_ADD: atomic fetch and add
 * @HROCE_WR_LOCAL_INV: invalidate a local key
 * @HROCE_WR_REG_MR: fast registration; refused on queues of user space
 * @HROCE_WR_BIND_MW: bind a memory window
 * @HROCE_WR_ATOMIC_WRITE: atomic write of 8 bytes; RC only
 * @HROCE_WR_FLUSH: make earlier writes visible, or persistent; RC only
 * @HROCE_WR_MASKED_CMP_SWAP: atomic compare and swap of selected bits
 * @HROCE_WR_MASKED_FETCH_ADD: atomic fetch and add of bit fields
 * @HROCE_WR_NR: number of operations
 */
enum hroce_wr_op {
	HROCE_WR_SEND,
	HROCE_WR_SEND_IMM,
	HROCE_WR_SEND_INV,
	HROCE_WR_WRITE,
	HROCE_WR_WRITE_IMM,
	HROCE_WR_READ,
	HROCE_WR_CMP_SWAP,
	HROCE_WR_FETCH_ADD,
	HROCE_WR_LOCAL_INV,
	HROCE_WR_REG_MR,
	HROCE_WR_BIND_MW,
	HROCE_WR_ATOMIC_WRITE,
	HROCE_WR_FLUSH,
	HROCE_WR_MASKED_CMP_SWAP,
	HROCE_WR_MASKED_FETCH_ADD,
	HROCE_WR_NR,
};

/* Bits of hroce_sq_wqe.flags */
#define HROCE_WRF_FENCE			(1U << 0)
#define HROCE_WRF_SIGNALED		(1U << 1)
#define HROCE_WRF_SOLICITED		(1U << 2)
#define HROCE_WRF_INLINE		(1U << 3)
#define HROCE_WRF_ALL			(HROCE_WRF_FENCE | HROCE_WRF_SIGNALED | \
					 HROCE_WRF_SOLICITED | HROCE_WRF_INLINE)

/* hroce_sq_wqe.bind.access: values of enum ibv_access_flags */
#define HROCE_MW_LOCAL_WRITE		(1U << 0)	/* ignored */
#define HROCE_MW_REMOTE_WRITE		(1U << 1)
#define HROCE_MW_REMOTE_READ		(1U << 2)
#define HROCE_MW_REMOTE_ATOMIC		(1U << 3)
#define HROCE_MW_ZERO_BASED		(1U << 5)	/* type 2 */

/* Bits of hroce_sq_wqe.flush.placement, as in the FETH */
#define HROCE_FLUSH_GLOBAL		(1U << 0)	/* visible to all */
#define HROCE_FLUSH_PERSISTENT		(1U << 1)	/* survives power loss */

/* hroce_sq_wqe.flush.selectivity */
#define HROCE_FLUSH_RANGE		0	/* the bytes named */
#define HROCE_FLUSH_MR			1	/* all of the memory region */

/**
 * struct hroce_sge - one piece of local memory
 * @addr: address within the memory region of @lkey
 * @length: bytes; 0 means an empty piece, not 2^31
 * @lkey: local key of the memory region
 */
struct hroce_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct hroce_masks - masks of a masked atomic
 * @compare_add: MASKED_CMP_SWAP: bits that are compared. MASKED_FETCH_ADD:
 *	highest bit of each field; carries out of it are lost
 * @swap: MASKED_CMP_SWAP: bits that are swapped; otherwise zero
 */
struct hroce_masks {
	__aligned_u64 compare_add;
	__aligned_u64 swap;
};

/**
 * struct hroce_sq_wqe - send work queue entry
 * @wr_id: returned in the completion
 * @opcode: enum hroce_wr_op
 * @flags: HROCE_WRF_*
 * @nr_sges: entries of &struct hroce_sge that follow; 0 if INLINE
 * @reserved0: zero
 * @imm_data: immediate data in network byte order (SEND_IMM, WRITE_IMM), or
 *	the key to invalidate in host byte order (SEND_INV, LOCAL_INV)
 * @rdma: WRITE, READ, ATOMIC_WRITE and atomics (address 8-byte aligned for the
 *	latter two)
 * @rdma.compare_add: compare value (CMP_SWAP) or addend (FETCH_ADD), also
 *	masked
 * @rdma.swap: swap value (CMP_SWAP, MASKED_CMP_SWAP). MASKED_FETCH_ADD: guess
 *	of the value in memory; a right one saves a round trip. MASKED_CMP_SWAP
 *	takes its guess from the bits of @rdma.compare_add that are not compared
 * @flush: FLUSH: @flush.length bytes, see @flush.selectivity; there is no data
 * @flush.placement: HROCE_FLUSH_GLOBAL, HROCE_FLUSH_PERSISTENT or both
 * @flush.selectivity: HROCE_FLUSH_RANGE or HROCE_FLUSH_MR
 * @ud: destination on a UD queue pair; @ud.ah is hroce_create_ah_resp.ah_id
 * @ud.pkey: QP1 (kernel only): P_Key of the datagram; otherwise ignored
 * @bind: BIND_MW: @bind.length bytes from @bind.addr on in the region of
 *	@bind.lkey become accessible by @bind.key, the new key of the window:
 *	its upper 24 bits name the window, the lower 8 are free. Length 0:
 *	unbind (type 1)
 * @bind.access: HROCE_MW_*
 * @reg: REG_MR on queues of the kernel; @reg.mr is a kernel pointer
 * @inline_len: bytes that follow the entry if INLINE is set, otherwise 0
 * @srqn: XRC: number of the peer's SRQ, 24 bits; otherwise ignored
 * @reserved1: zero
 *
 * The SGEs or the inline data follow immediately; the distance from one entry
 * to the next is hroce_create_qp_resp.sq.stride. &struct hroce_masks follows
 * the SGEs of a masked atomic, if there is room for it before the next entry.
 */
struct hroce_sq_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 flags;
	__u8 nr_sges;
	__u8 reserved0;
	__u32 imm_data;
	union {
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__u32 rkey;
			__u32 reserved;
		} rdma;
		struct {
			__aligned_u64 remote_addr;
			__u32 length;
			__u8 placement;
			__u8 selectivity;
			__u8 reserved0[10];
			__u32 rkey;
			__u32 reserved1;
		} flush;
		struct {
			__u32 ah;
			__u32 qpn;
			__u32 qkey;
			__u32 pkey;
		} ud;
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 key;
			__u32 lkey;
			__u32 access;
			__u32 reserved;
		} bind;
		struct {
			__aligned_u64 mr;
			__u32 key;
			__u32 access;
		} reg;
	};
	__u32 inline_len;
	__u32 srqn;
	__u32 reserved1[2];
};

/**
 * struct hroce_rq_wqe - receive work queue entry of an RQ or SRQ
 * @wr_id: returned in the completion
 * @nr_sges: entries of &struct hroce_sge that follow
 * @reserved: zero
 */
struct hroce_rq_wqe {
	__aligned_u64 wr_id;
	__u32 nr_sges;
	__u32 reserved;
};

/* hroce_cqe.opcode: the values of enum ibv_wc_opcode */
enum hroce_wc_op {
	HROCE_WC_SEND			= 0,
	HROCE_WC_WRITE			= 1,
	HROCE_WC_READ			= 2,
	HROCE_WC_CMP_SWAP		= 3,
	HROCE_WC_FETCH_ADD		= 4,
	HROCE_WC_BIND_MW		= 5,
	HROCE_WC_LOCAL_INV		= 6,
	HROCE_WC_FLUSH			= 8,
	HROCE_WC_ATOMIC_WRITE		= 9,
	HROCE_WC_REG_MR			= 64,	/* queues of the kernel only */
	HROCE_WC_MASKED_CMP_SWAP	= 65,	/* not in enum ibv_wc_opcode */
	HROCE_WC_MASKED_FETCH_ADD	= 66,	/* not in enum ibv_wc_opcode */
	HROCE_WC_RECV			= 128,
	HROCE_WC_RECV_WRITE_IMM		= 129,
};

/* hroce_cqe.status: the values of enum ib_wc_status and enum ibv_wc_status */
enum hroce_wc_status {
	HROCE_WC_SUCCESS		= 0,
	HROCE_WC_LOC_LEN_ERR		= 1,
	HROCE_WC_LOC_QP_OP_ERR		= 2,
	HROCE_WC_LOC_EEC_OP_ERR		= 3,
	HROCE_WC_LOC_PROT_ERR		= 4,
	HROCE_WC_WR_FLUSH_ERR		= 5,
	HROCE_WC_MW_BIND_ERR		= 6,
	HROCE_WC_BAD_RESP_ERR		= 7,
	HROCE_WC_LOC_ACCESS_ERR		= 8,
	HROCE_WC_REM_INV_REQ_ERR	= 9,
	HROCE_WC_REM_ACCESS_ERR		= 10,
	HROCE_WC_REM_OP_ERR		= 11,
	HROCE_WC_RETRY_EXC_ERR		= 12,
	HROCE_WC_RNR_RETRY_EXC_ERR	= 13,
	HROCE_WC_FATAL_ERR		= 19,
	HROCE_WC_GENERAL_ERR		= 21,
};

/**
 * enum hroce_cause - hroce_cqe.vendor_err: why a request failed
 * @HROCE_CAUSE_OPCODE: the operation or a flag is unknown, or not in the
 *	service of the queue pair (LOC_QP_OP_ERR)
 * @HROCE_CAUSE_PIECES: SGEs or inline data that the operation cannot have, or
 *	more than was granted (LOC_QP_OP_ERR)
 * @HROCE_CAUSE_NO_RD_ATOMIC: max_rd_atomic is 0 (LOC_QP_OP_ERR)
 * @HROCE_CAUSE_AH: the protection domain has no such address handle
 *	(LOC_QP_OP_ERR)
 * @HROCE_CAUSE_LENGTH: too long, or an atomic without 8 bytes (LOC_LEN_ERR)
 * @HROCE_CAUSE_KEY: local memory: no region has this key, or the region is not
 *	valid now (LOC_PROT_ERR, as the next four)
 * @HROCE_CAUSE_DOMAIN: the region is of another protection domain
 * @HROCE_CAUSE_RANGE: not all of the range is within the region
 * @HROCE_CAUSE_RIGHTS: the region does not have the right, e.g. LOCAL_WRITE
 * @HROCE_CAUSE_FETCH: the memory could not be fetched (on-demand paging,
 *	dma-buf)
 * @HROCE_CAUSE_NO_MEMORY: the kernel had no memory (LOC_QP_OP_ERR)
 * @HROCE_CAUSE_WINDOW: BIND_MW: the protection domain has no such window
 *	(MW_BIND_ERR, as the next four)
 * @HROCE_CAUSE_BIND_REGION: BIND_MW: key, domain, range or rights of the region
 * @HROCE_CAUSE_BIND_STATE: BIND_MW: the window is bound, or the access flags or
 *	the length are not for its type
 * @HROCE_CAUSE_INVALIDATE: LOCAL_INV: not a key that this queue pair may
 *	invalidate
 * @HROCE_CAUSE_FAST_REG: REG_MR: key, domain, rights or state of the region
 * @HROCE_CAUSE_RESPONSE: the peer's answer does not fit this request
 *	(BAD_RESP_ERR)
 * @HROCE_CAUSE_RESPONSE_LENGTH: the peer's answer has the wrong length
 *	(LOC_LEN_ERR)
 * @HROCE_CAUSE_TIMEOUT: no answer, and no retry left (RETRY_EXC_ERR)
 * @HROCE_CAUSE_LOSS: the peer missed packets again, and no retry was left
 *	(RETRY_EXC_ERR)
 * @HROCE_CAUSE_RECV_LENGTH: the message is longer than the receive request
 *	(LOC_LEN_ERR)
 * @HROCE_CAUSE_RECV_SEQUENCE: a packet that does not continue the message
 *	(REM_INV_REQ_ERR, as the next two)
 * @HROCE_CAUSE_RECV_PACKET: a packet whose length does not fit path MTU or
 *	message
 * @HROCE_CAUSE_RECV_REFUSED: the queue pair does not accept this request
 * @HROCE_CAUSE_RECV_INVALIDATE: SEND with Invalidate: not a key that the peer
 *	may invalidate (MW_BIND_ERR)
 * @HROCE_CAUSE_RECV_KEY: WRITE with immediate data: the R_Key does not allow it
 *	(LOC_ACCESS_ERR)
 * @HROCE_CAUSE_PEER: the peer refused the request: or-ed with the syndrome of
 *	its NAK, or of the RNR NAK that exceeded the retries (REM_INV_REQ_ERR,
 *	REM_ACCESS_ERR, REM_OP_ERR, RNR_RETRY_EXC_ERR)
 * @HROCE_CAUSE_FIRST: the lowest value
 *
 * Flushed requests have no cause; the failed request before them has one. New
 * values may be added.
 */
enum hroce_cause {
	HROCE_CAUSE_FIRST		= 0x20,
	HROCE_CAUSE_OPCODE		= 0x20,
	HROCE_CAUSE_PIECES		= 0x21,
	HROCE_CAUSE_NO_RD_ATOMIC	= 0x22,
	HROCE_CAUSE_AH			= 0x23,
	HROCE_CAUSE_LENGTH		= 0x24,
	HROCE_CAUSE_KEY			= 0x30,
	HROCE_CAUSE_DOMAIN		= 0x31,
	HROCE_CAUSE_RANGE		= 0x32,
	HROCE_CAUSE_RIGHTS		= 0x33,
	HROCE_CAUSE_FETCH		= 0x34,
	HROCE_CAUSE_NO_MEMORY		= 0x35,
	HROCE_CAUSE_WINDOW		= 0x40,
	HROCE_CAUSE_BIND_REGION		= 0x41,
	HROCE_CAUSE_BIND_STATE		= 0x42,
	HROCE_CAUSE_INVALIDATE		= 0x43,
	HROCE_CAUSE_FAST_REG		= 0x44,
	HROCE_CAUSE_RESPONSE		= 0x50,
	HROCE_CAUSE_RESPONSE_LENGTH	= 0x51,
	HROCE_CAUSE_TIMEOUT		= 0x52,
	HROCE_CAUSE_LOSS		= 0x53,
	HROCE_CAUSE_RECV_LENGTH		= 0x60,
	HROCE_CAUSE_RECV_SEQUENCE	= 0x61,
	HROCE_CAUSE_RECV_PACKET		= 0x62,
	HROCE_CAUSE_RECV_REFUSED	= 0x63,
	HROCE_CAUSE_RECV_INVALIDATE	= 0x64,
	HROCE_CAUSE_RECV_KEY		= 0x65,
	HROCE_CAUSE_PEER		= 0x80,
};

/* Bits of hroce_cqe.flags: the values of enum ibv_wc_flags where both exist */
#define HROCE_WCF_GRH			(1U << 0)
#define HROCE_WCF_IMM			(1U << 1)
#define HROCE_WCF_INV			(1U << 3)

/*
 * hroce_cqe.sl: network header of a received datagram (IBTA A17.4.5.1), encoded
 * as ConnectX does. Bit 3: there is a UDP header; bits 2:0: 1 IPv6, 2 IPv4
 */
#define HROCE_SL_UDP			(1U << 3)
#define HROCE_SL_UDP_IPV6		(HROCE_SL_UDP | 1)
#define HROCE_SL_UDP_IPV4		(HROCE_SL_UDP | 2)

/* hroce_cqe.owner, bit 0: inverted each time that the ring wraps */
#define HROCE_CQE_PHASE			(1U << 0)

/**
 * struct hroce_cqe - completion queue entry
 * @wr_id: of the work request
 * @timestamp_ns: CLOCK_MONOTONIC at completion (ibv_wc_read_completion_ts)
 * @byte_len: bytes received, or read or written by READ and atomics
 * @imm_data: immediate data in network byte order, or the invalidated key
 * @qpn: local queue pair
 * @src_qpn: sender (UD)
 * @vendor_err: enum hroce_cause: why @status is an error; 0: nothing to add
 * @flags: HROCE_WCF_*
 * @pkey_index: P_Key matched (GSI)
 * @status: enum hroce_wc_status
 * @opcode: enum hroce_wc_op; valid also if @status is an error
 * @sl: UD receive: HROCE_SL_UDP_IPV4 or HROCE_SL_UDP_IPV6, otherwise 0
 * @reserved: zero
 * @owner: stored last. The entry at index i is valid when
 *	(owner & HROCE_CQE_PHASE) == !(i / nr_entries & 1); a fresh ring is
 *	all zero, hence empty
 */
struct hroce_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 timestamp_ns;
	__u32 byte_len;
	__u32 imm_data;
	__u32 qpn;
	__u32 src_qpn;
	__u32 vendor_err;
	__u16 flags;
	__u16 pkey_index;
	__u8 status;
	__u8 opcode;
	__u8 sl;
	__u8 reserved[17];
	__u32 owner;
};

/**
 * struct hroce_sq_hdr - header of a send queue
 * @prod: entries posted so far [user]
 * @cons: entries that the kernel is done with; their slots may be overwritten
 *	[kernel]
 * @need_kick: 0 while the kernel will load @prod again by itself, so that
 *	HROCE_IOC_KICK can be omitted [kernel]
 * @reserved0: rest of the cache line of user space
 * @reserved1: rest of the cache line of the kernel
 */
struct hroce_sq_hdr {
	__u32 prod;
	__u32 reserved0[15];
	__u32 cons;
	__u32 need_kick;
	__u32 reserved1[14];
};

/**
 * struct hroce_rq_hdr - header of a receive queue or shared receive queue
 * @prod: entries posted so far [user]
 * @cons: entries taken so far; their slots may be overwritten [kernel]
 * @need_kick: RQ of a queue pair in the error state: HROCE_IOC_KICK must follow
 *	each post, to flush the entries [kernel]
 * @reserved0: rest of the cache line of user space
 * @reserved1: rest of the cache line of the kernel
 */
struct hroce_rq_hdr {
	__u32 prod;
	__u32 reserved0[15];
	__u32 cons;
	__u32 need_kick;
	__u32 reserved1[14];
};

/* Values of hroce_cq_hdr.arm */
#define HROCE_CQ_ARM_NONE		0
#define HROCE_CQ_ARM_SOLICITED		1
#define HROCE_CQ_ARM_NEXT		2

/**
 * struct hroce_cq_hdr - header of a completion queue
 * @cons: entries polled so far; the kernel reuses their slots [user]
 * @arm: HROCE_CQ_ARM_*; the kernel resets it to NONE as it raises the
 *	completion event [user sets, kernel clears]
 * @prod: not in use: poll by the owner word. Older modules count entries here
 * @poll_qpn: queue pair for HROCE_IOC_POLL, while this queue is empty; 0: none
 *	[kernel]
 * @reserved0: rest of the cache line of user space
 * @reserved1: rest of the cache line of the kernel
 */
struct hroce_cq_hdr {
	__u32 cons;
	__u32 arm;
	__u32 reserved0[14];
	__u32 prod;
	__u32 poll_qpn;
	__u32 reserved1[14];
};

/* hroce_alloc_ucontext_resp.mode */
enum hroce_mode {
	HROCE_MODE_SOFTWARE,	/* hroce's own transport */
	HROCE_MODE_FACADE,	/* open the lower device instead */
};

/**
 * struct hroce_alloc_ucontext_req - input for opening a device
 * @comp_mask: zero; unknown bits are refused with EINVAL
 */
struct hroce_alloc_ucontext_req {
	__aligned_u64 comp_mask;
};

/**
 * struct hroce_alloc_ucontext_resp - description of the opened device
 * @comp_mask: zero
 * @mode: enum hroce_mode
 * @lower_index: RDMA_NLDEV_ATTR_DEV_INDEX of the lower device (FACADE)
 * @lower_port: its port (FACADE)
 * @max_inline: largest ibv_qp_cap.max_inline_data (SOFTWARE)
 * @lower_driver_id: enum rdma_driver_id of the lower device (FACADE)
 * @reserved: zero
 * @lower_name: its name, ends with a zero byte (FACADE)
 *
 * Older modules, which know only SOFTWARE, answer without the fields after
 * @max_inline.
 */
struct hroce_alloc_ucontext_resp {
	__aligned_u64 comp_mask;
	__u32 mode;
	__u32 lower_index;
	__u32 lower_port;
	__u32 max_inline;
	__u32 lower_driver_id;
	__u32 reserved;
	char lower_name[64];
};

/**
 * struct hroce_ring_info - how to map one queue
 * @mmap_offset: offset for mmap() on the command descriptor
 * @mmap_size: bytes to map, a multiple of the page size; 0 if there is no ring
 * @nr_entries: power of two
 * @stride: bytes from one entry to the next, a multiple of 16
 * @reserved: zero
 */
struct hroce_ring_info {
	__aligned_u64 mmap_offset;
	__u32 mmap_size;
	__u32 nr_entries;
	__u32 stride;
	__u32 reserved;
};

/* Bits of hroce_reg_mr_req.flags */
#define HROCE_REG_MR_NULL		(1U << 0)

/**
 * struct hroce_reg_mr_req - kind of memory region; may be omitted
 * @flags: HROCE_REG_MR_NULL: one without memory, for ibv_alloc_null_mr():
 *	address, length and iova are 0, access is IBV_ACCESS_LOCAL_WRITE.
 *	Unknown bits are refused with EINVAL
 * @reserved: zero
 */
struct hroce_reg_mr_req {
	__u32 flags;
	__u32 reserved;
};

struct hroce_create_cq_resp {
	struct hroce_ring_info cq;
};

/**
 * enum hroce_resize_step - steps of resizing a queue
 * @HROCE_RESIZE_PREPARE: create a ring for user space to map. There is at most
 *	one, and none after the other steps, even if they fail
 * @HROCE_RESIZE_SWITCH: replace the current ring with it
 * @HROCE_RESIZE_CANCEL: drop it
 *
 * If user space cannot map the ring, it cancels, and nothing has changed.
 */
enum hroce_resize_step {
	HROCE_RESIZE_PREPARE = 1,
	HROCE_RESIZE_SWITCH,
	HROCE_RESIZE_CANCEL,
};

/**
 * struct hroce_resize_cq_req - one step of resizing a CQ
 * @step: enum hroce_resize_step
 * @reserved: zero
 *
 * HROCE_RESIZE_SWITCH moves the unpolled entries to the new ring, from entry 0
 * on: indices start anew, and @cons is set to 0. User space must have updated
 * @cons and must not poll meanwhile. The header stays in the first ring of the
 * CQ; that of the new ring is unused. EINVAL: the new ring is too small for the
 * unpolled entries.
 */
struct hroce_resize_cq_req {
	__u32 step;
	__u32 reserved;
};

/**
 * struct hroce_resize_cq_resp - answer to HROCE_RESIZE_PREPARE
 * @cq: how to map the new ring
 */
struct hroce_resize_cq_resp {
	struct hroce_ring_info cq;
};

struct hroce_create_srq_resp {
	struct hroce_ring_info srq;
};

/**
 * struct hroce_modify_srq_req - one step of resizing an SRQ
 * @answer: HROCE_RESIZE_PREPARE: user address of a &struct hroce_ring_info: how
 *	to map the new ring
 * @step: enum hroce_resize_step
 * @reserved: zero
 *
 * HROCE_RESIZE_SWITCH moves the posted entries to the new ring, under the same
 * indices, and sets a limit if the attributes have one. User space must not
 * post to the old ring meanwhile. EINVAL: the new ring is too small for the
 * posted entries.
 */
struct hroce_modify_srq_req {
	__aligned_u64 answer;
	__u32 step;
	__u32 reserved;
};

/**
 * struct hroce_create_qp_resp - rings of a queue pair
 * @sq: send queue
 * @rq: receive queue; empty if the queue pair uses an SRQ
 */
struct hroce_create_qp_resp {
	struct hroce_ring_info sq;
	struct hroce_ring_info rq;
};

/**
 * struct hroce_modify_qp_req - for IB_QP_RATE_LIMIT; may be omitted
 * @comp_mask: zero; unknown bits are refused with EINVAL
 * @max_burst_sz: longest burst in bytes; 0: chosen by the kernel. One packet
 *	can always be sent
 * @typical_pkt_sz: bytes; a hint that is not used: each packet counts with its
 *	own length
 * @reserved: zero
 *
 * All zero if IB_QP_RATE_LIMIT is not set.
 */
struct hroce_modify_qp_req {
	__u32 comp_mask;
	__u32 max_burst_sz;
	__u16 typical_pkt_sz;
	__u16 reserved[3];
};

/**
 * struct hroce_query_device_resp - attributes that uverbs' answer does not have
 * @rate_limit_min: lowest rate of a queue pair in kbps
 * @rate_limit_max: highest rate in kbps; 0: there is no rate limit
 * @rate_limit_qpts: types of queue pairs, a mask of 1 << enum ibv_qp_type
 * @reserved: zero
 */
struct hroce_query_device_resp {
	__u32 rate_limit_min;
	__u32 rate_limit_max;
	__u32 rate_limit_qpts;
	__u32 reserved;
};

/**
 * struct hroce_create_ah_resp - number of an address handle in send entries
 * @ah_id: for hroce_sq_wqe.ud.ah
 * @reserved: zero
 */
struct hroce_create_ah_resp {
	__u32 ah_id;
	__u32 reserved;
};

/* Driver-specific uverbs object: the kick descriptor, one per context. */
enum hroce_uverbs_objects {
	HROCE_OBJECT_KICK = (1U << UVERBS_ID_NS_SHIFT),
};

enum hroce_kick_methods {
	HROCE_METHOD_KICK_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
};

enum hroce_kick_alloc_attrs {
	/* out: file descriptor, close-on-exec */
	HROCE_ATTR_KICK_ALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/*
 * ioctl on the kick descriptor; the argument is the queue pair's number, by
 * value. Sends the entries of the send queue, as far as windows allow; the
 * kernel sends the rest later by itself. In the error state flushes both
 * queues. Errors: EINVAL no such queue pair of this context, EIO the device is
 * gone, ENOTTY unknown command.
 */
#define HROCE_IOC_KICK			_IO(0x1b, 0xe0)

/*
 * The same descriptor and argument. Looks once for frames that the netdev of
 * the queue pair has received, instead of its interrupt. Errors: those of
 * HROCE_IOC_KICK, and EOPNOTSUPP if the link does not do so, or no NAPI
 * instance is known. A module before it answers ENOTTY, but never sets
 * hroce_cq_hdr.poll_qpn either.
 */
#define HROCE_IOC_POLL			_IO(0x1b, 0xe1)

#endif /* HROCE_ABI_USER_H */
