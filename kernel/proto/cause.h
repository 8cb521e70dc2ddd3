/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result of a request in one byte: a status, or a cause (enum hroce_cause),
 * which implies a status. The engine and its callers pass the cause where they
 * know it; the completion has both.
 */
#ifndef HRP_CAUSE_H
#define HRP_CAUSE_H

#include <uapi/rdma/hroce-abi.h>

/**
 * hrp_cause_explain - replace a cause by the status that it implies
 * @cqe: its @status is an enum hroce_cause, which becomes its @vendor_err
 */
void hrp_cause_explain(struct hroce_cqe *cqe);

#endif /* HRP_CAUSE_H */
