/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc tells. */
#ifndef HROCE_BENCH_PROC_H
#define HROCE_BENCH_PROC_H

#include <stdint.h>

/**
 * struct proc_cpu - time that all CPUs together have spent since the start
 * @busy_ns: not idle
 * @kernel_ns: the part of it that was spent in the kernel
 */
struct proc_cpu {
	uint64_t busy_ns;
	uint64_t kernel_ns;
};

/**
 * proc_cpu() - look at the time
 * Return: the time.
 */
struct proc_cpu proc_cpu(void);

/**
 * proc_kernel_bytes() - memory that neither is free nor holds files or pages of processes
 * Return: bytes.
 */
uint64_t proc_kernel_bytes(void);

/**
 * proc_ring_bytes() - what this process has mapped of RDMA devices
 * Return: bytes.
 */
uint64_t proc_ring_bytes(void);

#endif /* HROCE_BENCH_PROC_H */
