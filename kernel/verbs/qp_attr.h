/* SPDX-License-Identifier: GPL-2.0 */
/* Setting the attributes of queue pairs. */
#ifndef HROCE_QP_ATTR_H
#define HROCE_QP_ATTR_H

#include "../datapath/qp.h"

struct hroce_second;

/**
 * hroce_qp_check_attr - check the ranges of modify_qp() attributes
 * @qp: queue pair
 * @attr: attributes
 * @mask: IB_QP_*: which of them are set
 *
 * The address vector is checked when it is translated.
 * Context: process, @qp->modify_lock held.
 * Return: 0 or negative errno.
 */
int hroce_qp_check_attr(const struct hroce_qp *qp,
			const struct ib_qp_attr *attr, int mask);

/**
 * hroce_qp_set_attr - apply attributes of modify_qp()
 * @qp: queue pair
 * @attr: attributes, checked
 * @mask: IB_QP_*: which of them are set
 *
 * Context: process, @qp->modify_lock and both locks of @qp held.
 */
void hroce_qp_set_attr(struct hroce_qp *qp, const struct ib_qp_attr *attr,
		       int mask);

/**
 * hroce_qp_path_init - set @qp->path up
 * @qp: queue pair
 * @key: address vector; UD: none
 * @cached: see hroce_path_init()
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_qp_path_init(struct hroce_qp *qp, const struct hroce_path_key *key,
		       bool cached);

/**
 * hroce_qp_quiesce - stop a queue pair and make it forget all that has happened
 * @qp: queue pair
 * @second: from hroce_second_unhook()
 * @ends: it is being destroyed; else UD keeps its path
 *
 * It stays dead. What is freed is first taken away with both locks held: ib_core
 * may show the queue pair meanwhile.
 *
 * Context: process, may sleep.
 */
void hroce_qp_quiesce(struct hroce_qp *qp, struct hroce_second *second,
		      bool ends);

/**
 * hroce_qp_take_index - reserve an index in hroce_dev.qps
 * @dev: device
 * @qpn: set to the number that belongs to it, which is not special
 *
 * Look-ups find nothing there yet; xa_erase() gives it back.
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_qp_take_index(struct hroce_dev *dev, u32 *qpn);

#endif /* HROCE_QP_ATTR_H */
