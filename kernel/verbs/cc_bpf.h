/* SPDX-License-Identifier: GPL-2.0 */
/* A control of congestion that is a BPF program (struct_ops). */
#ifndef HROCE_CC_BPF_H
#define HROCE_CC_BPF_H

#include <linux/errno.h>

struct hroce_qp;

#define HROCE_CC_BPF_NAME	"bpf"

#if defined(CONFIG_DEBUG_INFO_BTF_MODULES) && !defined(HROCE_NO_STRUCT_OPS)

/**
 * hroce_cc_bpf_init - let BPF programs control congestion
 *
 * No-op if the module has no BTF. There is no counterpart: programs that are
 * registered hold the module.
 *
 * Context: process, when the module is loaded.
 */
void hroce_cc_bpf_init(void);

/**
 * hroce_cc_bpf_find - can queue pairs have the control?
 *
 * Context: any.
 * Return: HRP_CC_ADDED; -ENOENT if no program is registered, -EOPNOTSUPP if none
 * can be.
 */
int hroce_cc_bpf_find(void);

/**
 * hroce_cc_bpf_forget - free the state of a queue pair
 * @qp: queue pair that does not send; if it has the control, it loses it
 *
 * Context: send lock held, or @qp is being destroyed.
 */
void hroce_cc_bpf_forget(struct hroce_qp *qp);

#else

static inline void hroce_cc_bpf_init(void) { }

static inline int hroce_cc_bpf_find(void)
{
	return -EOPNOTSUPP;
}

static inline void hroce_cc_bpf_forget(struct hroce_qp *qp) { }

#endif

#endif /* HROCE_CC_BPF_H */
