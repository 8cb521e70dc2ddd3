/* SPDX-License-Identifier: GPL-2.0 */
/* Posting by kernel consumers; user space writes its queues directly. */
#ifndef HROCE_POST_H
#define HROCE_POST_H

#include <rdma/ib_verbs.h>

/* ib_device_ops. Context: any, also with interrupts disabled. */
int hroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int hroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
int hroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif /* HROCE_POST_H */
