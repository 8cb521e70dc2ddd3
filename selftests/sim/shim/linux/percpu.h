/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: there is one CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#define __percpu
#define this_cpu_add(var, n)	((var) += (n))

#endif /* SHIM_LINUX_PERCPU_H */
