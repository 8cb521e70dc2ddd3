/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Check that the running libibverbs matches the one used for the build
 * (private-abi/release.h).
 */
#ifndef HROCE_LAYOUT_H
#define HROCE_LAYOUT_H

#include <stdbool.h>
#include <infiniband/driver.h>

/**
 * hroce_layout_check_release - compare the release of the running library
 *
 * Prints to standard error, once, if its private interface is another one, or
 * unknown.
 * Return: true if it is the one that libhroce was built for.
 */
bool hroce_layout_check_release(void);

/**
 * hroce_layout_check_qp - compare struct verbs_qp with the running library's
 *
 * Prints to standard error, once, if they differ.
 * Return: true if they agree.
 */
bool hroce_layout_check_qp(void);

/**
 * hroce_layout_check_context - compare struct verbs_context and the verbs table
 * @vctx: context after verbs_set_ops()
 * @ops: the operations set: every verb that libhroce implements
 *
 * Prints to standard error, once, if they differ.
 * Return: true if they agree.
 */
bool hroce_layout_check_context(const struct verbs_context *vctx,
				const struct verbs_context_ops *ops);

#endif /* HROCE_LAYOUT_H */
