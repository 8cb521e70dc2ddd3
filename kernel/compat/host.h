/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refuse kernels that the module cannot run on. Each error says what to do.
 *
 * Uses nothing but the configuration and the version, so that a test can
 * preprocess it (selftests/groups/11-hosts).
 */
#ifndef HROCE_COMPAT_HOST_H
#define HROCE_COMPAT_HOST_H

/*
 * Words of 64 bits are read and written as a whole, and registered memory is
 * accessed by page_address().
 */
#ifndef CONFIG_64BIT
#error "hroce needs words of 64 bits, and memory that is always mapped: use a 64-bit kernel"
#endif

/* Frames are received by a hook there; it implies CONFIG_NETFILTER. */
#ifndef CONFIG_NETFILTER_INGRESS
#error "hroce receives frames at netfilter ingress: enable CONFIG_NETFILTER_INGRESS"
#endif

/*
 * Epochs and per-CPU state of the datapath require that at most one task per
 * CPU has bottom halves disabled. Before 6.18 PREEMPT_RT always had a lock for
 * that.
 */
#if defined(CONFIG_PREEMPT_RT) && !defined(CONFIG_PREEMPT_RT_NEEDS_BH_LOCK)
#if KERNEL_VERSION(6, 18, 0) <= LINUX_VERSION_CODE
#error "hroce needs bottom halves that exclude each other: enable CONFIG_PREEMPT_RT_NEEDS_BH_LOCK"
#endif
#endif

#endif /* HROCE_COMPAT_HOST_H */
