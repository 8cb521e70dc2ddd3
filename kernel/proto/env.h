/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Callbacks of the engine, implemented by both the module and the simulator.
 * They must not sleep; the caller holds the lock of its side (send lock or
 * receive lock). Notifications without a result are bits of enum hrp_pending.
 */
#ifndef HRP_ENV_H
#define HRP_ENV_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <uapi/rdma/hroce-abi.h>
#include "cause.h"
#include "qp.h"

/**
 * hrp_cqe_begin - initialize a completion
 * @cqe: every field before @reserved is set, since all are copied to user space
 *	(unit_sq tests this). Field by field: assignment of a whole struct
 *	compiles to "rep stos"
 * @qp: queue pair
 * @wr_id: of the request
 * @result: enum hroce_wc_status or enum hroce_cause
 * @opcode: enum hroce_wc_op
 */
static inline void hrp_cqe_begin(struct hroce_cqe *cqe, const struct hrp_qp *qp,
				 u64 wr_id, u8 result, u8 opcode)
{
	cqe->wr_id = wr_id;
	cqe->timestamp_ns = 0;
	cqe->byte_len = 0;
	cqe->imm_data = 0;
	cqe->qpn = qp->qpn;
	cqe->src_qpn = 0;
	cqe->vendor_err = 0;
	cqe->flags = 0;
	cqe->pkey_index = 0;
	cqe->status = result;
	cqe->opcode = opcode;
	cqe->sl = 0;
	if (unlikely(result >= HROCE_CAUSE_FIRST))
		hrp_cause_explain(cqe);
}

/**
 * hrp_env_send_done - complete a send request
 * @qp: queue pair
 * @cqe: from hrp_cqe_begin()
 */
void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe);

/**
 * hrp_env_recv_done - complete a receive request
 * @qp: queue pair
 * @cqe: from hrp_cqe_begin()
 * @solicited: the sender asked for an event
 */
void hrp_env_recv_done(struct hrp_qp *qp, const struct hroce_cqe *cqe,
		       bool solicited);

/**
 * hrp_env_srq_find - XRC: check that the peer may use an SRQ
 * @qp: queue pair
 * @srqn: number of an SRQ
 *
 * Until the request completes, @qp->resp.srqn is this number: memory keys are
 * checked against the SRQ's protection domain, and receive entries come from
 * the SRQ.
 *
 * Return: true if the XRC domain of the queue pair has an XRC SRQ of this
 * number.
 */
bool hrp_env_srq_find(struct hrp_qp *qp, u32 srqn);

/**
 * hrp_env_recv_take - take the next receive entry from the RQ or SRQ
 * @qp: queue pair
 * @rwqe: filled in
 *
 * Return: true; false if there is none, or if that of an SRQ is shorter than
 * @rwqe->least: it stays there.
 */
bool hrp_env_recv_take(struct hrp_qp *qp, struct hrp_rwqe *rwqe);

/* The receive entries are shared with other queue pairs. */
#define HRP_RECV_SHARED	U32_MAX

/**
 * hrp_env_recv_avail - receive entries that could be taken now
 * @qp: queue pair
 *
 * Return: their number, or HRP_RECV_SHARED.
 */
u32 hrp_env_recv_avail(const struct hrp_qp *qp);

/**
 * hrp_env_mem_check - check a remote memory access
 * @qp: queue pair
 * @rkey: key from a RETH
 * @va: address
 * @len: bytes; not 0
 * @access: enum hrp_access, one of HRP_ACCESS_REMOTE_*
 *
 * For READs, ATOMIC WRITEs and WRITEs with immediate data. For other WRITEs the
 * owner checks the range when it places the first packet, see &struct hrp_rx.
 *
 * Return: true if the whole range is accessible now.
 */
bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len,
		       u8 access);

/**
 * hrp_env_atomic - execute an atomic operation
 * @qp: queue pair
 * @rkey: key from an AtomicETH
 * @va: address, a multiple of 8
 * @cas: compare @compare and swap @swap_add; otherwise add @swap_add
 * @compare: compare value
 * @swap_add: swap value or addend
 * @orig: value before the operation
 *
 * Return: HROCE_WC_SUCCESS; HROCE_WC_REM_ACCESS_ERR if the memory is not
 * accessible; HRP_MEM_FAULT if it is not present.
 */
u8 hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig);

/**
 * hrp_env_flush - make the peer's writes globally visible or persistent
 * @qp: queue pair
 * @rkey: key from a RETH
 * @va: address
 * @len: bytes, may be 0
 * @all: flush the whole range of the key and ignore @va and @len
 * @access: HRP_ACCESS_FLUSH_GLOBAL: on return, earlier writes of the queue pair
 *	are visible to every observer of a later event;
 *	HRP_ACCESS_FLUSH_PERSISTENT: on return, they survive loss of power
 *
 * Return: true; false if the peer may not do this.
 */
bool hrp_env_flush(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access);

/**
 * hrp_env_invalidate - invalidate a key on behalf of the peer
 * @qp: queue pair
 * @rkey: key
 *
 * Return: true; false if the key may not be invalidated remotely.
 */
bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey);

/**
 * hrp_env_local_op - execute LOCAL_INV, REG_MR or BIND_MW
 * @qp: queue pair
 * @wqe: entry
 *
 * Return: HROCE_WC_SUCCESS or enum hroce_cause.
 */
u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe);

#endif /* HRP_ENV_H */
