/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HROCE_CORE_BTF_H
#define HROCE_CORE_BTF_H

#include <linux/module.h>

/*
 * Has the module BTF? The kernel warns of one without that wants to register
 * something for BPF programs.
 */
static inline bool hroce_has_btf(void)
{
#ifdef MODULE
	return THIS_MODULE->btf_data_size;
#else
	return true;
#endif
}

#endif /* HROCE_CORE_BTF_H */
