// SPDX-License-Identifier: GPL-2.0
/* Tables of modules that BPF programs fill, by links: 6.11 on. */
#include <linux/bpf.h>

int probe(void *kdata, struct bpf_link *link);

struct bpf_struct_ops probe_ops;
struct bpf_struct_ops probe_ops = { .cfi_stubs = NULL, .reg = probe };
