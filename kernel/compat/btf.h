/* SPDX-License-Identifier: GPL-2.0 */
/* Functions for BPF programs, as they are declared since 6.9. */
#ifndef HROCE_COMPAT_BTF_H
#define HROCE_COMPAT_BTF_H

#include <linux/btf.h>
#include <linux/btf_ids.h>

#ifndef __bpf_kfunc
#define __bpf_kfunc	__used noinline
#endif

#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name)	BTF_SET8_START(name)
#define BTF_KFUNCS_END(name)	BTF_SET8_END(name)
#endif

#endif /* HROCE_COMPAT_BTF_H */
