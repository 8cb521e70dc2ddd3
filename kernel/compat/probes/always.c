// SPDX-License-Identifier: GPL-2.0
/* Compiles everywhere: if it does not, probing itself is broken. */
#include <linux/hrtimer.h>
#include <rdma/ib_verbs.h>
