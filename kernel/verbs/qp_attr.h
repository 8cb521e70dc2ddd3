/* SPDX-License-Identifier: GPL-2.0 */
/* Setting the attributes of queue pairs. */
#ifndef HROCE_QP_ATTR_H
#define HROCE_QP_ATTR_H

#include "../datapath/qp.h"

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
 * hroce_qp_flow_init - set @qp->flow up
 * @qp: queue pair
 * @key: address vector; UD: none
 * @cached: see hroce_flow_init()
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_qp_flow_init(struct hroce_qp *qp, const struct hroce_flow_key *key,
		       bool cached);

#endif /* HROCE_QP_ATTR_H */
